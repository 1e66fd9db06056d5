# Kimi-K3 attention residual, as far as the lab needs it: which kernel a device gets.
#
# The gate below reads as in the K3 image (SGLang 0.5.16 to 0.5.18), fault included: it takes every compute capability from 10
# up, so also consumer Blackwell (12), for which the fast kernel's tcgen05 instructions do not exist.

import torch

_BLOCK_H: int = 1024  # H = 7168 = 7 x 1024
_MAX_ROWS: int = 16  # next_pow2(8 + 1), K3 has <= 8 snapshots

_FAST_SUPPORTED = None


def _use_fast(hidden_size: int) -> bool:
    """The TMA kernel needs SM100+ (tcgen05, cp.async.bulk) and its H=7168
    template instantiation; everything else takes the triton pipeline."""
    global _FAST_SUPPORTED
    if _FAST_SUPPORTED is None:
        major, _ = torch.cuda.get_device_capability()
        _FAST_SUPPORTED = major >= 10
    return _FAST_SUPPORTED and hidden_size == 7168


def kernel_for(hidden_size: int) -> str:
    """The lab's entry: the name of the kernel that an aggregation of this width would run."""
    if _use_fast(hidden_size):
        return "attn_res_fused_tma"
    return "triton"
