#!/usr/bin/env python3
"""Keep Kimi-K3's fused attention-residual kernel off consumer Blackwell (sm_120).

SGLang chooses that kernel in sglang/srt/layers/attn_residual.py, function `_use_fast`,
for every compute capability with major >= 10. The kernel needs tcgen05, which only
data-centre Blackwell (major 10) has; sm_120 (major 12) must take the portable Triton
pair. This script turns that one `>=` into `==`, two bytes, and touches nothing else.

    patch_k3_sm120.py              apply; run again at will, also after a restart
    patch_k3_sm120.py --check      change nothing, only tell
    --root DIR                     DIR holds the package `sglang` (default: as python finds it)
    --file FILE                    this attn_residual.py

Exit codes when applying: 0 the gate leaves sm_120 out (applied now, applied before, or this
version does so by itself), 1 refused: the text is not what is expected, 2 usage, 3 no sglang
or no such file in it, 4 reading or writing failed. With --check: 0 sm_120 is left out,
1 it is not, 2 cannot tell. Whatever the code, the file is the old one or the new one, whole.

Only the standard library (python 3.9 or newer); neither sglang nor torch is imported.
"""

import argparse
import ast
import contextlib
import copy
import fcntl
import glob
import importlib
import importlib.util
import io
import os
import re
import stat
import struct
import sys
import time
import tokenize
import types
import warnings

NAME = "patch_k3_sm120"
MODULE_FILE = os.path.join("srt", "layers", "attn_residual.py")
GATE = "_use_fast"
HIDDEN_SIZE = 7168  # Kimi-K3's; the gate refuses every other size on every card
LOCK_SECONDS = 30

OK, REFUSED, NOT_FOUND, IO_FAILED = 0, 1, 3, 4
CHECK_NOT_APPLIED, CHECK_UNKNOWN = 1, 2


class Stop(Exception):
    """The exit code and the sentence to say; the file is untouched unless `changed`."""

    def __init__(self, code, text, changed=False):
        super().__init__(text)
        self.code, self.changed = code, changed


def search_paths():
    """sys.path as `python -m sglang...` and as a console script would see it: the first
    starts with the working directory, neither has the directory of this script (often /tmp)."""
    base = list(sys.path)
    here = os.path.dirname(os.path.realpath(__file__))
    if base and os.path.realpath(base[0] or ".") == here:
        del base[0]
    return [[os.getcwd()] + base, base]


def package_dirs():
    """Directories of `sglang` (editable installs too), found without importing it."""
    saved, found = list(sys.path), []
    try:
        for path in search_paths():
            sys.path[:] = path
            importlib.invalidate_caches()
            spec = importlib.util.find_spec("sglang")
            if spec is not None:
                found += list(spec.submodule_search_locations or [])
    except Exception as err:  # a third party's import hook may raise anything
        raise Stop(NOT_FOUND, "python cannot look for sglang: %r" % err)
    finally:
        sys.path[:] = saved
    return found


def target(args):
    if args.file:
        files = [args.file]
    elif args.root:
        files = [os.path.join(args.root, "sglang", MODULE_FILE)]
    else:
        dirs = package_dirs()
        if not dirs:
            raise Stop(NOT_FOUND, "no package sglang for %s" % sys.executable)
        files = [os.path.join(d, MODULE_FILE) for d in dirs]
    there = sorted({os.path.realpath(f) for f in files if os.path.isfile(f)})
    if not there:
        raise Stop(NOT_FOUND, "no file %s: a sglang without Kimi-K3?" % " or ".join(sorted(set(files))))
    if len(there) > 1:
        raise Stop(NOT_FOUND, "which of these runs? Name one with --file: %s" % " ".join(there))
    return there[0]


