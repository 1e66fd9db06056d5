"""The lab's stand-in for SGLang: its command line, logs, rendezvous, health and API without a model. Written from public facts
about SGLang 0.5.16-0.5.18; it contains none of its code."""
from sglang.version import __version__  # noqa: F401
