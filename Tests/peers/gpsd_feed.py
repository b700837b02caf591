#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency and cost of sextantd and of Debian's gpsd with the same bytes, by the number of JSON clients of gpsd's protocol.

usage: gpsd_feed.py FOLDER SECONDS [CLIENTS]..., as root; FOLDER has sextantd

A pseudo-terminal gets an epoch of UBX or of NMEA each second, at once, as a receiver with USB sends it. Nothing is sent to it
(`--read-only`, `gpsd -b`). Latency is from the write of the epoch to its first TPV at a client, over all epochs and clients.
Processor time and wake-ups include all threads of the daemon. The third row is least.c, which sends a text for each epoch and
decodes nothing: about the least that a daemon costs.
"""
import os
import pathlib
import pty
import selectors
import statistics
import sys
import tempfile
import time
import tty

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "rig"))
from compare_latency import compiled, nmea_epoch, ubx_epoch  # noqa: E402
from gpsd_clients import WATCH, Side, memory  # noqa: E402
from gpsd_cost import used  # noqa: E402

# Epochs before the measurement: the daemons learn the receiver's messages.
SETTLING = 10
# compare_latency makes epochs at 5 Hz.
STEP = 5


def measure(folder, kind, make, count, seconds, least):
    master, slave = pty.openpty()
    tty.setraw(slave)
    node = os.ttyname(slave)
    os.chmod(node, 0o666)
    with Side(folder, kind, node, is_read_only=True, command=[least, node] if kind == "least" else None) as side:
        clients = [side.connect() for _ in range(count)]
        waits = selectors.DefaultSelector()
        for client in clients:
            client.send(WATCH)
            client.socket.setblocking(False)
            waits.register(client.socket, selectors.EVENT_READ, client)
        process, latencies, reports = side.daemon.process.pid, [], 0
        begin = time.monotonic() + 0.5
        for number in range(SETTLING + seconds):
            data, due = make(number * STEP), begin + number
            time.sleep(max(0, due - time.monotonic()))
            if number == SETTLING:
                before = used(process)
            os.write(master, data)
            written, seen = time.monotonic(), set()
            while (left := due + 0.9 - time.monotonic()) > 0:
                for key, _ in waits.select(left):
                    text = key.fileobj.recv(1 << 20)
                    now = time.monotonic()
                    if number >= SETTLING and key.fd not in seen and b'"lat":' in text:
                        seen.add(key.fd)
                        latencies.append((now - written) * 1000)
            reports += len(seen) if number >= SETTLING else 0
        after = used(process)
        result = (statistics.median(latencies), sorted(latencies)[len(latencies) * 95 // 100], (after[0] - before[0]) / seconds * 1000,
                  (after[1] - before[1]) / seconds, memory(side.daemon), reports / seconds / count)
        for client in clients:
            client.socket.close()
    os.close(master)
    os.close(slave)
    return result


def main():
    seconds, counts = int(sys.argv[2]), [int(count) for count in sys.argv[3:]] or [1, 10, 50]
    print("| Feed | JSON clients | Daemon | Latency, median | 95 % | Processor time in a second | Wake-ups | Private memory | Epochs |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        least = compiled("least", folder)
        for name, make in (("UBX", ubx_epoch), ("NMEA", nmea_epoch)):
            for count in counts:
                for kind in ("sextantd", "gpsd", "least"):
                    median, most, spent, wakes, private, reports = measure(f"{folder}/{name}-{count}", kind, make, count, seconds, least)
                    print(f"| {name} | {count} | {kind} | {median:.2f} ms | {most:.2f} ms | {spent:.2f} ms | {wakes:.1f} | {private} kB | "
                          f"{reports:.2f} |", flush=True)


if __name__ == "__main__":
    main()
