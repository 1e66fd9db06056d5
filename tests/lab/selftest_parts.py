"""The checks of tests/lab/selftest, in the order in which they run."""
import json
import os
import shlex
import signal
import subprocess
import time

from selftest_faults import FAULTS
from selftest_tools import (
    IMAGE, LAB, MODEL, NAME, NASTY, run, lab, operator, node, shell, ssh, equal, contains, eventually, http, start, remove_all, logs, running,
    wait_ready, ensure_service, machine_state, our_cgroups, namespaces, namespaces_alive)


def always_up():
    lab("down", check=True)
    begin = time.monotonic()
    lab("up", "--nodes", "4", timeout=300, check=True)
    took = time.monotonic() - begin
    assert took < 60, f"4 nodes took {took:.0f} s"


def up_again_changes_nothing():
    pids = shell(5, "pgrep -x dockerd").stdout
    contains(lab("up", check=True).stderr, "already up")
    equal(shell(5, "pgrep -x dockerd").stdout, pids)


def status_is_whole():
    done = lab("status", check=True)
    equal(done.stdout.count("sshd=yes dockerd=yes image=sha256:"), 4)
    equal(len({line.split("image=")[1].split()[0] for line in done.stdout.splitlines() if "image=" in line}), 1)


def run_passes_things_through():
    equal(operator("sh", "-c", "exit 37").returncode, 37)
    equal(operator("cat", text="through\n").stdout, "through\n")
    equal(operator("pwd", cwd="/usr").stdout, "/usr\n")
    equal(operator("sh", "-c", 'echo "$HELLO:$SSKJ_LAB_OPERATOR_DIR"', env={**os.environ, "HELLO": "a b"}).stdout, f"a b:{os.environ['SSKJ_LAB_DIR']}/operator\n")
    contains(operator("ip", "-br", "addr").stdout, "174.1.60.254/24", "10.60.0.254/24", "127.0.0.1/8")
    equal(sorted(operator("ls", os.path.expanduser("~root/.ssh")).stdout.split()), ["config", "id_ed25519", "id_ed25519.pub", "known_hosts"])


def node_passes_things_through():
    equal(node(6, "sh", "-c", "exit 38").returncode, 38)
    equal(node(6, "cat", text="through\n").stdout, "through\n")
    equal(node(6, "hostname").stdout, "6000D-6\n")
    equal(node(6, "printf", "<%s>", *NASTY).stdout, "".join(f"<{a}>" for a in NASTY))
    contains(node(6, "ip", "-br", "addr").stdout, "174.1.60.6/24", "10.60.0.6/24")


def a_terminal_passes_through():
    done = run("script", "-qec", f"{LAB} run -- ssh -t 174.1.60.5 tty", "/dev/null", text="")
    contains(done.stdout, "/dev/pts/")


def accounts_have_their_rights():
    table = {"root": (0, 0), "ops": (1, 0), "dock": (0, 1), "plain": (1, 1)}
    for user, (docker, sudo) in table.items():
        got = ssh(f"{user}@174.1.60.7", "docker ps >/dev/null 2>&1; echo $?; sudo -n true 2>/dev/null; echo $?", check=True).stdout.split()
        equal((user, min(1, int(got[0])), min(1, int(got[1]))), (user, docker, sudo))


def nodes_do_not_trust_each_other():
    done = shell(5, "ssh -o BatchMode=yes -o StrictHostKeyChecking=no root@174.1.60.6 true")
    equal(done.returncode, 255)
    contains(done.stderr, "Permission denied")
    contains(shell(5, "exec 3<>/dev/tcp/174.1.60.6/22; head -1 <&3").stdout, "SSH-2.0")


def nodes_have_their_own_files():
    for place in ("/data", "/tmp", "/run", "/var/lib/sskj", "/etc"):
        shell(5, f"echo 5 > {place}/selftest", check=True)
        equal(node(6, "test", "-e", f"{place}/selftest").returncode, 1)
        assert not os.path.exists(f"{place}/selftest"), f"{place} of the machine was written"
        shell(5, f"rm {place}/selftest", check=True)
    shell(5, f"echo x >> {MODEL}/config.json", check=True)
    assert shell(5, f"cksum < {MODEL}/config.json").stdout != shell(6, f"cksum < {MODEL}/config.json").stdout
    shell(5, f"sed -i '$d' {MODEL}/config.json", check=True)
    equal(shell(5, f"cksum < {MODEL}/config.json").stdout, shell(6, f"cksum < {MODEL}/config.json").stdout)


