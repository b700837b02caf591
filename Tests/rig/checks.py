"""Checks that run side by side, each in a folder of its own."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile


class Wrong(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Wrong(text)


def run(checks):
    """Runs those that the command line names behind its first word, or all; prints what is wrong, and fails then."""
    chosen = [check for check in checks if check.__name__ in sys.argv[2:] or not sys.argv[2:]]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(chosen)) as pool:
        jobs = []
        for check in chosen:
            os.mkdir(f"{folder}/{check.__name__}")
            jobs.append((check, pool.submit(check, f"{folder}/{check.__name__}")))
        for check, job in jobs:
            try:
                job.result()
                print(f"{check.__name__.replace('_', ' ')}: ok", flush=True)
            except (Wrong, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{check.__name__.replace('_', ' ')}: {error}", flush=True)
    if failed:
        sys.exit(f"{failed} of {len(chosen)} are wrong")
