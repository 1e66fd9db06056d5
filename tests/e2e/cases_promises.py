"""What fails before the removal leaves the serving deployment as it was; what fails later is said with node, cause and next command."""
from cases_life_cycle import NODES, PROFILE
from harness import check, contains, equal

# fault, node, extra arguments, exit code of start, what the message must hold
BEFORE_REMOVAL = [
    ("gpu-held", 7, [], 3, "174.1.60.7"),
    ("gpu-held-ghost", 6, [], 3, "174.1.60.6"),
    ("gpu-missing", 6, [], 3, "174.1.60.6"),
    ("image-gone", 8, [], 3, "174.1.60.8"),
    ("image-other", 8, [], 7, "174.1.60.8"),
    ("shard-missing", 7, [], 3, "model-"),
    ("shard-truncated", 7, [], 3, "model-"),
    ("shard-header", 7, [], 3, "model-"),
    ("index-gone", 7, [], 3, "index"),
    ("data-full", 7, [], 3, "is full"),
    ("docker-dead", 6, [], 3, "174.1.60.6"),
    ("link-down", 8, [], 4, "174.1.60.8"),
    ("sshd-stop", 8, [], 4, "174.1.60.8"),
]


def register(suite, lab, sskj):
    def ids():
        return {number: lab.node(number, "docker", "ps", "-q", "--no-trunc").out.split() for number in NODES}

    def serving():
        return lab.operator(sskj, "status", "-p", PROFILE, "--json").json()["state"]

    def health_all_the_while():
        """Asks rank 0 for /health twice a second until it is ended."""
        loop = lab.begin("sh", "-c", "while :; do curl -s -m 25 -o /dev/null -w '%{http_code}\\n' http://174.1.60.5:30000/health; sleep 0.5; done")

        def ended():
            loop.process.kill()
            loop.process.wait()
            return list(loop.lines)

        loop.ended = ended
        return loop

    @suite.case
    def start_for_the_promises():
        lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)

    for fault, node, more, code, text in BEFORE_REMOVAL:
        def before_removal(fault=fault, node=node, more=more, code=code, text=text):
            before = ids() if fault not in ("docker-dead",) else None
            pulse = health_all_the_while() if before else None
            lab.fault(fault, node, *more)
            try:
                done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", timeout=300)
                equal(done.status, code, f"exit code\n{done.err[-3000:]}")
                contains(done.out + done.err, text, "the message names what is wrong")
            finally:
                answers = pulse.ended() if pulse else []
                lab.heal(node)
            if before is not None:
                check(len(answers) > 2 and set(answers) == {"200"}, f"/health of rank 0 is 200 throughout: {answers}")
                equal(ids(), before, "the containers that served still run")
                equal(serving(), "ready", "the deployment serves on")
            else:
                lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)

        before_removal.__name__ = "before_removal_" + fault.replace("-", "_")
        suite.case(before_removal)

    @suite.case
    def foreign_container_is_not_removed():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        lab.fault("foreign-container", 6, "kimi3_pro6000_sglang_tp32ep32_node1")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes")
            equal(done.status, 3, f"refused\n{done.err[-2000:]}")
            contains(done.out + done.err, "--adopt", "the hint")
            contains(lab.node(6, "docker", "ps", "-a", "--format", "{{.Names}}").out, "node1", "it is still there")
        finally:
            lab.heal(6)

    @suite.case
    def port_held_by_another_process_is_found():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)  # else our own engine holds the port
        lab.fault("port-busy", 5, "30000")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes")
            equal(done.status, 3, f"refused\n{done.err[-2000:]}")
            contains(done.out + done.err, "30000", "the port is named")
        finally:
            lab.heal(5)

    @suite.case
    def a_rank_that_dies_fails_the_start_within_seconds():
        lab.fault("engine-exit", 7, "weights")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", timeout=300)
            check(done.status in (1, 5), f"exit 1 or 5, got {done.status}\n{done.err[-3000:]}")
            contains(done.out + done.err, "174.1.60.7", "the node is named")
            check(done.seconds < 60, f"within seconds, not minutes: {done.seconds:.0f} s")
            for number in NODES:
                equal(lab.node(number, "docker", "ps", "-aq").out.split(), [], f"node {number}: what this run started is removed")
        finally:
            lab.heal(7)

    @suite.case
    def unpatched_engine_says_why():
        done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--set", "BOOTSTRAP=true", timeout=120)
        check(done.status in (1, 5), f"exit 1 or 5, got {done.status}")
        contains(done.out + done.err, "sm_120", "the cause is named")

    @suite.case
    def stop_after_the_promises():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
