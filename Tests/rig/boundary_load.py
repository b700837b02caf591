#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two hostile users who try to exhaust the service at once, beside a user whose program gets locations.

usage: boundary_load.py FOLDER [CHECK...] [--seconds S] [--times 1], as root; FOLDER has sextant and sextantd

Each hostile user has processes that connect without end, connect and read nothing, ask for the status, list programs, open
programs with names of their own, send messages that end their connection, and hold idle and watching clients of gpsd. The
measured figures are printed: the delay of the other user's locations beside that of the same program alone, the time of
`GetStatus`, the daemon's memory and processor time, its log, and its files. With `--times 1` late locations and replies are failures
too: a machine that has other work makes them late.

The daemon has the priority of its unit, and like a unit and the sessions of users it is scheduled in a group of its own (sched(7),
autogroups). The simulated receiver, which stands for hardware, and the programs that measure have a higher priority. The time for
which the daemon waited for a processor is printed too: no program can do anything about it.
"""
RIG = {"programs": ["sextant", "sextantd"], "needs": ["root"], "seconds": 60}

import contextlib
# Before another user's process needs it: its file may be in a folder that the user cannot open.
import encodings.idna  # noqa: F401
import json
import os
import pathlib
import re
import resource
import signal
import socket
import sys
import threading
import time
import traceback

import harness
from harness import Program, Simulator, arguments, environment, expect, program, run_checks, wait_until

HOSTILE, VICTIM = (61001, 61002), 61003
LOCATION, CORE = "org.sextant.Location", "org.sextant.CoreLocation"
# The limits of docs/guides/service.md.
LATER_MILLISECONDS, STATUS_MILLISECONDS, MEMORY_KIB = 50, 100, 64 * 1024
KEYS = {"temporaryPurposes": {}, "startsReduced": False, "hasLocationMode": True, "requiresExplicitSession": False,
        "alwaysAndWhenInUse": "x" * 1000, "whenInUse": "x" * 1000}
PORT = 2951
UNIT = pathlib.Path(__file__).resolve().parents[2] / "hw-rules/sextantd.service"
DAEMON_NICE = int(re.search(r"^Nice=(-?\d+)$", UNIT.read_text(), re.M)[1])
MEASURING_NICE = DAEMON_NICE - 1


class Connection:
    """A connection that speaks Varlink."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        # It waits for its place in the queue of those who connect.
        self.socket.connect(path)
        self.socket.settimeout(harness.LIMIT)
        self.rest = b""

    def send(self, method, upgrade=False, more=False, **parameters):
        message = {"method": method, "parameters": parameters, "more": more, "upgrade": upgrade}
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        while b"\0" not in self.rest:
            data = self.socket.recv(1 << 16)
            if not data:
                return None
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)


# MARK: Hostile processes

def attempt(body):
    """Runs a step of an attack; what the service refuses is its right."""
    with contextlib.suppress(OSError, ValueError):
        body()


def unread(path, held):
    """Connections that ask for the status without end and read nothing."""
    def step():
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(0.2)
        client.connect(path)
        held.append(client)
        call = json.dumps({"method": f"{LOCATION}.GetStatus"}).encode() + b"\0"
        for _ in range(40):
            client.sendall(call * 40)
    attempt(step)
    if len(held) > 200:
        held.pop(0).close()


def churn(path, held):
    def step():
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(0.2)
        client.connect(path)
        client.sendall(b"not a message\0" + b"\xff" * 100)
    attempt(step)


def ask(path, held):
    """Calls that read state of the disk and of all programs, as fast as their replies come."""
    def step():
        client = Connection(path)
        client.socket.settimeout(1)
        for _ in range(200):
            for method in f"{LOCATION}.GetStatus", "org.sextant.Authorization.List":
                client.send(method)
                client.receive()
    attempt(step)


def open_programs(path, held):
    """Programs with names of their own, as many objects as they get, and what would be stored of them."""
    def step():
        client = Connection(path)
        client.socket.settimeout(1)
        name = f"hostile-{os.getpid()}-{time.monotonic_ns()}"
        client.send(f"{CORE}.Open", upgrade=True, version=2, identifier=name, application=0, showsPrompts=False, keys=KEYS)
        client.receive()
        actions = [{"addManager": {"_0": n}} for n in range(1, 200)]
        actions += [{"call": {"manager": 1, "_1": {"setDelegate": {"_0": 3}}}}, {"call": {"manager": 1, "_1": {"requestAlways": {}}}},
                    {"call": {"manager": 1, "_1": {"startVisits": {}}}}, {"openMonitor": {"_0": "m" * 200}}]
        actions += [{"addCondition": {"_0": {"circle": {"_0": {"centre": {"latitudeDegrees": 48.0, "longitudeDegrees": 11.0},
                                                               "radiusMetres": 100.0}}}, "identifier": f"{n}" + "i" * 900,
                                      "assuming": 0, "monitor": "m" * 200}} for n in range(100)]
        actions += [{"refreshHostCapabilities": {}}] * 200
        held.append(client)
        for number, action in enumerate(actions, 1):
            client.socket.sendall(json.dumps({"number": number, "action": action}).encode() + b"\0")
    attempt(step)
    if len(held) > 60:
        held.pop(0).socket.close()


