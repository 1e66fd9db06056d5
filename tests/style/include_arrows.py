#!/usr/bin/env python3
"""House rules that a compiler does not hold: which module may include which, and a few limits. Reads C++ sources only, runs nothing.

Usage: include_arrows.py [ROOT]     prints each fault as `file:line: rule: message`, ends with `N passed, N failed` (one per rule)

The table of arrows is the one in docs/architecture.md; a module may use the modules named here, and theirs.
"""
import os
import re
import sys

ARROWS = {
    "core": [],
    "profile": ["core"],
    "plan": ["core"],
    "deploy": ["profile", "plan"],       # nodes and secret references are the plan's own types
    "run": ["plan"],
    "checks": ["deploy", "run"],         # a judge reads a step's result and answers with findings
    "doctor": ["core"],
    "recipes": ["deploy", "checks", "plan", "run"],
    "net": ["core"],
    "ssh": ["run", "net"],
    "relay": ["net"],
    "bench": ["net"],
    "view": ["plan", "run"],
}
EVERYTHING = ["app"]                     # the composition root; main.cpp belongs to it

# header prefix -> modules that may include it, and in which files
THIRD_PARTY = [
    (r"boost/version\.hpp$", ["app", "net", "ssh", "relay", "bench"], "cpp"),
    (r"boost/", ["net", "ssh", "relay", "bench"], "cpp"),
    (r"yaml-cpp/", ["profile"], "cpp"),
    (r"libssh2", ["ssh"], "src"),
    (r"CLI/", ["app"], "cpp"),
    (r"re2/", ["doctor", "recipes"], "cpp"),
    (r"spdlog/", ["app", "net", "ssh", "relay", "bench"], "cpp"),
    (r"httplib\.h", ["app"], "cpp"),
    (r"openssl/", ["core", "net", "ssh", "relay", "app"], "cpp"),
    (r"nlohmann/json\.hpp$", None, "src"),
    (r"gtest/|gmock/|benchmark/", [], "cpp"),
]

MAX_FILE = 400
MAX_FUNCTION = 50
EXEMPT = re.compile(r"//.*\b(table|generated)\b", re.I)
WRITES = re.compile(r"\bstd::(cout|cerr|clog)\b|\b(?:std::)?(?:printf|puts|putchar|perror|vprintf)\s*\(|\bfmt::print\s*\(|\bfprintf\s*\(\s*(?:stdout|stderr)|\b(?:std::)?fputs\s*\([^;]*\b(?:stdout|stderr)\b")
NAME_COMPARED = re.compile(r"""\b\w*(?:verb|role)\w*(?:\.name|\(\))?\s*[!=]=\s*"|"[\w -]+"\s*[!=]=\s*\w*(?:\.|->)?\w*(?:verb|role)\w*\b""")
NAME_TABLES = re.compile(r"^src/(?:app/|recipes/recipes\.cpp$|deploy/roles\.cpp$)")


def closure(module):
    if module in EVERYTHING:
        return set(ARROWS) | set(EVERYTHING)
    seen, todo = {module}, list(ARROWS.get(module, []))
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += ARROWS.get(one, [])
    return seen


def module_of(path):
    if path == "src/main.cpp":
        return "app"
    found = re.match(r"(?:include/sskj|src)/([a-z]+)/", path)
    return found.group(1) if found else None


