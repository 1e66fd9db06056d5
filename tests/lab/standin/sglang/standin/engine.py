"""The serving half of rank 0's main process: the state that HTTP handlers share, generation, health."""
import hashlib
import json
import threading
import time
import uuid

from sglang.standin import model
from sglang.version import __version__


class Engine:
    def __init__(self, args, config, link):
        self.args, self.config, self.link = args, config, link
        self.status = "Starting"
        self.exiting = False
        self.started = time.time()
        self.context = args.context_length or 1048576
        self.slots = threading.Semaphore(args.max_running_requests or 256)
        self._lock = threading.Lock()
        self.running, self.queued, self._seen, self._long_seen = {}, 0, {}, False
        self.totals = {"prompt": 0, "generation": 0, "requests": 0, "ttft": 0.0, "e2e": 0.0}

    # scheduler ----------------------------------------------------------------------------------------------------------------

    def scheduler_answers(self, timeout):
        return self.link.ping(timeout)

    def healthy(self, limit):
        """As SGLang: wait for any answer of the scheduler, at most the limit; a later success makes it Up again."""
        if self.exiting or self.status == "Starting":
            return False
        if self.config["health"] == 503 or not self.scheduler_answers(limit):
            self.status = "UnHealthy"
            return False
        time.sleep(float(self.config["health_s"]))
        self.status = "Up"
        return True

    # generation ---------------------------------------------------------------------------------------------------------------

    def generate(self, prompt, prompt_tokens, limit, ignore_eos=False, minimum=0):
        """A Generation; iterate it for its tokens."""
        reply = model.Reply(prompt, self.config)
        tokens, reason = model.render(reply, limit, ignore_eos, minimum)
        return Generation(self, prompt, prompt_tokens, tokens, reason)

    def remember(self, prompt, prompt_tokens):
        """Cached tokens of a prompt seen before; what the radix cache would give."""
        key = hashlib.sha1(prompt.encode("utf-8", "surrogatepass")).digest()
        with self._lock:
            known = key in self._seen
            if len(self._seen) > 4096:
                self._seen.clear()
            self._seen[key] = prompt_tokens
        return max(0, prompt_tokens - 1) if known and not self.args.disable_radix_cache else 0

    def first_long_prompt(self, prompt_tokens):
        if prompt_tokens < int(self.config["long_prompt"]):
            return 0.0
        with self._lock:
            first, self._long_seen = not self._long_seen, True
        return float(self.config["first_prompt_s"]) if first else 0.0

    def flush(self):
        with self._lock:
            if self.running:
                return False
            self._seen.clear()
        return True

    def count(self, **amounts):
        with self._lock:
            for name, amount in amounts.items():
                self.totals[name] += amount

    def enter(self, rid):
        with self._lock:
            self.queued += 1
        self.slots.acquire()
        with self._lock:
            self.queued -= 1
            self.running[rid] = time.monotonic()

    def leave(self, rid):
        with self._lock:
            self.running.pop(rid, None)
        self.slots.release()

    # descriptions -------------------------------------------------------------------------------------------------------------

    def server_info(self):
        return {**self.args.__dict__, "status": "ready", "max_total_num_tokens": self.link.tokens, "max_req_input_len": self.context - 6,
                "startup_time": self.started, "internal_states": [{"last_gen_throughput": 0.0, "effective_max_running_requests_per_dp": 48}],
                "version": __version__}

    def model_info(self):
        return {"model_path": self.args.model_path, "tokenizer_path": self.args.tokenizer_path, "is_generation": True,
                "preferred_sampling_params": None, "weight_version": "default", "has_image_understanding": True,
                "has_audio_understanding": False, "model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"]}

    def models(self):
        name = self.args.served_model_name
        return {"object": "list", "data": [{"id": name, "object": "model", "created": int(time.time()), "owned_by": "sglang", "root": name,
                                            "parent": None, "max_model_len": self.context}]}

    def metrics(self):
        label = f'{{model_name="{self.args.served_model_name}",engine_type="unified",tp_rank="0",pp_rank="0"}}'
        with self._lock:
            totals, running, queued = dict(self.totals), len(self.running), self.queued
        done = totals["requests"]
        rows = [("num_running_reqs", "gauge", running), ("num_queue_reqs", "gauge", queued), ("token_usage", "gauge", 0.0),
                ("cache_hit_rate", "gauge", 0.0), ("gen_throughput", "gauge", 0.0), ("prompt_tokens_total", "counter", totals["prompt"]),
                ("generation_tokens_total", "counter", totals["generation"]), ("num_requests_total", "counter", done)]
        text = "".join(f"# HELP sglang:{n} {n}\n# TYPE sglang:{n} {k}\nsglang:{n}{label} {float(v)}\n" for n, k, v in rows)
        for name, total in (("time_to_first_token_seconds", totals["ttft"]), ("e2e_request_latency_seconds", totals["e2e"])):
            text += (f"# HELP sglang:{name} {name}\n# TYPE sglang:{name} histogram\nsglang:{name}_sum{label} {total}\n"
                     f"sglang:{name}_bucket{label[:-1]},le=\"+Inf\"}} {float(done)}\nsglang:{name}_count{label} {float(done)}\n")
        return text


