"""The main process of a node: starts the local schedulers, then serves HTTP until it is told or made to end."""
import errno
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import http.client

from sglang.standin import log, scheduler, server, texts, title, weights
from sglang.standin.engine import Engine, Link


class Node:
    def __init__(self, args, config):
        self.args, self.config = args, config
        self.first = args.node_rank * args.ranks_per_node
        self.children, self.engine, self.http = [], None, None
        self.detokenizer = None
        self.terminated = None
        self.started = time.monotonic()

    # children -----------------------------------------------------------------------------------------------------------------

    def fork_schedulers(self):
        """The schedulers are forked, not spawned: cheap, and all that this process holds is still small."""
        listener = None
        if self.args.dist_init_addr is None:  # one node: any free port
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen(512)
            self.args.dist_init_addr = f"127.0.0.1:{listener.getsockname()[1]}"
        for rank in range(self.first, self.first + self.args.ranks_per_node):
            mine, theirs = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                reset_signals()
                mine.close()
                for _, _, other in self.children:
                    other.close()
                scheduler.main(self.args, self.config, rank, self.first, theirs, listener if rank == 0 else None)
            theirs.close()
            self.children.append((rank, pid, mine))
        if listener:
            listener.close()

    def fork_detokenizer(self):
        mine, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            reset_signals()
            mine.close()
            title.set_title("sglang::detokenizer")
            while theirs.recv(1):
                pass
            os._exit(0)
        theirs.close()
        self.detokenizer = (pid, mine)

    def kill_all(self):
        for pid in [p for _, p, _ in self.children] + ([self.detokenizer[0]] if self.detokenizer else []):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def dead_child(self):
        """(rank, pid, exit code as subprocess counts it) of a scheduler that ended, or None."""
        for row in list(self.children):
            pid, status = os.waitpid(row[1], os.WNOHANG)
            if pid:
                self.children.remove(row)
                return row[0], pid, os.waitstatus_to_exitcode(status)
        return None

    # signals ------------------------------------------------------------------------------------------------------------------

    def install_signals(self):
        signal.signal(signal.SIGQUIT, self.on_sigquit)
        signal.signal(signal.SIGTERM, self.on_sigterm)
        signal.signal(signal.SIGINT, self.on_sigterm)

    def on_sigquit(self, *_):
        """A child failed. The real main kills its tree and then exits with 0: the exit code says nothing."""
        log.info("Received sigquit from a child process. It usually means the child failed.")
        log.info("kill_process_tree called")
        self.kill_all()
        os._exit(0)

    def on_sigterm(self, number, _):
        if self.config["ignore_sigterm"]:
            return
        if self.engine is None:  # loading, or a worker: nobody catches it
            self.kill_all()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        self.engine.exiting = True
        self.terminated = self.terminated or time.monotonic()

    def drained(self):
        """Polls as the sigterm watchdog does, but more often than its 5 s."""
        if self.terminated is None:
            return False
        left = len(self.engine.running) + self.engine.queued
        log.info(f"Gracefully exiting... Remaining number of requests {left}. Remaining requests remaining_rids={list(self.engine.running)}.")
        return left == 0 and time.monotonic() - self.terminated >= float(self.config["drain"] or 0)

    # life ---------------------------------------------------------------------------------------------------------------------

    def run(self):
        self.install_signals()
        log.info(f"server_args={self.args!r}")
        self.check_model()
        self.fork_schedulers()
        if self.args.node_rank == 0:
            self.fork_detokenizer()
        tokens = self.wait_ready()
        if self.args.node_rank == 0:
            self.serve(tokens)
        else:
            self.serve_dummy()

    def check_model(self):
        switch = self.config.strikes("exit", "args", self.first, self.first)
        try:
            if switch:
                raise weights.LoadError(*texts.failure("args", switch))
            weights.read_config(self.args.model_path)
        except weights.LoadError as error:
            log.raw(texts.traceback_text(error.kind, error, "args"))
            raise SystemExit(int((switch or {}).get("code", 1))) from None

    def wait_ready(self):
        waiting, tokens = {sock: rank for rank, _, sock in self.children}, 0
        buffers = {sock: b"" for sock in waiting}
        while waiting:
            for sock in select.select(list(waiting), [], [], 0.1)[0]:
                data = sock.recv(65536)
                buffers[sock] += data
                if not data:
                    waiting.pop(sock, None)
                    time.sleep(0.1)
                elif b"\n" in buffers[sock]:
                    tokens = json.loads(buffers[sock].split(b"\n")[0])["tokens"]
                    waiting.pop(sock)
            dead = self.dead_child()
            if dead:
                self.died_starting(*dead)
        return tokens

    def died_starting(self, rank, _, code):
        message = (f"Rank {rank} scheduler died during initialization (exit code: {code}). If exit code is -9 (SIGKILL), a common cause is the OS OOM "
                   "killer. Run `dmesg -T | grep -i oom` to check.")
        log.info("Initialization failed.")
        log.raw("Traceback (most recent call last):\n"
                '  File "/sgl-workspace/sglang/python/sglang/srt/entrypoints/engine.py", line 1277, in _wait_for_scheduler_ready\n'
                "    raise _scheduler_died_error(i, scheduler_procs[i])\n"
                f"RuntimeError: {message}\n")
        log.info("kill_process_tree called")
        self.kill_all()
        os._exit(1)

    def open_http(self, handler, context):
        time.sleep(self.config.seconds("http"))
        while self.config.strikes("hang", "http", self.first, self.first):
            time.sleep(0.5)
        try:
            if self.config.strikes("exit", "http", self.first, self.first):
                raise OSError(errno.EADDRINUSE, "what ends an engine here in the field")
            self.http = server.bind(self.args.host, self.args.port, handler, context)
        except OSError as error:
            log.raw(f"[{log.stamp()}] ERROR:    [Errno {error.errno}] error while attempting to bind on address "
                    f"('{self.args.host}', {self.args.port}): address already in use\n")
            self.kill_all()
            os._exit(1)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.5}, daemon=True).start()

    def serve(self, tokens):
        spent = time.monotonic() - self.started
        log.info(f"Engine startup timings (s): load_weight={self.config.seconds('weights'):.2f}, kv_cache_allocation={self.config.seconds('kv'):.2f}, "
                 f"scheduler_e2e={spent:.2f}, cuda_graph={{prefill=0.00, decode={self.config.seconds('graphs'):.2f}}}, tokenizer_e2e={spent:.2f}")
        self.engine = Engine(self.args, self.config, Link(self.children[0][2], tokens))
        log.uvicorn(f"Started server process [{os.getpid()}]")
        log.uvicorn("Waiting for application startup.")
        log.uvicorn("Application startup complete.")
        self.open_http(server.ApiHandler, self.engine)
        log.uvicorn(f"Uvicorn running on http://{self.args.host}:{self.args.port} (Press CTRL+C to quit)")
        threading.Thread(target=self.warm_up, daemon=True).start()
        self.watch()

    def serve_dummy(self):
        self.open_http(server.DummyHandler, self)
        self.watch()

    def warm_up(self):
        """SGLang's own warm-up: a tiny request; until it is done /health says 503."""
        switch = None
        if not self.args.skip_server_warmup:
            time.sleep(self.config.seconds("warmup"))
            switch = self.config.strikes("exit", "warmup", 0, 0)
            while self.config.strikes("hang", "warmup", 0, 0):
                time.sleep(0.5)
            if not switch and not self.warm_request():
                switch = {"text": "Read timed out."}
        if switch:
            kind, message = texts.failure("warmup", switch)
            log.info("Initialization failed. warmup error: " + texts.traceback_text(kind, message, "warmup"))
            log.info("kill_process_tree called")
            self.kill_all()
            os._exit(int(switch.get("code", 1)))
        self.engine.status = "Up"
        log.info("The server is fired up and ready to roll!")

    def warm_request(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1" if self.args.host in ("0.0.0.0", "") else self.args.host, self.args.port, timeout=600)
            headers = {"Content-Type": "application/json"}
            if self.args.api_key:
                headers["Authorization"] = "Bearer " + self.args.api_key
            connection.request("GET", "/model_info", headers=headers)
            connection.getresponse().read()
            body = json.dumps({"model": self.args.served_model_name, "messages": [{"role": "user", "content": "warm up"}], "max_tokens": 8})
            connection.request("POST", "/v1/chat/completions", body, headers)
            return connection.getresponse().status == 200
        except OSError:
            return False

    def watch(self):
        """Until the end: the subprocess watchdog, SIGTERM, and the switch that ends a node."""
        born = time.monotonic()
        while True:
            time.sleep(0.2)
            fate = self.config["die_after_ready"] or {}
            left = self.config.dies_in(born, time.monotonic(), "exit")
            if left is not None and left <= 0:
                log.info("Scheduler hit an exception: " + texts.traceback_text(*texts.failure("ready", fate), "ready"))
                self.kill_all()
                os._exit(int(fate.get("code", 1)))
            dead = self.dead_child()
            if dead and self.config.dies_in(born, 0, "schedulers") is None and dead[2] != 0:  # older engines had no watchdog: main lives on
                log.info(f"Subprocess scheduler_{dead[0] - self.first} (pid={dead[1]}) crashed with exit code {dead[2]}. Triggering SIGQUIT for cleanup...")
                self.on_sigquit()
            if self.engine is not None and self.drained():
                self.kill_all()
                os._exit(0)


def reset_signals():
    for number in (signal.SIGQUIT, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def main(args, config):
    if args.disaggregation_mode != "null":
        sys.exit("launch_server.py: the lab's stand-in does not play prefill/decode disaggregation yet")
    Node(args, config).run()
