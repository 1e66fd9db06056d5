"""What the tests of patch_k3_sm120.py share: the texts and a directory that stands for an install.

The texts below are ours, in the shapes that the gate has had upstream: a module constant that
caches one comparison (all releases up to 0.5.18), and since PR #35361 a helper function that
leaves major 12 out by itself.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

SCRIPT = os.path.realpath(os.path.join(
    os.path.dirname(__file__), "..", "..", "patches", "pro6000", "kimi_k3", "patch_k3_sm120.py"))
APPLIED, REFUSED, NOT_FOUND, IO_FAILED = 0, 1, 3, 4

HEAD = """\
    # made for a test ≥ 10: the gate of a kernel
    import torch
    from sglang.srt.utils import is_cuda, is_hip, is_npu
    _CACHED = None
    LIMIT = 10
    """


def module(body):
    return (textwrap.dedent(HEAD) + "\n\n" + textwrap.dedent(body).strip("\n") + "\n").encode()


CACHED = module("""
    def _use_fast(size: int) -> bool:
        '''Wants major >= 10 (says this text).'''
        global _CACHED
        if is_npu():
            return False
        if _CACHED is None:
            major, _ = torch.cuda.get_device_capability()
            _CACHED = major >= 10
        return _CACHED and size == 7168


    def elsewhere(major):
        return major >= 10
    """)

HELPER_FIXED = module("""
    def _able(capability: tuple[int, int]) -> bool:
        major, _ = capability
        return major >= 10 and major != 12


    def _use_fast(size: int) -> bool:
        global _CACHED
        if not is_cuda():
            return False
        if _CACHED is None:
            _CACHED = _able(torch.cuda.get_device_capability())
        return _CACHED and size == 7168
    """)


def state(path):
    """All that a write would change; not the access time."""
    info = os.stat(path)
    return info.st_ino, info.st_mode, info.st_uid, info.st_gid, info.st_size, info.st_mtime_ns, info.st_ctime_ns


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="patch_k3_")
        self.addCleanup(shutil.rmtree, self.dir)
        os.chmod(self.dir, 0o755)
        self.layers = os.path.join(self.dir, "site", "sglang", "srt", "layers")
        os.makedirs(self.layers)
        self.file = os.path.join(self.layers, "attn_residual.py")

    def write(self, data, path=None):
        with open(path or self.file, "wb") as file:
            file.write(data)

    def read(self, path=None):
        with open(path or self.file, "rb") as file:
            return file.read()

    def run_script(self, *args, script=SCRIPT, **options):
        options.setdefault("env", {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        return subprocess.run([sys.executable, script, *args], capture_output=True, text=True,
                              timeout=60, check=False, **options)

    def patch(self, *args, **options):
        return self.run_script("--file", self.file, *args, **options)

    def assert_only_file(self):
        self.assertEqual([n for n in os.listdir(self.layers) if n != "__pycache__"], ["attn_residual.py"])
