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
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LOGS = os.path.join(ROOT, "build", "test-logs")
JOBS = str(os.cpu_count() or 2)

# name, how cases are counted, command, limit in seconds, lane. The suites of a lane run in this order, one after another; the two lanes run at the same time, because the
# lab mostly waits and the compilers never do. `quiet` suites measure: they run alone at the end. The work lane yields to the lab wherever both want a core.
LAB, WORK, QUIET = "lab", "work", "quiet"
SUITES = [
    ("build-release", "one", "scripts/build", 1800, None),
    ("style", "line", "tests/style/run", 300, LAB),
    ("binary", "line", "tests/e2e/binary build/release/sskj", 300, LAB),
    ("readme", "line", "tests/docs/run_readme", 300, LAB),
    ("lab-selftest", "line", "tests/lab/selftest", 900, LAB),
    ("e2e", "line", "tests/e2e/run build/release/sskj", 2400, LAB),
    ("patches", "unittest", "python3 -m unittest discover -s tests/patches", 900, LAB),
    ("standin", "unittest", "python3 -m unittest discover -s tests/lab/standin/tests -t tests/lab/standin", 900, LAB),
    ("scripts", "line", "tests/scripts/test_deps.sh", 120, LAB),
    ("build-dev", "one", "cmake --preset dev && cmake --build --preset dev", 2400, WORK),
    ("unit", "gtest", f"ctest --test-dir build/dev -L unit -j {JOBS} --verbose", 900, WORK),
    ("tidy", "one", "tests/style/tidy build/dev", 2400, WORK),
    ("build-asan", "one", "cmake --preset asan && cmake --build --preset asan", 2400, WORK),
    ("unit-asan", "gtest", f"ctest --test-dir build/asan -L unit -j {JOBS} --verbose", 900, WORK),
    ("fuzz", "line", "tests/fuzz/run 60", 1200, WORK),
    ("ssh", "gtest", "ctest --test-dir build/dev -L ssh --verbose", 900, QUIET),
    ("dry-run-time", "one", "tests/bench/dry_run --sskj build/release/sskj", 120, QUIET),
    ("fanout", "one", "tests/bench/fanout --sskj build/release/sskj", 1500, QUIET),
]


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


def yield_to_others(pid):
    """Niceness counts inside a session's scheduling group only; between groups it is the group's own."""
    try:
        os.setpriority(os.PRIO_PGRP, pid, 15)
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as handle:
            handle.write("15")
    except OSError:
        pass  # no such groups here, or ended already: then both lanes are equal


def run(name, kind, command, limit, lane=None):
    log = os.path.join(LOGS, name + ".log")
    began = time.monotonic()
    with open(log, "wb") as out:
        child = subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        if lane == WORK:
            yield_to_others(child.pid)
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


def run_lane(suites, totals):
    for name, kind, command, limit, lane in suites:
        ok, bad = run(name, kind, command, limit, lane)
        totals.append((ok, bad))
        if bad and name.startswith("build-"):
            print(f"{name} failed: the suites after it in its lane need it", flush=True)
            totals.append((0, 1))
            return False
    return True


def main():
    wanted = sys.argv[1:]
    if wanted == ["--list"]:
        print("\n".join(name for name, *_ in SUITES))
        return 0
    unknown = set(wanted) - {name for name, *_ in SUITES}
    if unknown:
        print(f"no such suite: {', '.join(sorted(unknown))}; scripts/test --list names them", file=sys.stderr)
        return 2
    os.makedirs(LOGS, exist_ok=True)
    chosen = [suite for suite in SUITES if not wanted or suite[0] in wanted]
    totals = []
    if run_lane([suite for suite in chosen if suite[4] is None], totals):
        lanes = [threading.Thread(target=run_lane, args=([suite for suite in chosen if suite[4] == lane], totals)) for lane in (LAB, WORK)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        run_lane([suite for suite in chosen if suite[4] == QUIET], totals)
    passed, failed = (sum(column) for column in zip(*totals))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 0 if failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
