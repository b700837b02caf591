#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The real kernel, udevd and drivers, in a virtual machine: CDC-ACM, FTDI and /dev/gnss0.

usage: hotplug.py FOLDER, as root; FOLDER has HotplugProbe and sextant. PORT names another TCP port for the USB devices; machine.py has
       the other variables
"""
RIG = {"programs": ["HotplugProbe", "sextant"], "packages": {"binutils": "strip"}, "needs": ["root", "virtual machine"],
       "seconds": 140, "ci": True}

import os
import sys

import machine
from machine import HERE, TOP, Machine, control, receiver

PORT = int(os.environ.get("PORT", 3250))
# The requests that the devices receive.
RECEIVED = {"acm": ["line 57600 8N1", "line 123456 8N1", "dtr 1 rts 1"], "ftdi": ["line 38400", "line 250000", "break"]}
WHENS = [
    ("want-acm-framing", control("acm", "error framing")),
    ("want-acm-overrun", control("acm", "error overrun")),
    ("want-acm-dcd", control("acm", "dcd 1")),
    *[("want-acm-pull", control("acm", "unplug"))] * 4,
    ("want-ftdi-framing", control("ftdi", "error framing")),
    ("want-ftdi-parity", control("ftdi", "error parity")),
    ("want-ftdi-dcd", control("ftdi", "dcd 1")),
    *[("want-ftdi-pull", control("ftdi", "unplug"))] * 2,
]


def main():
    with Machine(machine.make_image("image")) as one:
        one.share_programs(sys.argv[1], "HotplugProbe", "sextant")
        one.share_files(HERE / "guest.sh", *sorted((TOP / "hw-rules").glob("60-sextant-gnss.*")))
        one.boot(f"bash guest.sh {PORT}", "--com2", "sock", "--gnss", whens=[
            ("start", f"host python3 {HERE}/emulate.py $RIG/com2.sock"), *receiver(PORT, one.work),
            *receiver(PORT + 1, one.work, "--model", "ftdi", "--serial", "RIG2", "--baud", "38400", name="ftdi"), *WHENS])
        for device, requests in RECEIVED.items():
            log = (one.work / f"{device}.log").read_text(errors="replace")
            for request in requests:
                one.check(request in log, f"the {device} device received: {request}")
        if "FAIL" in one.output:
            for device in RECEIVED:
                print(f"--- the log of the {device} device\n{(one.work / f'{device}.log').read_text(errors='replace')}")
        one.end()


main()
