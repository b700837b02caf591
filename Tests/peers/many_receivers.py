#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the CPU time of one process grows with the number of receivers that it serves.

usage: many_receivers.py MANY_RECEIVERS [--seconds N]

Feeds 1, 2, 4, 8 and 16 pseudo-terminals with UBX epochs at 10 Hz (an epoch is written at once, so that the feeding itself is
not measured), and prints CPU time and wake-ups of the process that reads them, in all and for an epoch.
"""
import argparse, os, pty, signal, struct, subprocess, time, tty


def ubx(cls, ident, payload):
    body = struct.pack("<BBH", cls, ident, len(payload)) + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 255
        b = (b + a) & 255
    return b"\xb5\x62" + body + bytes((a, b))


def epoch(number):
    itow = 86_400_000 + number * 100
    pvt = struct.pack("<IHBBBBBBIiBBBBiiiiIIiiiiiIIHHIihH", itow, 2026, 6, 1, 0, number // 600 % 60, number // 10 % 60, 7, 25,
                      number % 10 * 100000000, 3, 1, 0xE0, 18, 116056000, 481642000, 567800, 520000, 1500, 2200, 900, 400,
                      -20, 985, 2396000, 120, 350000, 152, 0, 0, 0, 0, 0)
    sat = struct.pack("<IBBH", itow, 1, 20, 0)
    for index in range(20):
        sat += struct.pack("<BBBbhhI", (0, 2, 6)[index % 3], index + 1, 30 + index % 15, 20 + index * 3, index * 17, 5, 0x091F)
    return ubx(1, 7, pvt) + ubx(1, 0x35, sat) + ubx(1, 0x61, struct.pack("<I", itow))


def usage(pid):
    run = switches = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            run += int(file.read().split()[0])
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            switches += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    return run, switches


def measure(program, count, seconds):
    ends = [pty.openpty() for _ in range(count)]
    for _, slave in ends:
        tty.setraw(slave)
    process = subprocess.Popen([program] + [os.ttyname(slave) for _, slave in ends], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    begin, before, number = time.monotonic(), None, 0
    while number < seconds * 10:
        if number == 20:
            before = usage(process.pid)
        data = epoch(number)
        # The receivers are not synchronous, as real ones are not.
        for index, (master, _) in enumerate(ends):
            due = begin + number * 0.1 + index * 0.1 / count
            if due > time.monotonic():
                time.sleep(due - time.monotonic())
            os.write(master, data)
        number += 1
    time.sleep(0.2)
    after = usage(process.pid)
    process.send_signal(signal.SIGTERM)
    epochs = [int(word) for word in process.communicate()[0].split()]
    for pair in ends:
        os.close(pair[0])
        os.close(pair[1])
    counted = (number - 20) * count
    return (after[0] - before[0]) / 1e3, (after[1] - before[1]), counted, min(epochs), number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=10)
    arguments = parser.parse_args()
    for count in (1, 2, 4, 8, 16):
        micros, wakeups, epochs, fewest, sent = measure(arguments.program, count, arguments.seconds)
        print(f"{count:2} receivers: {micros / epochs:6.1f} us CPU and {wakeups / epochs:4.2f} wake-ups an epoch, "
              f"{micros / (arguments.seconds - 2) / 1e4:5.2f} % of a processor; every receiver {fewest} of {sent} epochs or more")


main()
