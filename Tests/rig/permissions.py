#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Permission by the location service: questions of programs without a terminal, agents, answers, two users.

usage: permissions.py FOLDER [CHECK...]      FOLDER holds sextant, sextant-track and sextantd
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "needs": ["root"], "seconds": 12, "ci": True}

import contextlib
import json
import os
import signal
import time

import daemon
import harness
import phrases
from daemon import NOBODY, served
from harness import Program, environment, expect, expect_equal, wait_until

AUTHORIZATION = "org.sextant.Authorization"


def authorize(folder, service, *words, code=0, user=None):
    """`sextant authorize` with the service, as a user."""
    return harness.run(harness.program(), "authorize", *words, code=code, user=user, cwd="/",
                       env=environment(folder, SEXTANT_SERVICE=service.socket))


def listed(folder, service, user=None, *words):
    return json.loads(authorize(folder, service, "show", "--json", *words, user=user).output)


def statuses(folder, service, user=None, *words):
    return {app["app"].split("@")[0]: app["status"] for app in listed(folder, service, user, *words)["apps"]}


@contextlib.contextmanager
def undecided(folder):
    """A service without a permission for anyone, and a program without a terminal that asks for it."""
    with served(folder, authorization=None) as (_, service), \
            service.track(user=NOBODY, folder=own_folder(folder), SEXTANT_AUTHORIZATION="always") as asking:
        asking.wait_for_event("didChangeAuthorization", status="notDetermined")
        wait_until(lambda: listed(folder, service, NOBODY)["questions"], "the question is not listed")
        yield service, asking


def own_folder(folder):
    """A folder that another user may enter."""
    own = f"{folder}/own"
    os.makedirs(own, exist_ok=True)
    os.chmod(folder, 0o755)
    os.chown(own, NOBODY, NOBODY)
    return own


