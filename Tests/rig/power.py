#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant power` on simulated receivers: a state is requested, seen at the receiver itself, and logged.

usage: power.py FOLDER [CHECK...] [--speed X]      FOLDER holds sextant

The command's output is compared with the simulator's report of the receiver. The receiver's time runs X times as fast as the
command's.
"""
RIG = {"programs": ["sextant"], "seconds": 31, "ci": True}

import os
import re

import harness
import phrases
from harness import Program, Simulator, environment, expect, expect_equal, matches, program, wait_until

LOG_LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+\.\d{3} (.+)$")
ASLEEP, AWAKE, CYCLIC = ("backup", "standby"), ("acquisition", "tracking"), ("optimisedTracking",)


def states(lines):
    """The states in lines with a time."""
    return [found[1] for found in map(LOG_LINE.match, lines) if found]


def expect_states(found, *patterns):
    expect(len(found) == len(patterns) and all(map(matches, patterns, found)), f"the states are {found}, not {patterns}")


class Receiver(Simulator):
    """A receiver, and `sextant power` on it."""

    def __init__(self, folder, model):
        super().__init__(folder, model, "--speed", str(options.speed))
        self.log = f"{folder}/states.txt"

    def start(self, *words):
        return Program(program(), "power", "--device", self.link, "--log", self.log, *words, env=environment(self.folder))

    def power(self, *words, code=0):
        """The command, which ran to its end."""
        with self.start(*words) as command:
            command.wait_for_exit(code)
            return command

    def logged(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return states(file)


def sleeps(folder, model):
    with Receiver(folder, model) as receiver:
        receiver.wait_for_state(*AWAKE)
        found = receiver.power("status").output
        expect(matches(r"capabilities.*backup", found), found)
        # For a time: it sleeps, draws almost no current, and wakes up by itself.
        with receiver.start("sleep", "8") as command:
            charges = [receiver.wait_for_state(*ASLEEP)["charge"]]
            receiver.wait_for_status(lambda status: status["state"] not in ASLEEP or charges.append(status["charge"]), "no end of its sleep")
            drawn = charges[-1] - charges[0]
            expect(len(charges) > 10 and drawn < 0.004, f"{drawn} mAh drawn asleep, at {len(charges)} times")
            command.wait_for_exit(0)
            expect_states(states(command.lines), phrases.ASLEEP.format(8), phrases.AWAKE)
        receiver.wait_for_state(*AWAKE)
        # Until it is woken up: it is left asleep, and the next command wakes it up.
        expect_states(states(receiver.power("sleep", "0").lines), phrases.ASLEEP_UNTIL_WOKEN)
        receiver.wait_for_state(*ASLEEP)
        expect(matches(phrases.AWAKE, states(receiver.power("wake").lines)[-1]), "it does not wake up")
        receiver.wait_for_state(*AWAKE)
        log = receiver.logged()
        expect_states(log, phrases.ASLEEP.format(8), phrases.AWAKE, phrases.ASLEEP_UNTIL_WOKEN, phrases.AWAKE)
        # A request for its state wakes it up, and the command prints that.
        found = receiver.power("status").output
        expect(matches(phrases.STATE_AWAKE, found), found)
        receiver.power("sleep", "0")
        found = receiver.power("status").output
        expect(matches(phrases.HAD_SLEPT, found), found)
        return f"asleep for a time, at {drawn:.4f} mAh, and until woken up; {len(log)} states logged"


def cyclic(folder, model):
    with Receiver(folder, model) as receiver:
        with receiver.start("mode", "cyclic:1") as command:
            wait_until(lambda: any(matches(phrases.CYCLIC, state) for state in receiver.logged()),
                       lambda: f"cyclic tracking is not logged, but {receiver.logged()}")
            # It has its fix and its orbits before it tracks cyclically.
            receiver.wait_for_state(*CYCLIC)
            command.interrupt()
        receiver.wait_for_state(*AWAKE)
        return "cyclic tracking, and back at ^C"


def refuses(folder, model):
    with Receiver(folder, model) as receiver:
        errors = receiver.power("mode", "cyclic:1", code=69).errors
        expect_equal(len(re.findall(phrases.NO_SUCH_MODE, errors)), 1, f"the number of refusals in {errors!r}")
        expect(matches(phrases.NO_SUCH_MODE, errors.splitlines()[-1]), errors)
        return "has no cyclic tracking, and the command says so"


def stranger(folder, model):
    with Receiver(folder, model) as receiver:
        errors = receiver.power("sleep", "5", code=69).errors
        expect(matches(phrases.NO_UBLOX_RECEIVER, errors), errors)
        return "takes no commands, and the command says so"


def switched(folder, _):
    """The supply's switch, as a file; no receiver is opened."""
    path, log = f"{folder}/state", f"{folder}/states.txt"
    open(path, "w").close()

    def content(of):
        with open(of) as file:
            return file.read()

    with Program(program(), "power", "--supply", f"file:{path}=enabled/disabled", "--log", log, "off", "0",
                 env=environment(folder)) as command:
        command.wait_for_line(phrases.OFF)
        expect_equal(content(path), "disabled\n", "the switch")
        command.interrupt()
    expect_equal(content(path), "enabled\n", "the switch after ^C")
    expect_equal(len(content(log).splitlines()), 2, "the number of logged states")
    return "a supply: off until ^C, then on"


if __name__ == "__main__":
    options = harness.arguments(__doc__, speed=1.0)
    pairs = [(sleeps, "m8"), (sleeps, "m10"), (sleeps, "f9p"), (cyclic, "m10"), (refuses, "f9p"), (stranger, "nmea"), (switched, None)]
    harness.run_checks({f"{check.__name__} {model or ''}".strip(): lambda folder, check=check, model=model: check(folder, model)
                        for check, model in pairs}, options.checks)
