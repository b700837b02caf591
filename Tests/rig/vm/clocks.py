#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The clock in a virtual machine with systemd as process 1: chronyd, ntpd of ntpsec, and gpsd beside them, all Debian's; pulses of a
source of the kernel, and of a modem line with and without the kernel's stamps; the sandbox of sextantd.service, with the lines of
docs/guides/time.md.

usage: clocks.py FOLDER, as root; FOLDER has sextant, sextant-track and sextantd; machine.py has the variables

The receivers' clock is a quarter of a second ahead of the machine's, which nothing sets: each offset is known. linux-image 6.1 has no
pps-ktimer, pps-gpio or gpio-sim. pps-ktimer of linux-source would not serve either: it waits for HZ ticks by the timer wheel, whose
granularity is 8 ticks there (kernel/time/timer.c, "Level 1"), so that its pulses are not a second apart. Hence the module rig_pps.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "packages": {"binutils": "strip"}, "needs": ["root", "virtual machine"],
       "seconds": 420}

import shutil
import sys

import machine
from machine import BOOT, HERE, TOP, Machine, run

# The image has the daemons.
PACKAGES = ("chrony", "gpsd", "python3", "libssl3", "libbsd0", "libcap2")

with Machine(machine.make_image("image-time", PACKAGES), limit=1800) as one:
    one.share_programs(sys.argv[1], "sextant", "sextant-track", "sextantd")
    shutil.copy(one.build_module(HERE / "rig_pps", one.work / "build.log"), one.share)
    one.prepare_systemd()
    one.share_files(TOP / "hw-rules", TOP / "docs/guides/time.md", HERE / "feed.py", HERE.parent / "emulator.py", BOOT / "usbip-gnss.py",
                    HERE / "guest-install.sh", HERE / "guest-time.sh")
    # As a package it excludes chrony.
    run("apt-get", "-o", "APT::Sandbox::User=root", "-qq", "download", "ntpsec", cwd=one.work)
    run("dpkg-deb", "-x", next(one.work.glob("ntpsec_*.deb")), one.share / "ntpsec")
    one.boot("bash guest-time.sh")
    one.end()
