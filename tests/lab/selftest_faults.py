"""Each fault of the lab: (name, argument, shows, is gone), the latter two as questions to node 6; see selftest_parts.fault_check."""
import json

MODEL = "/data/hf_models/Kimi-K3"
IMAGE = "lmsysorg/sglang:kimi-k3"
SMI = ("nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits")


def says(text, *argv):
    """The command's output, errors included, has that text."""
    def question(node, _):
        done = node(6, *argv)
        return text in done.stdout + done.stderr
    return question


def not_(question):
    return lambda node, ssh: not question(node, ssh)


def succeeds(*argv):
    return lambda node, _: node(6, *argv).returncode == 0


def ssh_works(node, ssh):
    return ssh("174.1.60.6", "true").returncode == 0


def engine(seconds, *extra, reach=None, then=None, text=None):
    """Runs a small engine of one node (8 ranks) on node 6 for so long; whether its log has the text, or curl of the path (with a body) has it."""
    def question(node, _):
        patch = "sed -i 's/major >= 10$/major == 10/' /usr/local/lib/python3*/dist-packages/sglang/srt/layers/attn_residual.py"
        node(6, "docker", "rm", "-f", "engine")
        node(6, "docker", "run", "-d", "--name", "engine", "--network", "host", "--gpus", "all", "--init", "--mount", f"type=bind,source={MODEL},target={MODEL},readonly", IMAGE,
             "bash", "-c", patch + ' && exec "$@"', "sskj", "python3", "-m", "sglang.launch_server", "--model-path", MODEL, "--served-model-name", "k", "--tp", "8",
             "--host", "0.0.0.0", *extra, check=True)
        try:
            script = f"end=$((SECONDS + {seconds})); until docker logs engine 2>&1 | grep -q -e 'ready to roll' -e 'kill_process_tree called' || ! docker top engine >/dev/null 2>&1; do [ $SECONDS -lt $end ] || break; sleep 0.2; done"
            node(6, "bash", "-c", script)
            if then:
                return text in node(6, "bash", "-c", then).stdout
            if reach:
                body = json.dumps({"messages": [{"role": "user", "content": "23*47?"}]})
                extra_args = ["-d", body] if "chat" in reach else []
                done = node(6, "curl", "-s", "-m", "5", "-w", "%{http_code}", *extra_args, "http://127.0.0.1:30000" + reach)
                return text in done.stdout
            done = node(6, "docker", "logs", "engine")
            return text in done.stdout + done.stderr
        finally:
            node(6, "docker", "rm", "-f", "engine")
    return question


def image_id(node):
    return node(6, "docker", "image", "inspect", "-f", "{{.Id}}", IMAGE).stdout, node(5, "docker", "image", "inspect", "-f", "{{.Id}}", IMAGE).stdout


def same_image(node, _):
    mine, other = image_id(node)
    return mine == other != ""


def stop_seconds(node, _):
    engine_args = ("--model-path", MODEL, "--tp", "8", "--host", "0.0.0.0")
    patch = "sed -i 's/major >= 10$/major == 10/' /usr/local/lib/python3*/dist-packages/sglang/srt/layers/attn_residual.py"
    node(6, "docker", "run", "-d", "--name", "engine", "--network", "host", "--gpus", "all", "--init", "--mount", f"type=bind,source={MODEL},target={MODEL},readonly", IMAGE,
         "bash", "-c", patch + ' && exec "$@"', "sskj", "python3", "-m", "sglang.launch_server", *engine_args, "--served-model-name", "k", check=True)
    try:
        node(6, "bash", "-c", "for i in $(seq 100); do docker logs engine 2>&1 | grep -q 'ready to roll' && break; sleep 0.2; done")
        done = node(6, "bash", "-c", "s=$(date +%s%N); docker stop -t 5 engine >/dev/null; e=$(date +%s%N); echo $(( (e - s) / 1000000 ))", check=True)
        return int(done.stdout) / 1000
    finally:
        node(6, "docker", "rm", "-f", "engine")


def gpu_used(node, _):
    return max(int(n) for n in node(6, *SMI).stdout.split())


def loads(text):
    return engine(20, text=text)


READY = engine(20, text="ready to roll")
CHAT = engine(20, reach="/v1/chat/completions", text="1081")
SHARD = f"{MODEL}/model-00017-of-000096.safetensors"
SAME_SHARD = succeeds("test", "-s", SHARD)