def manual_commands_work():
    for command, wanted in (("nvidia-smi --query-gpu=index,memory.used --format=csv,noheader", "".join(f"{i}, 0 MiB\n" for i in range(8))),
                            ("cat /sys/class/infiniband/mlx5_*/ports/1/link_layer", "Ethernet\n" * 4),
                            ("cat /sys/class/infiniband/mlx5_*/ports/1/state", "4: ACTIVE\n" * 4),
                            (f"ls {MODEL}/*.safetensors | wc -l", "96\n"),
                            (f"docker images {IMAGE} --format '{{{{.Repository}}}}:{{{{.Tag}}}}'", IMAGE + "\n")):
        equal(ssh("174.1.60.5", command, check=True).stdout, wanted)


def weights_agree_with_their_index():
    script = """
import json, os, struct, sys
d = sys.argv[1]
index = json.load(open(d + "/model.safetensors.index.json"))
total = 0
for name in sorted(set(index["weight_map"].values())):
    with open(os.path.join(d, name), "rb") as f:
        n, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(n))
    end = max(t["data_offsets"][1] for k, t in header.items() if k != "__metadata__")
    assert os.path.getsize(os.path.join(d, name)) == 8 + n + end, name
    assert all(index["weight_map"][k] == name for k in header if k != "__metadata__"), name
    total += end
print(len(set(index["weight_map"].values())), total == index["metadata"]["total_size"])
"""
    equal(node(8, "python3", "-c", script, MODEL, check=True).stdout, "96 True\n")


def argv_survives_docker():
    command = ["docker", "run", "-d", "--name", "quoting", "--network", "host", "-e", "ODD=" + NASTY[9] + "'\"$X", IMAGE, "sleep", "60", *NASTY]
    ssh("174.1.60.5", shlex.join(command), check=True)
    seen = json.loads(node(5, "docker", "inspect", "quoting", check=True).stdout)[0]
    node(5, "docker", "rm", "-f", "quoting", check=True)
    equal(seen["Config"]["Cmd"], ["sleep", "60", *NASTY])
    contains(seen["Config"]["Env"], "ODD=" + NASTY[9] + "'\"$X", "SGLANG_IMAGE_BUILD=kimi-k3-standin")


def production_flags_show_in_inspect():
    start()
    seen = json.loads(node(6, "docker", "inspect", f"{NAME}1", check=True).stdout)[0]
    host = seen["HostConfig"]
    equal({u["Name"]: (u["Soft"], u["Hard"]) for u in host["Ulimits"]}, {"memlock": (-1, -1), "stack": (67108864, 67108864)})
    equal([d["PathOnHost"] for d in host["Devices"]], ["/dev/infiniband"])
    equal((host["NetworkMode"], host["IpcMode"], host["ShmSize"], host["CapAdd"], host["Init"]), ("host", "host", 32 << 30, ["IPC_LOCK"], True))
    equal(host["DeviceRequests"][0]["Capabilities"], [["gpu"]])
    assert seen["Config"]["Cmd"][:2] == ["bash", "-c"], seen["Config"]["Cmd"]


def workers_answer_once_they_are_ready():
    start()
    equal(http("http://174.1.60.7:30000/health")[0], 0)
    wait_ready()
    eventually(10, "the dummy health of a worker", lambda: http("http://174.1.60.7:30000/health") == (200, ""))
    equal(http("http://174.1.60.7:30000/v1/models")[0], 404)


def the_service_answers():
    ensure_service()
    status, text = http("http://174.1.60.5:30000/v1/models")
    equal((status, json.loads(text)["data"][0]["id"]), (200, "kimi-k3"))
    body = {"model": "kimi-k3", "messages": [{"role": "user", "content": "What is 23*47? Answer briefly."}], "max_tokens": 128, "temperature": 0.1}
    choice = json.loads(http("http://174.1.60.5:30000/v1/chat/completions", body)[1])["choices"][0]
    contains(choice["message"]["content"], "1081")
    equal(choice["finish_reason"], "stop")
    equal(http("http://174.1.60.5:30000/health"), (200, ""))


