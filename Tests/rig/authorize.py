#!/usr/bin/env python3
"""Permission that is granted, denied, asked for and switched off while `sextant track` runs on a terminal.

usage: authorize.py FOLDER

FOLDER has the programs. It says ok, or what is wrong; it takes about half a minute.
"""
import os
import subprocess
import sys
import tempfile

from terminal import Failure, Track, expect

SEXTANT = os.path.join(os.path.abspath(sys.argv[1]), "sextant")


def authorize(state, *arguments, code=0, says="", without="\0", user=None):
    done = subprocess.run([SEXTANT, "authorize", *arguments], env={**os.environ, "SEXTANT_STATE_DIR": state},
                          capture_output=True, text=True, user=user, cwd="/")
    expect(done.returncode, code, f"the exit code of authorize {arguments} ({done.stderr.strip()})")
    expect(says in done.stderr and without not in done.stderr, True, f"what authorize {arguments} says ({done.stderr.strip()})")
    return done.stdout


def changes(state):
    """Each change is heard at once, and the delegate is told (AU-3, AU-15, AU-16, GE-1)."""
    track = Track(SEXTANT, "--device", "sim:walk", environment={"SEXTANT_STATE_DIR": state})
    track.wait_for("didChangeAuthorization", status="authorizedAlways")
    track.wait_for("didUpdateLocations")
    for off, on, status in (
        (["deny", "sextant-track"], ["grant", "sextant-track", "whenInUse"], "authorizedWhenInUse"),
        (["services", "off"], ["services", "on"], "authorizedWhenInUse"),
        (["grant", "sextant-track", "always"], None, "authorizedAlways"),
        (["deny", "sextant-track"], ["reset", "sextant-track"], "authorizedAlways"),
    ):
        authorize(state, *off)
        if on:
            track.wait_for("didChangeAuthorization", 5, status="denied")
            track.wait_for("didFailWithError", 5, code=1)
            track.silence("didUpdateLocations", 1.5)
            authorize(state, *on)
        track.wait_for("didChangeAuthorization", 5, status=status)
        track.wait_for("didUpdateLocations")
    expect(track.interrupt(), 0, "the exit code after the interrupt key")


def denied(state):
    """A denial that is stored holds at the next start, and the environment stands above it."""
    authorize(state, "deny", "sextant-track")
    track = Track(SEXTANT, "--device", "sim:walk", "--once", environment={"SEXTANT_STATE_DIR": state})
    track.wait_for("didFailWithError", code=1)
    expect(track.end(), 69, "the exit code of a denied request")
    track = Track(SEXTANT, "--device", "sim:walk", "--once",
                  environment={"SEXTANT_STATE_DIR": state, "SEXTANT_AUTHORIZATION": "always"})
    track.wait_for("didUpdateLocations")
    expect(track.end(), 0, "the exit code of a request")
    authorize(state, "reset", "--all")


def question(state):
    """Who has not decided is asked on the terminal, until there is an answer (AU-5, AU-11)."""
    undecided = {"SEXTANT_STATE_DIR": state, "SEXTANT_AUTHORIZATION": "notDetermined"}
    for answer, status, code in (("a", "authorizedAlways", 0), ("w", "authorizedWhenInUse", 0), ("n", "denied", 69)):
        track = Track(SEXTANT, "--device", "sim:walk", environment=undecided)
        track.wait_for("didChangeAuthorization", status="notDetermined")
        track.wait_for_screen("sextant-track wants to know the location: to print where this computer is")
        track.type("what?\n")
        track.wait_for_screen("Allow?")
        track.silence("didChangeAuthorization", 0.3)
        track.wait_for_screen("Allow?")
        track.type(answer + "\n")
        track.wait_for("didChangeAuthorization", status=status)
        if code == 0:
            track.wait_for("didUpdateLocations")
        expect(track.interrupt(), code, "the exit code after the question")
        authorize(state, "reset", "sextant-track")


def mistakes(state):
    """What cannot be done is told with its exit code."""
    authorize(state, "grant", "app", "sometimes", code=64)
    authorize(state, "grant", code=64)
    authorize(state, "reset", code=64)
    authorize(state, "grant", "/no/such/program", "always", code=66)
    authorize("/proc/none", "services", "off", code=73, says="name another folder with SEXTANT_STATE_DIR")
    authorize("/proc/none", "grant", "app", "always", code=73, says="SEXTANT_STATE_DIR", without="counts when it starts")
    # Who may not make the folder is told that, and not that it is not there.
    nobody = 65534 if os.geteuid() == 0 else None
    authorize("/nonexistent", "grant", "app", "always", code=77, says="Permission denied; use sudo, or", user=nobody)
    authorize("/nonexistent", "restrict", "app", code=77, says="Permission denied; it is for all users", user=nobody)
    authorize("/nonexistent", "services", "off", "--machine", code=77, says="use sudo", user=nobody)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (changes, denied, question, mistakes):
            try:
                check(os.path.join(folder, check.__name__))
            except Failure as failure:
                sys.exit(f"authorize.py: {check.__name__}: {failure}")
    print("ok")


main()
