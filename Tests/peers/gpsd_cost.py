#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sextantd and Debian's gpsd cost with the same simulated receiver, by the number of JSON clients of gpsd's protocol.

usage: gpsd_cost.py FOLDER SECONDS [CLIENTS]..., as root; FOLDER has sextant and sextantd
"""
import os
import pathlib
import selectors
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rig"))
from gpsd_clients import STILL, WATCH, Side, Simulator, memory, wait_for_fix  # noqa: E402


def used(process):
    """The processor time in seconds, and the switches, of all threads: proc(5)."""
    seconds, switches = 0, 0
    for thread in os.listdir(tasks := f"/proc/{process}/task"):
        with open(f"{tasks}/{thread}/schedstat") as file:
            seconds += int(file.read().split()[0]) / 1e9
        with open(f"{tasks}/{thread}/status") as file:
            switches += sum(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return seconds, switches


def measure(folder, kind, count, seconds):
    with Simulator(f"{folder}/{kind}-{count}", "m10", scenario=STILL) as receiver, Side(f"{folder}/{count}", kind, receiver.link) as side:
        wait_for_fix(side)
        clients = [side.connect() for _ in range(count)]
        waits = selectors.DefaultSelector()
        for client in clients:
            client.send(WATCH)
            client.socket.setblocking(False)
            waits.register(client.socket, selectors.EVENT_READ, client)

        def read_for(seconds):
            end, reports = time.monotonic() + seconds, 0
            while (left := end - time.monotonic()) > 0:
                for key, _ in waits.select(left):
                    reports += key.fileobj.recv(1 << 20).count(b'"class":"TPV"')
            return reports
        # The receiver is configured meanwhile.
        read_for(20)
        process = side.daemon.process.pid
        before, began = used(process), time.monotonic()
        reports = read_for(seconds)
        after, passed = used(process), time.monotonic() - began
        for client in clients:
            client.socket.close()
        return ((after[0] - before[0]) / passed * 1000, (after[1] - before[1]) / passed, memory(side.daemon), reports / passed / count)


def main():
    seconds, counts = int(sys.argv[2]), [int(count) for count in sys.argv[3:]] or [1, 10, 50]
    print("| Daemon | Clients | TPV to each in a second | Processor time in a second | Wake-ups in a second | Private memory |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            for kind in ("sextantd", "gpsd"):
                time_used, wakes, private, reports = measure(folder, kind, count, seconds)
                print(f"| {kind} | {count} | {reports:.2f} | {time_used:.2f} ms | {wakes:.1f} | {private} kB |", flush=True)


if __name__ == "__main__":
    main()
