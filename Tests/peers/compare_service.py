#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency and wake-ups of a program that sextantd serves, against those of one with its own receiver, in one run.

usage: compare_service.py FOLDER [--epochs N]

FOLDER holds the programs `sextant-track` and `sextantd`. The receiver is a pseudo-terminal that is fed as a 115200 baud line is
(compare_latency.py). The latency is the time from the write of an epoch's last byte to the line that the delegate prints. They
take turns three times, and the median of all epochs of each counts. Wake-ups are counted for the program and the daemon together.
The relay (relay.c) is two C programs that only pass a message on, and the baseline (baseline.c) one: the least of a service.
"""
import argparse
import os
import subprocess
import tempfile
import time

import compare_latency as latency

MARK = (b'"event":"didUpdateLocations"', b'"class":"TPV"')
# The reference of each comparison: the same without the process between.
SHORTER = {"served": "alone", "relay": "baseline"}
COMMON = dict(os.environ, SEXTANT_APP_STATE="foreground", SEXTANT_AUTHORIZATION="always")


def start_alone(folder):
    return latency.start_into_pipe(f"{folder}/sextant-track", "--json", "--no-pause", "--device",
                                   environment=dict(COMMON, SEXTANT_STATE_DIR="", SEXTANT_SERVICE="none"))


def start_served(folder):
    def start(path):
        work = tempfile.TemporaryDirectory()
        socket = f"{work.name}/location"
        daemon = subprocess.Popen([f"{folder}/sextantd", "--device", path, "--socket", socket], stderr=subprocess.DEVNULL,
                                  env=dict(COMMON, SEXTANT_STATE_DIR=f"{work.name}/state"))
        while not os.path.exists(socket):
            time.sleep(0.01)
        read, write = os.pipe()
        program = subprocess.Popen([f"{folder}/sextant-track", "--json", "--no-pause"], stdout=write, stderr=subprocess.DEVNULL,
                                   env=dict(COMMON, SEXTANT_SERVICE=socket))
        os.close(write)

        def close():
            for process in program, daemon:
                process.terminate()
                process.wait()
            os.close(read)
            work.cleanup()
        return program, daemon, read, close
    return start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=100)
    options = parser.parse_args()
    print("| Receiver | Program | Median | 95 % | By the process between | Wake-ups for an epoch |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        client = latency.compiled("client", folder)
        for kind, make in (("UBX", latency.ubx_epoch), ("NMEA", latency.nmea_epoch)):
            starts = {"alone": start_alone(options.folder), "served": start_served(options.folder)}
            starts |= {name: latency.start_into_pipe(latency.compiled(name, folder)) for name in ("baseline", "relay")}
            rounds = {name: [] for name in starts}
            for _ in range(3):
                for name, start in starts.items():
                    rounds[name].append(latency.measure(name, start, client, make, options.epochs, MARK))
            results = {name: latency.together(name, ones) for name, ones in rounds.items()}
            for name, found in results.items():
                median = found["latencyMedianMicroseconds"]
                shorter = results[SHORTER.get(name, name)]["latencyMedianMicroseconds"]
                print(f"| {kind} | {name} | {median:.0f} µs | {found['latency95Microseconds']:.0f} µs | {median - shorter:.0f} µs "
                      f"| {found['wakeupsPerEpoch']:.1f} |")


main()
