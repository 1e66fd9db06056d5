#!/usr/bin/env python3
"""Pure modules link without the world: no sockets, clock, environment or threads, and left of the executor no files either (design: plan and execution, 1).

Usage: pure_modules.py BUILD_DIR [MODULE...] (all of the table by default). Reads the undefined symbols of each module's library with nm; ends with `N passed, N failed`.
"""
import os
import re
import subprocess
import sys

SOCKETS = r"socket|socketpair|connect|bind|listen|accept4?|send(to|msg)?|recv(from|msg)?|getaddrinfo|gethostby\w+|getnameinfo|poll|select|epoll_\w+"
CLOCK = r"clock(_\w+)?|time|gettimeofday|(nano|u)?sleep|localtime(_r)?|gmtime(_r)?|timer\w*_\w+|_ZNSt6chrono3_V2\d+(system|steady)_clock\w*"
ENVIRONMENT = r"(secure_)?getenv|setenv|putenv|environ|getpw\w+|gethostname|getcwd|isatty"
PROCESSES = r"fork|vfork|exec[lv]\w*|system|popen|posix_spawnp?|pthread_create|_ZNSt6thread\w*|kill|raise"
FILES = r"open(at)?(64)?|fopen(64)?|creat(64)?|f?stat(64)?|statx|mkdir|unlink|rename|opendir|readdir(64)?|_ZNSt10filesystem\w*|_ZNSt(13)?basic_i?o?fstream\w*"
TERMINAL = r"_ZSt4cout|_ZSt4cerr|stdout|puts|putchar|printf"

PURE = [SOCKETS, CLOCK, ENVIRONMENT, PROCESSES, TERMINAL, FILES]
# module -> what its code must not name. `run` has the journal, which writes files; nothing else of it may touch the world.
RULES = {module: PURE for module in ("core", "profile", "deploy", "plan", "checks", "recipes")}
RULES["run"] = [SOCKETS, CLOCK, ENVIRONMENT, PROCESSES, TERMINAL]


def undefined(nm_output):
    """Names of the undefined symbols (`U name`, weak ones too), without a symbol version."""
    return {match.group(1) for match in re.finditer(r"^\s+[Uw] ([^\s@]+)", nm_output, re.M)}


def forbidden(names, rules):
    return sorted(name for name in names if any(re.fullmatch(rule, name) for rule in rules))


def main(build, *modules):
    passed = failed = 0
    for module in modules or sorted(RULES):
        rules = RULES[module]
        library = os.path.join(build, "src", module, f"libsskj_{module}.a")
        if not os.path.exists(library):
            print(f"{library}: not built")
            failed += 1
            continue
        nm = subprocess.run(["nm", "--undefined-only", library], capture_output=True, text=True, check=True)
        found = forbidden(undefined(nm.stdout), rules)
        for name in found:
            print(f"{module}: uses {name}")
        passed, failed = (passed, failed + 1) if found else (passed + 1, failed)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) >= 2 else __doc__)
