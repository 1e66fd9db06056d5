"""A rank that fails or hangs while it starts, a docker that hangs, nodes that are cut off: who says what, how soon, and what is left."""
import datetime
import json
import os
import time

from cases_life_cycle import DEPLOYMENT, NODES, PROFILE
from harness import Failed, check, contains, equal

# Phases at which the stand-in's rank can be made to fail.
PHASES = ["args", "dist", "weights", "kernels", "kv", "graphs", "http", "warmup"]
FRONT = ("http", "warmup")  # rank 0 serves and warms up
QUICK = 10
LAST = 10  # lines; a fatal one may be told before the rank wrote its very last


def seconds(at):
    """Of a moment in UTC; docker gives nanoseconds, which Python does not take."""
    whole, _, fraction = at.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))


def without_blanks(text):
    return "".join(text.split())


def events(lab):
    with open(os.path.join(lab.last_run(), "events.ndjson"), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def register(suite, lab, sskj):
    def nothing_left():
        for number in NODES:
            equal(lab.node(number, "docker", "ps", "-aq").out.split(), [], f"node {number}: what this run started is removed")
            equal(lab.node(number, "sh", "-c", "ls /var/lib/sskj/lock 2>/dev/null || true").out, "", f"node {number}: no lock")

    for phase in PHASES:
        def exits(phase=phase, rank=0 if phase in FRONT else 1):
            number = NODES[rank]
            lab.fault("engine-exit", number, phase)
            try:
                done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--keep-failed", timeout=150)
                check(done.status in (1, 5), f"exit code 1 (a step failed) or 5 (not ready), got {done.status}\n{done.err[-3000:]}")
                contains(done.err, f"174.1.60.{number}", "the node is named")
                # Those of the rank itself, not only the container's end.
                log = lab.node(number, "docker", "logs", f"{DEPLOYMENT}_node{rank}").exits(0)
                last = [without_blanks(line) for line in (log.out + log.err).splitlines() if line.strip()][-LAST:]
                shown = without_blanks(done.err)
                check(any(line[-60:] in shown for line in last), f"one of the rank's last lines is shown: {last}\n{done.err[-3000:]}")
                died = lab.node(number, "docker", "inspect", "-f", "{{.State.FinishedAt}}", f"{DEPLOYMENT}_node{rank}").exits(0).out.strip()
                told = [event for event in events(lab) if event["event"] == "stage_finished" and not event["ok"] and not event["skipped"]]
                if not died.startswith("0001"):
                    late = seconds(told[0]["at"]) - seconds(died)
                    check(late <= QUICK, f"told {late:.0f} s after the rank ended")
                logs = os.path.join(lab.last_run(), "nodes")
                for node in NODES:
                    held = [name for name in os.listdir(os.path.join(logs, f"174.1.60.{node}")) if ".log." in name]
                    check(held or phase == "args", f"the run directory has the log of the rank on node {node}: {os.listdir(os.path.join(logs, f'174.1.60.{node}'))}")
            finally:
                lab.heal(number)

        exits.__name__ = f"a_rank_that_exits_in_phase_{phase}_is_told_within_10_s_with_its_last_line"
        suite.case(exits)

    @suite.case
    def keep_failed_kept_them_and_the_next_start_replaces_them():
        check(any(lab.node(number, "docker", "ps", "-aq").out.split() for number in NODES), "--keep-failed keeps what the run started")
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        nothing_left()

    @suite.case
    def a_rank_that_hangs_is_told_at_its_limit_with_every_ranks_phase():
        lab.fault("engine-hang", 7, "kernels")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--set", "READY_NO_PROGRESS=15s", timeout=200)
            equal(done.status, 5, f"exit code\n{done.err[-3000:]}")
            contains(done.err, "no rank came further for 15s", "the limit is named")
            for number in NODES:
                contains(done.err, "174.1.60.", "the nodes are named")
            contains(done.err, "weights", "a phase is named")
            nothing_left()
        finally:
            lab.heal(7)

    @suite.case
    def the_total_deadline_ends_a_start_that_goes_on_for_ever():
        lab.fault("engine-hang", 5, "warmup")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--timeout", "25s", timeout=200)
            equal(done.status, 124, f"exit code\n{done.err[-3000:]}")
            contains(done.err, "total deadline of 25s", "the deadline is named")
            nothing_left()
        finally:
            lab.heal(5)

    @suite.case
    def a_docker_that_hangs_is_found_in_seconds_by_preflight_and_status():
        lab.fault("docker-hang", 8)
        try:
            done = lab.operator(sskj, "preflight", "-p", PROFILE, timeout=120)
            equal(done.status, 3, f"preflight\n{done.err[-3000:]}")
            contains(done.out + done.err, "docker does not answer within its deadline", "the cause")
            check(done.seconds < 100, f"{done.seconds:.0f} s: docker is waited for once, not by every check (that took four minutes)")
            document = lab.operator(sskj, "status", "-p", PROFILE, "--json", timeout=60)
            equal(document.status, 5, f"the node was asked, what runs is unknown\n{document.err[-2000:]}")
            equal(document.json()["state"], "unknown", "state")
            contains(" ".join(document.json()["problems"]), "174.1.60.8: docker does not answer", "the problem")
            check(document.seconds < 30, f"status took {document.seconds:.0f} s")
        finally:
            lab.heal(8)

    def cut(numbers, hold):
        """A start whose nodes are cut off for `hold` seconds while the weights load."""
        for number in NODES:
            lab.fault("engine-slow", number, "45")
        run = lab.begin(sskj, "start", "-p", PROFILE, "--yes", "-o", "ndjson")
        try:
            check(run.wait_event(lambda event: event["event"] == "phase" and event["phase"] == "weights"), "the weights begin to load")
            before = {number: lab.node(number, "docker", "ps", "-q", "--no-trunc").out.split() for number in NODES}
            for number in numbers:
                lab.fault("link-down", number)
            time.sleep(hold)
            for number in numbers:
                lab.heal(number)
                lab.fault("engine-slow", number, "45")
            done = run.end(240)
            equal(done.status, 0, f"the start ends well all the same\n{done.err[-3000:]}\n{done.out[-2000:]}")
            after = {number: lab.node(number, "docker", "ps", "-q", "--no-trunc").out.split() for number in NODES}
            equal(after, before, "no container was touched")
            same_lines()
        finally:
            if run.process.poll() is None:
                run.process.kill()
                run.process.wait()
            lab.heal()

    def same_lines():
        """What the run directory holds of each rank's log is a prefix of the container's log: nothing lost, nothing doubled."""
        logs = os.path.join(lab.last_run(), "nodes")
        for rank, number in enumerate(NODES):
            directory = os.path.join(logs, f"174.1.60.{number}")
            name = [one for one in os.listdir(directory) if ".log." in one and one.endswith(".out")]
            equal(len(name), 1, f"one log of node {number}: {os.listdir(directory)}")
            with open(os.path.join(directory, name[0]), "rb") as handle:
                kept = handle.read()
            whole = lab.node(number, "sh", "-c", f"docker logs {DEPLOYMENT}_node{rank} 2>&1").exits(0).out.encode()
            if not whole.startswith(kept):
                at = next((i for i, (a, b) in enumerate(zip(kept, whole)) if a != b), min(len(kept), len(whole)))
                raise Failed(f"node {number}: the kept log differs at byte {at}:\n kept {kept[at - 80:at + 80]!r}\n log  {whole[at - 80:at + 80]!r}")
            check(kept.count(b"\n") > 20, f"node {number}: the log has lines")

    @suite.case
    def one_node_cut_off_for_60_s_while_loading_changes_nothing():
        cut([7], 60)

    @suite.case
    def all_nodes_cut_off_for_60_s_while_loading_changes_nothing():
        cut(NODES, 60)

    @suite.case
    def stop_after_the_failures():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        nothing_left()
