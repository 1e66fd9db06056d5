"""Leave and come back without any node: detach, attach, history, kill -9, a terminal that closes. The only peer is a listener on loopback that never answers."""
import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import tempfile
import time

from harness import Failed, check, contains, equal, run

PROFILE = """NODES=127.0.0.1
NODE_0_PORT={port}
GPUS_PER_NODE=8
IMAGE=lmsysorg/sglang@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
MODEL_PATH=/data/models/small
SERVED_MODEL=small
LAUNCH_ARGS='--tp-size 8 --trust-remote-code --dist-timeout 3600'
{more}"""


class Place:
    """A state directory and a profile whose node accepts connections and says nothing: a run lasts the 15 s of the banner deadline, long enough to look at it."""

    def __init__(self, more="", silent=True):
        self.root = tempfile.TemporaryDirectory(prefix="sskj-attach-")
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        if silent:
            self.listener.listen(16)  # the kernel accepts; nobody answers
        else:
            self.listener.close()     # refused at once
        self.profile = os.path.join(self.root.name, "off.env")
        with open(self.profile, "w", encoding="utf-8") as out:
            out.write(PROFILE.format(port=port, more=more))
        self.env = {"XDG_STATE_HOME": os.path.join(self.root.name, "state"), "XDG_CONFIG_HOME": self.root.name, "SSKJ_PROFILE": ""}
        self.pids = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.pids:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{pid}/cmdline", "rb") as handle:
                    ours = self.profile.encode() in handle.read()  # a number may have gone to another process meanwhile
                if ours:
                    os.kill(pid, signal.SIGKILL)
        self.listener.close()
        self.root.cleanup()

    def sskj(self, binary, *argv, env=None, timeout=60):
        return run([binary, *argv], env={**self.env, **(env or {})}, cwd=self.root.name, timeout=timeout)

    def detach(self, binary, *more, env=None):
        document = self.sskj(binary, "start", "-p", self.profile, "--ssh", "ssh2", "--detach", "--json", *more, env=env).exits(0).json()
        self.pids.append(document["pid"])
        return document

    def runs(self, binary):
        return self.sskj(binary, "history", "--json").exits(0).json()["runs"]

    def state(self, binary):
        return [one["state"] for one in self.runs(binary)]


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as handle:
            return handle.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def until(condition, what, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise Failed(f"not within {seconds} s: {what}")


def register(suite, sskj):
    @suite.case
    def a_detached_run_is_followed_at_once_and_ends_with_its_own_code():
        with Place(silent=False) as place:
            document = place.detach(sskj)
            equal((document["verb"], document["detached"], document["exit_code"]), ("start", True, 0), "the document")
            equal(document["attach"], "sskj attach " + document["run"], "the command that follows it")
            text = place.sskj(sskj, "attach", document["run"])
            equal(text.status, 4, f"the run's own code\n{text.err}")
            contains(text.err, "UNREACHABLE", "the cause is told as in the foreground")
            contains(text.err.splitlines()[-1], "start: failed (exit 4)", "the last line")
            again = place.sskj(sskj, "attach", "latest", "--json")
            equal((again.status, again.json()["exit_code"], again.json()["run"]), (4, 4, document["run"]), "attach latest")
            with open(os.path.join(document["run_directory"], "output.log"), encoding="utf-8") as log:
                contains(log.read(), "start: failed (exit 4)", "output.log")

    @suite.case
    def attach_shows_a_finished_run_as_it_was():
        with Place(silent=False) as place:
            first = place.sskj(sskj, "start", "-p", place.profile, "--ssh", "ssh2", "--json").exits(4).json()
            equal(place.sskj(sskj, "attach", "latest", "--json").exits(4).json(), first, "the document of the run and of attach")
            live = place.sskj(sskj, "start", "-p", place.profile, "--ssh", "ssh2", "-o", "ndjson").exits(4)
            past = place.sskj(sskj, "attach", "latest", "-o", "ndjson").exits(4)
            strip = [json.loads(line) for line in past.out.splitlines()]
            for event in strip:
                check(event.pop("at").endswith("Z"), "each event has its time")
            equal(strip, [json.loads(line) for line in live.out.splitlines()], "the events")
            ended = place.sskj(sskj, "start", "-p", place.profile, "--ssh", "ssh2").exits(4).err.split("UNREACHABLE", 1)[1]
            equal(place.sskj(sskj, "attach", "latest").exits(4).err.split("UNREACHABLE", 1)[1], ended, "failures and summary as text")

    @suite.case
    def kill_9_of_a_run_is_told_by_attach_and_history():
        with Place() as place:
            document = place.detach(sskj, "--reason", "a b")
            equal(place.state(sskj), ["running"], "history")
            watcher = subprocess.Popen([sskj, "attach", "latest"], env={**os.environ, **place.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda: os.path.getsize(os.path.join(document["run_directory"], "events.ndjson")) > 0, "the run's first event")
            os.kill(document["pid"], signal.SIGKILL)
            _, err = watcher.communicate(timeout=30)
            equal(watcher.returncode, 5, f"who looks on is told\n{err.decode()}")
            for told in ("the run died", "next: sskj start", "--reason 'a b'", "start: died (exit 5)"):
                contains(err.decode(), told, "attach while it is killed")
            equal(place.sskj(sskj, "attach", document["run"], "--json").exits(5).json()["died"], True, "attach afterwards")
            equal(place.state(sskj), ["died"], "history")

    @suite.case
    def ctrl_c_in_attach_leaves_the_run_alone():
        with Place() as place:
            document = place.detach(sskj)
            for stop in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                watcher = subprocess.Popen([sskj, "attach", "latest"], env={**os.environ, **place.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                ready, _, _ = select.select([watcher.stderr], [], [], 20)
                check(ready, "attach shows the run")
                watcher.send_signal(stop)
                _, err = watcher.communicate(timeout=20)
                equal(watcher.returncode, 130, f"{stop.name}\n{err.decode()}")
                contains(err.decode(), "sskj attach " + document["run"], "how to look again")
            check(alive(document["pid"]), "the run goes on")
            late = place.sskj(sskj, "attach", "latest", "--timeout", "1s", "--json")
            equal((late.status, late.json()["exit_code"]), (124, 124), "--timeout ends the looking on")
            check(alive(document["pid"]), "the run still goes on")

    @suite.case
    def an_interrupt_reaches_a_detached_run_by_its_pid():
        with Place() as place:
            document = place.detach(sskj)
            until(lambda: os.path.getsize(os.path.join(document["run_directory"], "events.ndjson")) > 0, "the run's first event")
            os.kill(document["pid"], signal.SIGINT)
            done = place.sskj(sskj, "attach", "latest")
            equal(done.status, 130, f"interrupted as by Ctrl-C\n{done.err}")
            contains(done.err, "to go on: sskj start", "the command to go on with")
            equal(place.runs(sskj)[0]["interrupted"], True, "history")

    @suite.case
    def hangup_ends_a_run_unless_nohup_said_otherwise():
        for ignored in (False, True):
            with Place() as place:
                argv = [sskj, "start", "-p", place.profile, "--ssh", "ssh2"]
                child = subprocess.Popen(["nohup", *argv] if ignored else argv, env={**os.environ, **place.env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                place.pids.append(child.pid)
                until(lambda: place.state(sskj) == ["running"], "the run has begun")
                events = os.path.join(place.runs(sskj)[0]["directory"], "events.ndjson")
                until(lambda: os.path.getsize(events) > 0, "its first event")
                child.send_signal(signal.SIGHUP)
                equal(child.wait(60), 4 if ignored else 143, f"nohup: {ignored}")

    @suite.case
    def a_terminal_that_closes_does_not_end_a_detached_run():
        with Place() as place:
            pid, terminal = pty.fork()
            if pid == 0:
                os.environ.update(place.env)
                os.execv("/bin/sh", ["sh", "-c", f"'{sskj}' start -p '{place.profile}' --ssh ssh2 --detach; exec sleep 60"])
            said = b""
            end = time.monotonic() + 30
            while b"attach:" not in said and time.monotonic() < end:
                if select.select([terminal], [], [], 1)[0]:
                    said += os.read(terminal, 4096)
            contains(said.decode("utf-8", "replace"), "sskj attach ", "on the terminal")
            run_pid = place.runs(sskj)[0]["pid"]
            place.pids.append(run_pid)
            with open(f"/proc/{run_pid}/stat", encoding="utf-8") as handle:
                fields = handle.read().rsplit(")", 1)[1].split()
            equal((int(fields[3]), fields[4]), (run_pid, "0"), "session of its own, without a terminal")
            os.close(terminal)  # SIGHUP for the shell's session
            os.waitpid(pid, 0)
            time.sleep(0.5)
            check(alive(run_pid), "the run goes on")
            equal(place.state(sskj), ["running"], "history")

    @suite.case
    def a_detached_run_keeps_nothing_of_its_caller_open_and_has_its_environment():
        with Place(more="API_KEY=from_env:SSKJ_TEST_SECRET\n") as place:
            read, write = os.pipe()
            done = subprocess.run([sskj, "start", "-p", place.profile, "--ssh", "ssh2", "--detach", "--json"], env={**os.environ, **place.env, "SSKJ_TEST_SECRET": "hunter2-9"},
                                  pass_fds=[write], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
            os.close(write)
            equal(done.returncode, 0, done.stderr.decode())
            document = json.loads(done.stdout)
            place.pids.append(document["pid"])
            check(select.select([read], [], [], 5)[0] and os.read(read, 1) == b"", "the caller's pipe ends with sskj, not with the run")
            os.close(read)
            check(alive(document["pid"]), "the run goes on")
            with open(f"/proc/{document['pid']}/environ", "rb") as handle:
                check(b"SSKJ_TEST_SECRET=hunter2-9" in handle.read(), "the environment is inherited")
            for folder, _, names in os.walk(document["run_directory"]):
                for name in names:
                    with open(os.path.join(folder, name), "rb") as handle:
                        check(b"hunter2-9" not in handle.read(), f"the secret is in {name}")
            equal({oct(os.stat(os.path.join(document["run_directory"], name)).st_mode & 0o777) for name in os.listdir(document["run_directory"])} - {"0o700"}, {"0o600"},
                  "files for the owner only")

    @suite.case
    def what_is_wrong_is_told_before_the_run_is_left_alone():
        with Place(more="API_KEY=from_env:SSKJ_TEST_SECRET\n") as place:
            absent = place.sskj(sskj, "start", "-p", place.profile, "--detach", "--json", env={"SSKJ_TEST_SECRET": ""}).exits(2)
            contains(absent.json()["error"]["message"], "SSKJ_TEST_SECRET", "the variable is named")
            contains(place.sskj(sskj, "start", "-p", place.profile, "--detach", "--dry-run").exits(0).out, "docker run", "a dry run prints the plan")
            with open(place.profile, "a", encoding="utf-8") as out:
                out.write("ENV_NCCL_ALGO=Ring\n")
            contains(place.sskj(sskj, "start", "-p", place.profile, "--detach").exits(2).err, "nccl-algo-set", "lints")
            equal(place.sskj(sskj, "status", "-p", place.profile, "--detach").status, 2, "status cannot be left alone")
            check(not os.path.exists(place.env["XDG_STATE_HOME"]), "no run was begun")
            readonly = place.sskj(sskj, "stop", "-p", "kimi3_tp32ep32", "--detach", env={"XDG_STATE_HOME": "/proc/nowhere"})
            equal(readonly.status, 2, "without a record nothing can be left alone")
            contains(readonly.err, "XDG_STATE_HOME", "the way out")

    @suite.case
    def nobody_else_can_pretend_to_be_a_detached_run():
        with Place(silent=False) as place:
            document = place.detach(sskj)
            place.sskj(sskj, "attach", "latest").exits(4)
            pretender = place.sskj(sskj, "start", "--detached-run=" + document["run_directory"], "-p", place.profile)
            equal(pretender.status, 2, "refused")
            contains(pretender.err, "is not the run directory", "why")

    @suite.case
    def old_runs_make_room_when_a_new_one_begins():
        with Place(silent=False) as place:
            runs = []
            for _ in range(4):
                run_ = place.sskj(sskj, "stop", "-p", place.profile, "--ssh", "ssh2", "--json", env={"SSKJ_KEEP_RUNS": "2"}).exits(4).json()
                runs.append(run_["run"])
                time.sleep(1)  # ids of one second have no order but the files' times
            equal([one["run"] for one in place.runs(sskj)], [runs[3], runs[2]], "the two newest are left")
            wrong = place.sskj(sskj, "stop", "-p", place.profile, "--ssh", "ssh2", env={"SSKJ_KEEP_RUNS": "many"}).exits(4)
            equal(wrong.err.count("SSKJ_KEEP_RUNS=many is not a whole number"), 1, f"said once\n{wrong.err}")
            equal(len(place.runs(sskj)), 3, "and the default holds")
