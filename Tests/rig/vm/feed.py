#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""feed.py - receivers of one antenna: the same epoch at each of them, and their pulse at a modem line.

usage: feed.py AHEAD DELAY WIRE...     AHEAD: by how much their clock is ahead of the system's, seconds; DELAY: from the time of an
epoch to its first byte at a line of 115200 baud; WIRE: a socket of usbip-gnss.py. Carrier detect changes at WIRE.control, if there is such a socket.
"""
import os
import socket
import sys
import time

from emulator import sentence

AHEAD, DELAY = map(float, sys.argv[1:3])
WIRES = sys.argv[3:]
SECONDS_PER_BYTE = 10 / 115200


def connected(path):
    while True:
        wire = socket.socket(socket.AF_UNIX)
        try:
            wire.connect(path)
            return wire
        except OSError:
            wire.close()
            time.sleep(0.05)


def epoch(second):
    utc = time.gmtime(second)
    clock, place = time.strftime("%H%M%S.00", utc), "4809.87900,N,01136.42100,E"
    return (sentence(f"GNRMC,{clock},A,{place},0.012,,{time.strftime('%d%m%y', utc)},,,A")
            + sentence(f"GNGGA,{clock},{place},1,12,0.70,515.5,M,45.6,M,,")
            + sentence("GNGSA,A,3,01,02,03,04,05,06,07,08,09,10,11,12,1.30,0.70,1.10"))


def sleep_until(receiver_time):
    time.sleep(max(0, receiver_time - AHEAD - time.time()))


wires = [connected(path) for path in WIRES]
controls = [connected(f"{path}.control") for path in WIRES if os.path.exists(f"{path}.control")]
print("feed: ready", flush=True)
second = int(time.time() + AHEAD) + 1
while True:
    sleep_until(second)
    for control in controls:
        control.sendall(b"dcd 1\n")
    message = epoch(second)
    # A wire of usbip-gnss.py takes no time.
    sleep_until(second + DELAY + len(message) * SECONDS_PER_BYTE)
    for wire in wires:
        wire.sendall(message)
    sleep_until(second + 0.2)
    for control in controls:
        control.sendall(b"dcd 0\n")
    second = max(second, int(time.time() + AHEAD)) + 1
