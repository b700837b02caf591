#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands against receivers that share no code with Sextant (ublox.py), with quirks that make a driver fail.

usage: emulators.py FOLDER [NAME...]      FOLDER holds sextant and sextant-track

Each receiver is probed, watched, recorded, tracked, put to sleep, shown, set, saved, backed up and restored; the output of the commands is
compared with the receiver's own values. The table shows how long each command took: no duration is a failure here. How soon a
receiver is found and how long a command waits is checked in virtual time by BaudRateSearchTests and SearchLimitTests.
"""
RIG = {"programs": ["sextant", "sextant-track"], "needs": ["PyPI"], "seconds": 110, "ci": True}

import concurrent.futures
import dataclasses
import json
import os
import signal
import sys
import tempfile
import time

import harness
import phrases
from harness import environment, matches, program
from ublox import HEIGHT, LATITUDE, LONGITUDE, MODELS, Quirks, Receiver


@dataclasses.dataclass
class Kind:
    """A receiver, and the values to be found out about it."""
    model: str
    quirks: Quirks
    generation: str
    rate: int | None = None
    # Whether all settings are read, which takes minutes if there is one reply a second.
    reads_all: bool = True
    # Whether they are written to a file and restored from it.
    backs_up: bool = True


KINDS = {
    "f9p": Kind("f9p", Quirks(), "F9"),
    "m9": Kind("m9", Quirks(), "M9"),
    "m10": Kind("m10", Quirks(), "M10"),
    "m8": Kind("m8", Quirks(), "M8"),
    "m7": Kind("m7", Quirks(), "M7"),
    "m6": Kind("m6", Quirks(silent_on_unknown=True), "M6", backs_up=False),
    "ubx-only": Kind("m8", Quirks(only_ubx=True), "M8", rate=115200),
    "late": Kind("m8", Quirks(replies_late=True), "M8", reads_all=False, backs_up=False),
    "late-m10": Kind("m10", Quirks(replies_late=True), "M10", reads_all=False, backs_up=False),
    "texts": Kind("m10", Quirks(sends_texts=True), "M10", rate=38400),
    "once-an-epoch": Kind("m8", Quirks(reads_once_an_epoch=True), "M8", reads_all=False, backs_up=False),
    "lacks-items": Kind("f9p", Quirks(lacks_items=True), "F9"),
    "loses-bursts": Kind("m9", Quirks(loses_bursts=True), "M9"),
}


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


class Trial:
    """One receiver, and the commands that are run on it."""

    def __init__(self, name, folder):
        self.kind, self.folder, self.link = KINDS[name], folder, f"{folder}/receiver"
        traits = MODELS[self.kind.model]
        if self.kind.rate:
            traits = dataclasses.replace(traits, rate=self.kind.rate)
        self.receiver = Receiver(traits, self.kind.quirks, self.link)
        self.faults, self.times, self.errors = [], {}, ""

    def run(self, label, *words, codes=(0,), epochs=None, event=None, file=None):
        """Runs a command, to its end, for a number of epochs or to an event; it must end with one of these codes. Its output."""
        begin = time.monotonic()
        done = harness.Program(program(), *words, env=environment(self.folder))
        try:
            if epochs:
                harness.wait_until(lambda: done.handles(signal.SIGINT), f"{label} does not start")
                if file:
                    # The rate is found first, which takes as long as the machine is busy.
                    harness.wait_until(lambda: os.path.exists(file) and os.path.getsize(file) > 4096, f"{label} records nothing")
                self.receiver.wait_for_epochs(epochs)
                done.process.send_signal(signal.SIGINT)
            if event:
                done.wait_for_event(event)
                done.process.send_signal(signal.SIGINT)
            done.wait_for_exit(codes, seconds=5 * harness.LIMIT)
        except harness.Failure as failure:
            self.faults.append(f"{label}: {failure}")
        finally:
            done.kill()
        self.times[label] = time.monotonic() - begin
        self.errors = done.errors
        self.forget_what_is_left()
        return done.output

    def forget_what_is_left(self):
        """The next command has the receiver as it was, also if a busy machine gave the last one no time to restore its settings: many
        messages on a slow line would be a reason to refuse a faster rate."""
        if matches(phrases.NOT_RESTORED, self.errors):
            self.receiver.restart()

    def expect(self, holds, text):
        if not holds:
            self.faults.append(text)

    def all(self):
        self.receiver.start()
        try:
            self.probe()
            self.watch()
            self.record()
            self.track()
            self.sleep()
            self.configure()
        finally:
            self.receiver.stop()

    # MARK: Commands

    def probe(self):
        traits, before = self.receiver.traits, self.receiver.snapshot()
        text = self.run("probe", "probe", "--device", self.link, "--json")
        found = json.loads(text) if text else {}

        def extension(prefix):
            return next((text[len(prefix):] for text in traits.extensions if text.startswith(prefix)), None)

        wanted = {"baud": traits.rate, "generation": self.kind.generation,
                  "firmware": extension("FWVER=") or traits.software.split(" ")[0],
                  "protocolVersion": (extension("PROTVER") or "=")[1:] or None, "hardware": traits.hardware,
                  "uniqueId": traits.unique.hex() or None, "model": extension("MOD=")}
        for key, value in wanted.items():
            self.expect(found.get(key) == value, f"probe: {key} is {found.get(key)!r}, not {value!r}")
        self.expect_settings(before, "probe")

    def expect_here(self, text, label):
        fixes = [line for line in objects(text) if line.get("class") == "TPV" and "lat" in line]
        self.expect(bool(fixes) and all(
            abs(fix["lat"] - LATITUDE) < 1e-6 and abs(fix["lon"] - LONGITUDE) < 1e-6
            and abs(fix.get("altHAE", HEIGHT) - HEIGHT) < 5 and fix["mode"] == 3 for fix in fixes[-2:]),
            f"{label}: no fix, or another place: {fixes[-2:] or text[-300:]!r}")

    def expect_settings(self, before, label):
        after = self.receiver.snapshot()
        other = [(hex(key) if isinstance(key, int) else key, before[key], after.get(key))
                 for key in before if before[key] != after.get(key)]
        # A command has some seconds to restore them at its end, which a machine under heavy load may not give it; then it prints that.
        # That they are enough is checked in virtual time (ReceiverTests).
        self.expect(not other or matches(phrases.NOT_RESTORED, self.errors), f"{label} left other settings: {other[:3]}; {self.errors!r}")

    def watch(self):
        before = self.receiver.snapshot()
        self.expect_here(self.run("watch", "watch", "--device", self.link, "--json", "--count", "4"), "watch")
        self.expect_settings(before, "watch")

    def record(self):
        file = f"{self.folder}/drive.rec"
        self.run("record", "record", "--device", self.link, file, epochs=6, file=file)
        self.expect_here(self.run("decode", "decode", file), "record")

    def track(self):
        before = self.receiver.snapshot()
        # Without --once, which gives up after ten seconds of real time.
        text = self.run("track", "track", "--device", self.link, "--json", event="didUpdateLocations")
        event = next((event for event in objects(text) if event["event"] == "didUpdateLocations"), {"locations": [{}]})
        place = event["locations"][-1]
        self.expect(abs(place.get("latitude", 0) - LATITUDE) < 1e-6 and abs(place.get("longitude", 0) - LONGITUDE) < 1e-6,
                    f"track gave no place, or another: {text[-300:]!r}")
        self.expect_settings(before, "track")

    def sleep(self):
        """The receiver has its orbits and reports them, so that it may sleep soon after the first fix: without that after 33 s."""
        if self.kind.quirks not in (Quirks(), Quirks(silent_on_unknown=True)):
            return
        before, begin = self.receiver.snapshot(), time.monotonic()
        try:
            with harness.Program(program(), "track", "--significant", "--json", "--device", self.link,
                                 env=environment(self.folder, SEXTANT_APP_STATE="background")) as client:
                client.wait_for_event("didUpdateLocations")
                epoch = self.receiver.epoch
                self.receiver.wait_for(lambda: self.receiver.asleep or self.receiver.epoch > epoch + 20, "no epochs are written")
                self.expect(self.receiver.asleep, "it is on for 20 s after its first fix, although it has its orbits")
                client.interrupt()
                self.errors = client.errors
                self.forget_what_is_left()
        except harness.Failure as failure:
            self.faults.append(f"sleep: {failure}")
        self.times["sleep"] = time.monotonic() - begin
        self.receiver.wait_for_epochs(1)
        self.expect_settings(before, "sleep")

    def configure(self):
        device = ("--device", self.link)
        names = [] if self.kind.reads_all else ["CFG-RATE*"]
        text = self.run("show", "configure", "show", "--json", *names, *device)
        shown = json.loads(text)["settings"] if text else []
        have = 3 if names else len(self.receiver.items) if self.receiver.traits.items else 50
        self.expect(len(shown) >= have, f"show: {len(shown)} settings of {have}")
        saved = f"{self.folder}/saved.conf"
        if self.kind.backs_up:
            self.run("backup", "configure", "backup", saved, *device)
        before = self.receiver.snapshot()
        self.run("set", "configure", "set", "model=automotive", "rate=500ms", *device)
        self.expect(self.receiver.dynamic_model == 4, f"set: the model is {self.receiver.dynamic_model}")
        self.expect(self.receiver.period == 0.5, f"set: the period is {self.receiver.period}")
        self.run("save", "configure", "save", *device)
        self.receiver.restart()
        self.expect(self.receiver.dynamic_model == 4, "save: lost at the restart")
        if self.kind.backs_up:
            self.run("restore", "configure", "restore", saved, *device)
        else:
            self.run("restore", "configure", "set", "model=portable", "rate=1000ms", *device)
        self.expect(self.receiver.dynamic_model == 0, f"restore: the model is {self.receiver.dynamic_model}")
        self.expect_settings(before, "restore")
        self.run("refused", "configure", "set", "CFG-NAVSPG-DYNMODEL=4" if not self.receiver.traits.items
                 else "CFG-NAV5.dynModel=4", *device, codes=(64, 69))
        self.expect_settings(before, "a refused set")
        self.run("refused", "configure", "set", "model=automotive", "baud=921600", *device, codes=(69,))
        self.expect(matches(phrases.BAUD_REFUSED, self.errors), f"a refused baud rate says {self.errors!r}")
        self.expect_settings(before, "a refused baud rate")
        # They do not reply to requests of a batch or a log.
        self.run("batch", "batch", "start", *device, codes=(69,))
        self.expect_settings(before, "a refused batch")


def run(name, folder):
    """One receiver's trial: how long each command took, and the faults."""
    os.mkdir(folder)
    trial = Trial(name, folder)
    trial.all()
    return trial.times, trial.faults


def main():
    names = harness.arguments(__doc__).checks or list(KINDS)
    labels = ("probe", "watch", "record", "track", "sleep", "show", "backup", "set", "save", "restore", "refused", "batch")
    print(f"{'receiver':14}" + "".join(f"{label:>8}" for label in labels))
    failed = []
    # A process for each: the receivers' threads would wait for one interpreter.
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(len(names)) as pool:
        for name, job in [(name, pool.submit(run, name, f"{folder}/{name}")) for name in names]:
            times, faults = job.result()
            print(f"{name:14}" + "".join(f"{times.get(label, 0):7.1f}s" for label in labels), flush=True)
            for fault in faults:
                print(f"  FAILED {fault}", flush=True)
            if faults:
                failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