FAULTS = [
    ("engine-exit", "kv:M4", engine(20, text="torch.OutOfMemoryError: CUDA out of memory"), READY),
    ("engine-hang", "graphs", not_(engine(6, text="graph end")), READY),
    ("engine-slow", "5", not_(engine(5, text="ready to roll")), READY),
    ("engine-die", "schedulers", engine(20, then="for i in $(seq 60); do pgrep -f '[s]glang::scheduler' >/dev/null || break; sleep 0.2; done; ! pgrep -f '[s]glang::scheduler' >/dev/null && curl -s -m 5 -w '%{http_code}' http://127.0.0.1:30000/ping", text="200"), READY),
    ("wrong-answer", None, engine(20, reach="/v1/chat/completions", text="1082"), CHAT),
    ("comma-answer", None, engine(20, reach="/v1/chat/completions", text="1,081"), CHAT),
    ("health-503", None, engine(20, reach="/health", text="503"), engine(20, reach="/health", text="200")),
    ("slow-stop", "3", lambda n, s: stop_seconds(n, s) > 3, lambda n, s: stop_seconds(n, s) < 3),
    ("ignore-sigterm", None, lambda n, s: stop_seconds(n, s) > 5, lambda n, s: stop_seconds(n, s) < 3),
    ("gpu-held", "0,1", lambda n, s: gpu_used(n, s) == 40960 and "python3" in n(6, "nvidia-smi", "--query-compute-apps=name", "--format=csv,noheader").stdout
     and loads("The memory capacity is unbalanced")(n, s), lambda n, s: gpu_used(n, s) == 0),
    ("gpu-held-ghost", None, lambda n, s: gpu_used(n, s) == 40960 and n(6, "nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader").stdout == "",
     lambda n, s: gpu_used(n, s) == 0),
    ("gpu-missing", None, lambda n, s: n(6, "nvidia-smi", "-L").stdout.count("GPU ") == 7 and loads("invalid device ordinal")(n, s),
     lambda n, s: n(6, "nvidia-smi", "-L").stdout.count("(UUID") == 8),
    ("driver-mismatch", None, says("Driver/library version mismatch", "nvidia-smi"), succeeds("nvidia-smi")),
    ("gpu-runtime-gone", None, says("could not select device driver", "docker", "run", "--rm", "--gpus", "all", "--network", "host", IMAGE, "true"),
     succeeds("docker", "run", "--rm", "--gpus", "all", "--network", "host", IMAGE, "true")),
    ("link-down", None, lambda n, s: not ssh_works(n, s), ssh_works),
    ("link-slow", "8mbit", says("rate 8Mbit", "tc", "qdisc", "show", "dev", "bond1"), not_(says("rate 8Mbit", "tc", "qdisc", "show", "dev", "bond1"))),
    ("sshd-stop", None, lambda n, s: not ssh_works(n, s), ssh_works),
    ("host-key-changed", None, lambda n, s: "REMOTE HOST IDENTIFICATION HAS CHANGED" in s("174.1.60.6", "true", "-o", "HostKeyAlgorithms=ssh-ed25519").stderr,
     lambda n, s: s("174.1.60.6", "true", "-o", "HostKeyAlgorithms=ssh-ed25519").returncode == 0),
    ("no-forwarding", None, lambda n, s: "administratively prohibited" in s("174.1.60.6", "", "-W", "127.0.0.1:22", text="").stderr, ssh_works),
    ("docker-dead", None, says("Cannot connect to the Docker daemon", "docker", "ps"), succeeds("docker", "ps")),
    ("docker-hang", None, lambda n, s: n(6, "timeout", "3", "docker", "ps").returncode == 124, succeeds("docker", "ps")),
    ("port-busy", "30000", loads("error while attempting to bind on address ('0.0.0.0', 30000)"), READY),
    ("image-gone", None, says("No such image", "docker", "image", "inspect", IMAGE), same_image),
    ("image-other", None, lambda n, s: not same_image(n, s) and "" not in image_id(n), same_image),
    ("foreign-container", "kimi3_pro6000_sglang_tp32ep32_node1", says("kimi3_pro6000_sglang_tp32ep32_node1", "docker", "ps"), not_(says("kimi3_pro6000", "docker", "ps", "-a"))),
    ("shard-missing", None, lambda n, s: not SAME_SHARD(n, s) and loads("references 1 shard file(s) missing")(n, s), SAME_SHARD),
    ("shard-truncated", "17", loads("MetadataIncompleteBuffer"), READY),
    ("shard-header", "17", loads("HeaderTooLarge"), READY),
    ("index-gone", None, not_(succeeds("test", "-e", f"{MODEL}/model.safetensors.index.json")), succeeds("test", "-s", f"{MODEL}/model.safetensors.index.json")),
    ("data-full", None, lambda n, s: "No space left" in n(6, "dd", "if=/dev/zero", "of=/data/more", "bs=64k", "count=1").stderr and SAME_SHARD(n, s),
     lambda n, s: n(6, "bash", "-c", "dd if=/dev/zero of=/data/more bs=64k count=1 && rm /data/more").returncode == 0 and SAME_SHARD(n, s)),
    ("roce-down", None, says("1: DOWN", "cat", "/sys/class/infiniband/mlx5_1/ports/1/state"), says("4: ACTIVE", "cat", "/sys/class/infiniband/mlx5_1/ports/1/state")),
    ("rdma-dev-gone", None, says("error gathering device information", "docker", "run", "--rm", "--network", "host", "--device=/dev/infiniband", IMAGE, "true"),
     succeeds("docker", "run", "--rm", "--network", "host", "--device=/dev/infiniband", IMAGE, "true")),
]
