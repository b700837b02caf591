#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moving.py - a receiver that a file moves: it sends NMEA into a unix socket for as long as it is open.

usage: moving.py SOCKET PLACE        the file PLACE has `inside` or `outside`: at the centre, or three kilometres east of it
"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import emulator

LONGITUDES = {"inside": "01136.42100", "outside": "01139.00000"}
number = 0
while True:
    wire = socket.socket(socket.AF_UNIX)
    try:
        wire.connect(sys.argv[1])
        while True:
            with open(sys.argv[2]) as file:
                place = file.read().strip()
            wire.sendall(emulator.epoch(number, LONGITUDES[place]))
            number += 1
            # Five epochs a second.
            time.sleep(0.2)
    except OSError:
        # The socket is not there yet, or not any more.
        time.sleep(0.05)
    finally:
        wire.close()
