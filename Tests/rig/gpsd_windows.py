#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of gpsd with windows, and direwolf, at sextantd and at Debian's gpsd: each shows the place of the simulated receiver.

usage: gpsd_windows.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd

  xgps        its window shows latitude, longitude and satellites
  foxtrotgps  its status line shows the height, the satellites and HDOP
  direwolf    its beacon has the position

A window is on a screen of Xvfb and is read by tesseract. `Tests/rig/run gpsd_windows` installs these programs; SEXTANT_SCREENS names a
folder that gets pictures of the windows.
"""
RIG = {"programs": ["sextant", "sextantd"],
       "packages": {"gpsd": "gpsd", "gpsd-clients": "gpspipe", "iproute2": "ip", "xvfb": "Xvfb", "gpsd-tools": "xgps",
           "foxtrotgps": "foxtrotgps", "direwolf": "direwolf", "imagemagick": "convert", "tesseract-ocr": "tesseract",
           "gir1.2-gtk-3.0": "python: Gtk-3.0", "python3-gi-cairo": "python: cairo",
           "fonts-dejavu-core": "/usr/share/fonts/truetype/dejavu"}, "needs": ["root", "network namespaces", "PyPI"],
       "seconds": 60}

import os
import re
import shutil
import subprocess
import time

from gpsd_clients import STILL, Side, both, wait_for_fix  # noqa: F401
from harness import LIMIT, Failure, Program, arguments, expect, run_checks

# The number of the next screen.
SCREENS = iter(range(90, 99))


class Screen:
    """A screen of Xvfb in the network of a side, whose sockets of X are its own."""

    def __init__(self, side):
        self.side, self.name = side, f":{next(SCREENS)}"
        self.server = Program(*side.inside("Xvfb", self.name, "-screen", "0", "1000x1000x24", "-nolisten", "tcp"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()

    @property
    def variables(self):
        return {**os.environ, "DISPLAY": self.name, "HOME": self.side.folder, "LANG": "C.UTF-8", "GDK_BACKEND": "x11",
                "NO_AT_BRIDGE": "1"}

    def start(self, *command):
        return Program(*self.side.inside(*command), env=self.variables)

    def text(self, picture):
        """The words on the screen, twice as large."""
        done = subprocess.run(self.side.inside("import", "-window", "root", picture), env=self.variables, capture_output=True)
        if done.returncode:
            return ""
        large = f"{picture}.large.png"
        subprocess.run(["convert", picture, "-resize", "200%", "-colorspace", "Gray", large], check=True)
        return subprocess.run(["tesseract", large, "-", "--psm", "11"], capture_output=True, text=True, check=True,
                              # Its threads wait for each other in loops.
                              env={**os.environ, "OMP_THREAD_LIMIT": "1"}).stdout


def shows(side, name, command, *patterns):
    """Waits until the window has each of the patterns. Returns the words that are found."""
    wait_for_fix(side)
    picture = f"{side.folder}/{name}.png"
    with Screen(side) as screen:
        limit, text = time.monotonic() + LIMIT, ""
        program = screen.start(*command)
        with program:
            while time.monotonic() < limit:
                if program.process.poll() is not None:
                    # The screen was not there yet.
                    expect("display" in program.errors.lower(), f"{name} ends: {program.errors[-500:]}")
                    program.kill()
                    program = screen.start(*command)
                text = screen.text(picture)
                found = [re.search(pattern, text) for pattern in patterns]
                if all(found):
                    if folder := os.environ.get("SEXTANT_SCREENS"):
                        shutil.copy(picture, f"{folder}/{name}-{side.kind}.png")
                    program.kill()
                    return [match[0] for match in found]
            program.kill()
    raise Failure(f"{name} at {side.kind} shows {text!r}")


def show(folder, model, name, command, *patterns):
    ours, theirs = both(folder, model, STILL, lambda side: shows(side, name, command, *patterns))
    return f"sextantd {ours}, gpsd {theirs}"


def xgps(folder):
    return show(folder, "m10", "xgps", ["xgps", "-l", "d"], r"48\.16\d+", r"11\.60\d+", r"3D")


def foxtrotgps(folder):
    return show(folder, "m10", "foxtrotgps", ["foxtrotgps"], r"alt\s*5[01]\d", r"\b\d+/[01]\.\d")


DIREWOLF = """ADEVICE stdin null
ARATE 48000
MYCALL Q0ABC
GPSD localhost
TBEACON SENDTO=R0 DELAY=0:01 EVERY=0:05 SYMBOL=car
"""


def beacon_at(side):
    wait_for_fix(side)
    with open(f"{side.folder}/direwolf.conf", "w") as file:
        file.write(DIREWOLF)
    with open("/dev/zero", "rb") as silence, \
            Program(*side.inside("stdbuf", "-oL", "direwolf", "-c", f"{side.folder}/direwolf.conf", "-t", "0", "-r", "48000"), stdin=silence) as one:
        found = one.wait_for_line(r"N 48 09\.8\d+, E 011 36\.3\d+")
        return found[0]


def direwolf(folder):
    ours, theirs = both(folder, "m10", STILL, beacon_at)
    return f"sextantd {ours}, gpsd {theirs}"


if __name__ == "__main__":
    options = arguments(__doc__)
    run_checks([xgps, foxtrotgps, direwolf], options.checks)
