#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hot plugs through the real libudev, on a mocked /sys and /dev (testbed.py).

usage: hotplug.py FOLDER [--cycles N], as root: a hang-up of a terminal (TIOCVHANGUP) needs it; FOLDER has HotplugProbe, sextant and
       sextant-track
"""
RIG = {"programs": ["HotplugProbe", "sextant", "sextant-track"],
       "packages": {"python3-gi": "python: gi", "umockdev": "umockdev-wrapper", "gir1.2-umockdev-1.0": "python: UMockdev-1.0"},
       "needs": ["root", "mount namespaces"], "seconds": 74, "ci": True}

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

TESTBED = pathlib.Path(__file__).with_name("testbed.py")
# The testbed gets a /run of its own, because libudev takes udevd for running when its control socket has a listener, and
# pseudo-terminals of its own: a program elsewhere that waits for its /dev/pts/N would otherwise open ours under that number.
BED = """mount -t tmpfs none /run && mkdir /run/udev &&
mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx && exec "$@" """


def bed(title, *words, **variables):
    """Runs a testbed with its consumer; a failure of it ends this program."""
    print(f"== {title}", flush=True)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", BED, "sh", "umockdev-wrapper", "/usr/bin/python3", TESTBED, *words],
                          env={**os.environ, **variables})
    if done.returncode:
        sys.exit(f"FAILED {title}: {done.returncode}")


def main():
    options = harness.arguments(__doc__, cycles=100)
    if os.geteuid() != 0:
        sys.exit("a hang-up of a terminal (TIOCVHANGUP) needs root; run it with sudo")
    probe, sextant, track = (harness.program(name) for name in ("HotplugProbe", "sextant", "sextant-track"))
    bed("the first receiver, under changing names",
        "--cycles", str(options.cycles), "--descriptors", "--devices", f"{sextant} devices --json", "--", probe)
    bed("a receiver named by its link",
        "--cycles", "12", "--descriptors", "--", probe, "--device", "/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00")
    bed("without udevd: the list of devices is read once a second",
        "--cycles", "6", "--descriptors", "--ready", "polling", "--", probe, "--source", "polling")
    bed("sextant watch",
        "--cycles", "12", "--one-name", "--served", '"TPV".*"lat"', "--", sextant, "watch", "--device", "/dev/ttyACM0", "--json")
    with tempfile.TemporaryDirectory() as state:
        bed("sextant track with two receivers, none of them named", "--standby", "--", track, "--json", "--no-pause",
            SEXTANT_STATE_DIR=state, SEXTANT_APP_STATE="foreground", XDG_CONFIG_HOME="/nonexistent")
    with tempfile.TemporaryDirectory() as state:
        bed("sextant track with a named receiver that is absent at its start",
            "--absent", "--", track, "--json", "--no-pause", GNSS_DEVICE="/dev/ttyACM0",
            SEXTANT_AUTHORIZATION="always", SEXTANT_STATE_DIR=state, SEXTANT_APP_STATE="foreground", XDG_CONFIG_HOME="/nonexistent")


main()
