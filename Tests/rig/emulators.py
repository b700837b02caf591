#!/usr/bin/env python3
"""The commands against receivers of another author's making (ublox.py), with manners that make a driver stumble.

usage: emulators.py FOLDER [NAME...]

FOLDER has the programs. Each receiver is probed, watched, recorded, tracked, shown, set, saved, backed up and restored; what
the commands say is compared with what the receiver is and has. It prints how long each took, and fails when something is
wrong or takes too long.

A pseudo-terminal has the rate that it has when it is read: where the machine stands still for a moment, a receiver misses
what was said to it at the rate before. So who fails while others run is tried again, twice at the most, and what went wrong
is printed each time.
"""
import concurrent.futures
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time

from ublox import HEIGHT, LATITUDE, LONGITUDE, MODELS, Manners, Receiver

FOLDER = os.path.abspath(sys.argv[1])
TRIALS = 3


@dataclasses.dataclass
class Kind:
    """A receiver, and what is to be found out about it."""
    model: str
    manners: Manners
    generation: str
    rate: int | None = None
    # Seconds within which it has to be found.
    probe: float = 6
    # How many times longer than usual the rest may take.
    slowness: float = 1
    # Whether all settings are read: who answers once a second takes minutes for that.
    reads_all: bool = True
    # Whether they are kept in a file and brought back.
    backs_up: bool = True


KINDS = {
    "f9p": Kind("f9p", Manners(), "F9"),
    "m9": Kind("m9", Manners(), "M9"),
    "m10": Kind("m10", Manners(), "M10"),
    "m8": Kind("m8", Manners(), "M8"),
    "m7": Kind("m7", Manners(), "M7"),
    "m6": Kind("m6", Manners(silent_on_unknown=True), "M6", slowness=4, backs_up=False),
    "ubx-only": Kind("m8", Manners(only_ubx=True), "M8", rate=115200),
    "late": Kind("m8", Manners(answers_late=True), "M8", probe=10, slowness=4, reads_all=False, backs_up=False),
    "late-m10": Kind("m10", Manners(answers_late=True), "M10", probe=10, slowness=4, reads_all=False, backs_up=False),
    "chatty": Kind("m10", Manners(chats=True), "M10", rate=38400),
    "once-an-epoch": Kind("m8", Manners(reads_once_an_epoch=True), "M8", probe=10, slowness=4, reads_all=False, backs_up=False),
    "knows-half": Kind("f9p", Manners(knows_half=True), "F9", slowness=3),
    "loses-bursts": Kind("m9", Manners(loses_bursts=True), "M9", probe=8, slowness=2),
}