def sources(root):
    for top in ("include/sskj", "src"):
        for folder, _, names in sorted(os.walk(os.path.join(root, top))):
            for name in sorted(names):
                if name.endswith((".hpp", ".cpp")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as handle:
                        yield os.path.relpath(path, root), handle.read().split("\n")


def code_of(line):
    """A line without its comment and, for rules about code, with string contents kept."""
    return re.sub(r"//.*", "", line)


def rule_modules(files):
    for path, lines in files:
        module = module_of(path)
        if module not in ARROWS and module not in EVERYTHING:
            yield path, 1, f"module {module} is not in the table of arrows"


def rule_arrows(files):
    for path, lines in files:
        allowed = closure(module_of(path))
        for number, line in enumerate(lines, 1):
            found = re.match(r'\s*#\s*include\s*"sskj/([a-z]+)/', line)
            if found and found.group(1) not in allowed:
                yield path, number, f"{module_of(path)} may not include {found.group(1)} (allowed: {', '.join(sorted(allowed))})"


def rule_third_party(files):
    for path, lines in files:
        for number, line in enumerate(lines, 1):
            found = re.match(r"\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", line)
            if not found:
                continue
            for prefix, modules, where in THIRD_PARTY:
                if not re.match(prefix, found.group(1)):
                    continue
                if modules is not None and module_of(path) not in modules:
                    yield path, number, f"<{found.group(1)}> is for {', '.join(modules) or 'tests'} only"
                elif (where == "cpp" and not path.endswith(".cpp")) or (where == "src" and not path.startswith("src/")):
                    yield path, number, f"<{found.group(1)}> belongs into a {'.cpp file' if where == 'cpp' else 'file below src/'}"
                break


def rule_file_length(files):
    for path, lines in files:
        count = len(lines) - (1 if lines and lines[-1] == "" else 0)
        if count >= MAX_FILE and not any(EXEMPT.search(line) for line in lines[:10]):
            yield path, count, f"{count} lines; below {MAX_FILE} unless its head says `// table:` or generated"


OPENING = re.compile(r"^( {0,4})(?!\s)(?!(?:if|else|for|while|switch|do|try|catch|namespace|struct|class|enum|union|extern|return|case|default)\b)[^#/].*[)}>\w]\s*\{$")


def rule_function_length(files):
    for path, lines in files:
        if any(EXEMPT.search(line) for line in lines[:10]):
            continue
        for number, line in enumerate(lines):
            found = OPENING.match(code_of(line).rstrip())
            if not found or "(" not in line or re.search(r"\[[^\]]*\]\s*\(|=\s*\{$|constexpr std::array", line):
                continue
            end = next((n for n in range(number + 1, len(lines)) if lines[n].startswith(found.group(1) + "}")), None)
            if re.search(r"\bconst(?:expr)? std::array\b.*\{$", lines[number + 1] if number + 1 < len(lines) else ""):
                continue  # the function is a table
            if end is not None and end - number + 1 >= MAX_FUNCTION:
                yield path, number + 1, f"a function of {end - number + 1} lines; below {MAX_FUNCTION}"


def rule_only_views_write(files):
    for path, lines in files:
        if module_of(path) in ("view", "app"):
            continue
        for number, line in enumerate(lines, 1):
            if WRITES.search(re.sub(r'"(?:[^"\\]|\\.)*"', '""', code_of(line))):
                yield path, number, "only view and app write to the terminal"


def rule_names_stay_in_tables(files):
    for path, lines in files:
        if NAME_TABLES.match(path):
            continue
        for number, line in enumerate(lines, 1):
            if NAME_COMPARED.search(code_of(line)):
                yield path, number, "a verb's or role's name is compared outside its table"


def rule_no_global_state(files):
    for path, lines in files:
        for number, line in enumerate(lines, 1):
            if re.match(r"^(?:static|inline|thread_local)\s+(?!const\b|constexpr\b|constinit const\b)[\w:<>,\s*&]+\s\w+\s*(?:=|\{|;)", line) and "(" not in line.split("=")[0]:
                yield path, number, "mutable global state"


RULES = [
    ("modules", rule_modules),
    ("arrows", rule_arrows),
    ("third-party", rule_third_party),
    ("file-length", rule_file_length),
    ("function-length", rule_function_length),
    ("only-views-write", rule_only_views_write),
    ("names-in-tables", rule_names_stay_in_tables),
    ("no-global-state", rule_no_global_state),
]


def check(root):
    """(rule, path, line, message) of every fault."""
    files = list(sources(root))
    return files, [(name, path, number, message) for name, rule in RULES for path, number, message in rule(files)]


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files, faults = check(root)
    if not files:
        print(f"no sources below {root}", file=sys.stderr)
        return 2
    for name, path, number, message in faults:
        print(f"{path}:{number}: {name}: {message}")
    failed = len({name for name, *_ in faults})
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
