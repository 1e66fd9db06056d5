"""A shim: the only thing of torch that the stand-in needs is the device's compute capability."""
from torch import cuda  # noqa: F401

__version__ = "2.9.1+lab"
