"""One node, one run, one deployment: races, interrupts and kills in every stage, other versions, other clocks."""
import os
import signal
import time

from cases_life_cycle import DEPLOYMENT, NODES, PROFILE
from harness import check, contains, equal

ROUNDS = int(os.environ.get("SSKJ_RACE_ROUNDS", "50"))
# Stages of start in their order; `run` and later ones have started ranks.
STAGES = ["lock", "preflight", "artifacts", "remove", "run", "ready", "warm", "smoke"]
OTHER_VERSION = "9.9.9"
STALE = 30  # seconds that a start may wait for the lock of a run that is gone

# {0}: a name, {1}: two nodes of the four
OTHER = """NAME={0}
NODES={1}
GPUS_PER_NODE=8
IMAGE=lmsysorg/sglang:kimi-k3
MODEL_PATH=/data/hf_models/Kimi-K3
SERVED_MODEL=kimi-k3
LAUNCH_ARGS='--tp-size 16 --trust-remote-code --reasoning-parser kimi_k3 --tool-call-parser kimi_k3'
ULIMITS='memlock=-1'
"""


def register(suite, lab, sskj):
    def other_profile(name, nodes):
        path = os.path.join(lab.directory, name + ".env")
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(OTHER.format(name, nodes))
        return path

    # The first shares the nodes that are locked first, the second those that the larger deployment reaches when it holds others already.
    others = {other_profile("front", "174.1.60.[5-6]"): ("front", [5, 6]), other_profile("back", "174.1.60.[7-8]"): ("back", [7, 8])}

    def locks():
        return {number: lab.node(number, "sh", "-c", "cat /var/lib/sskj/lock 2>/dev/null || true").out for number in NODES}

    def ids():
        return {number: lab.node(number, "docker", "ps", "-q", "--no-trunc").out.split() for number in NODES}

    def remote_processes(run):
        """Processes on the nodes that belong to a run: the bootstrap exports its id to all of them."""
        left = {}
        for number in NODES:
            found = lab.node(number, "sh", "-c", "grep -lsa \"SSKJ_RUN=$1\" /proc/[0-9]*/environ || true", "sh", run).out.split()
            if found:
                left[number] = found
        return left

    def soon_gone(run, seconds=20):
        """What is left of a run's processes after the watchdogs have had their time: TERM, then KILL 2 s later."""
        deadline = time.monotonic() + seconds
        while remote_processes(run) and time.monotonic() < deadline:
            time.sleep(1)
        return remote_processes(run)

    def run_id(run):
        event = run.wait_event(lambda one: one["event"] == "run_started")
        return event["run"]

    def in_stage(run, stage):
        return run.wait_event(lambda one: one["event"] == "stage_started" and one["stage"] == stage and not one.get("undo"))

    @suite.case
    def two_deployments_that_share_nodes_have_exactly_one_winner_each_time():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        won = dict.fromkeys([PROFILE, *others], 0)
        for round_ in range(ROUNDS):
            other = list(others)[round_ // 2 % 2]
            pair = [PROFILE, other] if round_ % 2 else [other, PROFILE]
            runs = {profile: lab.begin(sskj, "start", "-p", profile, "--yes", "-o", "ndjson") for profile in pair}
            try:
                race(runs, won, round_)
            finally:
                for run in runs.values():
                    if run.process.poll() is None:
                        run.process.kill()
                        run.process.wait()
        print(f"     {ROUNDS} races: {won[PROFILE]} won by the deployment of four nodes, {ROUNDS - won[PROFILE]} by one of two", flush=True)

    def race(runs, won, round_):
        holding = {}
        for profile, run in runs.items():
            # Whoever gets beyond the lock has all its nodes.
            holding[profile] = run.wait_event(lambda one: one["event"] == "stage_started" and one["stage"] == "preflight")
        winners = [profile for profile, event in holding.items() if event]
        equal(len(winners), 1, f"round {round_}: exactly one gets all nodes")
        winner = winners[0]
        loser = next(profile for profile in runs if profile != winner)
        won[winner] += 1
        lost = runs[loser].end(60)
        check(lost.status in (3, 6), f"round {round_}: the loser exits 6 (locked) or 3 (claimed), got {lost.status}\n{lost.out[-1500:]}")
        said = lost.out + lost.err
        contains(said, "sskj lock release" if lost.status == 6 else "sskj stop", f"round {round_}: the command that frees the node")
        held = locks()
        name, mine = (DEPLOYMENT, NODES) if winner == PROFILE else others[winner]
        check(runs[winner].process.poll() is not None or all(f"deployment={name}\n" in held[number] for number in mine), f"round {round_}: the winner's locks are untouched: {held}")
        runs[winner].signal(signal.SIGINT)
        runs[winner].end(120).exits(130)

    @suite.case
    def the_same_deployment_twice_one_runs_the_other_exits_6_and_names_the_holder():
        first = lab.begin(sskj, "start", "-p", PROFILE, "--yes", "-o", "ndjson", "--reason", "night shift")
        try:
            run = run_id(first)
            check(in_stage(first, "run"), "the first run starts ranks")
            second = lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(6)
            contains(second.err, run, "the holder's run is named")
            contains(second.err, "by root from 174.1.60.", "its owner and its address are named")
            held = lab.operator(sskj, "lock", "status", "-p", PROFILE, "--json").exits(0).json()
            equal([node["lock"]["run"] for node in held["nodes"]], [run] * 4, "lock status names it too")
            equal(held["nodes"][0]["lock"]["reason"], "night shift", "and its reason")
            equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(5).json()["state"], "starting", "status meanwhile")
            first.end(200).exits(0)
        finally:
            if first.process.poll() is None:
                first.process.kill()
                first.process.wait()
        before = ids()
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()["lock"], None, "no lock afterwards")
        equal(ids(), before, "status touches nothing")

    def other_version():
        """The same program that calls itself another version, as the next release will."""
        own = lab.operator(sskj, "version", "--json").exits(0).json()["sskj"].encode()
        with open(sskj, "rb") as handle:
            program = handle.read()
        equal(len(own), len(OTHER_VERSION), "the version has the length that is replaced")
        check(own + b"\0" in program, "the version is in the program")
        path = os.path.join(lab.directory, "sskj-newer")
        with open(path, "wb") as handle:
            handle.write(program.replace(own + b"\0", OTHER_VERSION.encode() + b"\0"))
        os.chmod(path, 0o755)
        contains(lab.operator(path, "version", "--json").exits(0).out, OTHER_VERSION, "it calls itself so")
        return path

    @suite.case
    def ensure_keeps_what_another_version_started():
        lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--ensure").exits(0)
        before = ids()
        newer = other_version()
        lab.operator(newer, "start", "-p", PROFILE, "--yes", "--ensure").exits(0)
        equal(ids(), before, "a newer one keeps the containers of an older one")
        lab.operator(newer, "restart", "-p", PROFILE, "--yes").exits(0)
        label = lab.node(5, "docker", "inspect", "-f", '{{index .Config.Labels "sskj.version"}}', f"{DEPLOYMENT}_node0").exits(0).out.strip()
        equal(label, OTHER_VERSION, "the newer one's label")
        before = ids()
        lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--ensure").exits(0)
        equal(ids(), before, "and the other way round")
        document = lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()
        equal([rank["diff"] for rank in document["groups"][0]["ranks"]], [[]] * 4, "no drift")

    @suite.case
    def ensure_replaces_nothing_only_because_health_fails():
        before = ids()
        lab.fault("health-503", 5)
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--ensure", timeout=120)
            equal(done.status, 5, f"not healthy, and said\n{done.err[-2000:]}")
            equal(ids(), before, "the containers are kept")
        finally:
            lab.heal(5)
        lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--ensure").exits(0)

    @suite.case
    def ctrl_c_in_each_stage_exits_130_and_leaves_no_lock():
        for stage in STAGES:
            run = lab.begin(sskj, "start", "-p", PROFILE, "--yes", "-o", "ndjson")
            try:
                name = run_id(run)
                check(in_stage(run, stage), f"stage {stage} begins: {run.lines[-3:]}")
                run.signal(signal.SIGINT)
                done = run.end(150)
                equal(done.status, 130, f"Ctrl-C in stage {stage}\n{done.out[-1500:]}")
                equal(locks(), {number: "" for number in NODES}, f"Ctrl-C in stage {stage}: locks")
                equal(soon_gone(name), {}, f"Ctrl-C in stage {stage}: processes on the nodes")
                left = {number: held for number, held in ids().items() if held}
                if stage in ("run", "ready"):
                    equal(left, {}, f"Ctrl-C in stage {stage}: what the run started is removed")
            finally:
                if run.process.poll() is None:
                    run.process.kill()
                    run.process.wait()

    @suite.case
    def kill_9_in_each_stage_needs_no_manual_step():
        gone = None
        for stage in [*STAGES, None]:
            run = lab.begin(sskj, "start", "-p", PROFILE, "--yes", "-o", "ndjson")
            try:
                name = run_id(run)
                began = time.monotonic()
                check(in_stage(run, "preflight" if stage in (None, "lock") and gone else stage or "preflight"), f"stage {stage} begins after a kill in {gone}: {run.lines[-3:]}")
                if gone in ("lock", None) or stage != "lock":
                    check(time.monotonic() - began < STALE + 90, f"after a kill in stage {gone}")
                if stage is None:
                    run.end(200).exits(0)
                    break
                run.signal(signal.SIGKILL)
                run.end(10)
                equal(soon_gone(name), {}, f"kill -9 in stage {stage}: processes of the run on the nodes")
                gone = stage
            finally:
                if run.process.poll() is None:
                    run.process.kill()
                    run.process.wait()
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()["state"], "ready", "the last start ended well")

    @suite.case
    def a_stale_lock_is_waited_for_at_most_30_s():
        run = lab.begin(sskj, "restart", "-p", PROFILE, "--yes", "-o", "ndjson")
        try:
            check(in_stage(run, "preflight"), "it holds all locks")
            run.signal(signal.SIGKILL)
            run.end(10)
        finally:
            if run.process.poll() is None:
                run.process.kill()
                run.process.wait()
        began = time.monotonic()
        again = lab.begin(sskj, "start", "-p", PROFILE, "--yes", "-o", "ndjson")
        check(in_stage(again, "preflight"), "the next start gets all locks")
        waited = time.monotonic() - began
        check(waited <= STALE, f"it waited {waited:.0f} s")
        again.end(200).exits(0)
        audit = lab.node(5, "tail", "-n", "1", "/var/lib/sskj/audit.log").exits(0).out
        contains(audit, "took-over=", "the audit says whose lock was taken over")

    @suite.case
    def an_account_of_the_docker_group_and_root_see_each_other():
        as_dock = [word for rank in range(len(NODES)) for word in ("--set", f"NODE_{rank}_USER=dock")]  # the lab's account without root, in the group docker
        first = lab.begin(sskj, "restart", "-p", PROFILE, "--yes", "-o", "ndjson")
        try:
            run = run_id(first)
            check(in_stage(first, "preflight"), "root holds the locks")
            theirs = lab.operator(sskj, "start", "-p", PROFILE, "--yes", *as_dock)
            equal(theirs.status, 6, f"dock is refused\n{theirs.err[-2000:]}")
            contains(theirs.err, run, "root's run is named")
            first.end(200).exits(0)
        finally:
            if first.process.poll() is None:
                first.process.kill()
                first.process.wait()
        second = lab.begin(sskj, "stop", "-p", PROFILE, "--yes", "-o", "ndjson", *as_dock)
        try:
            run = run_id(second)
            check(second.wait_event(lambda one: one["event"] == "stage_started" and one["stage"] != "lock"), "dock holds the locks")
            mine = lab.operator(sskj, "start", "-p", PROFILE, "--yes")
            check(mine.status == 6 or second.process.poll() is not None, f"root is refused while dock holds the nodes: {mine.status}\n{mine.err[-2000:]}")
            second.end(120).exits(0)
        finally:
            if second.process.poll() is None:
                second.process.kill()
                second.process.wait()

    @suite.case
    def stop_after_the_locks():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        equal(locks(), {number: "" for number in NODES}, "locks")
