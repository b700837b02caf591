#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long run in real time: `sextantd` at a receiver that sends ten fixes a second, three programs, and a plug cycle each minute.

usage: long_run.py FOLDER [--hours H] [--every SECONDS] [--away SECONDS]      FOLDER holds the programs

Prints a row each ten plug cycles: memory, descriptors and files of the service and its programs, the fixes of the first
program, and the fixes that it missed while the receiver was plugged in. Fails if one of the programs ended, if a fix is
missing, or if memory, descriptors or files of the last row exceed those of the second by more than the allowance.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "seconds": 86400}

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import harness
from harness import Simulator, environment, expect, program

# Kilobytes of anonymous memory.
ALLOWANCE = 1024
PROGRAMS = {
    "every fix": ("--accuracy", "bestForNavigation", "--no-pause"),
    "each 25 m": ("--distance-filter", "25", "--no-pause"),
    "significant": ("--significant", "--region", "home,47.2855,8.5652,150"),
}


class Measured:
    """A process whose output is counted and not kept."""

    def __init__(self, *command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.fixes, self.gaps, self.last, self.errors, self.arrived = 0, [], None, "", 0.0
        for work in (self.count, self.listen):
            threading.Thread(target=work, daemon=True).start()

    def count(self):
        for line in self.process.stdout:
            if b"didUpdateLocations" not in line:
                continue
            for location in json.loads(line)["locations"]:
                instant = harness.seconds_of(location["timestamp"])
                if self.last is not None:
                    expect(instant > self.last, f"a fix is repeated: {location}")
                    if instant - self.last > 0.15:
                        self.gaps.append((self.fixes, round((instant - self.last) * 10) - 1))
                self.last = instant
                self.fixes += 1
                self.arrived = time.monotonic()

    def listen(self):
        for line in self.process.stderr:
            self.errors = (self.errors + line.decode(errors="replace"))[-4000:]

    def memory(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+)", file.read())[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        begin = time.monotonic()
        self.process.terminate()
        code = self.process.wait(60)
        return code, time.monotonic() - begin


def files(folder):
    return sum(len(names) for _, _, names in os.walk(folder))


def main():
    given = harness.arguments(__doc__, hours=24.0, every=60.0, away=5.0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder, Simulator(folder, "f9p", "--baud", "460800", "--scenario", "walk") as receiver:
        env = environment(folder, SEXTANT_AUTHORIZATION="always")
        for words in (("set", "rate=10Hz", "messages=NAV-PVT,NAV-EOE", "nmea=off"), ("save",)):
            harness.run(program(), "configure", *words, "--device", receiver.link, env={**env, "SEXTANT_SERVICE": "none"})
        # The service sends nothing, so that the rate stays at ten a second.
        service = Measured(program("sextantd"), "--read-only", "--socket", f"{folder}/socket", "--device", receiver.link, env=env)
        harness.wait_until(lambda: os.path.exists(f"{folder}/socket"), "no service")
        clients = {name: Measured(program("sextant-track"), "--json", *words, env={**env, "SEXTANT_SERVICE": f"{folder}/socket"})
                   for name, words in PROGRAMS.items()}
        first = clients["every fix"]
        harness.wait_until(lambda: first.fixes > 20, lambda: f"no fixes: {first.errors} {service.errors}")
        begin, cycles, missed, plugs, rows, recoveries = time.monotonic(), 0, 0, [], [], []
        print("minutes cycles   fixes missed | service kB fds | programs kB fds | files | longest recovery", flush=True)
        while time.monotonic() - begin < given.hours * 3600:
            time.sleep(max(0, given.every - given.away))
            plugs.append(first.fixes)
            plugged = time.monotonic() + given.away
            receiver.command(f"fault unplug {given.away:g}s")
            count = first.fixes
            time.sleep(given.away)
            harness.wait_until(lambda: first.fixes > count + 20 and first.arrived > plugged, lambda: f"no fix after cycle {cycles}: {service.errors}")
            recoveries.append(time.monotonic() - plugged)
            cycles += 1
            for one in (service, *clients.values()):
                expect(one.process.poll() is None, f"a program ended: {one.process.returncode} {one.errors}")
            # A gap that begins within the fixes before and after a plug belongs to it.
            missed = sum(length for at, length in first.gaps if not any(plug - 2 <= at <= plug + 20 for plug in plugs))
            if cycles % 10 == 0 or cycles == 1:
                rows.append((service.memory(), service.descriptors(), sum(one.memory() for one in clients.values()),
                             sum(one.descriptors() for one in clients.values()), files(f"{folder}/state") + files(f"{folder}/run")))
                print(f"{(time.monotonic() - begin) / 60:7.1f} {cycles:6} {first.fixes:7} {missed:6} | {rows[-1][0]:10} {rows[-1][1]:3} | "
                      f"{rows[-1][2]:11} {rows[-1][3]:3} | {rows[-1][4]:5} | {max(recoveries):.1f} s", flush=True)
        ends = {name: one.end() for name, one in (*clients.items(), ("service", service))}
        for name, (code, seconds) in ends.items():
            print(f"{name}: code {code}, {seconds:.1f} s after SIGTERM; {service.fixes if name == 'service' else clients[name].fixes} fixes")
            expect(code == 0, f"{name} ended with {code}")
        expect(missed == 0, f"{missed} fixes are missing while the receiver was plugged in")
        if len(rows) > 2:
            for index, subject in enumerate(("memory", "descriptors", "memory of the programs", "descriptors of the programs", "files")):
                growth = rows[-1][index] - rows[1][index]
                expect(growth <= (ALLOWANCE if "memory" in subject else 0), f"{subject}: {growth} more than after ten cycles")
        print(f"{cycles} plug cycles in {(time.monotonic() - begin) / 3600:.2f} h")


if __name__ == "__main__":
    try:
        main()
    except harness.Failure as failure:
        sys.exit(f"FAILED {failure}")