def long_names(path, held):
    def step():
        client = Connection(path)
        client.socket.settimeout(1)
        client.send(f"{CORE}.Open", upgrade=True, version=2, identifier="n" * 60_000, application=0, showsPrompts=False, keys=KEYS)
        client.receive()
        client.socket.sendall(b"{\"number\":\"x\"}\0")
        client.receive()
    attempt(step)


def gpsd_clients(path, held):
    """Idle clients of gpsd's port, and some that watch and do not read, or ask without end."""
    def step():
        client = socket.create_connection(("127.0.0.1", PORT), 0.2)
        held.append(client)
        if len(held) % 3 == 1:
            client.sendall(b'?WATCH={"enable":true,"json":true,"nmea":true};')
        elif len(held) % 3 == 2:
            client.sendall(b"?POLL;?DEVICES;" * 400)
    attempt(step)
    if len(held) > 600:
        held.pop(0).close()
    time.sleep(0.001)


ATTACKS = [unread, churn, ask, open_programs, long_names, gpsd_clients]


def schedule(nice):
    """Gives the process a session, and so a group of the scheduler, of its own, and both this priority."""
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    with contextlib.suppress(OSError):
        os.setsid()
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text(str(nice))


def forked(user, body):
    """A process of another user that runs a function. The rig's interpreter may be in a folder that the user cannot open."""
    process = os.fork()
    if process != 0:
        return process
    # Nothing of the rig runs in it.
    try:
        if user in HOSTILE:
            schedule(0)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
        body()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def end(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)


def attack(path, number):
    """One attack until the process is ended."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    held = []
    while True:
        ATTACKS[number](path, held)


class Attackers:
    """All attacks by both users at once."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.processes = [forked(user, lambda number=number: attack(self.path, number))
                          for user in HOSTILE for number in range(len(ATTACKS))]
        return self

    def ended(self):
        return [process for process in self.processes if os.waitpid(process, os.WNOHANG)[0] != 0]

    def __exit__(self, *_):
        for process in self.processes:
            end(process)


# MARK: The other user

def subscribe(path, output):
    """Writes each message of a subscription with the time of its arrival, a line each."""
    client = Connection(path)
    client.send(f"{LOCATION}.Subscribe", more=True, desiredAccuracy=-2)
    while (message := client.receive()) is not None:
        os.write(output, json.dumps({"received": time.time(), "message": message}).encode() + b"\n")
        if "error" in message:
            return


class Subscriber:
    """The other user's program: the time of each location, and the time of its arrival."""

    def __init__(self, path):
        own, other = os.pipe()
        self.process = forked(VICTIM, lambda: subscribe(path, other))
        os.close(other)
        self.lines = []
        self.thread = threading.Thread(target=self.read, args=(own,), daemon=True)
        self.thread.start()

    def read(self, descriptor):
        with os.fdopen(descriptor) as lines:
            for line in lines:
                self.lines.append(json.loads(line))

    def delays(self, since):
        """The delays of the locations after a line, milliseconds, and the gaps between the times of locations, seconds."""
        found = [(line["received"], harness.seconds_of(line["message"]["parameters"]["location"]["timestamp"]))
                 for line in self.lines[since:] if "location" in line["message"].get("parameters", {})]
        times = [at for _, at in found]
        return [(received - at) * 1000 for received, at in found], [b - a for a, b in zip(times, times[1:])]

    def end(self):
        end(self.process)


