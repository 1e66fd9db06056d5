"""The command line of sglang.launch_server, as far as the lab's profiles and their neighbours use it. What is not here is refused as
the real one refuses it: exit 2 and 'unrecognized arguments'."""
import argparse
import json

# (names, options); the first long name gives the attribute. Order as in the real parser's groups.
TEXT = [
    ("--tokenizer-path",), ("--tokenizer-mode", "auto"), ("--load-format", "auto"), ("--model-loader-extra-config", "{}"),
    ("--model-checksum",), ("--revision",), ("--dtype", "auto"), ("--quantization",), ("--kv-cache-dtype", "auto"), ("--device", "cuda"),
    ("--served-model-name",), ("--chat-template",), ("--completion-template",), ("--api-key",), ("--admin-api-key",),
    ("--log-level", "info"), ("--log-level-http",), ("--schedule-policy", "fcfs"), ("--nccl-port", None, int),
    ("--attention-backend",), ("--decode-attention-backend",), ("--prefill-attention-backend",), ("--mm-attention-backend",),
    ("--sampling-backend",), ("--grammar-backend",), ("--moe-runner-backend", "auto"), ("--moe-a2a-backend", "none"),
    ("--linear-attn-backend", "triton"), ("--linear-attn-prefill-backend",), ("--linear-attn-decode-backend",), ("--mamba-ssm-dtype",),
    ("--cuda-graph-backend-decode",), ("--cuda-graph-backend-prefill",), ("--reasoning-parser",), ("--tool-call-parser",),
    ("--disaggregation-transfer-backend", "mooncake"), ("--disaggregation-ib-device",), ("--speculative-algorithm",),
    ("--speculative-draft-model-path",), ("--file-storage-path", "sglang_storage"), ("--json-model-override-args", "{}"),
]
NUMBERS = [
    ("--port", 30000), ("--pp-size --pipeline-parallel-size", 1), ("--dp-size --data-parallel-size", 1), ("--ep-size --expert-parallel-size --ep", 1),
    ("--tp-size --tensor-parallel-size --tp", 1), ("--nnodes", 1), ("--node-rank", 0), ("--dist-timeout", None), ("--watchdog-timeout", 300.0, float),
    ("--soft-watchdog-timeout", None, float), ("--mem-fraction-static", None, float), ("--context-length", None), ("--max-running-requests", None),
    ("--max-queued-requests", None), ("--max-total-tokens", None), ("--chunked-prefill-size", None), ("--max-prefill-tokens", 16384), ("--page-size", None),
    ("--random-seed", None), ("--stream-interval", 1), ("--decode-log-interval", 40), ("--cuda-graph-max-bs-decode --cuda-graph-max-bs", None),
    ("--cuda-graph-max-bs-prefill", None), ("--mamba-full-memory-ratio", 0.9, float), ("--max-mamba-cache-size", None), ("--base-gpu-id", 0),
    ("--gpu-id-step", 1), ("--disaggregation-bootstrap-port", 8998), ("--disaggregation-decode-extra-slots", None),
    ("--num-reserved-decode-tokens", 512), ("--speculative-num-steps", None), ("--speculative-eagle-topk", None), ("--speculative-num-draft-tokens", None),
    ("--schedule-conservativeness", 1.0, float), ("--num-continuous-decode-steps", 1), ("--weight-loader-prefetch-num-threads", 4),
    ("--dcp-size", 1), ("--attn-cp-size", 1), ("--moe-dense-tp-size", None), ("--deepep-mode-tokens", None),
]
SWITCHES = [
    "--trust-remote-code", "--skip-tokenizer-init", "--skip-server-warmup", "--enable-metrics", "--enable-cache-report", "--enable-dp-attention",
    "--enable-dp-lm-head", "--disable-radix-cache", "--disable-cuda-graph", "--disable-decode-cuda-graph", "--disable-prefill-cuda-graph",
    "--disable-custom-all-reduce", "--disable-overlap-schedule", "--enable-symm-mem", "--enable-nccl-nvls", "--enable-mixed-chunk",
    "--weight-loader-prefetch-checkpoints", "--weight-loader-disable-mmap", "--log-requests", "--incremental-streaming-output", "--enable-p2p-check",
    "--enable-torch-compile", "--disable-chunked-prefix-cache", "--disable-shared-experts-fusion", "--enable-multimodal", "--enable-memory-saver",
    "--enable-hierarchical-cache", "--disaggregation-decode-enable-radix-cache", "--disable-fast-image-processor", "--allow-auto-truncate",
    "--enable-tokenizer-batch-encode", "--disable-flashinfer-autotune", "--enable-flashinfer-allreduce-fusion",
]


