#!/usr/bin/env python3
"""Every simulated receiver at every usual rate, through a real pseudo-terminal and the real commands.

usage: models.py SEXTANT [--jobs N]

For each model and rate it starts `sextant simulate`, then `probe --json`, `watch --json --count 2` and `configure show`
on it, and prints who was found and how long each took. It fails when one is not found in ten seconds, is not the
right one, or gives no fix.
"""
import argparse, concurrent.futures, json, os, subprocess, sys, tempfile, time

MODELS = {
    "m6": (None, "7.03", "M6", None), "m8": (None, "SPG 3.01", "M8", "18.00"), "m8-batching": (None, None, "M8", "23.01"),
    "m9": ("NEO-M9N", "SPG 4.04", "M9", "32.01"), "m10": ("SAM-M10Q", "SPG 5.10", "M10", "34.10"),
    "f9p": ("ZED-F9P", None, "F9", None), "f10": ("NEO-F10N", "SPG 6.00", "F10", "40.00"),
    "x20": ("ZED-X20P", "HPG 2.00", "X20", "50.01"), "clone": (None, None, "M8", None),
}
RATES = (9600, 38400, 115200, 230400, 460800)


def run(command, limit):
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(command, -1, "", f"not over after {limit} s")
    return done, time.monotonic() - begin


def one(sextant, folder, model, rate):
    link = os.path.join(folder, f"{model}-{rate}")
    simulator = subprocess.Popen([sextant, "simulate", "--model", model, "--baud", str(rate), "--link", link],
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        while not os.path.islink(link):
            time.sleep(0.05)
        faults = []
        done, probing = run([sextant, "probe", "--device", link, "--json"], 30)
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        name, firmware, generation, version = MODELS[model]
        for key, wanted in (("model", name), ("firmware", firmware), ("generation", generation),
                            ("protocolVersion", version), ("baud", rate)):
            if wanted is not None and found.get(key) != wanted:
                faults.append(f"{key} is {found.get(key)!r}, not {wanted!r}")
        if probing > 10:
            faults.append("probe took longer than 10 s")
        done, watching = run([sextant, "watch", "--device", link, "--json", "--count", "2", "--seconds", "60"], 80)
        if done.returncode != 0:
            faults.append(f"watch ended with {done.returncode}: {done.stderr.strip()}")
        done, showing = run([sextant, "configure", "--device", link, "show"], 120)
        lines = len(done.stdout.splitlines())
        if done.returncode != 0 or lines < 5:
            faults.append(f"configure show ended with {done.returncode} and {lines} lines: {done.stderr.strip()}")
        return model, rate, found, probing, watching, showing, faults
    finally:
        simulator.terminate()
        simulator.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sextant")
    parser.add_argument("--jobs", type=int, default=4)
    arguments = parser.parse_args()
    failed = 0
    print(f"{'model':12} {'baud':>6} {'found':28} {'probe':>6} {'watch':>6} {'configure':>9}")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(one, arguments.sextant, folder, model, rate) for model in MODELS for rate in RATES]
        for job in jobs:
            model, rate, found, probing, watching, showing, faults = job.result()
            who = f"{found.get('model') or found.get('generation')} {found.get('firmware')}"
            print(f"{model:12} {rate:6} {who:28} {probing:5.1f}s {watching:5.1f}s {showing:8.1f}s  {'; '.join(faults)}")
            failed += bool(faults)
    if failed:
        sys.exit(f"{failed} of {len(jobs)} failed")


main()
