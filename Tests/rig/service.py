#!/usr/bin/env python3
"""The service lets a simulated receiver sleep: `sextant track` at `sextant simulate`, on pseudo-terminals.

usage: service.py FOLDER [SCENE...] [--seed S]      FOLDER holds sextant and sextant-track

  deferral   a minute of deferral in the background: the line is silent to the last byte, then every fix once, oldest first
  killed     the same with a reader that is killed while it reads, and another behind it
  stopped    a deferral that is stopped gets what the receiver holds, and the receiver is as it was found
  pause      a client that rests is paused, its receiver in backup and the host asleep; movement resumes it
  idle       a receiver that nobody asks sleeps, and is awake when the program has ended

Says ok, or what is wrong.
"""
import argparse, concurrent.futures, datetime, json, os, random, re, signal, subprocess, sys, tempfile, time

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("scenes", nargs="*")
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
SEXTANT = os.path.join(os.path.abspath(arguments.folder), "sextant")


class Wrong(Exception):
    pass


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Receiver:
    """`sextant simulate`, and commands to it."""

    def __init__(self, folder, model, scenario):
        self.link, self.folder = os.path.join(folder, "receiver"), folder
        path = os.path.join(folder, "scenario")
        with open(path, "w") as file:
            file.write(scenario)
        self.process = subprocess.Popen(
            [SEXTANT, "simulate", "--model", model, "--scenario", path, "--link", self.link],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def status(self):
        """Power state, charge in mAh, bytes sent so far."""
        self.process.stdin.write("status\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        self.process.stdout.readline()
        found = re.search(r": (\S+), .*?(\d+) baud.* ([\d.e-]+) mAh.* (\d+) bytes", line)
        if not found:
            raise Wrong(f"the simulator says {line!r}")
        return {"state": found[1], "rate": int(found[2]), "charge": float(found[3]), "bytes": int(found[4])}

    def close(self):
        self.process.kill()
        self.process.wait()


class Track:
    """`sextant track`, and what it has printed."""

    def __init__(self, receiver, *words, **environment):
        self.path = os.path.join(receiver.folder, f"events-{time.monotonic_ns()}")
        self.errors = self.path + ".err"
        settings = dict(os.environ, SEXTANT_STATE_DIR=os.path.join(receiver.folder, "state"), SEXTANT_APP_STATE="background")
        settings.update(environment)
        with open(self.path, "w") as output, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [SEXTANT + "-track", "--json", "--device", receiver.link, *words], env=settings, stdout=output,
                stderr=errors)

    def events(self, name=None):
        with open(self.path) as file:
            lines = file.read().split("\n")[:-1]
        events = [json.loads(line) for line in lines]
        return [event for event in events if name is None or event["event"] == name]

    def fixes(self):
        return [moment(fix["timestamp"]) for event in self.events("didUpdateLocations") for fix in event["locations"]]

    def await_event(self, name, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.events(name):
                return found[-1]
            time.sleep(0.1)
        raise Wrong(f"no {name} within {seconds} s; there is {[event['event'] for event in self.events()][-5:]}, {self.said()}")

    def said(self):
        with open(self.errors) as file:
            return file.read()

    def told_lost(self):
        return sum(int(number) for number in re.findall(r"(\d+) fix(?:es)? lost", self.said()))

    def switches(self):
        """How often its threads waited."""
        count = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/status") as file:
                count += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
        return count

    def end(self, code=0, seconds=15):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Wrong(f"it does not end: {self.said()}")
        if self.process.returncode != code:
            raise Wrong(f"it ended with {self.process.returncode}: {self.said()}")


def in_order(fixes, lost=0):
    steps = [round(b - a, 3) for a, b in zip(fixes, fixes[1:])]
    if any(step <= 0 for step in steps):
        raise Wrong(f"out of order or twice: {[step for step in steps if step <= 0]}")
    missing = sum(round(step) - 1 for step in steps)
    if missing > lost:
        gaps = [f"{step} s after the {index + 1}th" for index, step in enumerate(steps) if step > 1]
        raise Wrong(f"{missing} fixes are missing, {lost} are told: {', '.join(gaps)}")
    return missing


WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"


def deferral(folder, model):
    receiver = Receiver(folder, model, WALK)
    try:
        track = Track(receiver, "--defer-timeout", "60", "--seconds", "85")
        track.await_event("didUpdateLocations", 20)
        # A receiver without items is told one thing after the other.
        time.sleep(24)
        before = receiver.status()["bytes"]
        time.sleep(30)
        silent = receiver.status()["bytes"] - before
        if silent:
            raise Wrong(f"{silent} bytes on the line in 30 s of a deferral")
        end = track.await_event("didFinishDeferredUpdates", 25)
        if end["code"] is not None:
            raise Wrong(f"the deferral ended with {end['code']}")
        track.end(seconds=40)
        fixes = track.fixes()
        in_order(fixes)
        most = max(len(event["locations"]) for event in track.events("didUpdateLocations"))
        if most < 55 or len(fixes) < 70 or track.told_lost():
            raise Wrong(f"{len(fixes)} fixes, {most} of them at once; {track.said()}")
        return f"30 s of a deferral without a byte, then {most} fixes at once, {len(fixes)} in all, each once"
    finally:
        receiver.close()


def killed(folder, model):
    chance = random.Random(arguments.seed)
    receiver = Receiver(folder, model, WALK)
    try:
        track = Track(receiver, "--defer-timeout", "30")
        first = moment(track.await_event("didUpdateLocations", 20)["at"])
        # The reading takes some four seconds at 9600 baud.
        time.sleep(max(0, first + 30 + chance.uniform(0.1, 3) - time.time()))
        track.process.send_signal(signal.SIGKILL)
        track.process.wait()
        second = Track(receiver, "--seconds", "45")
        second.end(seconds=70)
        fixes = track.fixes() + second.fixes()
        # The cached fix comes first to the second, and is the only one that may come again.
        if len(fixes) > 1 and second.fixes() and second.fixes()[0] in track.fixes():
            fixes = track.fixes() + second.fixes()[1:]
        missing = in_order(fixes, lost=second.told_lost())
        if len(fixes) < 55:
            raise Wrong(f"{len(fixes)} fixes; {second.said()}")
        return f"killed while it read: {len(track.fixes())} and then {len(second.fixes())} fixes, each once, {missing} missing"
    finally:
        receiver.close()


def stopped(folder, model):
    receiver = Receiver(folder, model, WALK)
    try:
        found = receiver.status()
        track = Track(receiver, "--defer-timeout", "600", "--seconds", "35")
        track.end(seconds=70)
        fixes = track.fixes()
        in_order(fixes)
        if len(fixes) < 28 or track.events("didFinishDeferredUpdates")[-1]["code"] != 12:
            raise Wrong(f"{len(fixes)} fixes of 35 s; {track.said()}")
        before = receiver.status()
        time.sleep(3)
        after = receiver.status()
        if after["bytes"] == before["bytes"] or after["rate"] != found["rate"] or "tracking" not in after["state"].lower():
            raise Wrong(f"the receiver is not as it was found: {found}, {after}")
        return f"stopped in a deferral: {len(fixes)} fixes of 35 s, and the receiver as it was found"
    finally:
        receiver.close()


def pause(folder, model):
    receiver = Receiver(
        folder, model, "start 48.1642,11.6056 512m\nhot\nstay 70s\ndrive by 3000m,0m at 12m/s\nstay forever\n")
    try:
        began = time.time()
        track = Track(receiver, SEXTANT_PAUSE_SECONDS="20", SEXTANT_PAUSE_PROBE_SECONDS="6")
        track.await_event("didPauseLocationUpdates", 45)
        end, asleep, quiet = began + 68, [], []
        last = None
        while time.time() < end:
            state, switches = receiver.status()["state"], track.switches()
            asleep.append(state == "standby")
            if asleep[-1] and last is not None and last[0]:
                quiet.append(switches - last[1])
            last = (asleep[-1], switches)
            time.sleep(0.5)
        if sum(asleep) < len(asleep) * 0.4:
            raise Wrong(f"{model}: in backup in {sum(asleep)} of {len(asleep)} looks")
        # Falling asleep and waking take some; between them there is nothing.
        if sum(count == 0 for count in quiet) < len(quiet) * 0.6:
            raise Wrong(f"the host wakes while the receiver sleeps: {quiet}")
        resumed = moment(track.await_event("didResumeLocationUpdates", 40)["at"])
        late = resumed - (began + 70)
        if late > 30:
            raise Wrong(f"movement is noticed after {late:.0f} s")
        time.sleep(3)
        after = [time for time in track.fixes() if time >= resumed - 2]
        if len(after) < 2:
            raise Wrong("no fixes after movement")
        track.process.send_signal(signal.SIGINT)
        track.end()
        if receiver.status()["state"] == "standby":
            raise Wrong("the receiver sleeps after the program's end")
        return (f"paused: in backup in {sum(asleep)} of {len(asleep)} looks, host idle in {sum(c == 0 for c in quiet)} of "
                f"{len(quiet)}; resumed {late:.0f} s after the start")
    finally:
        receiver.close()


def idle(folder, model):
    receiver = Receiver(folder, model, WALK)
    try:
        track = Track(receiver, "--significant")
        track.await_event("didUpdateLocations", 20)
        # The orbits are received first.
        end = time.monotonic() + 70
        while receiver.status()["state"] != "standby":
            if time.monotonic() > end:
                raise Wrong(f"it does not sleep; {receiver.status()} {track.said()}")
            time.sleep(0.5)
        time.sleep(3)
        before, switches = receiver.status()["bytes"], track.switches()
        time.sleep(10)
        if receiver.status()["bytes"] != before or track.switches() != switches:
            raise Wrong(f"{receiver.status()['bytes'] - before} bytes, {track.switches() - switches} waits in ten seconds of sleep")
        track.process.send_signal(signal.SIGINT)
        track.end()
        time.sleep(2)
        if receiver.status()["bytes"] == before or receiver.status()["state"] == "standby":
            raise Wrong("the receiver is not awake after the end")
        return "significant changes: asleep, not a byte and not a wait of the host in ten seconds; awake at the end"
    finally:
        receiver.close()


SCENES = {"deferral": (deferral, ["m10", "m8-batching"]), "killed": (killed, ["m10", "m8-batching"]),
          "stopped": (stopped, ["m10"]), "pause": (pause, ["m10", "f9p"]), "idle": (idle, ["m10", "m8"])}


def run(name, scene, model):
    with tempfile.TemporaryDirectory() as folder:
        try:
            return f"{name} {model}: {scene(folder, model)}"
        except Wrong as wrong:
            raise Wrong(f"{name} {model}: {wrong}")


with concurrent.futures.ThreadPoolExecutor(max_workers=16) as pool:
    jobs = [pool.submit(run, name, SCENES[name][0], model) for name in arguments.scenes or SCENES for model in SCENES[name][1]]
    wrongs = 0
    for job in jobs:
        try:
            print(job.result(), flush=True)
        except Wrong as wrong:
            wrongs += 1
            print(f"service.py: {wrong}", file=sys.stderr, flush=True)
sys.exit(1) if wrongs else print("ok")
