"""The operator leaves and comes back: detach, attach until ready, a finished run again, a run that was killed."""
import os
import signal

from cases_life_cycle import NODES, PROFILE
from harness import check, contains, equal


def register(suite, lab, sskj):
    def detach(verb, *more):
        document = lab.operator(sskj, verb, "-p", PROFILE, "--yes", "--detach", "--json", *more, timeout=60).exits(0).json()
        equal((document["verb"], document["detached"]), (verb, True), "the document of --detach")
        return document

    def history():
        return lab.operator(sskj, "history", "--json", "-p", PROFILE).exits(0).json()["runs"]

    @suite.case
    def a_detached_start_is_followed_until_it_is_ready_warm_and_correct():
        lab.operator(sskj, "stop", "-p", PROFILE, "--yes").exits(0)
        document = detach("start", "--reason", "night shift")
        equal((history()[0]["run"], history()[0]["state"]), (document["run"], "running"), "history while it runs")
        attached = lab.begin(sskj, "attach", document["run"], "-o", "ndjson")
        try:
            check(attached.wait_event(lambda one: one["event"] == "stage_started" and one["stage"] == "preflight"), "the run holds its locks")
            second = lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(6)
            contains(second.err, document["run"], "who holds the nodes")
            attached.end(250).exits(0)
        finally:
            if attached.process.poll() is None:
                attached.process.kill()
                attached.process.wait()
        text = lab.operator(sskj, "attach", document["run"]).exits(0)  # the latest is the one that was refused
        for word in ("ready", "warm", "correct"):
            contains(text.out + text.err, word, "the three words")
        contains(text.err.splitlines()[-1], "start: done in", "the last line")
        contains(text.err.splitlines()[-1], "4 ok", "the last line counts the nodes")
        past = lab.operator(sskj, "attach", document["run"], "--json").exits(0).json()
        equal((past["report"]["smoke"]["correct"], past["hosts"]["ok"], past["died"]), (True, 4, False), "the document afterwards")
        mine = [one for one in history() if one["run"] == document["run"]]
        equal([(one["state"], one["exit_code"]) for one in mine], [("done", 0)], "history afterwards")
        equal(lab.operator(sskj, "status", "-p", PROFILE, "--json").exits(0).json()["state"], "ready", "and it is so")

    @suite.case
    def attach_repeats_what_a_run_in_the_foreground_said():
        first = lab.operator(sskj, "restart", "-p", PROFILE, "--yes", "--json").exits(0).json()
        equal(lab.operator(sskj, "attach", "latest", "--json").exits(0).json(), first, "the whole document")
        lab.fault("gpu-held", 7)
        try:
            failed = lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(3)
        finally:
            lab.heal(7)
        again = lab.operator(sskj, "attach", "latest").exits(3)
        equal(again.err.split("FAILED", 1)[1], failed.err.split("FAILED", 1)[1], "failures and summary as text")

    @suite.case
    def a_run_that_is_killed_has_died_and_the_next_one_needs_no_manual_step():
        document = detach("restart")
        attached = lab.begin(sskj, "attach", "latest", "-o", "ndjson")
        try:
            check(attached.wait_event(lambda one: one["event"] == "stage_started" and one["stage"] == "ready"), "its ranks are loading")
            os.kill(document["pid"], signal.SIGKILL)
            end = attached.end(30)
        finally:
            if attached.process.poll() is None:
                attached.process.kill()
                attached.process.wait()
        equal(end.status, 5, f"who looks on is told\n{end.out[-1500:]}")
        text = lab.operator(sskj, "attach", document["run"]).exits(5)
        contains(text.err, "the run died", "attach afterwards")
        contains(text.err, "next: sskj restart -p " + PROFILE, "the command to go on with")
        equal(history()[0]["state"], "died", "history")
        lab.operator(sskj, "start", "-p", PROFILE, "--yes").exits(0)
        equal([one["state"] for one in history()[:2]], ["done", "died"], "history after the next start")

    @suite.case
    def a_detached_stop_leaves_nothing():
        document = detach("stop")
        lab.operator(sskj, "attach", document["run"]).exits(0)
        for number in NODES:
            equal(lab.node(number, "docker", "ps", "-aq").out.split(), [], f"node {number}: containers")