class Trial:
    """One receiver, and the commands that are run on it."""

    def __init__(self, name, folder):
        self.name, self.kind = name, KINDS[name]
        traits = MODELS[self.kind.model]
        if self.kind.rate:
            traits = dataclasses.replace(traits, rate=self.kind.rate)
        self.folder = folder
        self.link = os.path.join(folder, "receiver")
        self.receiver = Receiver(traits, self.kind.manners, self.link)
        self.faults = []
        self.times = {}

    def run(self, label, limit, *words, codes=(0,)):
        """Runs a command; its output. It must end with one of these codes, in that many seconds."""
        begin = time.monotonic()
        environment = {**os.environ, "SEXTANT_STATE_DIR": self.folder + "/state", "XDG_CONFIG_HOME": self.folder}
        try:
            done = subprocess.run([FOLDER + "/sextant", *words], capture_output=True, text=True, timeout=limit * 2 + 5,
                                  stdin=subprocess.DEVNULL, env=environment)
        except subprocess.TimeoutExpired as error:
            done = subprocess.CompletedProcess(words, -1, (error.stdout or b"").decode(), "not over")
        took = time.monotonic() - begin
        self.times[label] = took
        if done.returncode not in codes:
            self.faults.append(f"{label} ended with {done.returncode}: {done.stderr.strip()}")
        elif took > limit:
            self.faults.append(f"{label} took {took:.1f} s, more than {limit:.0f} s")
        return done.stdout

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
            self.configure()
        finally:
            self.receiver.stop()

    # MARK: Commands

    def probe(self):
        traits = self.receiver.traits
        before = self.receiver.snapshot()
        text = self.run("probe", self.kind.probe, "probe", "--device", self.link, "--json")
        found = json.loads(text) if text else {}
        firmware = next((e[6:] for e in traits.extensions if e.startswith("FWVER=")), traits.software.split(" ")[0])
        version = next((e[8:] for e in traits.extensions if e.startswith("PROTVER")), None)
        wanted = {"baud": traits.rate, "generation": self.kind.generation, "firmware": firmware, "protocolVersion": version,
                  "hardware": traits.hardware, "uniqueId": traits.unique.hex() or None,
                  "model": next((e[4:] for e in traits.extensions if e.startswith("MOD=")), None)}
        for key, value in wanted.items():
            self.expect(found.get(key) == value, f"probe: {key} is {found.get(key)!r}, not {value!r}")
        self.expect(self.receiver.snapshot() == before, "probe changed the receiver's settings")

    def is_here(self, lines):
        fixes = [line for line in lines if line.get("class") == "TPV" and "lat" in line]
        return bool(fixes) and all(
            abs(fix["lat"] - LATITUDE) < 1e-6 and abs(fix["lon"] - LONGITUDE) < 1e-6
            and abs(fix.get("altHAE", HEIGHT) - HEIGHT) < 5 and fix["mode"] == 3 for fix in fixes[-2:])

    def watch(self):
        before = self.receiver.snapshot()
        text = self.run("watch", 8 + 4 * self.kind.slowness, "watch", "--device", self.link, "--json", "--count", "4",
                        "--seconds", "40")
        self.expect(self.is_here([json.loads(line) for line in text.splitlines()]), "watch: no fix, or another place")
        self.same(before, "watch")

    def same(self, before, label):
        after = self.receiver.snapshot()
        other = [key for key in before if before[key] != after.get(key)]
        self.expect(not other, f"{label} left other settings behind: {[(hex(k) if isinstance(k, int) else k, before[k], after[k]) for k in other][:3]}")

    def record(self):
        file = self.folder + "/drive.rec"
        self.run("record", 8, "record", "--device", self.link, "--seconds", "5.5", file)
        text = subprocess.run([FOLDER + "/sextant", "decode", file], capture_output=True, text=True).stdout
        self.expect(self.is_here([json.loads(line) for line in text.splitlines() if line.startswith("{")]),
                    "record: no fix in the recording")

    def track(self):
        before = self.receiver.snapshot()
        text = self.run("track", 15 + 4 * self.kind.slowness, "track", "--device", self.link, "--once", "--json")
        event = next((json.loads(line) for line in text.splitlines() if "didUpdateLocations" in line), {"locations": [{}]})
        place = event["locations"][-1]
        self.expect(abs(place.get("latitude", 0) - LATITUDE) < 1e-6 and abs(place.get("longitude", 0) - LONGITUDE) < 1e-6,
                    f"track --once told no place, or another: {text[-300:]!r}")
        self.same(before, "track")

    def configure(self):
        tempo = self.kind.slowness
        device = ("--device", self.link)
        names = [] if self.kind.reads_all else ["CFG-RATE*"]
        text = self.run("show", 10 * tempo, "configure", "show", "--json", *names, *device)
        shown = json.loads(text)["settings"] if text else []
        have = 3 if names else len(self.receiver.items) if self.receiver.traits.items else 50
        self.expect(len(shown) >= have, f"show: {len(shown)} settings of {have}")
        saved = self.folder + "/saved.conf"
        if self.kind.backs_up:
            self.run("backup", 12 * tempo, "configure", "backup", saved, *device)
        before = self.receiver.snapshot()
        self.run("set", 8 * tempo, "configure", "set", "model=automotive", "rate=500ms", *device)
        self.expect(self.receiver.dynamic_model == 4, f"set: the model is {self.receiver.dynamic_model}")
        self.expect(self.receiver.period == 0.5, f"set: the period is {self.receiver.period}")
        self.run("save", 7 * tempo, "configure", "save", *device)
        self.receiver.restart()
        self.expect(self.receiver.dynamic_model == 4, "save: lost at the restart")
        if self.kind.backs_up:
            self.run("restore", 12 * tempo, "configure", "restore", saved, *device)
        else:
            self.run("restore", 12 * tempo, "configure", "set", "model=portable", "rate=1000ms", *device)
        self.expect(self.receiver.dynamic_model == 0, f"restore: the model is {self.receiver.dynamic_model}")
        self.same(before, "restore")
        self.run("refused", 8 * tempo, "configure", "set", "CFG-NAVSPG-DYNMODEL=4" if not self.receiver.traits.items
                 else "CFG-NAV5.dynModel=4", *device, codes=(64, 69))
        self.same(before, "a refused set")
        # None of them answers what is asked of a batch or a log.
        self.run("batch", 15 * tempo, "batch", "start", *device, codes=(69,))
        self.same(before, "a refused batch")


def run(name, folder):
    """One receiver's trial: how long each command took, and what went wrong."""
    trial = Trial(name, folder)
    trial.all()
    return trial.times, trial.faults


def main():
    names = sys.argv[2:] or list(KINDS)
    labels = ("probe", "watch", "record", "track", "show", "backup", "set", "save", "restore", "refused", "batch")
    print(f"{'receiver':14}" + "".join(f"{label:>8}" for label in labels))
    # A process for each: a receiver that waits for the interpreter reads what was said to it when the line has another rate.
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(len(names)) as pool:
        for attempt in range(TRIALS):
            jobs = []
            for name in names:
                folder_of_trial = f"{folder}/{name}{attempt}"
                os.mkdir(folder_of_trial)
                jobs.append((name, pool.submit(run, name, folder_of_trial)))
            left = []
            for name, job in jobs:
                times, faults = job.result()
                print(f"{name:14}" + "".join(f"{times.get(label, 0):7.1f}s" for label in labels), flush=True)
                for fault in faults:
                    print(f"  {fault}", flush=True)
                if faults:
                    left.append(name)
            if not left:
                return
            names = left
    sys.exit(f"not served: {', '.join(names)}")


if __name__ == "__main__":
    main()
