#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count.py - instructions per byte of the decoder's stages, on aarch64 and on x86-64.

usage: count.py QEMU-FOLDER PLUGIN SYSROOT AARCH64-PROGRAM X86-64-PROGRAM RECORDINGS [--no-limits]
  QEMU-FOLDER   has qemu-aarch64 and qemu-x86_64 that load plugins
  SYSROOT       the libraries of the aarch64 program

Prints a table. A figure is (count of 4 rounds - count of 1 round) / 3 / bytes. Fails if the last stage of an input takes more than the limit
of its processor, if there are limits.
"""
import os
import re
import subprocess
import sys

# Title, input (a name of `sextant-bench rounds` or a recording), stages, and the most instructions per byte of the last stage on
# aarch64 and x86-64.
INPUTS = [
    ("NMEA, simulated receiver", "simulated NMEA", ["frames", "fields", "fix"], (17.2, 18)),
    ("NMEA, u-blox 8", "gpsd/ublox-8.log", ["frames", "fields", "fix"], None),
    ("UBX, simulated receiver", "simulated UBX", ["frames", "fields", "fix"], None),
    ("UBX navigation, ZED-F9P", "ubx/ublox-zed-f9p_hpg1.11.log", ["frames", "fields", "fix"], (3.9, 4.4)),
    ("RTCM 3, ZED-F9T", "gpsd/ublox-zed-f9t-rtcm3.log", ["frames"], (2.4, 2.8)),
]


def count(command, stage, rounds, file):
    """The number of instructions, and the number of bytes of the input."""
    result = subprocess.run(
        [*command, "rounds", "--stage", stage, "--rounds", str(rounds), file],
        capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"count.py: {command[-1]}, {stage}, {file}: exit code {result.returncode}: {result.stderr.strip()}")
    return int(re.search(r"instructions (\d+)", result.stderr)[1]), int(re.match(r"(\d+) bytes", result.stdout)[1])


def per_byte(command, stage, file):
    one, size = count(command, stage, 1, file)
    four, _ = count(command, stage, 4, file)
    return (four - one) / 3 / size


def main():
    qemu, plugin, sysroot, board, host, recordings, *options = sys.argv[1:]
    has_limits = "--no-limits" not in options
    commands = [
        [f"{qemu}/qemu-aarch64", "-cpu", "max", "-plugin", plugin, "-L", sysroot, board],
        [f"{qemu}/qemu-x86_64", "-cpu", "max", "-plugin", plugin, host],
    ]
    print("| Input | Stage | aarch64 | x86-64 | Limits |\n|---|---|---|---|---|")
    above = 0
    for title, name, stages, limits in INPUTS:
        file = name if name.startswith("simulated ") else os.path.join(recordings, name)
        for stage in stages:
            figures = [per_byte(command, stage, file) for command in commands]
            bounds = limits if has_limits and stage == stages[-1] and limits else ()
            above += sum(figure > bound for figure, bound in zip(figures, bounds))
            shown = ", ".join(map(str, bounds))
            print(f"| {title} | {stage} | {figures[0]:.2f} | {figures[1]:.2f} | {shown} |", flush=True)
    if above:
        sys.exit(f"count.py: {above} figures are above their limit")


main()
