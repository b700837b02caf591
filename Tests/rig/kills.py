#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a program two hundred times at random instants, and checks each time what the next one has read from its store.

usage: kills.py FOLDER [--kills N] [--seed S]

FOLDER has StateStoreWriter, which changes regions, visits and permission and receives fixes all the while. A change that was
acknowledged as stored has to be there; of a change that had just begun the old or the new value. The newest fix is the last
that was delivered, or a later one. No file may be damaged.
"""
RIG = {"programs": ["StateStoreWriter"], "seconds": 68, "ci": True}

import os
import random
import threading
import time

import harness
import phrases
from emulator import epoch
from harness import Program, environment, expect, matches


def is_of_the_receiver(nanoseconds):
    """A reader that starts within an epoch may have no date yet; that fix has the computer's time, and is not ordered."""
    return nanoseconds % 200_000_000 == 0


class Store:
    """The values that must be in the store, by the lines that were printed."""

    def __init__(self):
        self.stored, self.begun, self.fix = {}, None, 0
        self.found = {}

    def take(self, line):
        word, *rest = line.split(" ", 1)
        expect(word != "failed", line)
        if word == "begin":
            self.begun = rest[0].rsplit(" ", 1)
        elif word in ("found", "stored", "delivered"):
            key, value = rest[0].rsplit(" ", 1)
            if word == "found":
                self.found[key] = int(value)
            elif word == "stored":
                self.stored[key], self.begun = int(value), None
            elif is_of_the_receiver(int(value)):
                self.fix = max(self.fix, int(value))

    def check(self):
        """Compares the values that were found with those that were stored. The found ones count as stored from now on, but for
        the newest fix: with regions the receiver is read from the start, and the fix that was found may be this run's own,
        neither delivered nor stored yet."""
        newest = self.found.pop("fix", 0)
        if newest < self.fix:
            yield f"the newest fix is {newest}, a later one was delivered: {self.fix}"
        allowed = {key: {value} for key, value in self.stored.items()}
        if self.begun:
            allowed.setdefault(self.begun[0], {0}).add(int(self.begun[1]))
        for key in allowed.keys() | self.found.keys():
            value = self.found.get(key, 0)
            if value not in allowed.get(key, {0}):
                yield f"{key} is {value}, not {sorted(allowed.get(key, {0}))}"
        self.stored, self.found, self.begun = dict(self.found), {}, None


def feed(path, ended):
    """Epochs without end, two hundred a second, into a FIFO that is never closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    number = 0
    while not ended.wait(0.005):
        try:
            os.write(descriptor, epoch(number))
            number += 1
        except BlockingIOError:
            pass


def kills(folder):
    receiver = f"{folder}/receiver"
    os.mkfifo(receiver)
    ended = threading.Event()
    feeder = threading.Thread(target=feed, args=(receiver, ended))
    feeder.start()
    try:
        return kill_and_check(folder, environment(
            folder, GNSS_DEVICE=receiver, SEXTANT_APP_STATE="foreground", SEXTANT_AUTHORIZATION="always", SEXTANT_READ_ONLY="1"))
    finally:
        ended.set()
        feeder.join()


def kill_and_check(folder, variables):
    chance, store, changes = random.Random(options.seed), Store(), 0
    for number in range(options.kills + 1):
        with Program(harness.program("StateStoreWriter"), str(1 + 1000 * number), env=variables) as writer:
            writer.wait_for_line("^ready$")
            for line in writer.lines[:writer.line_mark]:
                store.take(line)
            faults = list(store.check())
            expect(not faults, f"after kill {number} (seed {options.seed}): {'; '.join(faults)}")
            # Half of them early, while files are being written; the others anywhere. The instant is the check's input.
            time.sleep(chance.uniform(0, 0.02) if chance.random() < 0.5 else chance.uniform(0, 0.2))
            writer.kill()
            for line in writer.lines[writer.line_mark:]:
                store.take(line)
                changes += line.startswith("stored")
            said = matches(phrases.UNREADABLE, writer.errors)
            expect(not said, f"it says {writer.errors!r}")
    damaged = [name for _, _, names in os.walk(f"{folder}/state") for name in names if name.endswith(".unreadable")]
    expect(not damaged, f"files were damaged: {damaged}")
    expect(store.fix and store.stored and changes, "nothing happened between the kills")
    return f"{options.kills} kills between {changes} changes; the last run found {len(store.stored)} values and the newest fix"


if __name__ == "__main__":
    options = harness.arguments(__doc__, kills=200, seed=1)
    harness.run_checks([kills], options.checks)
