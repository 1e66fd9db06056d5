"""Values that break quoting go unharmed from a profile to docker inspect and into the process."""
import json
import os

from harness import ROOT, check, equal

AWKWARD = {
    "BLANKS": "  two  blanks ",
    "SINGLE": "it's",
    "DOUBLE": 'say "x"',
    "DOLLAR": "$HOME and ${PATH}",
    "TICKS": "`id` $(id)",
    "SEMICOLON": "a; rm -rf /nowhere && b | c > d",
    "JSON": '{"a": [1, 2, {"b": "c d"}]}',
    "BRACES": "{{ .Names }} %s %d",
    "UTF8": "Größe 大小 ✓",
    "NEWLINE": "first\nsecond",
    "BACKSLASH": "a\\b \\n \\\\",
    "EMPTY": "",
    "DASH": "-n",
    "GLOB": "* ? [a-z] ~",
}


# What the process in the container was really given, before the engine (which refuses such arguments).
SHOW = """python3 -c 'import json,os,sys; print("SEEN " + json.dumps([sys.argv[1:], dict(os.environ)]), flush=True)' "$@\""""


def yaml_text(value):
    out = '"'
    for char in value:
        out += {'"': '\\"', "\\": "\\\\", "\n": "\\n"}.get(char, char)
    return out + '"'


def register(suite, lab, sskj):
    @suite.case
    def awkward_values_arrive():
        path = os.path.join(lab.directory, "awkward.yaml")
        with open(os.path.join(ROOT, "tests", "data", "e2e", "generic.yaml"), encoding="utf-8") as source:
            text = source.read()
        env = "".join(f"      AWK_{name}: {yaml_text(value)}\n" for name, value in AWKWARD.items())
        args = "".join(f"      - {yaml_text(value)}\n" for value in AWKWARD.values())
        with open(path, "w", encoding="utf-8") as out:
            out.write(text.replace("      @ENV@\n", env).replace("      @ARGS@\n", args).replace("@BOOTSTRAP@", yaml_text(SHOW)))
        document = lab.operator(sskj, "start", "-p", path, "--dry-run", "--json").exits(0).json()
        check(document["stages"], "it plans")
        shown = lab.operator(sskj, "profile", "show", "-p", path, "--json").exits(0).json()
        spec = shown["deployment"]["groups"][0]["ranks"][0]["spec"]
        for value in AWKWARD.values():
            check(value in spec["command"], f"{value!r} is an argument of its own in {spec['command']}")
        try:
            lab.operator(sskj, "start", "-p", path, "--yes", "--keep-failed", timeout=120)  # the engine refuses such arguments: the container is what matters
            have = lab.node(5, "docker", "inspect", spec["name"]).exits(0).json()[0]
            equal(have["Config"]["Cmd"], spec["command"], "argv in docker inspect")
            for name, value in AWKWARD.items():
                check(f"AWK_{name}={value}" in have["Config"]["Env"], f"AWK_{name} in docker inspect")
            logs = lab.node(5, "docker", "logs", spec["name"]).exits(0)
            seen = [line[5:] for line in (logs.out + logs.err).splitlines() if line.startswith("SEEN ")]
            check(seen, f"the process told what it was given: {(logs.out + logs.err)[-1500:]}")
            argv, env = json.loads(seen[0])
            equal(argv, spec["command"][4:], "argv in the process")
            for name, value in AWKWARD.items():
                equal(env.get(f"AWK_{name}"), value, f"AWK_{name} in the process")
        finally:
            lab.operator(sskj, "stop", "-p", path, "--yes").exits(0)
