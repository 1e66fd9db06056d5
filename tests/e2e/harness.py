"""Small harness for end-to-end cases: a case is a function; it prints ok or FAIL with what was expected and got; the run ends with `N passed, N failed`."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.path.join(ROOT, "tests", "lab", "lab")


class Failed(AssertionError):
    pass


def check(condition, message):
    if not condition:
        raise Failed(message)


def equal(got, want, what):
    if got != want:
        raise Failed(f"{what}\n  want: {want!r}\n  got:  {got!r}")


def contains(text, part, what):
    if part not in text:
        raise Failed(f"{what}: {part!r} is not in\n{text[-3000:]}")


class Ran:
    """One finished command."""

    def __init__(self, argv, status, out, err, seconds):
        self.argv, self.status, self.out, self.err, self.seconds = argv, status, out, err, seconds

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as fault:
            raise Failed(f"stdout of {self.argv} is not one JSON document: {fault}\n{self.out[-2000:]}\nstderr: {self.err[-2000:]}") from None

    def exits(self, want):
        if self.status != want:
            raise Failed(f"{' '.join(self.argv)}\n  want exit {want}, got {self.status} after {self.seconds:.1f} s\nstdout: {self.out[-3000:]}\nstderr: {self.err[-3000:]}")
        return self


def run(argv, env=None, timeout=300, cwd=None, stdin=""):
    began = time.monotonic()
    full = dict(os.environ, **(env or {}))
    try:
        done = subprocess.run(argv, env=full, cwd=cwd, input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(argv)} did not end within {timeout} s\nstdout: {(late.stdout or b'')[-2000:]}\nstderr: {(late.stderr or b'')[-2000:]}") from None
    return Ran(argv, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), time.monotonic() - began)


class Running:
    """A command under way; its stdout is kept line by line, so that a case can wait for one."""

    def __init__(self, argv, env):
        self.argv = argv
        self.errors = tempfile.TemporaryFile()
        self.began = time.monotonic()
        self.process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors)
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for raw in self.process.stdout:
            with self.changed:
                self.lines.append(raw.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()

    def wait_event(self, matches, timeout=120):
        """The first event of an ndjson stream that matches; None when the command ended before."""
        deadline = time.monotonic() + timeout
        seen = 0
        while True:
            with self.changed:
                if seen == len(self.lines):
                    self.changed.wait(0.05)
                fresh = self.lines[seen:]
                seen += len(fresh)
            for line in fresh:
                event = json.loads(line)
                if matches(event):
                    return event
            if not fresh and self.process.poll() is not None and not self.reader.is_alive():
                return None
            if time.monotonic() > deadline:
                raise Failed(f"{' '.join(self.argv)}: the event did not come within {timeout} s; last: {self.lines[-3:]}")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, timeout=300):
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failed(f"{' '.join(self.argv)} did not end within {timeout} s: {self.lines[-3:]}") from None
        self.reader.join(10)
        self.errors.seek(0)
        return Ran(self.argv, status, "\n".join(self.lines), self.errors.read().decode("utf-8", "replace"), time.monotonic() - self.began)


class Suite:
    def __init__(self):
        self.cases = []

    def case(self, function):
        self.cases.append(function)
        return function

    def run(self, wanted):
        passed = failed = 0
        for function in self.cases:
            name = function.__name__
            if wanted and not any(word in name for word in wanted):
                continue
            began = time.monotonic()
            try:
                function()
            except Exception as fault:  # a case must not take the others down
                failed += 1
                text = str(fault) if isinstance(fault, Failed) else traceback.format_exc()
                print(f"FAIL {name} ({time.monotonic() - began:.1f} s)\n" + "\n".join("     " + line for line in text.splitlines()), flush=True)
            else:
                passed += 1
                print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)
        print(f"{passed} passed, {failed} failed", flush=True)
        return 0 if failed == 0 and passed > 0 else 1


class Lab:
    """The lab of this run: its own state directory, taken down at the end whatever happened."""

    def __init__(self, nodes):
        self.directory = tempfile.mkdtemp(prefix="sskj-e2e-", dir="/var/tmp")
        self.env = {"SSKJ_LAB_DIR": os.path.join(self.directory, "lab"), "XDG_STATE_HOME": os.path.join(self.directory, "state")}
        self.nodes = nodes

    def __enter__(self):
        run([LAB, "up", "--nodes", str(self.nodes)], env=self.env, timeout=600).exits(0)
        return self

    def __exit__(self, *_):
        done = run([LAB, "down"], env=self.env, timeout=300)
        subprocess.run(["rm", "-rf", "--one-file-system", self.directory], check=False)
        if done.status != 0:
            print(f"FAIL lab_down\n     {done.err}", flush=True)
            sys.exit(1)

    def operator(self, *argv, env=None, timeout=300, stdin=""):
        return run([LAB, "run", "--", *argv], env={**self.env, **(env or {})}, timeout=timeout, stdin=stdin)

    def begin(self, *argv, env=None):
        """A command on the operator's side that goes on; `lab run` replaces itself, so its pid is the command's own."""
        return Running([LAB, "run", "--", *argv], {**os.environ, **self.env, **(env or {})})

    def last_run(self):
        """Directory of the newest run."""
        runs = os.path.join(self.env["XDG_STATE_HOME"], "sskj", "runs")
        return os.path.join(runs, max(os.listdir(runs), key=lambda name: os.stat(os.path.join(runs, name)).st_mtime_ns))

    def node(self, number, *argv, timeout=120, stdin=""):
        return run([LAB, "node", str(number), "--", *argv], env=self.env, timeout=timeout, stdin=stdin)

    def fault(self, name, node, *more):
        return run([LAB, "fault", name, str(node), *more], env=self.env, timeout=120).exits(0)

    def heal(self, *node):
        return run([LAB, "heal", *map(str, node)], env=self.env, timeout=120).exits(0)
