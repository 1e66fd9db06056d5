"""The smoke answer: reasoning text, 1,081, a cut-off answer, a wrong one, an API key."""
import os

from cases_life_cycle import NODES, PROFILE
from harness import check, contains, equal

KEY = "sk-lab-Q7hT2pVx9"


def register(suite, lab, sskj):
    @suite.case
    def start_for_smoke():
        lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)

    @suite.case
    def grouped_digits_are_right():
        lab.fault("comma-answer", 5)
        try:
            document = lab.operator(sskj, "smoke", "-p", PROFILE, "--json").exits(0).json()
            check(document["correct"], f"1,081 is 1081: {document}")
        finally:
            lab.heal(5)

    @suite.case
    def wrong_answer_is_exit_9():
        lab.fault("wrong-answer", 5)
        try:
            done = lab.operator(sskj, "smoke", "-p", PROFILE, "--json").exits(9)
            equal(done.json()["correct"], False, "correct")
            text = lab.operator(sskj, "smoke", "-p", PROFILE).exits(9)
            contains(text.out + text.err, "1081", "expected answer is named")
        finally:
            lab.heal(5)

    @suite.case
    def a_cut_off_answer_is_asked_again():
        document = lab.operator(sskj, "smoke", "-p", PROFILE, "--json", "--set", "SMOKE_MAX_TOKENS=8").exits(0).json()
        check(document["correct"], f"asked again with a larger limit: {document}")

    @suite.case
    def an_api_key_is_carried_and_never_shown():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        env = {"LAB_KEY": KEY}
        option = ("--set", "API_KEY=from_env:LAB_KEY")
        try:
            done = lab.operator(sskj, "start", "-p", PROFILE, "--yes", "-vv", *option, env=env).exits(0)
            document = lab.operator(sskj, "smoke", "-p", PROFILE, "--json", *option, env=env).exits(0)
            logs = lab.operator(sskj, "logs", "-p", PROFILE, "--tail", "all", *option, env=env).exits(0)
            contains(logs.out, "api_key='[secret]'", "the engine's own line is masked")
            unset = lab.operator(sskj, "logs", "-p", PROFILE, "--tail", "all", *option).exits(0)
            equal((unset.out + unset.err).count("from_env:LAB_KEY cannot be read here"), 1, "times that a key which cannot be masked by value is told")
            plan = lab.operator(sskj, "start", "-p", PROFILE, "--dry-run", "--json", *option, env=env).exits(0)
            for what, text in (("start", done.out + done.err), ("smoke", document.out + document.err), ("plan", plan.out), ("logs", logs.out + logs.err),
                               ("logs without the key", unset.out + unset.err)):
                check(KEY not in text, f"the key is in the output of {what}")
            without = lab.node(5, "python3", "-c", "import urllib.request,urllib.error\ntry:\n urllib.request.urlopen('http://127.0.0.1:30000/v1/models')\n print(200)\n"
                               "except urllib.error.HTTPError as e:\n print(e.code)").exits(0)
            equal(without.out.strip(), "401", "the engine asks for the key")
            for number in NODES:
                argv = lab.node(number, "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").out
                check(KEY not in argv, f"node {number}: the key is on an argv")
                shown = lab.node(number, "sh", "-c", "docker inspect $(docker ps -q)").out
                check(KEY not in shown, f"node {number}: the key is in docker inspect")
            for directory, _, files in os.walk(os.path.join(lab.directory, "state")):
                for name in files:
                    with open(os.path.join(directory, name), "rb") as handle:
                        check(KEY.encode() not in handle.read(), f"the key is in the run directory: {name}")
        finally:
            lab.operator(sskj, "stop", "-p", PROFILE, "--yes", *option, env=env)
