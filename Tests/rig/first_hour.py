#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the page docs/guides/first-hour.md, and compares their output with the page or writes it.

usage: first_hour.py PROGRAMS [--write]

PROGRAMS is the folder with the programs. Every command runs in a shell in an empty folder, without variables that name a
receiver. Numbers, the number of lines, and the order of standard output and standard error differ from run to run: each
command's lines are compared as a set, with one sign for each number. A machine with a receiver cannot show the first part,
and is refused.
"""
RIG = {"programs": ["sextant", "sextant-track"], "packages": {"bash": "bash"}, "seconds": 64, "ci": True}

import argparse
import difflib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/guides/first-hour.md"
# Seconds for one command; only a command that never ends needs them.
LIMIT = 120
# Characters of a line of JSON on the page.
WIDTH = 150

HEAD = """\
# The first hour

This page shows the commands of a first hour with their output and exit codes: without a receiver, and with one.
`Tests/rig/run first_hour -- --write` generates it by running the commands, and `Tests/rig/run first_hour` checks that they still do the
same. The receiver is simulated, so that every step can be repeated at any desk.

`make install` on a bare Debian with a Swift toolchain installs the programs ([README](../../README.md#install)).
[The first receiver on a Raspberry Pi](first-receiver-on-a-raspberry-pi.md) has the wiring and the permissions of a real
one.
"""

# Each part: a heading, a text, and commands. A command that begins with "simulate" runs until the end of its part.
PARTS = [
    ("Without a receiver", "Nothing is plugged in. No command invents a position: the simulator runs only where it is named.", [
        ("The version:", ["sextant --version"]),
        ("What is there to open:", ["sextant devices"]),
        ("`watch` and `track` wait for a receiver; the others end at once, with the next step:", [
            "sextant watch --seconds 2", "sextant track --once --seconds 2", "sextant probe", "sextant record walk.rec",
            "sextant configure show"]),
        ("A path that does not exist, a file that is not a receiver, and a file that is not a recording:", [
            "sextant watch --device /dev/ttyACM7", "echo 'some words' > notes.txt", "sextant watch --device notes.txt",
            "sextant watch --device replay:notes.txt", "sextant decode notes.txt"]),
        ("The built-in simulator, because `--demo` requests it:", [
            "sextant watch --demo --count 2", "sextant track --demo --once"]),
    ]),
    ("With a receiver", "A simulated NEO-M8 at the end of a line of 9600 baud. Its link `gnss` stands for a port such as "
     "`/dev/ttyACM0`.", [
        ("Plug it in:", ["simulate --model m8 --link gnss"]),
        ("Who is there? The rate is found, and nothing is changed:", ["sextant probe --device gnss"]),
        ("The first fixes, as lines and in gpsd's JSON. At a terminal `watch` without `--json` shows a screen:", [
            "sextant watch --device gnss --count 4", "sextant watch --device gnss --json --seconds 8 | tail -n 2"]),
        ("A wrong rate is named as the reason:", ["sextant watch --device gnss --baud 4800 --seconds 7"]),
        ("Record, look into the recording, and replay it. Recorded positions are not this computer's, so a file is "
         "read only as a replay:", [
            "sextant record --device gnss --seconds 5 walk.rec", "sextant decode --format summary walk.rec",
            "sextant watch --device walk.rec", "sextant watch --device replay:walk.rec@max --count 1"]),
        ("Settings, with a mistake:", [
            "sextant configure get rate --device gnss", "sextant configure set rat=5Hz --device gnss",
            "sextant configure set rate=5Hz --device gnss"]),
        ("The power state, and a command that a file cannot accept:", [
            "sextant power --device gnss status", "sextant power --device replay:walk.rec status"]),
        ("The location as a program with Core Location gets it:", ["sextant track --device gnss --once"]),
        ("A port has one reader:", [
            "sextant watch --device gnss --seconds 5 > fixes & until [ -s fixes ]; do sleep 0.1; done; sextant probe --device gnss"]),
    ]),
]


def environment(programs, folder):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SEXTANT_", "GNSS_", "LC_", "LANG"))}
    state = {"SEXTANT_STATE_DIR": f"{folder}/.state", "SEXTANT_RUN_DIR": f"{folder}/.run"}
    return {**kept, **state, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": folder, "XDG_CONFIG_HOME": f"{folder}/.config",
            "TZ": "UTC", "COLUMNS": "120"}


class Desk:
    """An empty folder in which the commands run."""

    def __init__(self, programs, folder):
        self.folder, self.environment, self.simulators = folder, environment(programs, folder), []

    def run(self, command):
        """Returns the lines of a command and its exit code."""
        if command.startswith("simulate"):
            return self.start(f"sextant {command}")
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
        lines = done.stdout.decode(errors="replace").replace(self.folder, "~").splitlines()
        return [f"$ {command}", *lines, f"[{done.returncode}]"]

    def start(self, command):
        process = subprocess.Popen(command.split(), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.simulators.append(process)
        return [f"$ {command} &", process.stdout.readline().decode().rstrip()]

    def clear(self):
        for process in self.simulators:
            process.send_signal(signal.SIGTERM)
            process.wait(LIMIT)
        self.simulators = []


def shortened(line):
    return line[:WIDTH] + "…" if line.startswith("{") and len(line) > WIDTH else line


def page(programs):
    lines = HEAD.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(programs, folder)
        try:
            for heading, text, steps in PARTS:
                lines += ["", f"## {heading}", "", text]
                for words, commands in steps:
                    lines += ["", words, ""]
                    for command in commands:
                        lines += [f"    {shortened(line)}" for line in desk.run(command)]
                desk.clear()
        finally:
            desk.clear()
    return "\n".join(lines) + "\n"


def normalised(text):
    """The lines without what differs from run to run: for each command a set of lines of output."""
    lines, output, command = [], set(), ""
    for line in text.splitlines():
        if line.startswith("    $"):
            command = line
        elif line.startswith("    ["):
            # The ports depend on the machine.
            lines += [] if "sextant devices" in command else sorted(output)
            output = set()
        elif line.startswith("    "):
            # Before the first fix there may be epochs without one, and the first fix may come from a part of an epoch. The
            # word of a slow end depends on the machine. A shortened line ends where its numbers let it end.
            line = re.sub(r"-?\d[\d.:TZ+-]*|no time yet", "#", line)
            line = re.sub(r"( \w{5} #,?)+$|(?<=^    # {2}# #) .*", " …", line)
            if not line.endswith("no fix") and "sextant: ending:" not in line:
                output.add(line[:WIDTH // 2] if line.startswith("    {") else line)
            continue
        lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    ports = json.loads(subprocess.run(
        [f"{options.programs}/sextant", "devices", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    if any(port["likelihood"] in ("receiver", "bridge") for port in ports):
        print("this machine has a receiver; unplug it for the part without one", file=sys.stderr)
        return 69
    text = page(os.path.abspath(options.programs))
    if options.write:
        PAGE.write_text(text)
        return 0
    difference = list(difflib.unified_diff(
        normalised(PAGE.read_text()), normalised(text), "the page", "the commands", lineterm="", n=1))
    if difference:
        print("\n".join(difference))
        print(f"{PAGE.name}: the commands do something else; `Tests/rig/run first_hour -- --write` rewrites the page", file=sys.stderr)
        return 1
    return 0


sys.exit(main())
