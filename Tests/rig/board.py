#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs for a 64-bit ARM board. Of their objects: no copies of tables in the decoder, and no reference to a library that adds a
megabyte. In qemu-user: their version; the output of `decode` for each recording, which equals the output of this machine's program; and
positions and locations on a pseudo-terminal, with this machine's simulated receiver.

usage: board.py FOLDER RECORDINGS; FOLDER has this machine's sextant. `make board` builds the programs
"""
RIG = {"programs": ["sextant"], "prepare": [["packaging/board/programs.sh"]], "packages": {"binutils": "readelf"},
       "needs": ["recordings", "release build"], "arguments": ["{programs}", "{recordings}"], "seconds": 120}

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import Simulator, environment, expect, program

TOP = pathlib.Path(__file__).resolve().parents[2]
BOARD = TOP / ".build/board"
OBJECTS = BOARD / "build/release"
DECODER = ("WireBytes", "NMEA", "UBX", "RTCM3", "ReceiverStream")
FORMATS = ("tpv", "messages", "summary")


def emulated(name, *words, **options):
    """The exit code and the outputs of a program of the board."""
    return ended([BOARD / "qemu/qemu-aarch64", "-L", BOARD / "sysroot", OBJECTS / name, *words], **options)


def ended(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, **options)
    return done.returncode, done.stdout, done.stderr


def check_objects():
    for name in ("sextant", "sextantd", "sextant-track"):
        versions = re.findall(r"GLIBC_2[.0-9]*", subprocess.check_output(["readelf", "-V", OBJECTS / name], text=True))
        newest = max(versions, key=lambda version: [int(number) for number in re.findall(r"\d+", version)])
        print(f"board: {name}: {(OBJECTS / name).stat().st_size} bytes, glibc {newest}")
    print("board:", *(emulated(name, "--version")[1].decode().strip() for name in ("sextant", "sextantd")), flush=True)
    objects = [path for module in DECODER for path in sorted((OBJECTS / f"{module}.build").glob("*.o"))]
    subprocess.run([TOP / "Tests/instructions/copies.py", *objects], check=True)
    subprocess.run([TOP / "Tests/lint/large-libraries.sh", OBJECTS, "sextant", "sextantd"], check=True)


def check_decode(recordings):
    """A recording without a frame ends with 65 on both."""
    # An optimised program of this machine is faster.
    host = next(path for path in (TOP / ".build/static/release/sextant", TOP / ".build/release/sextant", pathlib.Path(program())) if path.exists())
    compared, different = 0, []
    for path in sorted(recordings.glob("*/*.log")):
        for name in FORMATS:
            words = ["decode", "--format", name, path]
            compared += 1
            if ended([host, *words]) != emulated("sextant", *words):
                different.append(f"{path}, {name}")
    expect(compared > 0, f"no recordings in {recordings}")
    expect(not different, f"outputs or exit codes of decode differ: {different}")
    print(f"board: {compared} outputs of decode, none different", flush=True)


def check_line(folder):
    """A location is the simulated walk's, which begins at 48.164 north and 11.606 east."""
    variables = environment(folder, SEXTANT_AUTHORIZATION="always", SEXTANT_SERVICE="none")
    with Simulator(f"{folder}/simulator") as receiver:
        code, output, errors = emulated("sextant", "watch", "--device", receiver.link, "--json", "--count", "3", env=variables)
        positions = [one for one in map(json.loads, output.splitlines()) if one["class"] == "TPV" and int(one.get("lat", 0) * 100) == 4816]
        expect(code == 0 and len(positions) >= 3, f"no three positions: {code} {output} {errors}")
        code, output, errors = emulated("sextant-track", "--device", receiver.link, "--json", "--once", env=variables)
        locations = [location for one in map(json.loads, output.splitlines()) if one.get("event") == "didUpdateLocations"
                     for location in one["locations"]]
        expect(code == 0 and any(int(one["latitude"] * 100) == 4816 for one in locations), f"no location: {code} {output} {errors}")
    print("board: three positions by watch and a location by sextant-track on a pseudo-terminal")


if __name__ == "__main__":
    check_objects()
    check_decode(pathlib.Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        check_line(folder)
