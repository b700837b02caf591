#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every simulated model at every usual rate, through a pseudo-terminal and the real commands. Not part of CI.

usage: models.py FOLDER [MODEL...] [--jobs N]      FOLDER holds sextant

On each receiver it runs `probe --json`, `watch --json --count 2` and `configure show`, compares what they report with the
model, and prints how long each took.
"""
import concurrent.futures
import json
import sys
import tempfile
import time

import harness
from harness import Failure, Simulator, environment, expect, expect_equal, program

MODELS = {
    "m6": (None, "7.03", "M6", None), "m8": (None, "SPG 3.01", "M8", "18.00"), "m8-batching": (None, None, "M8", "23.01"),
    "m9": ("NEO-M9N", "SPG 4.04", "M9", "32.01"), "m10": ("SAM-M10Q", "SPG 5.10", "M10", "34.10"),
    "f9p": ("ZED-F9P", None, "F9", None), "f10": ("NEO-F10N", "SPG 6.00", "F10", "40.00"),
    "x20": ("ZED-X20P", "HPG 2.00", "X20", "50.01"), "clone": (None, None, "M8", None),
}
RATES = (9600, 38400, 115200, 230400, 460800)


def check(folder, model, rate):
    """The seconds that the three commands took."""
    times = []
    with Simulator(folder, model, "--baud", str(rate)) as receiver:
        def run(command, *words):
            begin = time.monotonic()
            done = harness.run(program(), command, "--device", receiver.link, *words, env=environment(folder))
            times.append(time.monotonic() - begin)
            return done

        found = json.loads(run("probe", "--json").output)
        for key, wanted in zip(("model", "firmware", "generation", "protocolVersion", "baud"), (*MODELS[model], rate)):
            if wanted is not None:
                expect_equal(found.get(key), wanted, key)
        run("watch", "--json", "--count", "2")
        lines = run("configure", "show").lines
        expect(len(lines) >= 5, f"configure show prints {lines}")
    return times


def main():
    options = harness.arguments(__doc__, jobs=4)
    failed = 0
    print(f"{'model':12} {'baud':>6} {'probe':>6} {'watch':>6} {'configure':>9}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {(model, rate): pool.submit(check, f"{folder}/{model}-{rate}", model, rate)
                for model in options.checks or MODELS for rate in RATES}
        for (model, rate), job in jobs.items():
            try:
                probing, watching, showing = job.result()
                print(f"{model:12} {rate:6} {probing:5.1f}s {watching:5.1f}s {showing:8.1f}s", flush=True)
            except Failure as failure:
                failed += 1
                print(f"FAILED {model:12} {rate:6} {failure}", flush=True)
    if failed:
        sys.exit(f"{failed} of {len(jobs)} failed")


if __name__ == "__main__":
    main()
