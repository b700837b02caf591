#!/usr/bin/env python3
"""Kills a program two hundred times at random instants, and looks each time at what the next one knows.

usage: kills.py FOLDER [--kills N] [--seed S]

FOLDER has StateKeeper, which changes regions, visits and permission and is given fixes all the while. What it was told is
kept has to be there; of what it had just begun the old or the new. The newest fix is the last that was delivered, or one that
came after it. Nothing may be damaged. It says ok, or what is wrong.
"""
import argparse
import os
import random
import select
import signal
import subprocess
import tempfile
import threading
import time

from emulator import epoch


class Run:
    """One life of the program."""

    def __init__(self, program, generation, environment, errors):
        self.process = subprocess.Popen([program, str(generation)], stdout=subprocess.PIPE, stderr=errors, env=environment)
        self.rest, self.waiting = b"", []

    def lines(self, seconds):
        """What it prints within a time; all that is left when it was killed."""
        limit = time.monotonic() + seconds
        while True:
            while self.waiting:
                yield self.waiting.pop(0)
            wait = limit - time.monotonic()
            if wait <= 0:
                return
            if not select.select([self.process.stdout], [], [], wait)[0]:
                return
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return
            *lines, self.rest = (self.rest + data).split(b"\n")
            self.waiting += [line.decode() for line in lines]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def is_of_the_receiver(nanoseconds):
    """A reader that starts within an epoch may know no date yet; that fix bears the computer's time, and no order."""
    return nanoseconds % 200_000_000 == 0


class Memory:
    """What has to be there, by what was printed."""

    def __init__(self):
        self.sure, self.begun, self.fix = {}, None, 0
        self.found = {}

    def hear(self, line):
        word, *rest = line.split(" ", 1)
        if word == "have":
            key, value = rest[0].rsplit(" ", 1)
            self.found[key] = int(value)
        elif word == "try":
            self.begun = rest[0].rsplit(" ", 1)
        elif word == "done":
            key, value = rest[0].rsplit(" ", 1)
            if key == "fix":
                if is_of_the_receiver(int(value)):
                    self.fix = max(self.fix, int(value))
            else:
                self.sure[key], self.begun = int(value), None
        elif word == "failed":
            raise SystemExit(f"kills.py: {line}")

    def check(self):
        """Compares what was found with what was sure; what was found is sure from now on, but for the newest fix.

        A newer fix than was delivered proves nothing: with regions the receiver is read from the start, and what was found
        may be this life's own, not delivered and not kept yet.
        """
        newest = self.found.pop("fix", 0)
        if newest < self.fix:
            yield f"the newest fix is {newest}, a later one was delivered: {self.fix}"
        allowed = {key: {value} for key, value in self.sure.items()}
        if self.begun:
            allowed.setdefault(self.begun[0], {0}).add(int(self.begun[1]))
        for key in allowed.keys() | self.found.keys():
            value = self.found.get(key, 0)
            if value not in allowed.get(key, {0}):
                yield f"{key} is {value}, not {sorted(allowed.get(key, {0}))}"
        self.sure, self.found, self.begun = dict(self.found), {}, None


def feed(path, stop):
    """Epochs without end, two hundred a second, into a FIFO that is never closed."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    number = 0
    while not stop.is_set():
        try:
            os.write(descriptor, epoch(number))
            number += 1
        except BlockingIOError:
            pass
        time.sleep(0.005)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = os.path.join(os.path.abspath(arguments.folder), "StateKeeper")
    dice, memory, generation = random.Random(arguments.seed), Memory(), 1
    stop = threading.Event()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, open(os.path.join(folder, "errors"), "w+") as errors:
        receiver, state = os.path.join(folder, "receiver"), os.path.join(folder, "state")
        os.mkfifo(receiver)
        feeder = threading.Thread(target=feed, args=(receiver, stop))
        feeder.start()
        environment = {"SEXTANT_STATE_DIR": state, "GNSS_DEVICE": receiver, "SEXTANT_APP_STATE": "foreground",
                       "SEXTANT_AUTHORIZATION": "always", "SEXTANT_RUN_DIR": os.path.join(folder, "run"), "SEXTANT_READ_ONLY": "1"}
        try:
            for number in range(arguments.kills + 1):
                run = Run(program, generation, environment, errors)
                for line in run.lines(20):
                    if line == "ready":
                        break
                    memory.hear(line)
                else:
                    raise SystemExit("kills.py: the program does not start")
                faults = list(memory.check())
                if faults:
                    raise SystemExit(f"kills.py: after kill {number} (seed {arguments.seed}): " + "; ".join(faults))
                # Half of them early, when files are being made; the others anywhere.
                for line in run.lines(dice.uniform(0, 0.02) if dice.random() < 0.5 else dice.uniform(0, 0.2)):
                    memory.hear(line)
                run.kill()
                for line in run.lines(1):
                    memory.hear(line)
                generation += 1000
        finally:
            run.kill()
            stop.set()
            feeder.join()
        errors.seek(0)
        said = {line for line in errors.read().splitlines() if "unreadable" in line or "cannot be read" in line}
        if said:
            raise SystemExit(f"kills.py: {said}")
        left = [name for _, _, names in os.walk(state) for name in names if name.endswith(".unreadable")]
        if left:
            raise SystemExit(f"kills.py: files were damaged: {left}")
    if not memory.fix or not memory.sure:
        raise SystemExit("kills.py: nothing happened between the kills")
    print(f"ok: {arguments.kills} kills, the last run found {len(memory.sure)} things and the newest fix")


main()