def pending(folder):
    """A program without a terminal asks: the question is listed for its user, and its answer is stored for its executable."""
    with undecided(folder) as (service, asking):
        question = listed(folder, service, NOBODY)["questions"][0]
        expect(question["app"].startswith("sextant-track@/") and question["pid"] == asking.process.pid, question)
        people = authorize(folder, service, user=NOBODY).output
        expect("sextant-track@" in people and "asks" in people, f"the list for people has no question: {people}")
        expect_equal(listed(folder, service)["questions"], [], "the questions of root's programs")
        authorize(folder, service, "allow", "sextant-track", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        asking.wait_for_event("didUpdateLocations")
        expect_equal(listed(folder, service, NOBODY)["questions"], [], "the questions after the answer")
        expect_equal(statuses(folder, service, NOBODY), {"sextant-track": "authorizedAlways"}, "what is stored")
        # It is shown, changed and forgotten while the program runs.
        authorize(folder, service, "deny", "sextant-track", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="denied")
        authorize(folder, service, "grant", "sextant-track", "always", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        authorize(folder, service, "reset", "sextant-track", "--user", str(NOBODY))
        asking.wait_for_event("didChangeAuthorization", status="notDetermined")
        asking.terminate((0, 69))
        service.terminate()


def agent(folder):
    """`sextant authorize --agent` asks on its terminal for a program without one, again after an answer that is none."""
    with served(folder, authorization=None) as (_, service), \
            Program(harness.program(), "authorize", "--agent", user=NOBODY, terminal=True, cwd="/",
                    env=environment(own_folder(folder), SEXTANT_SERVICE=service.socket)) as agent:
        agent.wait_for_message("waiting for questions")
        for answer, status in ("n", "denied"), ("a", "authorizedAlways"):
            with service.track(user=NOBODY, folder=own_folder(folder)) as asking:
                agent.wait_for_message("sextant-track@.*" + phrases.QUESTION)
                agent.wait_for_message(phrases.QUESTION_PROMPT)
                agent.type("what?\n")
                agent.wait_for_message(phrases.QUESTION_PROMPT)
                agent.type(f"{answer}\n")
                asking.wait_for_event("didChangeAuthorization", status=status)
                asking.terminate((0, 69))
            authorize(folder, service, "reset", "sextant-track", user=NOBODY)
        # A question that is withdrawn leaves the terminal.
        with service.track(user=NOBODY, folder=own_folder(folder)) as asking:
            agent.wait_for_message(phrases.QUESTION_PROMPT)
            asking.kill()
            agent.wait_for_message("no longer asks")
        # While the agent waits, a program is not asked on a terminal of its own.
        with service.track(user=NOBODY, folder=own_folder(folder), terminal=True) as asking:
            agent.wait_for_message(phrases.QUESTION_PROMPT)
            expect(not harness.matches(phrases.QUESTION_PROMPT, asking.errors), f"the program asks too: {asking.errors}")
            agent.type("a\n")
            asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
            asking.wait_for_event("didUpdateLocations")
            asking.interrupt()
        agent.interrupt()
        service.terminate()


def own_terminal(folder):
    """Without an agent, a program in the foreground of a terminal prints the command that answers its question."""
    with served(folder, authorization=None) as (_, service), \
            service.track(user=NOBODY, folder=own_folder(folder), terminal=True) as asking:
        asking.wait_for_message(phrases.QUESTION_NOTICE)
        # The terminal is the program's: what is typed there answers nothing.
        asking.type("a\n")
        authorize(folder, service, "allow", "sextant-track", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        asking.wait_for_event("didUpdateLocations")
        asking.interrupt()
        service.terminate()


@contextlib.contextmanager
def stopped_job(folder, **variables):
    """A shell on a terminal with a stopped program that has had a location."""
    with Program("bash", "--norc", "-i", terminal=True, env=environment(folder, **variables)) as shell:
        try:
            shell.type(f"{harness.program('sextant-track')} --json\n")
            shell.wait_for_event("didUpdateLocations")
            shell.type("\x1a")
            shell.wait_for_message("Stopped")
            yield shell
        finally:
            # The program has the shell's output, and would outlive it.
            with open(f"/proc/{shell.process.pid}/task/{shell.process.pid}/children") as children:
                for number in children.read().split():
                    os.kill(int(number), signal.SIGKILL)


def behind(folder):
    """With permission for when in use, a program that only receives gets nothing in the background of its terminal (BG-3)."""
    with served(folder, authorization="whenInUse") as (_, service):
        with stopped_job(folder, SEXTANT_SERVICE=service.socket) as shell:
            shell.type("bg\n")
            shell.wait_for_message("nothing is delivered in the background")
            shell.expect_none("didUpdateLocations", 3)
            shell.type("fg\n")
            shell.wait_for_event("didUpdateLocations")
        service.terminate()


def stopped(folder):
    """What a receiver sends while a program with its own receiver is stopped is not delivered in the background (BG-3)."""
    folder_of_programs = os.path.dirname(os.path.abspath(harness.program()))
    with stopped_job(folder, SEXTANT_SERVICE="none", SEXTANT_AUTHORIZATION="whenInUse", GNSS_DEVICE="sim:walk",
                     PATH=f"{folder_of_programs}:{os.environ['PATH']}") as shell:
        before = len(shell.locations())
        # The simulator sends fixes meanwhile.
        time.sleep(3)
        shell.type("bg\n")
        shell.wait_for_message("nothing is delivered in the background")
        expect_equal(len(shell.locations()), before, "the locations after the stop")


def forged(folder):
    """A program does not answer its own question: by its own message, its own call, or a process that it starts."""
    with served(folder, authorization=None) as (_, service):
        # This process is the program that asks.
        with service.client() as asking, service.client() as calling:
            asking.open("forger")
            asking.act({"addManager": {"_0": 1}}, {"call": {"manager": 1, "_1": {"setDelegate": {"_0": 3}}}},
                       {"call": {"manager": 1, "_1": {"requestAlways": {}}}})
            def questions():
                return calling.call(f"{AUTHORIZATION}.List")["parameters"]["questions"]
            wait_until(questions, "the question is not listed")
            question = questions()[0]
            asking.act({"answer": {"_0": {"always": {}}, "to": {
                "request": {"always": {}}, "text": question["text"], "isUpgrade": False}}})
            for call in (("Answer", {"id": question["id"], "answer": "always"}),
                         ("Set", {"name": question["name"], "status": "authorizedAlways"})):
                expect_equal(calling.error(f"{AUTHORIZATION}.{call[0]}", call[1]), f"{AUTHORIZATION}.NotPermitted",
                             f"the answer to {call[0]} of the program itself")
            # A child of this process.
            authorize(folder, service, "allow", "forger", code=77)
            expect_equal([one["id"] for one in questions()], [question["id"]], "the question after the forged answers")
            expect_equal([one["authorization"] for one in service.programs()], ["notDetermined"], "the permission")
        for parameters, error in (({"id": 1 << 40, "answer": "always"}, "NoSuchQuestion"), ({}, None),
                                  ({"id": 1, "answer": "maybe"}, None), ({"id": "1", "answer": "deny"}, None)):
            with service.client() as client:
                expected = f"{AUTHORIZATION}.{error}" if error else "org.varlink.service.InvalidParameter"
                expect_equal(client.error(f"{AUTHORIZATION}.Answer", parameters), expected, f"the answer to {parameters}")
        service.terminate()


def switch(folder):
    """`authorize services` switches the services of one user, also off for programs that run; no program switches them on."""
    with undecided(folder) as (service, asking):
        authorize(folder, service, "grant", "sextant-track", "always", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        authorize(folder, service, "services", "off", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="denied")
        expect_equal(listed(folder, service, NOBODY)["services"], False, "the switch of the user")
        expect_equal(listed(folder, service)["services"], True, "the switch of root")
        expect_equal(statuses(folder, service, NOBODY), {"sextant-track": "authorizedAlways"}, "what is stored")
        authorize(folder, service, "services", "on", "--user", str(NOBODY), user=65533, code=77)
        authorize(folder, service, "services", "on", user=NOBODY)
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        authorize(folder, service, "services", "off", "--user", str(NOBODY))
        asking.wait_for_event("didChangeAuthorization", status="denied")
        asking.terminate((0, 69))
        # This process is a program of root.
        with service.client() as program, service.client() as calling:
            program.open("forger")
            expect_equal(calling.error(f"{AUTHORIZATION}.SetServices", {"on": True}), f"{AUTHORIZATION}.NotPermitted",
                         "the answer to the program itself")
            expect_equal(calling.error(f"{AUTHORIZATION}.SetServices", {"on": 1}), "org.varlink.service.InvalidParameter",
                         "the answer to a number")
        service.terminate()


def users(folder):
    """Each user sees and answers the own questions only; root names a user."""
    with undecided(folder) as (service, asking):
        other = 65533
        expect_equal(listed(folder, service, other), listed(folder, service, other) | {"apps": [], "questions": []},
                     "what another user sees")
        for words in (["show"], ["allow", "sextant-track"], ["deny", "sextant-track"]):
            authorize(folder, service, *words, "--user", str(NOBODY), user=other, code=77)
        authorize(folder, service, "allow", "sextant-track", user=other, code=66)
        expect_equal(len(listed(folder, service, None, "--user", str(NOBODY))["questions"]), 1, "the question by root's list")
        authorize(folder, service, "allow", "sextant-track", "--user", str(NOBODY))
        asking.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        expect_equal(statuses(folder, service), {}, "what root's programs have")
        # Another executable with the same name asks anew.
        copy = f"{folder}/bin/sextant-track"
        os.makedirs(os.path.dirname(copy))
        harness.run("/bin/cp", harness.program("sextant-track"), copy)
        with Program(copy, "--json", user=NOBODY, env=environment(own_folder(folder), SEXTANT_SERVICE=service.socket)) as copied:
            copied.wait_for_event("didChangeAuthorization", status="notDetermined")
            wait_until(lambda: [one for one in listed(folder, service, NOBODY)["questions"] if one["app"].endswith(copy)],
                       "the other executable does not ask")
            copied.terminate((0, 69))
        asking.terminate((0, 69))
        service.terminate()


def python_program(folder):
    """A program of org.sextant.Location that was refused is listed, and served at its next call after the answer."""
    with served(folder, authorization=None) as (_, service):
        name = f"{os.path.basename(os.path.realpath('/usr/bin/python3'))}"
        script = ("import sys; sys.argv = ['', '.']; sys.path.insert(0, sys.path[0] or '.'); import daemon; "
                  f"print(daemon.Client({service.socket!r}).subscribe())")
        def ask():
            return harness.run("/usr/bin/python3", "-c", script, user=NOBODY, cwd=os.path.dirname(os.path.abspath(__file__)),
                               env=environment(own_folder(folder), PYTHONPATH=os.path.dirname(os.path.abspath(__file__)))).output
        expect("NotDetermined" in ask(), "the first call is not refused")
        expect(listed(folder, service, NOBODY)["questions"][0]["app"].startswith(name), "the refused program is not listed")
        authorize(folder, service, "allow", name, user=NOBODY)
        expect("latitude" in ask(), "the call after the answer has no location")
        service.terminate()


if __name__ == "__main__":
    if os.geteuid() != 0:
        raise SystemExit("permissions.py plays two users, which needs root; run it with sudo")
    daemon.options = harness.arguments(__doc__)
    harness.run_checks((pending, agent, own_terminal, behind, stopped, forged, switch, users, python_program), daemon.options.checks)