def make_parser():
    parser = argparse.ArgumentParser(prog="launch_server.py")
    parser.add_argument("--config", help="YAML file of flags")
    parser.add_argument("--model-path", "--model", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--dist-init-addr", "--nccl-init-addr")
    parser.add_argument("--disaggregation-mode", default="null", choices=["null", "prefill", "decode"])
    parser.add_argument("--cuda-graph-bs-decode", "--cuda-graph-bs", type=int, nargs="+")
    parser.add_argument("--cuda-graph-bs-prefill", type=int, nargs="+")
    for row in TEXT + NUMBERS:
        names, default = row[0].split(), row[1] if len(row) > 1 else None
        kind = row[2] if len(row) > 2 else (str if row in TEXT else int)
        parser.add_argument(*names, default=default, type=kind)
    for name in SWITCHES:
        parser.add_argument(name, action="store_true")
    return parser


def expand_config(argv):
    """--config FILE holds 'flag-name: value' lines; they come before the command line, which so wins. As ConfigArgumentMerger does."""
    if "--config" not in argv:
        return argv
    at = argv.index("--config")
    if at + 1 >= len(argv):
        raise SystemExit("launch_server.py: error: --config needs a file")
    extra = []
    with open(argv[at + 1], encoding="utf-8") as f:
        for line in f:
            name, colon, value = line.split("#")[0].strip().partition(":")
            value = value.strip().strip("'\"")
            if not colon:
                continue
            if value.lower() == "true":
                extra += ["--" + name.strip()]
            elif value and value.lower() != "false":
                extra += ["--" + name.strip(), value]
    return extra + argv[:at] + argv[at + 2:]


class ServerArgs:
    def __init__(self, namespace):
        self.__dict__.update(vars(namespace))
        self.__dict__.pop("config", None)
        self.tokenizer_path = self.tokenizer_path or self.model_path
        self.served_model_name = self.served_model_name or self.model_path

    def __repr__(self):
        return "ServerArgs(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def check(self):
        """The checks of the real ServerArgs that a wrong profile runs into."""
        if (self.tp_size * self.pp_size) % self.nnodes != 0:
            raise AssertionError("tp_size must be divisible by number of nodes")
        if not 0 <= self.node_rank < self.nnodes:
            raise ValueError(f"node_rank must be in [0, nnodes), got node_rank={self.node_rank}, nnodes={self.nnodes}")
        if ":" in self.served_model_name:
            raise ValueError("served_model_name cannot contain a colon (':') character. The colon is reserved for the 'model:adapter' syntax "
                             "used to specify LoRA adapters.")
        if self.tp_size % self.ep_size != 0:
            raise ValueError(f"tp_size ({self.tp_size}) must be divisible by ep_size ({self.ep_size})")
        if self.nnodes > 1 and not self.dist_init_addr:
            raise ValueError("dist_init_addr is required when nnodes > 1")
        if self.linear_attn_decode_backend == "flashkda":
            raise ValueError("flashkda is a prefill-only backend. Use --linear-attn-prefill-backend flashkda instead.")
        json.loads(self.model_loader_extra_config)
        json.loads(self.json_model_override_args)

    @property
    def ranks_per_node(self):
        return self.tp_size * self.pp_size // self.nnodes

    @property
    def dist_address(self):
        host, _, port = self.dist_init_addr.rpartition(":")
        return host.strip("[]"), int(port)


def prepare_server_args(argv):
    args = ServerArgs(make_parser().parse_args(expand_config(argv)))
    args.check()
    return args