def memory(process):
    return int(re.search(r"^VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.M)[1])


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def permit_victim(path):
    """Root answers the question of the other user's program."""
    asking = Subscriber(path)
    asking.thread.join(harness.LIMIT)
    asking.end()
    root = Connection(path)
    root.send("org.sextant.Authorization.List", user=VICTIM)
    questions = root.receive()["parameters"]["questions"]
    expect(questions, "the other user's program is not among the questions")
    root.send("org.sextant.Authorization.Answer", id=questions[0]["id"], answer="always")
    reply = root.receive()
    expect("error" not in reply, f"the answer of root: {reply}")


def load(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    path = f"{folder}/location"
    os.chmod(folder, 0o755)
    schedule(MEASURING_NICE)
    with Simulator(folder) as receiver:
        harness.run(program(), "configure", "set", "baud=115200", "rate=5Hz", "--device", receiver.link,
                    env=environment(folder, SEXTANT_SERVICE="none", SEXTANT_STATE_DIR=f"{folder}/configure"))
        with Program(program("sextantd"), "--device", receiver.link, "--socket", path, "--gpsd", f"127.0.0.1:{PORT}",
                     env=environment(folder, SEXTANT_STATE_DIR=f"{folder}/state"),
                     prepare=lambda: schedule(DAEMON_NICE)) as daemon:
            wait_until(lambda: os.path.exists(path), "the daemon has no socket")
            permit_victim(path)
            victim = Subscriber(path)
            wait_until(lambda: len(victim.delays(0)[1]) > 20 and max(victim.delays(len(victim.lines) - 10)[1]) < 0.3,
                       "the other user's program gets no locations at 5 Hz")
            alone_from = len(victim.lines)
            wait_until(lambda: len(victim.lines) >= alone_from + 5 * options.seconds, "the locations alone")
            alone, _ = victim.delays(alone_from)
            files = sum(len(names) for _, _, names in os.walk(f"{folder}/state/users"))
            statuses, peak, used = [], 0, processor_seconds(daemon.process.pid)
            waited = harness.waiting_seconds(daemon.process.pid)
            with Attackers(path) as attackers:
                began = time.monotonic()
                under_from = len(victim.lines)
                while time.monotonic() < began + options.seconds:
                    at = time.monotonic()
                    root = Connection(path)
                    root.send(f"{LOCATION}.GetStatus")
                    expect(root.receive() is not None, "root's connection is closed")
                    root.socket.close()
                    statuses.append((time.monotonic() - at) * 1000)
                    peak = max(peak, memory(daemon.process.pid))
                    time.sleep(0.1)
                used = (processor_seconds(daemon.process.pid) - used) / (time.monotonic() - began)
                waited = harness.waiting_seconds(daemon.process.pid) - waited
                gone = attackers.ended()
                under, gaps = victim.delays(under_from)
            expect(daemon.process.poll() is None, "the daemon has ended")
            expect(not gone, f"{len(gone)} attackers have ended by themselves")
            more = sum(len(names) for _, _, names in os.walk(f"{folder}/state/users")) - files
            log = len(daemon.errors)
            later = max(under) - sorted(alone)[len(alone) // 2]
            expected = 5 * options.seconds
            figures = (f"{len(under)} of about {expected} locations, the latest {later:.0f} ms after the median alone ("
                       f"alone up to {max(alone) - sorted(alone)[len(alone) // 2]:.0f} ms); status {max(statuses):.0f} ms at most in "
                       f"{len(statuses)} calls (median {sorted(statuses)[len(statuses) // 2]:.0f} ms); {peak} KiB; {more} files; "
                       f"{log} bytes of output; {100 * used:.0f} % of a processor, for which it waited {waited:.1f} s; load average {os.getloadavg()[0]:.0f}")
            victim.end()
            print(figures, file=sys.stderr)
            expect(gaps and max(gaps) < 0.3, f"a location is missing: {figures}")
            expect(more == 0, f"files of programs without permission: {figures}")
            expect(log < 64 * 1024, f"the log is long: {figures}")
            expect(peak < MEMORY_KIB, f"the memory is above {MEMORY_KIB} KiB: {figures}")
            if options.times:
                expect(later <= LATER_MILLISECONDS, f"the locations are late: {figures}")
                expect(max(statuses) <= STATUS_MILLISECONDS, f"the status is late: {figures}")
            return figures


def idle_clients(folder):
    """Clients of gpsd that watch nothing do not shut out one that does, and root's client has a place."""
    if os.getuid() != 0:
        return "skipped: not root"
    with Simulator(folder) as receiver, \
            Program(program("sextantd"), "--device", receiver.link, "--socket", f"{folder}/location", "--gpsd", f"127.0.0.1:{PORT + 1}",
                    env=environment(folder, SEXTANT_STATE_DIR=f"{folder}/state")):
        wait_until(lambda: os.path.exists(f"{folder}/location"), "the daemon has no socket")
        own, other = os.pipe()

        def hold():
            held = []
            for _ in range(600):
                with contextlib.suppress(OSError):
                    held.append(socket.create_connection(("127.0.0.1", PORT + 1), 0.2))
            os.write(other, b"held")
            signal.pause()

        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        hostile = forked(HOSTILE[0], hold)
        os.close(other)
        try:
            os.read(own, 4)
            with socket.create_connection(("127.0.0.1", PORT + 1), harness.LIMIT) as client:
                client.settimeout(harness.LIMIT)
                expect(b"VERSION" in client.recv(4096), "root's client of gpsd has no place")
        finally:
            end(hostile)
            os.close(own)
    return "one more client beside 600 of another user"


if __name__ == "__main__":
    options = arguments(__doc__, seconds=15, times=0)
    run_checks([load, idle_clients], options.checks)
