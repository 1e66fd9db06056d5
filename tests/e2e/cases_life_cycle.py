"""start, status, logs, exec, restart, stop with the shipped profile, as an operator would."""
import json
import time

from harness import check, contains, equal

PROFILE = "kimi3_tp32ep32"
DEPLOYMENT = "kimi3_pro6000_sglang_tp32ep32"
NODES = [5, 6, 7, 8]


def inspect(lab, number, name):
    return lab.node(number, "docker", "inspect", name).exits(0).json()[0]


def image_env(lab, number):
    return lab.node(number, "docker", "image", "inspect", "lmsysorg/sglang:kimi-k3").exits(0).json()[0]["Config"]["Env"] or []


def wanted_specs(lab, sskj, profile):
    """What the plan says each container must be: `profile show --resolved --json` has the container specs."""
    shown = lab.operator(sskj, "profile", "show", "-p", profile, "--json").exits(0).json()
    return [rank for group in shown["deployment"]["groups"] for rank in group["ranks"]]


def compare_container(lab, spec, have, node):
    want = spec["spec"]
    equal(have["Name"], "/" + want["name"], "container name")
    equal(have["Config"]["Cmd"], want["command"], f"{node}: argv byte for byte")
    equal(have["Path"], want["command"][0], f"{node}: program")
    equal(have["Args"], want["command"][1:], f"{node}: arguments")
    plan_env = [f"{one['name']}={one['value']}" for one in want["env"]]
    names = {one["name"] for one in want["env"]}
    own = [one for one in image_env(lab, node) if one.split("=", 1)[0] not in names]
    equal(sorted(have["Config"]["Env"]), sorted(plan_env + own), f"{node}: env = the plan's plus exactly the image's own")
    mounts = {(m["Source"], m["Destination"], not m["RW"]) for m in have["Mounts"] if m["Type"] == "bind"}
    equal(mounts, {(m["source"], m["target"], m["read_only"]) for m in want["mounts"]}, f"{node}: mounts")
    equal({(u["Name"], u["Soft"], u["Hard"]) for u in have["HostConfig"]["Ulimits"]}, {(u["name"], u["soft"], u["hard"]) for u in want["ulimits"]}, f"{node}: ulimits")
    equal(have["HostConfig"]["RestartPolicy"]["Name"] in ("", "no"), True, f"{node}: no restart policy")
    equal(have["HostConfig"]["NetworkMode"], want["network"], f"{node}: network")
    equal(have["HostConfig"]["IpcMode"], want["ipc"], f"{node}: ipc")
    equal(have["HostConfig"]["Init"], want["init"], f"{node}: init")
    for key, value in want["labels"]:
        equal(have["Config"]["Labels"].get(key), value, f"{node}: label {key}")
    for key in ("sskj.plan", "sskj.run"):
        check(have["Config"]["Labels"].get(key), f"{node}: label {key} is set")