def gpus_are_used_and_devices_reach_the_container():
    ensure_service()
    used = node(6, "nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits").stdout.split()
    assert len(used) == 8 and all(int(u) > 70000 for u in used), used
    apps = node(6, "nvidia-smi", "--query-compute-apps=process_name", "--format=csv,noheader").stdout.split()
    equal(sorted(apps), sorted(f"sglang::scheduler_TP{n}_EP{n}" for n in range(8, 16)))
    inside = node(6, "docker", "exec", f"{NAME}1", "ls", "/dev/infiniband", "/sys/class/infiniband", check=True).stdout
    contains(inside, "uverbs3", "rdma_cm", "mlx5_0")


def phases_are_logged():
    ensure_service()
    master = logs(0)
    contains(master, "server_args=ServerArgs(", "Init torch distributed begin.", "sglang is using nccl==", "Init torch distributed ends. elapsed=",
             "Load weight begin. avail mem=", "\rMulti-thread loading shards: 100% Completed | 96/96", "Precompiled the Kimi-K3 KDA prefill kernel.",
             "Load weight end. elapsed=", "Mamba Cache is allocated.", "KV Cache is allocated. dtype:", "Memory pool end. avail mem=",
             "Capture target decode CUDA graph begin. backend=", "\rCapturing batches (bs=", "CUDA graph end. elapsed=", "max_total_num_tokens=",
             "Engine startup timings (s): load_weight=", "Application startup complete.", "Uvicorn running on http://", "The server is fired up and ready to roll!")
    worker = logs(2)
    contains(worker, " TP16 EP16] Init torch distributed begin.", " TP23 EP23] Capture target decode CUDA graph end.")
    for absent in ("Multi-thread", "fired up", "max_total_num_tokens", "Uvicorn"):
        assert absent not in worker, absent


def a_dead_rank_takes_the_world_down():
    ensure_service()
    shell(7, "kill -9 $(pgrep -f '[s]glang::scheduler_TP19_EP19')", check=True)
    eventually(15, "all containers ended", lambda: not any(running(r) for r in range(4)))
    contains(logs(2), "crashed with exit code -9", "Received sigquit from a child process")
    contains(logs(1), "Connection closed by peer [174.1.60.7]", "ncclRemoteError")
    equal(set(node(6, "nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader").stdout.split("\n")) - {""}, {"0 MiB"})
    remove_all()


def unpatched_start_fails_as_in_the_field():
    start(patch=None)
    eventually(20, "rank 0 ended", lambda: not running(0))
    contains(logs(0), "ptxas", "tcgen05", "requires .target", "Scheduler hit an exception: Traceback")
    remove_all()


def a_missing_rank_hangs_the_others():
    start((0, 1, 2), "--dist-timeout", "6")
    time.sleep(3)
    equal([running(r) for r in range(3)], [True] * 3)
    equal(http("http://174.1.60.5:30000/health")[0], 0)
    text = logs(0)
    contains(text, "Init torch distributed begin.")
    assert "torch distributed ends" not in text
    eventually(20, "the time-out", lambda: not running(0))
    contains(logs(0), "DistStoreError: Timed out after 7 seconds waiting for clients. 24/32 clients joined.")
    remove_all()


def unknown_flags_are_refused():
    done = node(5, "docker", "run", "--rm", "--network", "host", IMAGE, "python3", "-m", "sglang.launch_server", "--model-path", MODEL, "--no-such-flag")
    equal(done.returncode, 2)
    contains(done.stderr, "unrecognized arguments: --no-such-flag")


def stop_drains():
    start()
    wait_ready()
    begin = time.monotonic()
    node(5, "docker", "stop", f"{NAME}0", check=True)
    assert time.monotonic() - begin < 8, "the engine had to be killed"
    contains(logs(0), "Gracefully exiting... Remaining number of requests 0")
    remove_all()


def a_killed_up_is_cleaned():
    lab("down", check=True)
    job = subprocess.Popen([LAB, "up", "--nodes", "4"], stderr=subprocess.DEVNULL, start_new_session=True)
    eventually(60, "the first node's directory", lambda: os.path.exists(os.environ["SSKJ_LAB_DIR"] + "/nodes/5"))
    time.sleep(0.5)
    job.kill()  # its node starts go on as orphans; down has to wait for them
    job.wait()
    contains(lab("down", check=True).stderr, "no process, namespace, mount, link or cgroup")
    equal((os.path.exists(os.environ["SSKJ_LAB_DIR"]), our_cgroups()), (False, []))


