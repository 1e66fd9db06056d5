"""What the checks of tests/lab/selftest are written with: the lab's commands, ssh, HTTP, the engine, the machine's state."""
import json
import os
import shlex
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(HERE, "lab")
NODES = (5, 6, 7, 8)
NAME = "kimi3_pro6000_sglang_tp32ep32_node"
MODEL = "/data/hf_models/Kimi-K3"
IMAGE = "lmsysorg/sglang:kimi-k3"
GATE = "/usr/local/lib/python3*/dist-packages/sglang/srt/layers/attn_residual.py"
PATCH = f"sed -i 's/major >= 10$/major == 10/' {GATE}"
NASTY = ["two words", "'single'", '"double"', "$HOME", "`id`", ";", '{"a": 1}', "{{ .ID }}", "ünï", "line\nbreak", "\\", "*", ""]


def run(*argv, timeout=60, text=None, check=False, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout, input=text, text=True, **options)
    if check:
        assert done.returncode == 0, f"{shlex.join(argv[:8])}: exit {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return done


def lab(*argv, **options):
    return run(LAB, *argv, **options)


def operator(*argv, **options):
    return lab("run", "--", *argv, **options)


def node(i, *argv, **options):
    return lab("node", str(i), "--", *argv, **options)


def shell(i, script, **options):
    return node(i, "bash", "-c", script, **options)


def ssh(target, command, *options, **more):
    return operator("ssh", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o", "ConnectTimeout=5", *options, target, command, **more)


def equal(got, wanted):
    assert got == wanted, f"wanted {wanted!r}, got {got!r}"


def contains(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in: {text[-1500:]}"


def eventually(seconds, what, question):
    end = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.2)


def http(url, body=None, *options, timeout=30):
    """(status, body) by curl on the operator's side; (0, '') when refused."""
    data = ("-d", json.dumps(body)) if body is not None else ()
    done = operator("curl", "-s", "-m", str(timeout), "-w", "\n%{http_code}", *options, *data, url, timeout=timeout + 10)
    text, _, code = done.stdout.rpartition("\n")
    return int(code or 0), text


def engine_command(rank, *extra, patch=PATCH, name=None, nnodes=4, tp=32):
    bootstrap = (patch + " && " if patch else "") + 'exec "$@"'
    return ["docker", "run", "-d", "--name", name or f"{NAME}{rank}", "--network", "host", "--ipc=host", "--shm-size=32g", "--ulimit", "memlock=-1",
            "--ulimit", "stack=67108864", "--device=/dev/infiniband", "--cap-add=IPC_LOCK", "--gpus", "all", "--init",
            "--mount", f"type=bind,source={MODEL},target={MODEL},readonly", "-e", "NCCL_SOCKET_IFNAME=bond1", IMAGE,
            "bash", "-c", bootstrap, "sskj", "python3", "-m", "sglang.launch_server", "--model-path", MODEL, "--served-model-name", "kimi-k3",
            "--tp-size", str(tp), "--ep-size", str(tp), "--nnodes", str(nnodes), "--node-rank", str(rank), "--dist-init-addr", "174.1.60.5:20000",
            "--host", "0.0.0.0", "--port", "30000", "--trust-remote-code", "--reasoning-parser", "kimi_k3", "--tool-call-parser", "kimi_k3",
            "--enable-metrics", *extra]


def start(ranks=(0, 1, 2, 3), *extra, **options):
    remove_all()
    jobs = [subprocess.Popen([LAB, "node", str(NODES[r]), "--", *engine_command(r, *extra, **options)], stdout=subprocess.DEVNULL) for r in ranks]
    for job in jobs:
        equal(job.wait(60), 0)


def remove_all():
    jobs = [subprocess.Popen([LAB, "node", str(i), "--", "bash", "-c", "docker ps -aq | xargs -r docker rm -f"], stdout=subprocess.DEVNULL) for i in NODES]
    for job in jobs:
        job.wait(60)


def logs(rank):
    """Both streams, carriage returns kept."""
    done = subprocess.run([LAB, "node", str(NODES[rank]), "--", "docker", "logs", f"{NAME}{rank}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30)
    return (done.stdout + done.stderr).decode()


def running(rank):
    return node(NODES[rank], "docker", "inspect", "-f", "{{.State.Running}}", f"{NAME}{rank}").stdout.strip() == "true"


def wait_ready(seconds=30):
    eventually(seconds, "/health 200", lambda: http("http://174.1.60.5:30000/health")[0] == 200)


def ensure_service():
    if not all(running(r) for r in range(4)):
        start()
    wait_ready()


def machine_state():
    """What 'down' must leave as it was: links, mounts and cgroups of the machine."""
    links = {line.split(":")[1].strip() for line in run("ip", "-o", "link").stdout.splitlines()}
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        mounts = sorted(line.split()[4] for line in f if "sskj-lab" in line)
    return {"links": links, "mounts": mounts}


def our_cgroups():
    tag = run("bash", "-c", 'printf %s "$SSKJ_LAB_DIR" | sha256sum | cut -c1-8').stdout.strip()
    return run("find", "/sys/fs/cgroup", "-type", "d", "-name", f"sskj-lab-{tag}*").stdout.split()


def namespaces():
    """Namespaces of the lab's processes, to look for after it is down."""
    found = set()
    for i in ["operator.pid"] + [f"nodes/{n}/pid" for n in NODES]:
        with open(os.path.join(os.environ["SSKJ_LAB_DIR"], i), encoding="utf-8") as f:
            pid = f.read().split()[0]
        found |= {os.readlink(f"/proc/{pid}/ns/{kind}") for kind in ("net", "mnt", "pid_for_children", "uts")}
    own = {os.readlink(f"/proc/self/ns/{kind}") for kind in ("net", "mnt", "pid", "uts")}
    return found - own


def namespaces_alive(wanted):
    alive = set()
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            for kind in ("net", "mnt", "pid", "uts"):
                try:
                    alive.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
                except OSError:
                    pass
    return alive & wanted