class Generation:
    """One request: waits for its turn, then yields (channel, token) at the pace of the configuration."""

    def __init__(self, engine, prompt, prompt_tokens, tokens, reason):
        self.engine, self.prompt, self.tokens, self.reason = engine, prompt, tokens, reason
        self.id, self.prompt_tokens = uuid.uuid4().hex, prompt_tokens
        self.cached, self.done, self.reasoning, self.seconds = 0, 0, 0, 0.0

    def __iter__(self):
        engine, started = self.engine, time.monotonic()
        engine.enter(self.id)
        try:
            self.cached = engine.remember(self.prompt, self.prompt_tokens)
            while not engine.scheduler_answers(2.0):
                pass  # a dead scheduler answers nobody; the client's own time-out is what ends this
            new = self.prompt_tokens - self.cached
            engine.link.say(f"Prefill batch, #new-seq: 1, #new-token: {new}, #cached-token: {self.cached}, token usage: 0.00, "
                            f"#running-req: {len(engine.running) - 1}, #queue-req: {engine.queued}, input throughput (token/s): {new / 2:.2f}, ")
            time.sleep(new / float(engine.config["prefill_tps"]) + engine.first_long_prompt(self.prompt_tokens))
            engine.count(ttft=time.monotonic() - started)
            pace, last = float(engine.config["token_s"]), time.monotonic()
            for self.done, (channel, token) in enumerate(self.tokens, 1):
                last += pace
                time.sleep(max(0.0, last - time.monotonic()))
                self.reasoning += channel == "think"
                if self.done % engine.args.decode_log_interval == 0:
                    engine.link.say(f"Decode batch, #running-req: {len(engine.running)}, #token: {self.prompt_tokens + self.done}, token usage: 0.00, "
                                    f"cuda graph: True, gen throughput (token/s): {1 / max(pace, 1e-6):.2f}, #queue-req: {engine.queued}, ")
                yield channel, token
        finally:
            self.seconds = time.monotonic() - started
            engine.count(prompt=self.prompt_tokens, generation=self.done, requests=1, e2e=self.seconds)
            engine.leave(self.id)

    def usage(self):
        details = {"cached_tokens": self.cached} if self.engine.args.enable_cache_report else None
        return {"prompt_tokens": self.prompt_tokens, "total_tokens": self.prompt_tokens + self.done, "completion_tokens": self.done,
                "prompt_tokens_details": details, "reasoning_tokens": self.reasoning}


class Link:
    """Rank 0's ear and mouth at its first scheduler."""

    def __init__(self, sock, tokens):
        self.socket, self.tokens, self._lock, self._next, self._pongs = sock, tokens, threading.Condition(), 0, 0
        self.closed = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        buffer = b""
        while True:
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                with self._lock:
                    self.closed = True
                    self._lock.notify_all()
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                with self._lock:
                    self._pongs = max(self._pongs, json.loads(line).get("pong", 0))
                    self._lock.notify_all()

    def _send(self, message):
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
            return True
        except OSError:
            return False

    def say(self, text):
        with self._lock:
            self._send({"log": text})

    def ping(self, timeout):
        """Whether the scheduler answers in time; a dead one costs the whole time, as in the field."""
        end = time.monotonic() + timeout
        with self._lock:
            self._next += 1
            mine = self._next
            self._send({"ping": mine})
            while self._pongs < mine:
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self._lock.wait(left)
        return True
