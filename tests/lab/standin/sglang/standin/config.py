"""Switches of the stand-in: <model-path>/.standin.json on the node, over which the environment SGLANG_STANDIN (JSON) wins.

scale            factor on all phase times (1.0)
exit             {"phase": P, "rank": R, "code": C, "id": "M4", "text": "..."}: fail there; rank: global, default the node's first
hang             {"phase": P, "rank": R}: stop there for ever
slow             {"phase": P, "seconds": S} or a number (weights): be slow there
wrong_answer     true: arithmetic is off by one
answer_style     "plain" (1081) or "comma" (1,081)
health           503: /health fails for ever (the GPUs are stuck)
die_after_ready  {"mode": "schedulers"|"stuck"|"exit", "after": S (3), "code": C}
                 schedulers: the rank processes die, HTTP stays; stuck: they live but answer nothing; exit: the whole node ends
drain            seconds that SIGTERM waits even with no request
ignore_sigterm   true: SIGTERM does nothing
first_prompt_s   extra seconds of the first long prompt (1.5)
long_prompt      tokens from which a prompt is long (256)
token_s          seconds a generated token (0.002)
prefill_tps      prompt tokens a second (200000)
health_s         seconds a good /health takes (0.02; SGLang polls once a second)
think_tokens     about how many tokens of thinking (80)
"""
import json
import os

PHASES = ("args", "dist", "weights", "kernels", "kv", "graphs", "http", "warmup", "ready")
# Seconds at scale 1, chosen so that a start takes 3-5 s where the field takes minutes.
PHASE_SECONDS = {"args": 0.0, "dist": 0.15, "weights": 1.0, "kernels": 0.1, "kv": 0.1, "graphs": 0.6, "http": 0.05, "warmup": 0.3}
DEFAULTS = {"scale": 1.0, "first_prompt_s": 1.5, "long_prompt": 256, "token_s": 0.002, "prefill_tps": 200000.0,
            "health_s": 0.02, "think_tokens": 80, "answer_style": "plain"}


DIE_AFTER = 3.0  # lets the warm-up pass


class Config:
    """The switches; reread when the file changes, so that a fault reaches a running engine."""

    def __init__(self, model_path):
        self._path = os.path.join(model_path or "", ".standin.json")
        self._stamp = None
        self._file = {}
        self._env = json.loads(os.environ.get("SGLANG_STANDIN") or "{}")

    def __getitem__(self, key):
        self._refresh()
        return {**DEFAULTS, **self._file, **self._env}.get(key)

    def _refresh(self):
        try:
            stat = os.stat(self._path)
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        except OSError:
            self._file, self._stamp = {}, None
            return
        if stamp == self._stamp:
            return
        try:
            with open(self._path, encoding="utf-8") as f:
                self._file = json.load(f)
            self._stamp = stamp
        except ValueError:  # half written: the next look gets it
            pass

    def seconds(self, phase):
        slow = self["slow"]
        extra = 0.0
        if isinstance(slow, (int, float)):
            extra = float(slow) if phase == "weights" else 0.0
        elif slow and slow.get("phase", "weights") == phase:
            extra = float(slow.get("seconds", 0))
        return PHASE_SECONDS.get(phase, 0.0) * float(self["scale"]) + extra

    def dies_in(self, born, now, mode):
        """Seconds until the die_after_ready switch of this mode acts, counted from readiness; None when it is not set."""
        fate = self["die_after_ready"] or {}
        return born + float(fate.get("after", DIE_AFTER)) - now if fate.get("mode", "schedulers") == mode and fate else None

    def strikes(self, kind, phase, rank, first_rank):
        """The exit or hang switch, when it is meant for this phase and rank."""
        switch = self[kind]
        if not switch or switch.get("phase") != phase:
            return None
        wanted = switch.get("rank")
        return switch if rank == (first_rank if wanted is None else wanted) else None
