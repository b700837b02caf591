#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Permission that is granted, denied, asked for and switched off while `sextant track` runs on a terminal.

usage: authorize.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track
"""
RIG = {"programs": ["sextant", "sextant-track"], "seconds": 10, "ci": True}

import os

import harness
import phrases
from harness import Track, environment, expect, expect_equal, matches


def authorize(folder, *words, code=0, state=None, says="", without="(?!)", user=None):
    variables = environment(folder) | ({"SEXTANT_STATE_DIR": state} if state else {})
    done = harness.run(harness.program(), "authorize", *words, code=code, user=user, env=variables, cwd="/")
    expect(matches(says, done.errors) and not matches(without, done.errors),
           f"authorize {words} says {done.errors!r}, and not {says!r} without {without!r}")


def changes(folder):
    """Each change is noticed at once, and the delegate is called (AU-3, AU-15, AU-16, GE-1)."""
    with Track(folder, "--device", "sim:walk") as track:
        track.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        track.wait_for_event("didUpdateLocations")
        for off, on, status in (
            (["deny", "sextant-track"], ["grant", "sextant-track", "whenInUse"], "authorizedWhenInUse"),
            (["services", "off"], ["services", "on"], "authorizedWhenInUse"),
            (["grant", "sextant-track", "always"], None, "authorizedAlways"),
            (["deny", "sextant-track"], ["reset", "sextant-track"], "authorizedAlways"),
        ):
            authorize(folder, *off)
            if on:
                track.wait_for_event("didChangeAuthorization", status="denied")
                track.wait_for_event("didFailWithError", code=1)
                track.expect_none("didUpdateLocations", 1.5)
                authorize(folder, *on)
            track.wait_for_event("didChangeAuthorization", status=status)
            track.wait_for_event("didUpdateLocations")
        track.interrupt()


def denied(folder):
    """A stored denial holds at the next start, and the environment stands above it."""
    authorize(folder, "deny", "sextant-track")
    with Track(folder, "--device", "sim:walk", "--once") as track:
        track.wait_for_event("didFailWithError", code=1)
        track.wait_for_exit(69)
    with Track(folder, "--device", "sim:walk", "--once", SEXTANT_AUTHORIZATION="always") as track:
        track.wait_for_event("didUpdateLocations")
        track.wait_for_exit(0)


def question(folder):
    """The terminal shows the question until there is an answer; a refusal is an error of the started service (AU-5, AU-11, SU-18)."""
    for answer, status, code in (("a", "authorizedAlways", 0), ("w", "authorizedWhenInUse", 0), ("n", "denied", 69)):
        with Track(folder, "--device", "sim:walk", SEXTANT_AUTHORIZATION="notDetermined") as track:
            track.wait_for_event("didChangeAuthorization", status="notDetermined")
            track.wait_for_message(phrases.QUESTION)
            track.wait_for_message(phrases.QUESTION_PROMPT)
            track.type("what?\n")
            # No answer: the question comes again, and the status stays.
            track.wait_for_message(phrases.QUESTION_PROMPT)
            expect_equal([event["status"] for event in track.events_named("didChangeAuthorization")], ["notDetermined"], "the status")
            track.type(answer + "\n")
            track.wait_for_event("didChangeAuthorization", status=status)
            if code == 0:
                track.wait_for_event("didUpdateLocations")
            else:
                track.wait_for_event("didFailWithError", code=1)
            track.interrupt(code)
        authorize(folder, "reset", "sextant-track")


def mistakes(folder):
    """A request that cannot be carried out ends with the code and the advice that belong to its reason."""
    authorize(folder, "grant", "app", "sometimes", code=64)
    authorize(folder, "grant", code=64)
    authorize(folder, "reset", code=64)
    authorize(folder, "grant", "/no/such/program", "always", code=66)
    authorize(folder, "services", "off", code=73, state="/proc/none", says=phrases.STATE_FOLDER_ADVICE)
    authorize(folder, "grant", "app", "always", code=73, state="/proc/none", says=phrases.STATE_FOLDER_ADVICE,
              without=phrases.COUNTS_AT_START)
    # A user who may not create the folder gets that message, and not that the folder is missing.
    nobody = 65534 if os.geteuid() == 0 else None
    refused = {"code": 77, "state": "/nonexistent", "user": nobody}
    authorize(folder, "grant", "app", "always", says=f"{phrases.PERMISSION_DENIED}.*{phrases.SUDO_ADVICE}", **refused)
    authorize(folder, "restrict", "app", says=phrases.PERMISSION_DENIED, **refused)
    authorize(folder, "services", "off", "--machine", says=phrases.SUDO_ADVICE, **refused)


if __name__ == "__main__":
    harness.run_checks((changes, denied, question, mistakes), harness.arguments(__doc__).checks)