def an_interrupted_up_cleans_itself():
    job = subprocess.Popen([LAB, "up", "--nodes", "4"], stderr=subprocess.PIPE, text=True)
    eventually(60, "the first node's directory", lambda: os.path.exists(os.environ["SSKJ_LAB_DIR"] + "/nodes/5"))
    time.sleep(0.5)
    job.send_signal(signal.SIGINT)
    _, said = job.communicate(timeout=60)
    equal(job.returncode, 130)
    contains(said, "interrupted", "no process, namespace, mount, link or cgroup")
    equal(os.path.exists(os.environ["SSKJ_LAB_DIR"]), False)


def eight_nodes_in_a_minute_beside_another_lab():
    other = {**os.environ, "SSKJ_LAB_DIR": os.environ["SSKJ_LAB_DIR"] + "-second"}
    begin = time.monotonic()
    lab("up", "--nodes", "8", timeout=300, check=True)
    took = time.monotonic() - begin
    try:
        lab("up", "--nodes", "1", timeout=120, check=True, env=other)
        equal(lab("status", env=other).returncode, 0)
        equal(lab("node", "5", "--", "hostname", env=other).stdout, "6000D-5\n")
    finally:
        lab("down", env=other)
    equal(lab("status").stdout.count("sshd=yes dockerd=yes"), 8)
    assert took <= 60, f"{took:.0f} s"


def down_leaves_nothing(before):
    def always_down():
        lab("up", "--nodes", "4", timeout=300, check=True)
        held = namespaces()
        assert len(held) >= 9, held
        subprocess.Popen([LAB, "run", "--", "sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        node(5, "docker", "run", "-d", "--network", "host", IMAGE, "sleep", "600", check=True)
        time.sleep(0.3)
        contains(lab("down", check=True).stderr, "no process, namespace, mount, link or cgroup")
        after = machine_state()
        equal(after["links"] - before["links"], set())
        equal([m for m in after["mounts"] if os.environ["SSKJ_LAB_DIR"] in m], [])
        equal(our_cgroups(), [])
        equal(namespaces_alive(held), set())
        equal(os.path.exists(os.environ["SSKJ_LAB_DIR"]), False)
        equal(lab("status").returncode, 3)
    return always_down


def fault_check(name, argument, broken, healed):
    def check():
        try:
            lab("fault", name, "6", *([argument] if argument else []), check=True, timeout=120)
            contains(lab("status").stdout, f"faults={name}")
            assert broken(node, ssh), "the fault does not show"
        finally:
            lab("heal", "6", check=True, timeout=120)
        assert healed(node, ssh), "healing does not show"
        equal(lab("status").returncode, 0)
    return check


def all_checks(before):
    rows = [always_up, up_again_changes_nothing, status_is_whole, run_passes_things_through, node_passes_things_through, a_terminal_passes_through,
            accounts_have_their_rights, nodes_do_not_trust_each_other, nodes_have_their_own_files, manual_commands_work,
            weights_agree_with_their_index, argv_survives_docker, production_flags_show_in_inspect, workers_answer_once_they_are_ready,
            the_service_answers, gpus_are_used_and_devices_reach_the_container, phases_are_logged, a_dead_rank_takes_the_world_down,
            unpatched_start_fails_as_in_the_field, a_missing_rank_hangs_the_others, unknown_flags_are_refused, stop_drains]
    checks = [(f.__name__, f) for f in rows]
    checks += [(f"fault_{name}", fault_check(name, argument, broken, healed)) for name, argument, broken, healed in FAULTS]
    checks += [(f.__name__, f) for f in (every_fault_is_checked, a_killed_up_is_cleaned, an_interrupted_up_cleans_itself, eight_nodes_in_a_minute_beside_another_lab)]
    return checks + [("down_leaves_nothing", down_leaves_nothing(before))]


def every_fault_is_checked():
    listed = {line.split()[0] for line in lab("faults").stdout.splitlines()}
    equal(listed - {row[0] for row in FAULTS}, set())
