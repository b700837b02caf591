#!/usr/bin/env python3
"""Fixes kept in a simulated receiver, through a pseudo-terminal and the real commands.

usage: batch.py FOLDER [--kills N] [--seed S] [--speed X]      FOLDER holds sextant

For an M10 and a batching M8: a batch of a minute, in which the line has to be silent to the last byte; then all fixes,
oldest first, none lost and none twice. The same again with readers that are killed (SIGKILL) N times at random moments.
The receiver's time runs X times as fast; the line's rate with it. Says ok, or what is wrong.
"""
import argparse, concurrent.futures, datetime, json, os, random, re, select, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--kills", type=int, default=20)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--speed", type=float, default=8)
arguments = parser.parse_args()
SEXTANT = os.path.join(os.path.abspath(arguments.folder), "sextant")
RATE = 9600


class Wrong(Exception):
    pass


def fail(text):
    raise Wrong(text)


def times(path):
    """The fixes' times, seconds. A line that is not whole is an error unless its reader was killed in it."""
    with open(path) as file:
        lines = file.read().split("\n")
    if lines.pop() != "":
        fail("the output ends in the middle of a line")
    fixes = [json.loads(line) for line in lines]
    for fix in fixes:
        if fix["class"] != "TPV" or "lat" not in fix:
            fail(f"no fix: {fix}")
    return [datetime.datetime.fromisoformat(fix["time"].replace("Z", "+00:00")).timestamp() for fix in fixes]


def order(found, lost):
    """None twice, oldest first, and as many left out as were told."""
    steps = [round(b - a, 3) for a, b in zip(found, found[1:])]
    if any(step <= 0 for step in steps):
        fail(f"out of order or twice: {[step for step in steps if step <= 0]}")
    missing = sum(round(step) - 1 for step in steps)
    if missing != lost:
        fail(f"{missing} missing, {lost} told")
    return missing


def told(text):
    """The number of lost fixes that was told."""
    return sum(int(number) for number in re.findall(r"(\d+) fix(?:es)? lost", text))


class Receiver:
    """`sextant simulate`, and the commands on it."""

    def __init__(self, model, folder):
        self.model, self.folder, self.link = model, folder, os.path.join(folder, "receiver")
        self.environment = dict(os.environ, SEXTANT_STATE_DIR=os.path.join(folder, "state"))
        command = [SEXTANT, "simulate", "--model", model, "--baud", str(RATE), "--link", self.link,
                   "--speed", str(arguments.speed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while not os.path.islink(self.link):
            time.sleep(0.02)

    def close(self):
        self.process.kill()
        self.process.wait()

    def batch(self, *words, **options):
        return subprocess.Popen([SEXTANT, "batch", "--device", self.link, *words], env=self.environment,
                                stderr=subprocess.PIPE, text=True, **options)

    def start(self, size):
        reader = self.batch("start", "--size", str(size), "--extended", stdout=subprocess.PIPE)
        out, err = reader.communicate(timeout=60)
        if reader.returncode != 0 or "batching" not in out:
            fail(f"start: {reader.returncode} {out}{err}")

    def bytes_in(self, seconds):
        """Bytes that come over the line when nobody asks."""
        line = os.open(self.link, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        count, end = 0, time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([line], [], [], left)[0]:
                count += len(os.read(line, 65536))
        os.close(line)
        return count

    def retrieve(self, output):
        """To the end; the lost fixes that were told."""
        reader = self.batch("retrieve", stdout=output)
        _, err = reader.communicate(timeout=120)
        if reader.returncode != 0:
            fail(f"retrieve: {reader.returncode} {err}")
        return told(err)

    def killed(self, output, after):
        """Begins a retrieval and kills its reader `after` seconds; the lost fixes that were told."""
        reader = self.batch("retrieve", stdout=output)
        try:
            _, err = reader.communicate(timeout=after)
            return told(err), True
        except subprocess.TimeoutExpired:
            reader.send_signal(signal.SIGKILL)
            _, err = reader.communicate()
            return told(err), False


def silent(model, folder):
    receiver = Receiver(model, folder)
    try:
        time.sleep(40 / arguments.speed)  # It finds its place.
        receiver.start(150)
        time.sleep(3 / arguments.speed)
        count = receiver.bytes_in(60 / arguments.speed)
        if count != 0:
            fail(f"{model}: {count} bytes on the line while it batches")
        path = os.path.join(folder, "fixes.json")
        with open(path, "ab") as output:
            lost = receiver.retrieve(output)
            first = len(times(path))
            lost += receiver.retrieve(output)
        found = times(path)
        if lost or order(found, 0) or first < 60:
            fail(f"{model}: {first} fixes of a minute, {lost} lost")
        return (f"{model}: a minute of silence, 0 bytes; then {first} fixes, {len(found) - first} at the next look")
    finally:
        receiver.close()


def kills(model, folder):
    chance = random.Random(arguments.seed)
    receiver = Receiver(model, folder)
    try:
        time.sleep(40 / arguments.speed)
        receiver.start(150)
        path = os.path.join(folder, "fixes.json")
        lost = killed = rounds = 0
        with open(path, "ab") as output:
            while killed < arguments.kills:
                rounds += 1
                if rounds > 20 * arguments.kills:
                    fail(f"{model}: retrievals are over before they can be killed")
                time.sleep(chance.uniform(0, 60) / arguments.speed)
                # Killed again and again, until one comes to its end.
                for _ in range(chance.randint(1, 4)):
                    more, isOver = receiver.killed(output, chance.uniform(0.02, 1.2))
                    lost += more
                    killed += not isOver
                    if isOver:
                        break
                lost += receiver.retrieve(output)
        found = times(path)
        missing = order(found, lost)
        # What a reader had taken from the kernel and not yet written to its log is lost, which takes a few microseconds; the
        # pseudo-terminal keeps what nobody reads.
        if missing > 2:
            fail(f"{model}: {missing} fixes lost by {killed} kills")
        return f"{model}: {killed} readers killed, {len(found)} fixes once and in order, {missing} lost and told"
    finally:
        receiver.close()


def run(scene, model):
    with tempfile.TemporaryDirectory() as folder:
        return scene(model, folder)


with concurrent.futures.ThreadPoolExecutor() as pool:
    jobs = [pool.submit(run, scene, model) for model in ("m10", "m8-batching") for scene in (silent, kills)]
    try:
        for job in jobs:
            print(job.result(), flush=True)
    except Wrong as wrong:
        sys.exit(f"batch.py: {wrong}")
print("ok")
