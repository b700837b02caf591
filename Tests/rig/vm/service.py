#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The location service on a machine with systemd as process 1, udev, polkit and the units as they ship: socket activation, the sandbox
and attacks from inside it (attacks.c), plug and unplug, permission of two users, and a program that is started at a region's border
after a reboot; so is sextant-uplink, whose region came from a broker of the computer that runs this rig. The disk of the machine is a
throw-away snapshot, so the state of the first boot is carried to the second one.

usage: service.py FOLDER, as root; FOLDER has sextant, sextant-track, sextantd and sextant-uplink. PORT names another TCP port for the
       receiver, and the next one for the broker; machine.py has the other variables
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd", "sextant-uplink"],
       "packages": {"binutils": "strip", "gcc": "gcc", "libc6-dev": "/usr/include/stdio.h", "mosquitto": "/usr/sbin/mosquitto",
           "mosquitto-clients": "mosquitto_sub"}, "needs": ["root", "virtual machine"], "seconds": 460, "ci": True}

import contextlib
import os
import re
import shutil
import subprocess
import sys

import machine
from machine import HERE, TOP, Machine, control, receiver, run

import harness

PORT = int(os.environ.get("PORT", 3260))
BROKER = PORT + 1
WAYPOINTS = ('{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"yard",'
             '"lat":48.16465,"lon":11.60702,"rad":150,"tst":1700000000}]}}')
TRANSITION = '"_type":"transition".*"event":"enter","desc":"yard"'


def share_libmosquitto(one):
    """The guest has no package of libmosquitto: it uses this machine's files."""
    library = re.search(r"libmosquitto\.so\.1 .* => (\S+)", run("/sbin/ldconfig", "-p"))[1]
    for path in [library, *re.findall(r"=> (/\S*/lib(?:ssl|crypto|cares)\S*) ", run("ldd", library))]:
        shutil.copy(path, one.share / "lib")


@contextlib.contextmanager
def broker(one):
    """A broker on this machine, and a client that prints the messages of the uplink."""
    (one.work / "mosquitto.conf").write_text(f"listener {BROKER} 127.0.0.1\nallow_anonymous true\npersistence false\n")
    with harness.Program("/usr/sbin/mosquitto", "-c", str(one.work / "mosquitto.conf")) as process:
        def is_ready():
            assert process.process.poll() is None, f"the broker does not start: {process.errors}"
            return not subprocess.run(["mosquitto_pub", "-p", str(BROKER), "-t", "ready", "-n"], stderr=subprocess.DEVNULL).returncode
        harness.wait_until(is_ready, "the broker takes no message")
        with harness.Program("stdbuf", "-oL", "mosquitto_sub", "-p", str(BROKER), "-t", "owntracks/#", "-q", "1") as messages:
            yield messages


def main():
    with Machine(machine.make_image("image")) as one:
        one.share_programs(sys.argv[1], "sextant", "sextant-track", "sextantd", "sextant-uplink")
        one.share_files(TOP / "hw-rules", HERE / "guest-service.sh", HERE / "guest-install.sh")
        one.build(HERE / "attacks.c")
        one.prepare_systemd()
        share_libmosquitto(one)
        place, waypoints = one.work / "place", one.work / "waypoints"
        waypoints.write_text(WAYPOINTS)

        def move(where):
            # The emulator reads the file five times a second, and must not find it empty.
            return f"host echo {where} > {place}.new && mv {place}.new {place}"
        # The texts are awaited in this order.
        boots = {
            "first": [("want-unplug", control("acm", "unplug")),
                      ("want-waypoints", f"host mosquitto_pub -p {BROKER} -t owntracks/ann/van/cmd -q 1 -f {waypoints}")],
            "second": [("want-inside", move("inside")), ("want-outside", move("outside"))],
        }
        with broker(one) as messages:
            for name, whens in boots.items():
                place.write_text("outside\n")
                one.boot(f"bash guest-service.sh {name} {PORT} {BROKER}", whens=[*receiver(PORT, one.work, place=place), *whens])
            try:
                messages.wait_for_line(TRANSITION, 60)
                one.check(True, "the broker has the transition")
            except harness.Failure as failure:
                one.check(False, "the broker has the transition", f"{failure}\n")
        one.end()


main()
