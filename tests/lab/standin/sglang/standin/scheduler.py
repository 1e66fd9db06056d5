"""One rank: a process titled sglang::scheduler_TPn_EPn that goes through the phases, then answers its parent until something dies."""
import json
import os
import random
import select
import signal
import time

from sglang.srt.layers import attn_residual
from sglang.standin import gpu as gpus
from sglang.standin import log, store, texts, title, weights

HIDDEN_SIZE = 7168


class Failure(Exception):
    """An error of this rank as the scheduler would raise it."""

    def __init__(self, kind, message, phase, code=1):
        super().__init__(message)
        self.kind, self.phase, self.code = kind, phase, code


def rank_prefix(args, rank):
    tp = rank % args.tp_size
    words = [f"PP{rank // args.tp_size}"] if args.pp_size > 1 else []
    words += [f"TP{tp}"] if args.tp_size > 1 else []
    words += [f"EP{tp * args.ep_size // args.tp_size}"] if args.ep_size > 1 else []
    return words


class Scheduler:
    def __init__(self, args, config, rank, first_rank, parent, listener=None):
        self.args, self.config, self.rank, self.first = args, config, rank, first_rank
        self.parent, self.listener, self.world = parent, listener, args.tp_size * args.pp_size
        self.phase = "args"
        words = rank_prefix(args, rank)
        log.set_prefix("".join(" " + w for w in words))
        self.title = "sglang::scheduler" + "".join("_" + w for w in words)
        title.set_title(self.title)

    # phases -------------------------------------------------------------------------------------------------------------------

    def enter(self, phase):
        """Time, then the faults that were asked for at this phase."""
        self.phase = phase
        self.pause(self.config.seconds(phase))
        self.trouble(phase)

    def trouble(self, phase):
        switch = self.config.strikes("exit", phase, self.rank, self.first)
        if switch:
            kind, message = texts.failure(phase, switch)
            raise Failure(kind, message, phase, int(switch.get("code", 1)))
        if self.config.strikes("hang", phase, self.rank, self.first):
            while True:
                self.pause(3600)

    def pause(self, seconds):
        """Sleeps, but ends with the parent."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.parent], [], [], left)[0]:
                store.end_with(self.parent)
                time.sleep(max(0.0, end - time.monotonic()))

    def run(self):
        self.init_distributed()
        self.load_weights()
        self.allocate_pools()
        self.capture_graphs()
        if self.rank == 0:
            log.info(f"max_total_num_tokens={self.tokens}, chunked_prefill_size={self.args.chunked_prefill_size or 8192}, "
                     f"max_prefill_tokens={self.args.max_prefill_tokens}, max_running_requests={self.args.max_running_requests or 48}, "
                     f"context_len={self.args.context_length or 1048576}, available_gpu_memory={self.gpu.available_gb():.2f} GB")
        self.tell(ready=True, tokens=self.tokens)
        self.trouble("ready")
        self.serve()

    def init_distributed(self):
        local = self.rank - self.first
        if not gpus.present():
            raise Failure("RuntimeError", "No CUDA GPUs are available", "dist")
        if local >= gpus.visible_count():
            raise Failure("torch.AcceleratorError", "CUDA error: invalid device ordinal", "dist")
        self.phase, started = "dist", time.monotonic()
        log.info("Init torch distributed begin.")
        self.gpu = gpus.Gpu(local, self.title)
        self.trouble("dist")
        self.check_interfaces()
        least = self.rendezvous()
        if self.rank == 0:
            log.info("sglang is using nccl==2.28.3")
        self.pause(self.config.seconds("dist"))
        mine = self.gpu.available_gb()
        if self.world > 1 and least < mine * 0.9:
            message = ("The memory capacity is unbalanced. Some GPUs may be occupied by other processes. "
                       f"pre_model_load_memory={least:.4f}, local_gpu_memory={mine:.4f}, local_gpu_memory * 0.9={mine * 0.9:.4f}")
            if os.environ.get("SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK", "1").lower() not in ("0", "false"):
                raise Failure("RuntimeError", message, "dist")
            log.info(message)
        log.info(f"Init torch distributed ends. elapsed={time.monotonic() - started:.2f} s, mem usage={gpus.SMALL_MIB / 1024:.2f} GB")

    def check_interfaces(self):
        """The interface variables name what is there: Gloo's exactly, NCCL's as prefixes unless they start with = or ^."""
        there = os.listdir("/sys/class/net")
        gloo = os.environ.get("GLOO_SOCKET_IFNAME")
        if gloo and not set(gloo.split(",")) & set(there):
            raise Failure("RuntimeError", f"[../third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != nullptr. Unable to find address for: {gloo}", "dist")
        nccl = os.environ.get("NCCL_SOCKET_IFNAME", "")
        if nccl and nccl[0] != "^" and not any(n.startswith(p) for n in there for p in nccl.lstrip("=").split(",")):
            raise Failure("RuntimeError", "NCCL error: unhandled system error (run with NCCL_DEBUG=INFO for details): "
                          f"Bootstrap : no socket interface found, NCCL_SOCKET_IFNAME set to {nccl} ncclSystemError", "dist")

    def rendezvous(self):
        timeout = self.args.dist_timeout or 600
        host, port = self.args.dist_address
        deadline = time.monotonic() + timeout
        server = None
        if self.rank == 0:
            try:
                server = store.Server(self.world, port, self.listener)
            except OSError as error:
                raise Failure("torch.distributed.DistNetworkError", "The server socket has failed to listen on any local network address. "
                              f"port: {port}, useIpv6: false, code: -{error.errno}, name: EADDRINUSE, message: address already in use", "dist") from None
            host = "127.0.0.1"
        grace = 0 if self.rank == 0 else 2  # rank 0 speaks first: it knows the count
        try:
            self.store = store.Client(self.rank, (host, port), deadline + grace, self.parent)
            return self.store.join(self.gpu.available_gb(), deadline + grace)
        except store.Timeout:
            if server:
                raise Failure("torch.distributed.DistStoreError", f"Timed out after {timeout + 1} seconds waiting for clients. "
                              f"{server.joined}/{self.world} clients joined.", "dist") from None
            raise Failure("torch.distributed.DistNetworkError", f"The client socket has timed out after {timeout * 1000}ms while trying to "
                          f"connect to ({host}, {port}).", "dist") from None

    def load_weights(self):
        started = time.monotonic()
        log.info(f"Load weight begin. avail mem={self.gpu.available_gb():.2f} GB")
        self.phase, path = "weights", self.args.model_path
        try:
            model = weights.read_config(path)
            names = weights.shard_names(path)
            share = self.args.ranks_per_node
            for number, name in enumerate(names):
                if number % share == self.rank - self.first:
                    weights.check_shard(os.path.join(path, name))
        except weights.LoadError as error:
            raise Failure(error.kind, str(error), "weights") from None
        self.trouble("weights")
        self.show_shards(len(names))
        self.enter("kernels")
        if self.rank == 0:
            for kernel in ("KDA prefill", "vision attention", "vision patch merge"):
                log.info(f"Precompiled the Kimi-K3 {kernel} kernel.")
        try:
            self.store.barrier("weights", time.monotonic() + 480 * float(self.config["scale"]))
        except store.Timeout:
            raise Failure("ValueError", f"TP rank {self.rank} could finish the model loading, but there are other ranks that didn't finish loading. "
                          "It is likely due to unexpected failures (e.g., OOM) or a slow node.", "weights") from None
        usage = min(1480.0 / self.world, 46.25)  # K3 on 32 cards; a smaller world is given what fits
        self.gpu.use(usage + gpus.SMALL_MIB / 1024)
        kind = (model.get("architectures") or ["KimiK3ForConditionalGeneration"])[0]
        log.info(f"Load weight end. elapsed={time.monotonic() - started:.2f} s, type={kind}, avail mem={self.gpu.available_gb():.2f} GB, mem usage={usage:.2f} GB.")

    def show_shards(self, total):
        """Loading takes its time on each rank; the bar is global rank 0's alone. A slow start of it does not stall the bar."""
        seconds = self.config.seconds("weights")
        if self.rank != 0:
            return self.pause(seconds)
        bar, steps = log.Shards(total), min(total, 24)
        bar.show(0)
        for step in range(1, steps + 1):
            self.pause(seconds / steps)
            bar.show(total * step // steps, last=step == steps)

    def allocate_pools(self):
        self.enter("kv")
        free = self.gpu.available_gb()
        if free < 10.0:
            per_request = 146.81
            raise Failure("RuntimeError", "Not enough GPU memory for hybrid (mamba/linear-attention) state cache. "
                          f"Computed max_mamba_cache_size={int((free - 12) * 1024 / per_request)} (total_rest_memory={free - 12:.2f} GB, "
                          f"mamba_cache_per_req={per_request:.2f} MB). Try: (1) reduce --max-running-requests, (2) increase --mem-fraction-static, "
                          "(3) reduce --speculative-num-draft-tokens, or (4) use GPUs with more memory.", "kv")
        self.tokens = 262144 if self.args.max_total_tokens is None else self.args.max_total_tokens
        self.gpu.use(self.gpu.taken_gb + free * 0.8)
        log.info("Mamba Cache is allocated. max_mamba_cache_size: 144, conv_state size: 0.21GB, ssm_state size: 8.42GB ")
        log.info(f"KV Cache is allocated. dtype: torch.bfloat16, #tokens: {self.tokens}, KV size: {free * 0.5:.2f} GB")
        log.info(f"Memory pool end. avail mem={self.gpu.available_gb():.2f} GB")

    def capture_graphs(self):
        self.phase, started = "graphs", time.monotonic()
        if attn_residual.kernel_for(HIDDEN_SIZE) == "attn_res_fused_tma" and attn_residual.torch.cuda.get_device_capability()[0] == 12:
            raise Failure(*texts.CATALOGUE["M9"], "graphs")
        self.trouble("graphs")
        if self.world > 1 and os.environ.get("NCCL_ALGO", "").lower() == "tree":
            raise Failure(*texts.CATALOGUE["N1"], "graphs")
        sizes = self.args.cuda_graph_bs_decode or [1, 2, 4, 8, 12, 16, 24, 32]
        log.info(f"Capture target decode CUDA graph begin. backend=full, num_tokens_per_req=1, bs={sizes}, avail mem={self.gpu.available_gb():.2f} GB")
        self.store.barrier("graphs")
        seconds = self.config.seconds("graphs")
        if self.rank == 0:
            bar = log.Bar(len(sizes))
            for number, size in enumerate(reversed(sizes)):
                bar.show(f"Capturing batches (bs={size} avail_mem={self.gpu.available_gb():.2f} GB)", number)
                self.pause(seconds / len(sizes))
            bar.show(f"Capturing batches (bs={sizes[0]} avail_mem={self.gpu.available_gb():.2f} GB)", len(sizes), last=True)
        else:
            self.pause(seconds)
        self.store.barrier("graphs end")
        self.gpu.use(self.gpu.taken_gb + 1.2)
        log.info(f"Capture target decode CUDA graph end. elapsed={time.monotonic() - started:.2f} s, mem usage=1.20 GB, avail mem={self.gpu.available_gb():.2f} GB.")

    # after ready --------------------------------------------------------------------------------------------------------------

    def tell(self, **message):
        self.parent.sendall(json.dumps(message).encode() + b"\n")

    def serve(self):
        """Answers pings, prints the batch lines it is given, and notices deaths. Replies stop while it is stuck."""
        born, buffer = time.monotonic(), b""
        while True:
            left = self.config.dies_in(born, time.monotonic(), "schedulers")
            if left is not None and left <= 0:
                os._exit(int(self.config["die_after_ready"].get("code", 1)))
            ready, _, _ = select.select([self.parent, self.store.socket], [], [], min(1.0, left or 1.0))
            if self.store.socket in ready:
                self.store.next_message()
            if self.parent in ready:
                data = self.parent.recv(65536)
                if not data:
                    os._exit(0)
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    self.answer(json.loads(line), born)

    def answer(self, message, born):
        left = self.config.dies_in(born, time.monotonic(), "stuck")
        if left is not None and left <= 0:
            return
        if "log" in message:
            log.info(message["log"])
        if "ping" in message:
            self.tell(pong=message["ping"])


def peer_died(scheduler, death):
    """The secondary errors of a rank whose world broke. They come a moment after the primary one."""
    time.sleep(random.uniform(0.3, 0.9))
    rank = scheduler.rank
    if death.rank is None:
        host, port = death.address
        log.c10d("W", "TCPStore.cpp:125", f"[c10d] recvValue failed on SocketImpl(fd=87, addr=[localhost]:51322, remote=[{host}]:{port}): "
                 "Connection reset by peer", rank)
        address = death.address
    else:
        address = death.address
        log.c10d("E", "ProcessGroupNCCL.cpp:2068", f"[PG ID 2 PG GUID 3 Rank {rank}] Process group watchdog thread terminated with exception: "
                 "NCCL error: remote process exited or there was a network error, NCCL version 2.28.3 ncclRemoteError: A call failed possibly due to "
                 "a network error or a remote process exiting prematurely.", rank)
    return Failure("RuntimeError", f"[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [{address[0]}]:{address[1]}", scheduler.phase)


def main(args, config, rank, first_rank, parent, listener=None):
    """The child process's whole life; never returns."""
    scheduler, code = None, 1
    try:
        scheduler = Scheduler(args, config, rank, first_rank, parent, listener)
        try:
            scheduler.run()
        except store.PeerDied as death:
            if config.dies_in(0, 0, "schedulers") is not None:
                os._exit(1)  # told to die silently: a neighbour was a moment quicker
            raise peer_died(scheduler, death) from None
    except Failure as failure:
        code = failure.code
        log.info("Scheduler hit an exception: " + texts.traceback_text(failure.kind, failure, failure.phase))
        os.kill(os.getppid(), signal.SIGQUIT)
    except (BrokenPipeError, ConnectionResetError):
        code = 0  # the parent is gone
    os._exit(code)
