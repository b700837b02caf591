#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The computer's own sensors by the real kernel, in a virtual machine: a magnetometer's driver (industrial I/O over a stub of its I2C
chip), its heading, turn, loss and return; ranging without a Bluetooth adapter, and with two virtual ones under BlueZ's own bluetoothd.

usage: sensors.py FOLDER, as root; FOLDER has sextant and sextant-track; machine.py has the variables
"""
RIG = {"programs": ["sextant", "sextant-track"], "packages": {"binutils": "strip"}, "needs": ["root", "virtual machine"], "seconds": 113,
       "ci": True}

import sys

import machine
from machine import HERE, Machine


with Machine(machine.make_image("image")) as one:
    one.share_programs(sys.argv[1], "sextant", "sextant-track")
    one.share_files(HERE / "guest-sensors.sh")
    one.boot("bash guest-sensors.sh")
    one.end()
