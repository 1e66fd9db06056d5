"""torch.cuda as far as the lab needs it. The card is an RTX 6000D (sm_120) unless LAB_CUDA_CAPABILITY says otherwise."""
import os


def get_device_capability(device=None):
    major, _, minor = os.environ.get("LAB_CUDA_CAPABILITY", "12.0").partition(".")
    return int(major), int(minor or 0)