def parse(data):
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if encoding not in ("utf-8", "utf-8-sig"):
            raise Stop(REFUSED, "the file is encoded as %s, expected utf-8" % encoding)
        data.decode("utf-8")  # compile() overlooks a stray byte in a comment, import does not
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the file's own style, none of our business
            tree = ast.parse(data)
            compile(data, "attn_residual.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as err:
        raise Stop(REFUSED, "the file is not valid python: %s" % err)
    return tree


def function(tree, name):
    """The one function of this name, wherever in the file."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    if len(found) != 1:
        raise Stop(REFUSED, "expected one function %s, found %d" % (name, len(found)))
    return found[0]


def gate_closure(tree):
    """The gate and the functions of this file that it calls, without annotations (they name
    torch types) and without caches (each capability is asked anew)."""
    todo, seen = [function(tree, GATE)], {}
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    while todo:
        node = todo.pop()
        if node.name in seen:
            continue
        plain = copy.deepcopy(node)
        for decorator in plain.decorator_list:
            text = ast.unparse(decorator)
            if not re.fullmatch(r"(functools\.)?(lru_cache|cache)(\(.*\))?", text):
                raise Stop(REFUSED, "function %s has the unknown decorator %s" % (node.name, text))
        plain.decorator_list, plain.returns = [], None
        for arg in (a for a in ast.walk(plain.args) if isinstance(a, ast.arg)):
            arg.annotation = None
        seen[node.name] = plain
        called = {n.id for n in ast.walk(plain) if isinstance(n, ast.Name)} & defined
        todo += [function(tree, name) for name in called]
    return list(seen.values())


def stand_ins(tree, capability):
    """What the gate may ask: a CUDA card of this capability, and constants of the file."""
    cuda = types.SimpleNamespace(get_device_capability=lambda *_, **__: capability, is_available=lambda: True)
    names = {"torch": types.SimpleNamespace(cuda=cuda), "is_cuda": lambda: True}
    for other in ("is_cpu", "is_hip", "is_hpu", "is_musa", "is_npu", "is_xpu"):
        names[other] = lambda: False
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Constant):
            names.update({t.id: node.value.value for t in targets if isinstance(t, ast.Name)})
    # No __import__, no open: the gate computes, everything else is "cannot tell".
    names["__builtins__"] = {"bool": bool, "int": int, "tuple": tuple, "min": min, "max": max}
    return names


def leaves_out_sm120(tree):
    """Runs the gate, and nothing else of the file, for the capabilities that matter."""
    body = ast.fix_missing_locations(ast.Module(body=gate_closure(tree), type_ignores=[]))
    code = compile(body, "attn_residual.py", "exec", dont_inherit=True)
    taken = {}
    for capability in ((8, 0), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)):
        names = stand_ins(tree, capability)
        try:
            exec(code, names)
            taken[capability] = bool(names[GATE](HIDDEN_SIZE))
        except Exception as err:
            raise Stop(REFUSED, "cannot tell what %s decides: %s: %s" % (GATE, type(err).__name__, err))
    known = not taken[8, 0] and not taken[9, 0] and taken[10, 0] and taken[10, 3]
    if not known or taken[12, 0] != taken[12, 1]:
        raise Stop(REFUSED, "%s decides in an unexpected way: %s" % (GATE, ", ".join(
            "sm_%d%d %s" % (c[0], c[1], "fused" if t else "portable") for c, t in taken.items())))
    return not taken[12, 0]


def is_capability(node, bound):
    """True for `<...>get_device_capability(...)` and for a name that holds its result."""
    if isinstance(node, ast.Name):
        return len(bound.get(node.id, [])) == 1 and is_capability(bound[node.id][0], {})
    func = node.func if isinstance(node, ast.Call) else None
    return getattr(func, "attr", getattr(func, "id", None)) == "get_device_capability"


def is_major(node, bound):
    """True for `capability[0]` and for a name bound once, to that or by unpacking."""
    if isinstance(node, ast.Name):
        values = bound.get(node.id, [])
        return len(values) == 1 and not isinstance(values[0], ast.Name) and is_major(values[0], bound)
    return (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
            and node.slice.value == 0 and is_capability(node.value, bound))


def bindings(gate):
    """name -> the values it is given; `major, _ = cap` gives major the value `cap[0]`. A name
    that is also set in any other way (parameter, loop, +=, ...) is left out: not understood."""
    bound, stores = {}, []
    for node in ast.walk(gate):
        if isinstance(node, ast.arg) or isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stores.append(getattr(node, "arg", None) or node.id)
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        left, value = node.targets[0], node.value
        if isinstance(left, ast.Tuple):
            left, value = left.elts[0], ast.Subscript(value=value, slice=ast.Constant(value=0), ctx=ast.Load())
        if isinstance(left, ast.Name):
            bound.setdefault(left.id, []).append(value)
    return {name: values for name, values in bound.items() if stores.count(name) == len(values)}


def comparisons(tree):
    """The comparisons of the major with 10 inside the gate: (node, its operator's type)."""
    gate = function(tree, GATE)
    bound, found = bindings(gate), []
    for node in ast.walk(gate):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left, op, right = node.left, type(node.ops[0]), node.comparators[0]
        if isinstance(left, ast.Constant):  # 10 <= major is major >= 10
            left, right, op = right, left, {ast.LtE: ast.GtE, ast.Eq: ast.Eq}.get(op, type(None))
        ten = isinstance(right, ast.Constant) and type(right.value) is int and right.value == 10
        if ten and is_major(left, bound):
            found.append((node, op))
    return found


def offset(data, line, column):
    """Byte offset of a place that ast names (column is in bytes of utf-8)."""
    ends = [m.end() for m in re.finditer(rb"\r\n|\r|\n", data)]
    return (ends[line - 2] if line > 1 else 0) + column


def edited(data, tree):
    """The new text, and the line of the change; refuses what it does not fully understand."""
    wanted = [node for node, op in comparisons(tree) if op is ast.GtE]
    if len(wanted) != 1:
        raise Stop(REFUSED, "expected one comparison `major >= 10` in %s, found %d" % (GATE, len(wanted)))
    node = wanted[0]
    begin = offset(data, node.left.end_lineno, node.left.end_col_offset)
    end = offset(data, node.comparators[0].lineno, node.comparators[0].col_offset)
    filler = rb"(?:[\s()\\]|#[^\r\n]*(?=[\r\n]))*"
    match = re.fullmatch(filler + rb"(>=|<=)" + filler, data[begin:end])
    if not match:
        raise Stop(REFUSED, "no operator where line %d should have one" % node.lineno)
    at = begin + match.start(1)
    new = data[:at] + b"==" + data[at + 2:]
    # Check the result as if it were somebody else's: the same program but for this node.
    new_tree = parse(new)
    node.ops = [ast.Eq()]
    if ast.dump(new_tree) != ast.dump(tree) or not leaves_out_sm120(new_tree):
        raise Stop(REFUSED, "the edited text would not be the same program with another operator")
    return new, node.lineno


@contextlib.contextmanager
def locked(directory):
    """One run at a time for a directory. The kernel drops the lock with the process, so a
    killed run leaves none, and the next one may remove what it left."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Stop(IO_FAILED, "another run has held the lock for %d s" % LOCK_SECONDS)
                time.sleep(0.05)
        yield fd
    finally:
        os.close(fd)


def read(path):
    with open(path, "rb") as file:
        return file.read(), os.fstat(file.fileno())


def remove(path):
    if os.path.lexists(path):  # on a read-only filesystem unlink fails even where nothing is
        os.unlink(path)


def temp_path(path):  # one name, so that what a killed run left is overwritten, never collected
    return os.path.join(os.path.dirname(path), ".%s.%s.tmp" % (os.path.basename(path), NAME))


def replace(path, new, old, directory):
    """Mode and owner of `old`, whole or not at all, and on disk before it has the name."""
    temp = temp_path(path)
    remove(temp)
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb", closefd=True) as file:
            file.write(new)
            file.flush()
            made = os.fstat(fd)
            if (made.st_uid, made.st_gid) != (old.st_uid, old.st_gid):
                os.fchown(fd, old.st_uid, old.st_gid)
            os.fchmod(fd, stat.S_IMODE(old.st_mode))
            # Bytecode is matched by size and second: the size is the same, so the second must differ.
            if int(made.st_mtime) == int(old.st_mtime):
                os.utime(fd, (made.st_atime, int(old.st_mtime) + 1))
            os.fsync(fd)
        now = os.stat(path)
        if (now.st_ino, now.st_mtime_ns, now.st_size) != (old.st_ino, old.st_mtime_ns, old.st_size):
            raise Stop(IO_FAILED, "somebody else changed the file meanwhile, run this again")
        os.replace(temp, path)
    except BaseException:
        remove(temp)
        raise
    try:
        os.fsync(directory)
    except OSError as err:
        raise Stop(IO_FAILED, "the file is edited, but perhaps not safe on disk: %s" % err, True)


def stale_bytecode(path, data):
    """Cached bytecode not made from this text: (file, whether python would use it all the same).
    Images are often compiled with `unchecked-hash`, and python never looks at the source then."""
    info, stem = os.stat(path), os.path.splitext(os.path.basename(path))[0]
    cache = os.path.dirname(importlib.util.cache_from_source(path))
    for name in glob.glob(os.path.join(glob.escape(cache), glob.escape(stem) + ".*.pyc")):
        with open(name, "rb") as file:
            head = file.read(16)
        hashed, checked = len(head) == 16 and head[4] & 1, len(head) == 16 and head[4] & 2
        stamp = struct.pack("<II", int(info.st_mtime) & 0xFFFFFFFF, info.st_size & 0xFFFFFFFF)
        if head[8:16] != (importlib.util.source_hash(data) if hashed else stamp):
            yield name, bool(hashed and not checked)


def drop_stale_bytecode(path, data):
    try:
        for name, trusted in list(stale_bytecode(path, data)):
            # Python recompiles the other kinds by itself, so they may stay where they cannot go.
            with contextlib.suppress(() if trusted else OSError):
                remove(name)
    except OSError as err:
        raise Stop(IO_FAILED, "the file is edited, but older bytecode may stay in use: %s" % err, True)


def apply(path):
    with locked(os.path.dirname(path)) as directory:
        data, info = read(path)
        tree = parse(data)
        if leaves_out_sm120(tree):
            remove(temp_path(path))  # of a run that was killed
            drop_stale_bytecode(path, data)
            ours = [op for _, op in comparisons(tree)] == [ast.Eq]
            return "already applied" if ours else "nothing to do: this version's own gate leaves sm_120 out"
        new, line = edited(data, tree)
        replace(path, new, info, directory)
        drop_stale_bytecode(path, new)
        return "applied: %s takes the fused kernel for major == 10 only (line %d)" % (GATE, line)


def check(path):
    data, _ = read(path)
    if not leaves_out_sm120(parse(data)):
        return CHECK_NOT_APPLIED, "not applied: sm_120 would take the fused kernel"
    for name, trusted in stale_bytecode(path, data):
        if trusted:
            return CHECK_NOT_APPLIED, "not applied: python would use the older bytecode %s" % name
    return OK, "applied: sm_120 takes the portable kernel"


def main(argv=None):
    parser = argparse.ArgumentParser(prog=NAME + ".py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 0, 1 or 2")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--root", metavar="DIR", help="directory that holds the package sglang")
    where.add_argument("--file", metavar="FILE", help="the attn_residual.py to use")
    args = parser.parse_args(argv)
    path = None
    try:
        path = target(args)
        code, text = check(path) if args.check else (OK, apply(path))
    except Stop as stop:
        code, text = stop.code, ("" if stop.changed else "nothing changed: ") + str(stop)
    except Exception as err:
        code, text = IO_FAILED if isinstance(err, OSError) else REFUSED, "nothing changed: %r" % err
    else:
        print("%s: %s: %s" % (NAME, path, text), flush=True)
        return code
    print("%s: %s: %s" % (NAME, path or "sglang", text), file=sys.stderr, flush=True)
    return CHECK_UNKNOWN if args.check else code


if __name__ == "__main__":
    sys.exit(main())
