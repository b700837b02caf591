#!/usr/bin/env python3
"""`sextant configure` at simulated receivers whose line is slow, or full.

usage: configure.py FOLDER [NAME...]

FOLDER has the programs. It prints what is wrong, and fails then.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

import checks
from checks import expect

FOLDER = os.path.abspath(sys.argv[1])


class Bench:
    """A simulated receiver, and commands at it."""

    def __init__(self, folder, model, *options):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.link = folder + "/receiver"
        self.environment = {**os.environ, "SEXTANT_STATE_DIR": folder + "/state", "XDG_CONFIG_HOME": folder}
        self.simulator = subprocess.Popen([FOLDER + "/sextant", "simulate", "--model", model, "--link", self.link, *options],
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while not os.path.islink(self.link):
            time.sleep(0.05)
        time.sleep(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulator.terminate()
        self.simulator.wait()

    def configure(self, *words, code=0, says="", prints=""):
        process = subprocess.run([FOLDER + "/sextant", "configure", *words, "--device", self.link], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, env=self.environment, timeout=100)
        said = f"configure {' '.join(words)}: {process.returncode}, {process.stdout[-300:]!r}, {process.stderr[-600:]!r}"
        expect(process.returncode == code, f"{said}, not {code}")
        expect(re.search(says, process.stderr), f"{said}, not {says!r}")
        expect(re.search(prints, process.stdout), f"{said}, not {prints!r}")
        return process.stdout

    def rate(self):
        process = subprocess.run([FOLDER + "/sextant", "probe", "--json", "--device", self.link], capture_output=True, text=True,
                                 env=self.environment, timeout=60)
        return json.loads(process.stdout)["baud"]


def at_once(check, benches):
    """Checks several benches side by side: they wait for their lines more than they work."""
    with concurrent.futures.ThreadPoolExecutor(len(benches)) as pool:
        for job in [pool.submit(check, *bench) for bench in benches]:
            job.result()


def a_file_with_the_rate_of_the_dialogue(folder):
    """The line is raised to 115200 baud for a restore, and stays there if that is what the file has."""
    def check(model, options):
        with Bench(f"{folder}/{model}{len(options)}", model, *options) as bench:
            path = f"{bench.folder}/fast.conf"
            name = "CFG-PRT[1].baudRate" if model == "m8" else "CFG-UART1-BAUDRATE"
            with open(path, "w") as file:
                file.write(f"sextant-configuration 1\nholds {'everything' if model == 'm8' else 'differences'}\n{name} = 115200\n")
            bench.configure("restore", path, prints="0 settings changed\nthe line is at 115200 baud\n")
            expect(options or bench.rate() == 115200, f"{model}: the line is at {bench.rate()}")

    at_once(check, [("m8", []), ("m9", []), ("m10", []), ("m10", ["--usb"])])


def more_fixes_than_the_line_has_room_for(folder):
    def check(model):
        with Bench(f"{folder}/{model}", model, "--baud", "9600") as bench:
            bench.configure("set", "rate=5Hz", code=64, says=r"rate: so many fixes are \d+ bytes .* carries 960: .*\(baud=\d+\)")
            bench.configure("get", "rate", prints=r" 1(000)? ")
            bench.configure("set", "baud=115200", "rate=5Hz", prints="rate is set\n(.*\n)?the line is at 115200 baud")
            expect(bench.rate() == 115200, f"{model}: the line is at {bench.rate()}")
            bench.configure("set", "baud=9600", code=0)
            # What another program does: the line is full, and answers are lost.
            bench.configure("get", "rate", prints=r" (0\.2|200) ")
            expect(bench.rate() == 9600, f"{model}: the line is at {bench.rate()}")
            bench.configure("set", "rate=1Hz", prints="rate is set")
            bench.configure("get", "rate", prints=r" 1(000)? ")

    at_once(check, [("m6",), ("m8",), ("m10",)])


CHECKS = [a_file_with_the_rate_of_the_dialogue, more_fixes_than_the_line_has_room_for]


if __name__ == "__main__":
    checks.run(CHECKS)
