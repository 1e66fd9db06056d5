"""The stand-in's GPU memory. NVIDIA_STANDIN_DIR (/run/nvidia-standin, given to containers started with --gpus) holds state.json,
written by the lab's faults, and gpu/K.lock: a scheduler that uses GPU K holds that file's lock, so memory is freed when it dies."""
import fcntl
import json
import os

TOTAL_GB = 84.00
SMALL_MIB = 600


def directory():
    return os.environ.get("NVIDIA_STANDIN_DIR", "/run/nvidia-standin")


def state():
    try:
        with open(os.path.join(directory(), "state.json"), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def present():
    """Whether the container was given GPUs at all. A pretended capability (tests outside the lab) pretends the cards too."""
    return os.path.isdir(directory()) or "LAB_CUDA_CAPABILITY" in os.environ


def visible_count():
    return 8 - len(state().get("missing", []))


def held_mib(index):
    now = state()
    held = now.get("ghost", {}).get(str(index), 0)
    for app in now.get("apps", []):
        if index in app.get("gpus", []):
            held += app.get("mib", 0)
    return held


class Gpu:
    """One GPU as one scheduler sees it."""

    def __init__(self, index, title):
        self.index, self.title, self._file, self.taken_gb = index, title, None, 0.0
        self.before_gb = TOTAL_GB - held_mib(index) / 1024
        folder = os.path.join(directory(), "gpu")
        if not os.path.isdir(folder):
            return
        self._file = open(os.path.join(folder, f"{index}.lock"), "a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another engine sits on this GPU
            self._file.seek(0)
            words = self._file.read().split()
            self.before_gb -= int(words[0]) / 1024 if words else 70.0
            self._file = None
            return
        self.use(SMALL_MIB / 1024)

    def available_gb(self):
        return self.before_gb - self.taken_gb

    def use(self, gigabytes):
        self.taken_gb = gigabytes
        if self._file:
            self._file.seek(0)
            self._file.truncate()
            self._file.write(f"{int(gigabytes * 1024)} {self.title}\n")
            self._file.flush()
