#!/usr/bin/env python3
"""Run the test suites one after another, count their cases, keep their output, and end with `N passed, N failed`.

A suite is a name, a command, and how its cases are counted:
  gtest    CTest over test programs: the cases are GoogleTest's own
  line     the command ends with a line `N passed, N failed`
  unittest python's unittest
  one      the command as a whole is one case
A suite that prints no count where one is expected has failed: a runner that ran nothing is not green.
"""
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = os.path.join(ROOT, "build", "test-logs")
JOBS = str(os.cpu_count() or 2)

# name, how cases are counted, command, limit in seconds. Those of LONG run only with --all or by name: they want a machine without other work, and
# are not yet seen green from a clean clone often enough to decide over every change.
SUITES = [
    ("build-release", "one", "SSKJ_PRESET=ci scripts/build", 1800),
    ("build-tests", "one", "cmake --build --preset ci", 1800),
    ("unit", "gtest", f"ctest --test-dir build/release -L unit -j {JOBS} --verbose", 900),
    ("style", "line", "tests/style/run", 300),
    ("patches", "unittest", "python3 -m unittest discover -s tests/patches", 900),
    ("standin", "unittest", "python3 -m unittest discover -s tests/lab/standin/tests -t tests/lab/standin", 900),
    ("scripts", "line", "tests/scripts/test_deps.sh", 120),
    ("readme", "line", "tests/docs/run_readme", 300),
    ("binary", "line", "tests/e2e/binary build/release/sskj", 300),
    ("ssh", "gtest", "ctest --test-dir build/release -L ssh --verbose", 900),
    ("lab-selftest", "line", "tests/lab/selftest", 900),
    ("e2e", "line", "tests/e2e/run build/release/sskj", 1500),
    ("e2e-night", "line", "tests/e2e/run --night build/release/sskj", 3600),
    ("build-asan", "one", "cmake --preset asan && cmake --build --preset asan", 1800),
    ("unit-asan", "gtest", f"ctest --test-dir build/asan -L unit -j {JOBS} --verbose", 900),
    ("ssh-asan", "gtest", "ctest --test-dir build/asan -L ssh --verbose", 900),
    ("tidy", "one", "tests/style/tidy build/release", 2400),
    ("fuzz", "line", "tests/fuzz/run 60", 900),
    ("dry-run-time", "one", "tests/bench/dry_run --sskj build/release/sskj", 120),
    ("fanout", "one", "tests/bench/fanout --sskj build/release/sskj", 1500),
]

LONG = ("lab-selftest", "e2e-night")


def count(kind, output, status):
    """(passed, failed) of one suite's output."""
    if kind == "gtest":
        passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) tests?\.", output))
        failed = sum(int(n) for n in re.findall(r"\[  FAILED  \] (\d+) tests?, listed below", output))
        if passed == 0 or (status != 0 and failed == 0):
            failed += 1
        return passed, failed
    if kind == "line":
        found = re.findall(r"^(\d+) passed, (\d+) failed", output, re.M)
        if not found:
            return 0, 1
        passed, failed = map(int, found[-1])
        return passed, failed + (1 if status != 0 and failed == 0 or passed + failed == 0 else 0)
    if kind == "unittest":
        ran = re.search(r"^Ran (\d+) tests?", output, re.M)
        if not ran or int(ran.group(1)) == 0:
            return 0, 1
        bad = re.search(r"^FAILED \((.*)\)", output, re.M)
        failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", bad.group(1))) if bad else 0
        if status != 0 and failed == 0:
            failed = 1
        return int(ran.group(1)) - failed, failed
    return (1, 0) if status == 0 else (0, 1)


def run(name, kind, command, limit):
    log = os.path.join(LOGS, name + ".log")
    began = time.monotonic()
    with open(log, "wb") as out:
        child = subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        try:
            status = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 15)
            try:
                child.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, 9)
            status = 124
    with open(log, "rb") as handle:
        output = handle.read().decode("utf-8", "replace")
    passed, failed = count(kind, output, status)
    print(f"{name:14} {passed:5} passed, {failed} failed  {time.monotonic() - began:6.1f} s" + ("" if status == 0 else f"  (exit {status})"), flush=True)
    last = [line for line in output.splitlines() if line.strip()][-1:] if name in ("fanout", "dry-run-time") or failed else []
    skipped = sum(int(n) for n in re.findall(r"\[  SKIPPED \] (\d+) tests?, listed below", output))
    if skipped:
        reasons = sorted({line.split(": ", 1)[-1] for line in output.splitlines() if "apt-get install" in line or "run as root" in line})
        print(f"    {skipped} skipped: {'; '.join(reasons) or 'see ' + os.path.relpath(log, ROOT)}", flush=True)
    if failed:
        print("\n".join("    | " + line for line in output.splitlines()[-60:]), flush=True)
    elif last:
        print("    " + last[0], flush=True)
    return passed, failed


def main():
    wanted = sys.argv[1:]
    everything = wanted == ["--all"]
    if everything:
        wanted = []
    if wanted == ["--list"]:
        print("\n".join(name for name, *_ in SUITES))
        return 0
    unknown = set(wanted) - {name for name, *_ in SUITES}
    if unknown:
        print(f"no such suite: {', '.join(sorted(unknown))}; scripts/test --list names them", file=sys.stderr)
        return 2
    os.makedirs(LOGS, exist_ok=True)
    passed = failed = 0
    for name, kind, command, limit in SUITES:
        if wanted and name not in wanted:
            continue
        if name in LONG and not wanted and not everything:
            print(f"{name:14} not run: it is one of the long ones (scripts/test --all)", flush=True)
            continue
        ok, bad = run(name, kind, command, limit)
        passed, failed = passed + ok, failed + bad
        if bad and name.startswith("build-"):
            print(f"{name} failed: the suites after it need it", flush=True)
            break
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
