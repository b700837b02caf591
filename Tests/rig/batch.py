#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fixes kept in a simulated receiver, through a pseudo-terminal and the real commands.

usage: batch.py FOLDER [CHECK...] [--kills N] [--seed S] [--speed X]      FOLDER holds sextant

For an M10 and a batching M8: a batch of a minute, in which the line is silent to the last byte; then all fixes, oldest first,
none lost and none twice. The same again with readers that are killed (SIGKILL) N times at random moments. The receiver's time
runs X times as fast; the line's rate with it.
"""
RIG = {"programs": ["sextant"], "seconds": 85, "ci": True}

import os
import random
import select
import time

import harness
import phrases
from harness import Program, Simulator, environment, expect, expect_in_order, matches, program, seconds_of

RATE = 9600


class Receiver(Simulator):
    """A receiver with a fix, and `sextant batch` on it."""

    def __init__(self, folder, model):
        super().__init__(folder, model, "--baud", str(RATE), "--speed", str(options.speed))
        self.wait_for_status(lambda status: status["state"] == "tracking", "no tracking")

    def batch(self, *words, stdout=harness.subprocess.PIPE):
        return Program(program(), "batch", "--device", self.link, *words, env=environment(self.folder), stdout=stdout)

    def start(self, size):
        with self.batch("start", "--size", str(size), "--extended") as command:
            command.wait_for_exit(0)
            expect(matches(phrases.BATCHING, command.output), f"start: {command.output}")

    def wait_for_fixes(self, count):
        """Waits until the receiver keeps that many; returns how many bytes it had sent by then."""
        return self.wait_for_status(lambda status: status["batch"] >= count, f"no {count} fixes are kept")["bytes"]

    def retrieve(self, output, seconds=None):
        """Reads the batch to its end, or for that long and is killed then: the lost fixes that it reports, whether it ended."""
        with self.batch("retrieve", stdout=output) as reader:
            if seconds is None:
                reader.wait_for_exit(0)
            else:
                # The instant of the kill is the check's input.
                try:
                    reader.process.wait(seconds)
                except harness.subprocess.TimeoutExpired:
                    reader.process.kill()
                reader.wait_for_exit(None)
            return reader.fixes_lost(), reader.process.returncode >= 0


def times(path):
    """The times of the fixes in a file of whole lines."""
    with open(path) as file:
        text = file.read()
    expect(text.endswith("\n"), "the output ends in the middle of a line")
    fixes = [harness.json.loads(line) for line in text.splitlines()]
    expect(all(fix["class"] == "TPV" and "lat" in fix for fix in fixes), "there is a line without a fix")
    return [seconds_of(fix["time"]) for fix in fixes]


def silent(folder, model):
    path = f"{folder}/fixes.json"
    with Receiver(folder, model) as receiver, open(path, "ab") as output:
        receiver.start(150)
        before = receiver.wait_for_fixes(3)
        # Bytes are seen here only if they are sent: no other program reads the line.
        line = os.open(receiver.link, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        while select.select([line], [], [], 0)[0]:
            os.read(line, 65536)
        after = receiver.wait_for_fixes(63)
        received = select.select([line], [], [], 0)[0]
        os.close(line)
        expect(after == before and not received, f"{after - before} bytes on the line while it keeps 60 fixes")
        lost, _ = receiver.retrieve(output)
        first = len(times(path))
        lost += receiver.retrieve(output)[0]
        found = times(path)
        expect(not lost and first >= 60, f"{first} fixes of a minute, {lost} lost")
        expect_in_order(found)
        return f"a minute of silence, 0 bytes; then {first} fixes, {len(found) - first} at the second reading"


def killed(folder, model):
    chance = random.Random(options.seed)
    path = f"{folder}/fixes.json"
    with Receiver(folder, model) as receiver, open(path, "ab") as output:
        receiver.start(150)
        lost = kills = rounds = 0
        while kills < options.kills:
            rounds += 1
            expect(rounds <= 20 * options.kills, "retrievals are over before they can be killed")
            receiver.wait_for_fixes(chance.randint(0, 60))
            # Killed again and again, until one comes to its end.
            for _ in range(chance.randint(1, 4)):
                more, has_ended = receiver.retrieve(output, chance.uniform(0.02, 1.2))
                lost += more
                kills += not has_ended
                if has_ended:
                    break
            lost += receiver.retrieve(output)[0]
        found = times(path)
        missing = expect_in_order(found, lost)
        # Bytes that a reader had taken from the kernel and not yet written to its log are lost, which takes a few microseconds;
        # the pseudo-terminal keeps the bytes that are not read.
        expect(missing == lost and missing <= 2, f"{missing} fixes lost by {kills} kills, {lost} of them reported")
        return f"{kills} readers killed, {len(found)} fixes once and in order, {missing} lost and reported"


if __name__ == "__main__":
    options = harness.arguments(__doc__, kills=20, seed=1, speed=8.0)
    harness.run_checks({f"{check.__name__} {model}": lambda folder, check=check, model=model: check(folder, model)
                        for check in (silent, killed) for model in ("m10", "m8-batching")}, options.checks)
