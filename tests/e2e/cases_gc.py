"""gc: lists and then removes what nothing needs, and nothing else; the audit log; stop with nodes that cannot be reached; stop by name; --adopt."""
from cases_life_cycle import DEPLOYMENT, NODES, PROFILE
from harness import check, contains, equal

STATE = "/var/lib/sskj"
ORPHAN = f"{STATE}/artifacts/{'0' * 64}"


def register(suite, lab, sskj):
    def exists(number, path):
        return lab.node(number, "test", "-e", path).status == 0

    def names(number):
        return sorted(lab.node(number, "docker", "ps", "-a", "--format", "{{.Names}}").exits(0).out.split())

    @suite.case
    def gc_lists_first_and_removes_with_yes_only_what_nothing_needs():
        lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)
        used = lab.node(6, "sh", "-c", f"ls -d {STATE}/artifacts/*").exits(0).out.split()
        equal(len(used), 1, "the patch of the shipped profile")
        lab.node(6, "sh", "-c", f"mkdir -p {ORPHAN} {STATE}/secrets/gone && echo x >{ORPHAN}/old.py && echo k >{STATE}/secrets/gone/key.yaml && "
                 f"touch -d '2 hours ago' {STATE}/artifacts/.patch.py.sskj-put.abcdef && touch {STATE}/artifacts/.patch.py.sskj-put.ghijkl").exits(0)
        image = lab.node(6, "sh", "-c", "tar -cf - -T /dev/null | docker import - old:1").exits(0).out.strip()
        other = lab.node(6, "sh", "-c", "echo x >/tmp/x; tar -C /tmp -cf - x | docker import - somebody:1").exits(0).out.strip()
        lab.node(6, "sh", "-c", f"echo {image} >>{STATE}/images").exits(0)
        listed = lab.operator(sskj, "gc", "-p", PROFILE).exits(0)
        for word in (f"would remove artifact {ORPHAN}", "would remove secrets of gone", "would remove part file", f"would remove image {image}"):
            contains(listed.out, word, "the list")
        check(used[0] not in listed.out and other not in listed.out and "ghijkl" not in listed.out, f"what is used, somebody else's or fresh is not listed\n{listed.out}")
        check(exists(6, ORPHAN), "listing removes nothing")
        lab.operator(sskj, "gc", "-p", PROFILE, "--yes").exits(0)
        check(not exists(6, ORPHAN) and not exists(6, f"{STATE}/secrets/gone") and not exists(6, f"{STATE}/artifacts/.patch.py.sskj-put.abcdef"), "they are gone")
        check(exists(6, used[0]) and exists(6, f"{STATE}/artifacts/.patch.py.sskj-put.ghijkl"), "what is in use or fresh stays")
        equal(lab.node(6, "docker", "image", "inspect", image).status, 1, "our old image is gone")
        equal(lab.node(6, "docker", "image", "inspect", other).status, 0, "somebody's image stays")
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()["state"], "ready", "the deployment serves on")
        equal(lab.node(6, "sh", "-c", f"ls {STATE}/lock 2>/dev/null || true").out, "", "no lock is left")

    @suite.case
    def each_run_leaves_one_audit_line_on_each_node():
        before = {number: len(lab.node(number, "cat", f"{STATE}/audit.log").exits(0).out.splitlines()) for number in NODES}
        lab.operator(sskj, "restart", "-p", PROFILE, "--yes", "--reason", "a\nb").exits(0)
        for number in NODES:
            lines = lab.node(number, "cat", f"{STATE}/audit.log").exits(0).out.splitlines()
            equal(len(lines), before[number] + 1, f"node {number}: one line")
            for word in ("verb=restart", f"deployment={DEPLOYMENT}", "owner=root", "client=174.1.60.", "reason=a b"):
                contains(lines[-1], word, f"node {number}: the line")

    @suite.case
    def stop_without_one_node_stops_the_rest_exits_4_and_the_next_stop_removes_it():
        lab.fault("link-down", 7)
        try:
            done = lab.operator(sskj, "stop", "-p", PROFILE, "--yes", timeout=240)
            equal(done.status, 4, f"exit code\n{done.err[-2500:]}")
            contains(done.err, "174.1.60.7", "the node is named")
            contains(done.err, "may still run", "what may still run is said")
            for number in (5, 6, 8):
                equal(names(number), [], f"node {number}: stopped")
        finally:
            lab.heal(7)
        equal(names(7), [f"{DEPLOYMENT}_node2"], "it did run on")
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        equal(names(7), [], "the next stop removes it")

    @suite.case
    def stop_force_removes_by_name_without_profile_lock_or_label():
        for number in (6, 7):
            lab.node(number, "docker", "run", "-d", "--name", "stray_node1", "lmsysorg/sglang:kimi-k3", "sleep", "600").exits(0)
            lab.node(number, "docker", "run", "-d", "--name", "other", "lmsysorg/sglang:kimi-k3", "sleep", "600").exits(0)
        done = lab.operator(sskj, "stop", "--force", "-l", "174.1.60.[6-7]", "--name", "stray_*", "--yes", timeout=200)
        equal(done.status, 0, f"exit code\n{done.err[-2000:]}")
        for number in (6, 7):
            equal(names(number), ["other"], f"node {number}: only what the pattern names")
            lab.node(number, "docker", "rm", "-f", "other").exits(0)

    @suite.case
    def adopt_takes_over_a_container_of_our_name_after_showing_it():
        name = f"{DEPLOYMENT}_node1"
        lab.node(6, "docker", "run", "-d", "--name", name, "lmsysorg/sglang:kimi-k3", "sleep", "600").exits(0)
        try:
            refused = lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(3)
            contains(refused.err, name, "it is shown")
            contains(refused.err, "--adopt", "with the flag that takes it over")
            lab.operator(sskj, "start", "-p", PROFILE, "--yes", "--adopt").exits(0)
            label = lab.node(6, "docker", "inspect", "-f", '{{index .Config.Labels "sskj.deployment"}}', name).exits(0).out.strip()
            equal(label, DEPLOYMENT, "the name is ours now")
        finally:
            if "sleep" in lab.node(6, "docker", "inspect", "-f", "{{.Config.Cmd}}", name).out:
                lab.node(6, "docker", "rm", "-f", name)

    @suite.case
    def stop_after_gc():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
