"""SGLang's log shapes: '[time TPn EPn] message' without a level on stderr, uvicorn's lines, tqdm bars with carriage returns."""
import os
import time

_prefix = ""


def set_prefix(prefix):
    global _prefix
    _prefix = prefix


def stamp():
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _write(fd, text):
    data = text.encode("utf-8", "surrogateescape")
    while data:  # one write a line: lines of many processes on one pipe stay whole
        try:
            data = data[os.write(fd, data):]
        except OSError:
            return


def info(message, fd=2):
    _write(fd, f"[{stamp()}{_prefix}] {message}\n")


def raw(text, fd=2):
    _write(fd, text)


def uvicorn(message):
    _write(2, f"[{stamp()}] INFO:     {message}\n")


def access(client, request_line, status, reason):
    _write(1, f'[{stamp()}] INFO:     {client[0]}:{client[1]} - "{request_line}" {status} {reason}\n')


def c10d(letter, source, message, rank):
    """A line as torch's C++ logger writes it."""
    now = time.time()
    clock = time.strftime("%m%d %H:%M:%S", time.localtime(now)).lstrip("0")
    _write(2, f"[rank{rank}]:[{letter}{clock}.{int(now % 1 * 1e9):09d} {source}] {message}\n")


def clock(seconds):
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


class Shards:
    """The weight loader's bar: written by global rank 0 alone, without a prefix, each state after a carriage return."""

    def __init__(self, total, text="Multi-thread loading shards"):
        self.total, self.text, self.started = total, text, time.monotonic()

    def show(self, done, last=False):
        elapsed = time.monotonic() - self.started
        if done and elapsed > 0:
            rate = done / elapsed
            left, speed = clock((self.total - done) / rate), f"{rate:5.2f}it/s"
        else:
            left, speed = "?", "?it/s"
        percent = done * 100 // self.total
        raw(f"\r{self.text}: {percent:3d}% Completed | {done}/{self.total} [{clock(elapsed)}<{left}, {speed}]" + ("\n" if last else ""))


class Bar:
    """A plain tqdm bar, as graph capture shows it."""

    def __init__(self, total):
        self.total, self.started = total, time.monotonic()

    def show(self, text, done, last=False):
        elapsed = time.monotonic() - self.started
        rate = done / elapsed if done and elapsed > 0 else 0
        blocks = "█" * (done * 10 // self.total)
        left = clock((self.total - done) / rate) if rate else "?"
        speed = f"{rate:5.2f}it/s" if rate else "?it/s"
        raw(f"\r{text}: {done * 100 // self.total:3d}%|{blocks:<10}| {done}/{self.total} [{clock(elapsed)}<{left}, {speed}]" + ("\n" if last else ""))
