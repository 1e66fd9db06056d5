"""Prints "PID COMMAND" of each process that belongs to the lab with the tag argv[1] and the state directory argv[2].

A process belongs to it when its environment holds the lab's tag, or when it is in a network or pid namespace of such a
process. A namespace lives as long as a process in it does, so an empty list means that the namespaces are gone too.
"""
import os
import sys


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def namespace(pid, kind):
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def recorded(state):
    """Pids of the pid files that are still the same process; covers holders whose environment was overwritten."""
    found = set()
    files = [os.path.join(state, "operator.pid")]
    nodes = os.path.join(state, "nodes")
    if os.path.isdir(nodes):
        files += [os.path.join(nodes, n, "pid") for n in os.listdir(nodes)]
    for name in files:
        words = read(name).split()
        if len(words) == 2:
            stat = read(f"/proc/{int(words[0])}/stat").rpartition(b")")[2].split()
            if len(stat) > 19 and stat[19] == words[1]:
                found.add(words[0].decode())
    return found


def main(tag, state):
    own = {kind: namespace("self", kind) for kind in ("net", "pid")}
    pids = [p for p in os.listdir("/proc") if p.isdigit() and p != str(os.getpid())]
    mark = b"SSKJ_LAB_HOLDER=" + tag.encode()
    holders = {p for p in pids if mark in read(f"/proc/{p}/environ").split(b"\0")} | recorded(state)
    spaces = {kind: {namespace(p, kind) for p in holders} - {own[kind], None} for kind in own}
    for pid in sorted(pids, key=int):
        if pid in holders or any(namespace(pid, kind) in spaces[kind] for kind in spaces):
            command = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()
            if read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:1] not in ([b"Z"], []):
                print(pid, command[:120])


main(sys.argv[1], sys.argv[2])
