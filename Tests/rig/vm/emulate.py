#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""emulate.py - a receiver at the far end of a cable: sends epochs into a unix socket for as long as it is open.

usage: emulate.py SOCKET [PLACE]     the file PLACE has `inside` or `outside`: at the centre, or one kilometre east of it
"""
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import emulator

LONGITUDES = {"inside": "01136.42100", "outside": "01137.23000"}


def place():
    if len(sys.argv) < 3:
        return "inside"
    with open(sys.argv[2]) as file:
        return file.read().strip()


number = 0
while True:
    wire = socket.socket(socket.AF_UNIX)
    try:
        wire.connect(sys.argv[1])
        while True:
            wire.sendall(emulator.epoch(number, LONGITUDES[place()]))
            number += 1
            # Five epochs a second.
            time.sleep(0.2)
    except OSError:
        # The socket is not there yet, or not any more.
        time.sleep(0.05)
    finally:
        wire.close()
