#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant check` at simulated receivers: what is as assumed, and deviations that are planted.

Tests/CommandTests/CheckTests.swift makes the checks of all models, deviations and moments in virtual time. Some of them are made here, and
the others by name.

usage: check.py FOLDER [CHECK]...; FOLDER has sextant and sextantd

  model NAME       exit code 0, settings as found, a file without a position and without the chip's id
  deviation QUIRK  late replies, lost acknowledgements, a rate and a baud rate that are not changed, a slow wake-up, orbits that are
                   lost asleep: named in one line, exit code 1, settings as found
  restarts         --yes: the warm start is measured
  unsaved NAME     --yes at a receiver whose restart loses its messages: they are written again, and no difference is reported
  ended WAY        ^C, also while the receiver sleeps, SIGTERM, SIGKILL and an unplug: the settings are as found, at the latest after the
                   next command
  service          sextantd lends the line, and has the receiver again afterwards
"""
RIG = {"programs": ["sextant", "sextantd"], "seconds": 140}

import functools
import json
import os
import threading

from daemon import Daemon
from harness import LIMIT, Program, Simulator, arguments, environment, expect, expect_equal, program, run, run_checks

STILL = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
# 48.1642 degrees are 48 degrees and 9.852 minutes.
POSITIONS = ("4809.8", "01136.3", "48.164", "11.605")
# The beginnings of latitude and longitude as UBX numbers of 1e-7 degrees.
NUMBERS = tuple(round(degrees * 1e7).to_bytes(4, "little")[2:] for degrees in (48.1642, 11.6056))

UBLOX = ("m6", "m8", "m8-batching", "m9", "m10", "f9p", "f10", "x20")
# An AT6558 has the commands of the AT6668, and reports nothing either: each change is observed for many epochs.
OTHERS = ("mt3339", "mt3333", "ag3352", "at6668", "lg290p", "um980", "tau1201", "teseo", "mosaic")
# The measurements of each model, beside identification, replies and restoring.
MEASURED = {
    "m10": {"rate", "messages", "constellations", "acknowledgements", "baud", "sleep", "wake", "hot start", "batch"},
    "mt3339": {"state", "rate", "messages", "baud", "sleep", "wake", "hot start"},
    "ag3352": {"state", "rate", "messages", "constellations", "baud", "sleep", "wake", "hot start"},
    "at6668": {"messages", "baud"}, "teseo": {"messages", "sleep", "wake", "hot start"},
}


DEFAULT = ("model m10", "model mt3339", "model teseo", "deviation slow-wake", "restarts", "unsaved teseo", "ended", "service")


# The check measures times: more receivers at once would measure the computer.
SLOTS = threading.Semaphore(4)


def in_turn(check):
    def run_in_turn(folder):
        with SLOTS:
            return check(folder)
    return run_in_turn


def settings(receiver):
    receiver.command("settings")
    return receiver.wait_for_line(r"^settings: (.*)")[1]


def command(folder, receiver, *options, code=0, socket="none"):
    """The command, and the lines of its file."""
    path = f"{folder}/check.jsonl"
    variables = environment(folder, SEXTANT_SERVICE=socket)
    with Program(program(), "check", "--device", receiver.link, "--out", path, *options, env=variables) as done:
        done.wait_for_exit(code, seconds=2 * LIMIT)
    with open(path) as file:
        return done, [json.loads(line) for line in file]


def expect_publishable(lines):
    expect_equal([index for index, line in enumerate(lines) if "check" in line], [len(lines) - 1], "the line of the measurements")
    text = json.dumps(lines[-1])
    expect(not any(position in text for position in POSITIONS), f"a position is among the measurements: {text}")
    for line in lines[:-1]:
        expect(set(line) <= {"t", "dir", "hex", "rate", "left_out", "bytes"} and line["dir"] in ("in", "out"), f"a line is {line}")
        data = bytes.fromhex(line["hex"])
        expect(not any(text.encode() in data for text in POSITIONS), f"a position is in the file: {line}")
        # SEC-UNIQID.
        expect(b"\xb5\x62\x27\x03" not in data, f"the chip's id is in the file: {line}")
        expect(not all(number in data for number in NUMBERS), f"a position is in the file: {line}")
    times = [line["t"] for line in lines[:-1]]
    expect(times == sorted(times) and "rate" in lines[0], f"the file begins {lines[:2]}")


def check(folder, model, *options):
    with Simulator(folder, model, scenario=STILL) as receiver:
        before = settings(receiver)
        done, lines = command(folder, receiver, *options)
        expect_equal(settings(receiver), before, f"the settings of {model}")
        expect_equal(done.output, "", f"{model}: standard output")
        found = lines[-1]["check"]
        expect(found["isComplete"] and found["deviations"] == [] and found["vendor"], f"{model}: {found}")
        measured = {one["name"] for one in found["findings"] if "measured" in one}
        wanted = {"identification", "replies", "restoring"} | MEASURED.get(model, set())
        expect(wanted <= measured, f"{model} has no {wanted - measured}: {found['findings']}")
        for one in found["findings"]:
            expect("skipped" in one or one["isWithin"] and one["assumed"], f"{model}: {one}")
        expect_publishable(lines)
        expect(any(line["dir"] == "out" and line["hex"] for line in lines[:-1]), f"{model}: no request in the file")
        return measured


def model(folder, name):
    return f"{len(check(folder, name))} measurements"


def restarts(folder):
    measured = check(folder, "m10", "--yes")
    expect("warm start" in measured, f"{measured}")


# Messages that are not saved. What the output alone shows is observed for half a minute before the restart and after it.
UNSAVED = {"at6668": "GGA,RMC,GSV@5", "um980": "GGA,RMC,GSV@5", "teseo": "GGA,RMC"}


def unsaved(folder, name):
    with Simulator(folder, name, scenario=STILL) as receiver:
        words = UNSAVED[name] + "".join(f",{one}@0" for one in ("GLL", "GSA", "GSV", "VTG", "ZDA") if one not in UNSAVED[name])
        variables = environment(folder, SEXTANT_SERVICE="none")
        run(program(), "configure", "set", f"messages={words}", "--device", receiver.link, env=variables)
        before = settings(receiver)
        _, lines = command(folder, receiver, "--yes", code=(0, 1))
        expect_equal(settings(receiver), before, f"the settings of {name}")
        found = lines[-1]["check"]
        restoring = next(one for one in found["findings"] if one["name"] == "restoring")
        expect(restoring["measured"]["restored"] is True, f"{restoring}")
        # The simulated AT6668 needs more for a start than the data sheet of its chip has.
        expect(set(found["deviations"]) <= {"hot start"}, f"{found}")
        return f"{len(lines)} lines, {found['deviations']}"


PLANTED = [
    ("mt3339", "late-replies", "replies"), ("ag3352", "lost-acks", "acknowledgements"), ("mt3339", "rate-kept", "rate"),
    ("mt3333", "baud-kept", "baud"), ("mt3339", "slow-wake", "wake"), ("ag3352", "cold-standby", "hot start"),
]


def deviation(folder, model, quirk, name):
    with Simulator(folder, model, "--quirk", quirk, scenario=STILL) as receiver:
        before = settings(receiver)
        done, lines = command(folder, receiver, code=1)
        found = lines[-1]["check"]
        expect(name in found["deviations"], f"{quirk} is not found: {found}")
        expect_equal([line.split(":")[0] for line in done.lines], found["deviations"], f"{quirk}: the lines")
        expect_equal(settings(receiver), before, f"the settings after {quirk}")
        expect_publishable(lines)
        return next(line for line in done.lines if line.startswith(name))


def ended(folder, way):
    variables = environment(folder, SEXTANT_SERVICE="none")
    with Simulator(folder, "mt3339", scenario=STILL) as receiver:
        before = settings(receiver)
        with Program(program(), "check", "--device", receiver.link, "--out", f"{folder}/file", env=variables) as checking:
            if way == "asleep":
                receiver.wait_for_state("standby")
            else:
                # The messages are over: the baud rate is next, for about a second.
                checking.wait_for_message("messages: ok")
                receiver.wait_for_status(lambda status: status["rate"] != 9600 or "baud: " in checking.errors,
                                         "the rate is not changed")
            match way:
                case "interrupted" | "asleep":
                    checking.interrupt(69)
                    expect(receiver.status()["state"] != "standby", "the receiver sleeps")
                case "terminated": checking.terminate(69)
                case "killed": checking.kill()
                case "unplugged":
                    receiver.command("fault unplug 2s")
                    checking.wait_for_exit(69)
                    expect("next command restores it" in checking.errors, checking.errors)
                    receiver.wait_for_status(lambda status: os.path.exists(receiver.link), "the receiver is not back")
        with open(f"{folder}/file") as file:
            expect("check" in json.loads(file.readlines()[-1]), "the file has no measurements")
        if way in ("killed", "unplugged"):
            run(program(), "configure", "get", "rate", "--device", receiver.link, env=variables)
        expect_equal(settings(receiver), before, f"the settings after it was {way}")


def service(folder):
    with Simulator(folder, "ag3352", scenario=STILL) as receiver, \
            Daemon(folder, receiver, SEXTANT_APP_STATE="background") as daemon, daemon.track() as track:
        track.wait_for_event("didUpdateLocations")
        own = f"{folder}/user"
        os.makedirs(own)
        _, lines = command(own, receiver, socket=daemon.socket)
        expect_publishable(lines)
        expect(lines[-1]["check"]["isComplete"], f"{lines[-1]}")
        track.wait_for_event("didUpdateLocations")


if __name__ == "__main__":
    options = arguments(__doc__)
    checks = {f"model {name}": functools.partial(model, name=name) for name in UBLOX + OTHERS}
    checks |= {f"deviation {one[1]}": functools.partial(deviation, model=one[0], quirk=one[1], name=one[2]) for one in PLANTED}
    checks |= {f"ended {way}": functools.partial(ended, way=way)
               for way in ("interrupted", "asleep", "terminated", "killed", "unplugged")}
    checks |= {f"unsaved {name}": functools.partial(unsaved, name=name) for name in UNSAVED}
    checks |= {"restarts": restarts, "service": service}
    run_checks({name: in_turn(check) for name, check in checks.items()}, options.checks or DEFAULT)
