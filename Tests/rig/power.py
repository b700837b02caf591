#!/usr/bin/env python3
"""`sextant power` on simulated receivers: a state is asked for, seen at the receiver itself, and logged.

usage: power.py FOLDER [--speed X]      FOLDER holds sextant

What the command says is compared with what the simulator says of the receiver (`status` on its standard input). The
receiver's time runs X times as fast as the command's. Says ok, or what is wrong.
"""
import argparse, concurrent.futures, os, re, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--speed", type=float, default=1)
arguments = parser.parse_args()
SEXTANT = os.path.join(os.path.abspath(arguments.folder), "sextant")
LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+\.\d{3} (.+)$")


class Wrong(Exception):
    pass


class Receiver:
    """`sextant simulate`, asked for its state, and the command on it."""

    def __init__(self, model, folder):
        self.model, self.link = model, os.path.join(folder, "receiver")
        self.log = os.path.join(folder, "states.txt")
        command = [SEXTANT, "simulate", "--model", model, "--link", self.link, "--speed", str(arguments.speed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def close(self):
        self.process.kill()
        self.process.wait()

    def state(self):
        """Its power state, and the charge so far in mAh."""
        self.process.stdin.write("status\n")
        self.process.stdin.flush()
        first = self.process.stdout.readline()
        self.process.stdout.readline()
        found = re.match(r".*: ([^,]+), .* ([\d.e-]+) mAh", first)
        if not found:
            raise Wrong(f"{self.model}: no status: {first}")
        return found[1], float(found[2])

    def command(self, *words):
        return subprocess.Popen([SEXTANT, "power", "--device", self.link, "--log", self.log, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def power(self, *words, code=0):
        """Runs to the end; the states that were told."""
        command = self.command(*words)
        out, err = command.communicate(timeout=90)
        if command.returncode != code:
            raise Wrong(f"{self.model}: power {' '.join(words)} ended with {command.returncode}, not {code}: {out}{err}")
        return [found[1] for found in map(LINE.match, out.splitlines()) if found], out, err

    def expect(self, wanted, within=10):
        end = time.monotonic() + within
        while (found := self.state()[0]) not in wanted:
            if time.monotonic() > end:
                raise Wrong(f"{self.model}: {found}, not {' or '.join(wanted)}")
            time.sleep(0.1)

    def expect_logged(self, wanted, within):
        end = time.monotonic() + within
        while wanted not in self.logged():
            if time.monotonic() > end:
                raise Wrong(f"{self.model}: {wanted} is not logged, but {self.logged()}")
            time.sleep(0.1)

    def logged(self):
        """The states in the log."""
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return [found[1] for found in map(LINE.match, file) if found]


def check(isRight, text):
    if not isRight:
        raise Wrong(text)


ASLEEP, AWAKE, CYCLIC = ("backup", "standby"), ("acquisition", "tracking"), ("optimisedTracking",)


def sleeps(model, folder):
    receiver = Receiver(model, folder)
    try:
        time.sleep(3)
        _, out, _ = receiver.power("status")
        check("backup" in out.split("can")[1].splitlines()[0], f"{model}: {out}")
        # For a time: it sleeps, draws nothing to speak of, and is awake by itself.
        command = receiver.command("sleep", "8")
        receiver.expect(ASLEEP, within=30)
        before = receiver.state()[1]
        time.sleep(3)
        state, after = receiver.state()
        check(state in ASLEEP, f"{model}: {state} in its sleep")
        check(after - before < 0.002, f"{model}: {after - before} mAh in 3 s of sleep")
        out, err = command.communicate(timeout=60)
        states = [found[1] for found in map(LINE.match, out.splitlines()) if found]
        check(command.returncode == 0 and states[:1] == ["asleep for 8 s"] and len(states) == 2
              and states[1].startswith("awake "), f"{model}: {states} {err}")
        receiver.expect(AWAKE)
        # Until it is woken: it is left asleep, and woken by the next command.
        check(receiver.power("sleep", "0")[0] == ["asleep until it is woken"], f"{model}: sleep 0")
        time.sleep(2)
        receiver.expect(ASLEEP, within=0)
        states = receiver.power("wake")[0]
        check(states[-1:] == ["awake"], f"{model}: {states}")
        receiver.expect(AWAKE)
        log = receiver.logged()
        check(log == ["asleep for 8 s", log[1], "asleep until it is woken", "awake"], f"{model}: log {log}")
        # The question of its state wakes it, which is said.
        _, out, _ = receiver.power("status")
        check("state             awake\n" in out, f"{model}: {out}")
        receiver.power("sleep", "0")
        _, out, _ = receiver.power("status")
        check("it had slept" in out, f"{model}: {out}")
        return f"{model}: asleep for a time, and until woken; {len(log)} states logged"
    finally:
        receiver.close()


def cyclic(model, folder):
    receiver = Receiver(model, folder)
    try:
        time.sleep(45)  # It has its fix and its orbits.
        command = receiver.command("mode", "cyclic:1")
        receiver.expect_logged("cyclic tracking every 1 s", within=30)
        receiver.expect(CYCLIC, within=60)
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=30)
        check(command.returncode == 0, f"{model}: {command.returncode} {out}{err}")
        receiver.expect(AWAKE)
        return f"{model}: cyclic tracking, and back at ^C"
    finally:
        receiver.close()


def refuses(model, folder):
    receiver = Receiver(model, folder)
    try:
        time.sleep(3)
        _, out, err = receiver.power("mode", "cyclic:1", code=69)
        check("no such mode" in err.splitlines()[-1] and err.count("no such mode") == 1, f"{model}: {err}")
        return f"{model}: has no cyclic tracking, and it is said"
    finally:
        receiver.close()


def stranger(model, folder):
    receiver = Receiver(model, folder)
    try:
        _, out, err = receiver.power("sleep", "5", code=69)
        check("no u-blox receiver" in err, f"{model}: {err}")
        return f"{model}: takes no orders, and it is said"
    finally:
        receiver.close()


def switched(model, folder):
    """The supply's switch, as a file; no receiver is opened."""
    path, log = os.path.join(folder, "state"), os.path.join(folder, "states.txt")
    open(path, "w").close()
    command = [SEXTANT, "power", "--supply", f"file:{path}=enabled/disabled", "--log", log, "off", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    check(LINE.match(process.stdout.readline().rstrip("\n"))[1] == "off until it is switched on", "power off 0")
    check(open(path).read() == "disabled\n", "the switch is not off")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=10)
    check(process.returncode == 0 and open(path).read() == "enabled\n", "the switch is not on again")
    check(len(open(log).readlines()) == 2, "not all is logged")
    return "a supply: off until ^C, then on"


def run(scene, model):
    with tempfile.TemporaryDirectory() as folder:
        return scene(model, folder)


SCENES = [(sleeps, "m8"), (sleeps, "m10"), (sleeps, "f9p"), (cyclic, "m10"), (refuses, "f9p"), (stranger, "nmea"), (switched, None)]
with concurrent.futures.ThreadPoolExecutor() as pool:
    try:
        for job in [pool.submit(run, *scene) for scene in SCENES]:
            print(job.result(), flush=True)
    except Wrong as wrong:
        sys.exit(f"power.py: {wrong}")
print("ok")