def register(suite, lab, sskj):
    ids = {}

    def containers(number):
        return sorted(lab.node(number, "docker", "ps", "-a", "--format", "{{.Names}}").exits(0).out.split())

    @suite.case
    def status_before_start_is_absent():
        done = lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(5)
        equal(done.json()["state"], "absent", "state")
        text = lab.operator(sskj, "status", "-p", PROFILE).exits(5)
        contains(text.out, "absent", "text")

    @suite.case
    def start_is_ready_warm_and_correct():
        done = lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)
        for word in ("ready", "warm", "correct"):
            contains(done.out + done.err, word, "the three words")
        check("\x1b" not in done.err and "\r" not in done.err, "no terminal sequences where there is no terminal")
        last = [line for line in (done.out + done.err).splitlines() if line.strip()][-1]
        contains(last, "4 ok", "the last line counts the nodes")

    @suite.case
    def containers_are_what_the_plan_says():
        ranks = wanted_specs(lab, sskj, PROFILE)
        equal(len(ranks), 4, "ranks")
        for rank, number in zip(ranks, NODES):
            have = inspect(lab, number, rank["spec"]["name"])
            compare_container(lab, rank, have, number)
            ids[number] = have["Id"]

    @suite.case
    def status_while_it_runs_is_ready():
        document = lab.operator(sskj, "status", "-p", "pro6000/kimi3_pro6000_sglang_tp32ep32", "--json").exits(0).json()
        equal(document["state"], "ready", "state")
        equal([rank["state"] for rank in document["groups"][0]["ranks"]], ["running"] * 4, "ranks")
        equal([rank["health"] for rank in document["groups"][0]["ranks"]], ["ok"] * 4, "health")
        equal([rank["diff"] for rank in document["groups"][0]["ranks"]], [[]] * 4, "no difference between wanted and running")
        contains(lab.operator(sskj, "status", "-p", PROFILE).exits(0).out, "ready", "text")

    @suite.case
    def logs_and_exec_reach_every_rank():
        logs = lab.operator(sskj, "logs", "-p", PROFILE, "--tail", "all").exits(0)
        contains(logs.out, "The server is fired up and ready to roll!", "rank 0's log")
        one = lab.operator(sskj, "logs", "-p", PROFILE, "--rank", "2", "--tail", "5").exits(0)
        check(len(one.out.splitlines()) <= 6, f"--rank and --tail bound the output: {one.out}")
        folded = lab.operator(sskj, "exec", "-p", PROFILE, "--", "echo", "same").exits(0)
        contains(folded.out, "174.1.60.[5-8]", "equal output is folded")
        failed = lab.operator(sskj, "exec", "-p", PROFILE, "-l", "174.1.60.6", "--", "sh", "-c", "exit 7").exits(1)
        contains(failed.out + failed.err, "7", "the exit status is named")

    @suite.case
    def a_followed_log_ends_quietly_with_its_reader():
        piped = lab.operator("bash", "-c", 'timeout 60 "$0" logs -p "$1" -F --tail 50 | head -5; echo "${PIPESTATUS[0]}"', sskj, PROFILE, timeout=120).exits(0)
        lines = piped.out.splitlines()
        equal((len(lines), lines[-1], piped.err), (6, "0", ""), "lines, exit code of logs, stderr")

    @suite.case
    def smoke_and_warmup_alone():
        document = lab.operator(sskj, "smoke", "-p", PROFILE, "--json").exits(0).json()
        equal((document["correct"], document["models_ok"]), (True, True), "smoke")
        lab.operator(sskj, "warmup", "-p", PROFILE).exits(0)

    @suite.case
    def a_second_start_replaces_all():
        lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)
        for rank, number in zip(wanted_specs(lab, sskj, PROFILE), NODES):
            have = inspect(lab, number, rank["spec"]["name"])
            check(have["Id"] != ids.get(number), f"node {number}: a new container")
            equal(containers(number), [rank["spec"]["name"]], f"node {number}: one container")

    @suite.case
    def restart_works_while_it_runs():
        lab.operator(sskj, "restart", "-p", PROFILE, "--yes").exits(0)
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()["state"], "ready", "state")

    @suite.case
    def json_document_adds_up():
        document = lab.operator(sskj, "warmup", "-p", PROFILE, "--json").exits(0).json()
        hosts = document["hosts"]
        equal(sum(value for key, value in hosts.items() if key != "total"), hosts["total"], "host classes add up")
        lines = lab.operator(sskj, "warmup", "-p", PROFILE, "-o", "ndjson").exits(0).out.splitlines()
        check(len(lines) > 3 and all(isinstance(json.loads(line), dict) for line in lines), "one object a line")

    @suite.case
    def status_ends_in_time_when_a_node_is_cut_off():
        lab.fault("link-down", 7)
        try:
            began = time.monotonic()
            done = lab.operator(sskj, "status", "-p", PROFILE, "--json")
            equal(done.status, 4, f"a node could not be asked\n{done.err}")
            check(time.monotonic() - began < 40, "status ends within 30 s and a little")
            check(done.json()["state"] != "ready", "unknown is never ready")
        finally:
            lab.heal(7)

    @suite.case
    def stop_leaves_no_container_and_no_lock():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        for number in NODES:
            equal(containers(number), [], f"node {number}: containers")
            left = lab.node(number, "sh", "-c", "ls -A /var/lib/sskj 2>/dev/null | grep -E 'lock|claim' || true").out.split()
            equal(left, [], f"node {number}: lock and claim")
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(5).json()["state"], "absent", "state")
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
