#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency of a delegate's first line against that of `sextant watch`, in one run.

usage: compare_delegate.py FOLDER [--epochs N] [--limit RATIO]

FOLDER holds the programs `sextant` and `sextant-track`. Both read a pseudo-terminal that is fed as a 115200 baud line is
(compare_latency.py): from the write of an epoch's last byte to the epoch's line at the client, which is the epoch's last
TPV or SKY for `watch`, and the call of the delegate for `track`. The two take turns three times, and the
median of all epochs of each counts. Ends with 1 when the delegate needs more than RATIO times as long.
"""
import argparse
import os
import sys
import tempfile

import compare_latency as latency


def start_track(binary):
    return latency.start_into_pipe(
        binary, "--json", "--no-pause", "--device",
        environment=dict(os.environ, SEXTANT_STATE_DIR="", SEXTANT_APP_STATE="foreground"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--limit", type=float)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare(arguments, latency.compiled("client", folder))


def compare(arguments, client):
    worst = 0
    for kind, make in (("UBX", latency.ubx_epoch), ("NMEA", latency.nmea_epoch)):
        rounds = {"watch": [], "track": []}
        for _ in range(3):
            for name, start, marks in (
                    ("watch", latency.start_into_pipe(f"{arguments.folder}/sextant", "watch", "--json", "--device"), latency.REPORTS),
                    ("track", start_track(f"{arguments.folder}/sextant-track"), (b'"event":"didUpdateLocations"',))):
                rounds[name].append(latency.measure(name, start, client, make, arguments.epochs, marks))
        median = {name: latency.together(name, ones)["latencyMedianMicroseconds"] for name, ones in rounds.items()}
        ratio = median["track"] / median["watch"]
        worst = max(worst, ratio)
        print(f"{kind}: watch {median['watch']:.0f} us, delegate {median['track']:.0f} us, ratio {ratio:.2f}")
    if arguments.limit and worst > arguments.limit:
        sys.exit(f"the delegate is called {worst:.2f} times as late as watch prints; {arguments.limit} is allowed")


main()
