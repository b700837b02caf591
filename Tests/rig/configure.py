#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant configure` at simulated receivers whose line is slow, or full; and `record --raw-measurements`.

usage: configure.py FOLDER [CHECK...]      FOLDER holds sextant
"""
RIG = {"programs": ["sextant"], "seconds": 74, "ci": True}

import json

import harness
import phrases
from harness import Failure, Program, Simulator, environment, expect, expect_equal, matches, program


class Receiver(Simulator):
    """A receiver, and `sextant configure` on it."""

    def __init__(self, folder, model, *options):
        super().__init__(folder, model, *options)
        count = self.status()["bytes"]
        self.wait_for_status(lambda status: status["bytes"] > count, "no epoch")

    def configure(self, *words, code=0, says="", prints=""):
        done = harness.run(program(), "configure", *words, "--device", self.link, code=code, env=environment(self.folder))
        expect(matches(says, done.errors), f"configure {words} says {done.errors!r}, not {says!r}")
        expect(matches(prints, done.output), f"configure {words} prints {done.output!r}, not {prints!r}")
        return done.output

    def configure_on_full_line(self, *words, prints=""):
        """Replies that do not fit into the full line are lost, so that success is chance: a command reports then that the line is
        full or that replies are missing, changes nothing, and the user runs it again. FullLineTests check in virtual time, at fixed seeds, that a
        receiver is identified within a minute."""
        for _ in range(20):
            with Program(program(), "configure", *words, "--device", self.link, env=environment(self.folder)) as command:
                if command.wait_for_exit((0, 69)) == 0:
                    return expect(matches(prints, command.output), f"configure {words} prints {command.output!r}")
                expect(matches(phrases.FULL_LINE, command.errors), f"configure {words} says {command.errors!r}")
        raise Failure(f"configure {words} did not get through twenty times")

    def settings(self):
        return self.configure("get", "messages"), self.configure("get", "baud")

    def rate(self):
        return json.loads(harness.run(program(), "probe", "--json", "--device", self.link, env=environment(self.folder)).output)["baud"]


def restored_rate(folder, model, *options):
    """A restore raises the line to 115200 baud for its requests, and it stays there if the file has that rate."""
    with Receiver(folder, model, *options) as receiver:
        path = f"{folder}/fast.conf"
        name = "CFG-PRT[1].baudRate" if model == "m8" else "CFG-UART1-BAUDRATE"
        with open(path, "w") as file:
            file.write(f"sextant-configuration 1\nholds {'everything' if model == 'm8' else 'differences'}\n{name} = 115200\n")
        receiver.configure("restore", path, prints=f"{phrases.NOTHING_CHANGED}\n.*{phrases.LINE_AT.format(115200)}\n")
        if not options:
            expect_equal(receiver.rate(), 115200, "the line's rate")


def full_line(folder, model):
    """More fixes than the line has room for are refused; where another program requested them, commands still work."""
    with Receiver(folder, model, "--baud", "9600") as receiver:
        receiver.configure("set", "rate=5Hz", code=64, says=phrases.LINE_TOO_SLOW)
        receiver.configure("get", "rate", prints=r" 1(000)? ")
        receiver.configure("set", "baud=115200", "rate=5Hz", prints=f"{phrases.RATE_SET}\n(.*\n)?.*{phrases.LINE_AT.format(115200)}")
        expect_equal(receiver.rate(), 115200, "the line's rate")
        receiver.configure_on_full_line("set", "baud=9600")
        receiver.configure_on_full_line("get", "rate", prints=r" (0\.2|200) ")
        expect_equal(receiver.status()["rate"], 9600, "the line's rate")
        receiver.configure_on_full_line("set", "rate=1Hz", prints=phrases.RATE_SET)
        receiver.configure("get", "rate", prints=r" 1(000)? ")


def raw_measurements(folder, model):
    """The recording has measurements, whatever the rate was, and the receiver is then as it was. A receiver without them is refused, and
    nothing is changed."""
    path = f"{folder}/rover.rec"
    with Receiver(folder, model) as receiver:
        before = receiver.settings()
        words = "record", "--raw-measurements", "--seconds", "12", "--device", receiver.link, path
        done = harness.run(program(), *words, code=69 if model == "m10" else 0, env=environment(folder))
        if model == "m10":
            expect(matches("SAM-M10Q: .*raw measurements", done.errors), f"record says {done.errors!r}")
        else:
            text = harness.run(program(), "decode", "--format", "rinex", path, env=environment(folder)).output
            expect(len([line for line in text.splitlines() if line.startswith(">")]) > 2, f"no epochs: {text}")
        expect_equal(receiver.settings(), before, "the settings afterwards")


if __name__ == "__main__":
    receivers = [(restored_rate, "m8"), (restored_rate, "m9"), (restored_rate, "m10"), (restored_rate, "m10", "--usb"),
                 (full_line, "m6"), (full_line, "m8"), (full_line, "m10"),
                 (raw_measurements, "f9p"), (raw_measurements, "x20"), (raw_measurements, "m10")]
    harness.run_checks({" ".join([check.__name__, *words]): lambda folder, check=check, words=words: check(folder, *words)
                        for check, *words in receivers}, harness.arguments(__doc__).checks)
