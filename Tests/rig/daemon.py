#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextantd` serves many programs with one simulated receiver, and survives what they and the machine do to it.

usage: daemon.py FOLDER [CHECK...] [--kills N] [--connections N] [--seed S]
       FOLDER holds sextant, sextant-track and sextantd; as root other users and a full disk are played too

  programs    a deferral, a region watcher, standard updates and a subscriber at once: each has its events; the receiver is restored
  together    three programs and `watch` at one receiver get what each gets alone, and the receiver sleeps when all allow it
  kills       the daemon is killed at random instants: its programs are served again by themselves, no location comes twice
  clients     programs that are killed in each phase leave nothing behind
  stopped     a program that does not read: the others see nothing of it, its locations are joined
  connections many connections one after the other and at once, and no descriptor left
  hostile     messages that are cut, merged, oversized or wrong: answered or disconnected, the others are served
  objects     a program with too many managers keeps those that it has, and gets a line about the limit
  denied      a program without permission tries every call
  executes    a program that executes another one keeps no permission for it
  users       the permission of one user does not apply to another
  unplugged   the receiver is pulled out and comes back under many programs
  full        without space for its state the service goes on
  slow        a disk that takes seconds to store the newest location delays no program
  odometer    `feed odometer` reaches a dead reckoning receiver, whose sensor fusion is in the status; another receiver refuses it
  trust       jamming and spoofing that a receiver reports are in the status and in the log, and end; its settings are restored
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "packages": {"strace": "strace"}, "seconds": 107, "ci": True}

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

import harness
import phrases
from harness import LIMIT, Program, Simulator, environment, expect, expect_deferral, expect_equal, expect_in_order, \
    seconds_of, wait_until

NOBODY, ANOTHER = 65534, 65533
WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"
DRIVE = "start 48.1642,11.6056 512m\nhot\nstay 20s\ndrive by 4000m,0m at 25m/s\nstay forever\n"
# The element of a location that is its time in nanoseconds (Sources/Positioning/Values/Coding.swift).
TIMESTAMP = 10
LOCATION, CORE = "org.sextant.Location", "org.sextant.CoreLocation"
KEYS = {"temporaryPurposes": {}, "startsReduced": False, "hasLocationMode": True, "requiresExplicitSession": False,
        "alwaysAndWhenInUse": "a check", "whenInUse": "a check"}


class Daemon(Program):
    """sextantd at a simulated receiver; it is ready when it has told so, as to systemd (sd_notify(3))."""

    def __init__(self, folder, receiver, authorization="always", under=(), **variables):
        self.folder, self.socket = folder, f"{folder}/location"
        if authorization:
            variables["SEXTANT_AUTHORIZATION"] = authorization
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            address = f"{folder}/notify"
            with contextlib.suppress(FileNotFoundError):
                os.unlink(address)
            notify.bind(address)
            notify.settimeout(LIMIT)
            super().__init__(*under, harness.program("sextantd"), "--device", receiver.link, "--socket", self.socket,
                             env=environment(folder, NOTIFY_SOCKET=address, **variables))
            expect_equal(notify.recv(100), b"READY=1", "the daemon's first state")

    def track(self, *arguments, user=None, terminal=False, folder=None, **variables):
        """A program of module CoreLocation, served by the daemon."""
        return Program(harness.program("sextant-track"), "--json", *arguments, user=user, terminal=terminal,
                       env=environment(folder or self.folder, SEXTANT_SERVICE=self.socket, **variables))

    def client(self):
        return Client(self.socket)

    def status(self):
        with self.client() as client:
            return client.call(f"{LOCATION}.GetStatus")["parameters"]["status"]

    def programs(self):
        return self.status()["programs"]

    def descriptors(self):
        """The number of its open descriptors, without files, which it opens and closes by itself."""
        links = []
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink(f"/proc/{self.process.pid}/fd/{number}"))
        return sum(not link.startswith("/") or link.startswith("/dev/") for link in links)

    def memory(self):
        """The process's own memory in kB: proc(5), smaps_rollup."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", file.read(), re.M))

    def wait_for_settings(self, program):
        """Waits until the receiver has its settings: an epoch can be lost while its messages are changed. Returns how many
        locations the program got until then."""
        wait_until(lambda: self.status()["receivers"][0]["state"] == "awake", "the receiver does not get its settings")
        # The first one may be an earlier location.
        program.event_mark = len(program.events)
        for _ in range(2):
            program.wait_for_event("didUpdateLocations")
        return len(times(program)) - 1

    def expect_alone(self, count):
        """Waits until it serves this many programs: the end of a connection is not announced."""
        wait_until(lambda: len(self.programs()) == count, lambda: f"{count} programs are left, it has {self.programs()}")


class Client:
    """A connection that speaks Varlink."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # A connection waits for its place among those that are not accepted yet.
        self.socket.connect(path)
        self.socket.settimeout(LIMIT)
        self.rest = b""
        self.numbers = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        """The next message; None at the end."""
        while b"\0" not in self.rest:
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, parameters=None, **flags):
        self.send({"method": method, "parameters": parameters or {}, **flags})
        return self.receive()

    def error(self, method, parameters=None, **flags):
        reply = self.call(method, parameters, **flags)
        return reply and reply.get("error")

    def subscribe(self):
        """The first location of a subscription."""
        return self.call(f"{LOCATION}.Subscribe", more=True)

    def location(self):
        """The next location of a subscription."""
        reply = self.receive()
        expect(reply and "location" in reply["parameters"], f"no location: {reply}")
        return reply["parameters"]["location"]

    def open(self, name="rig"):
        reply = self.call(f"{CORE}.Open", {
            "version": 1, "identifier": name, "application": 0, "showsPrompts": False, "keys": KEYS}, upgrade=True)
        expect("error" not in reply, f"Open is refused: {reply}")
        return reply

    def act(self, *actions):
        """Sends actions of a program, each with its number."""
        for action in actions:
            self.numbers += 1
            self.send({"number": self.numbers, "action": action})


def times(program):
    """The times of a program's locations. An epoch whose parts the machine separated comes again, more accurate."""
    found = program.locations()
    repeated = [a["timestamp"] == b["timestamp"] and a["horizontalAccuracy"] > b["horizontalAccuracy"]
                for a, b in zip(found, found[1:])]
    return [seconds_of(location["timestamp"]) for location, again in zip(found, [*repeated, False]) if not again]


def expect_increasing(times, subject):
    wrong = [times[max(0, index - 5):index + 6] for index in range(1, len(times)) if times[index] <= times[index - 1]]
    expect(not wrong, f"{subject}: locations come twice or out of order: {wrong}")


@contextlib.contextmanager
def served(folder, scenario=WALK, **variables):
    with Simulator(folder, scenario=scenario) as receiver, Daemon(folder, receiver, **variables) as daemon:
        yield receiver, daemon


# MARK: Many programs

def programs(folder):
    with Simulator(folder, scenario=DRIVE) as receiver:
        found = receiver.status()
        with Daemon(folder, receiver, SEXTANT_APP_STATE="background") as daemon, \
                daemon.track("--defer-timeout", "20") as deferring, \
                daemon.track("--significant", "--region", "start,48.1642,11.6056,150") as watcher, \
                daemon.track() as plain, daemon.client() as subscriber:
            subscribed = [subscriber.subscribe()["parameters"]["location"]]
            watcher.wait_for_event("didStartMonitoring", region="start")
            first = daemon.wait_for_settings(plain)
            watcher.wait_for_event("didExitRegion", without="didEnterRegion")
            deferring.wait_for_event("didFinishDeferredUpdates", code=None)
            expect_equal([program["authorization"] for program in daemon.programs()], ["authorizedAlways"] * 4, "the permissions")
            subscribed += [subscriber.location() for _ in range(10)]
            # Events that wait in the programs' queues come before their ends.
            for program in deferring, watcher, plain:
                program.terminate()
            daemon.expect_alone(1)
            daemon.terminate()
            expect_equal(subscriber_end(subscriber), None, "the end of the subscription")
        expect_in_order(times(plain), switched=first)
        expect_increasing([seconds_of(one["timestamp"]) for one in subscribed], "the subscriber")
        most = expect_deferral(deferring, 10)
        expect_increasing(times(watcher), "the watcher")
        count = receiver.status()["bytes"]
        receiver.wait_for_status(lambda status: status["bytes"] > count and status["rate"] == found["rate"]
                                 and status["state"] == "tracking", f"the receiver is not as it was: {found}")
        return f"{len(times(plain))} updates, {most} at once for the deferral, an exit; the receiver as it was"


def subscriber_end(client):
    """Reads a subscription to its end."""
    while (message := client.receive()) is not None:
        expect("location" in message["parameters"], f"a subscription ended with {message}")
    return message


# MARK: As if alone

STAY = "start 48.1642,11.6056 512m\nhot\nstay 20s\ndrive by 500m,0m at 25m/s\nstay forever\n"
DEMANDS = {"deferral": ("--defer-timeout", "12"), "watcher": ("--significant", "--region", "start,48.1642,11.6056,150"), "plain": ()}


def together(folder):
    """The programs alone, each at a receiver of its own in its process; then at once at one receiver of the daemon.

    Each is an executable of its own: two processes of one program have the same regions.
    """
    def track(name, variables):
        return Program(f"{folder}/track-{name}", "--json", *DEMANDS[name], env=environment(f"{folder}/{name}", SEXTANT_AUTHORIZATION="always", SEXTANT_APP_STATE="background", **variables))

    def wait(programs):
        programs["watcher"].wait_for_event("didExitRegion", region="start", without="didEnterRegion")
        programs["deferral"].wait_for_event("didFinishDeferredUpdates", code=None)

    def end(programs):
        for program in programs.values():
            program.terminate()
        return {name: got(program) for name, program in programs.items()}

    def got(program):
        """The events beside locations, the steps between locations, and how many come at once."""
        others = sorted((event["event"], event.get("region"), event.get("status")) for event in program.events
                        if event["event"] != "didUpdateLocations")
        at_once = max((len(event["locations"]) for event in program.events_named("didUpdateLocations")), default=0)
        north = [round(location["latitude"], 3) for location in program.locations()]
        return {"events": others, "places": set(north), "at once": at_once}

    for name in DEMANDS:
        harness.copy_program(harness.program("sextant-track"), f"{folder}/track-{name}")
    with contextlib.ExitStack() as stack:
        receivers = {name: stack.enter_context(Simulator(f"{folder}/{name}", scenario=STAY)) for name in DEMANDS}
        programs = {name: stack.enter_context(track(name, {"SEXTANT_SERVICE": "none", "GNSS_DEVICE": receiver.link}))
                    for name, receiver in receivers.items()}
        wait(programs)
        alone = end(programs)
        one = stack.enter_context(Simulator(folder, scenario=STAY))
        daemon = stack.enter_context(Daemon(folder, one, SEXTANT_APP_STATE="background"))
        programs = {name: stack.enter_context(track(name, {"SEXTANT_SERVICE": daemon.socket})) for name in DEMANDS}
        looking = stack.enter_context(Program(harness.program(), "watch", "--json", env=environment(folder, SEXTANT_SERVICE=daemon.socket)))
        wait(programs)
        watcher = programs.pop("watcher")
        served = end(programs)
        tpv = [line for line in looking.lines if '"class":"TPV"' in line]
        expect(len(tpv) > 30, f"watch printed {len(tpv)} fixes of a minute")
        looking.interrupt()
        # The receiver has been on for all; now for the region alone.
        asleep = one.wait_for_status(lambda status: status["state"] != "tracking", "it does not sleep for a region that is far away")
        served |= end({"watcher": watcher})
        daemon.terminate()
    for name, found in served.items():
        expect_equal(found["events"], alone[name]["events"], f"{name}: its events, beside locations, as alone")
        expect(found["places"] <= alone[name]["places"] | {48.164, 48.165, 48.166}, f"{name}: other places: {found}, alone {alone[name]}")
    expect(abs(served["deferral"]["at once"] - alone["deferral"]["at once"]) <= 2, f"the deferral: {served}, alone {alone}")
    return f"{served['deferral']['at once']} at once, alone {alone['deferral']['at once']}; asleep as {asleep['state']}"


# MARK: Kills

def kills(folder):
    chance = random.Random(options.seed)
    slowest = 0
    with Simulator(folder, scenario=WALK) as receiver, contextlib.ExitStack() as stack:
        daemon = Daemon(folder, receiver, SEXTANT_APP_STATE="background")
        stack.callback(lambda: daemon.kill())
        clients = [stack.enter_context(daemon.track(*words)) for words in
                   [("--defer-timeout", "8", "--defer-repeat"), ("--significant", "--region", "start,48.1642,11.6056,150"), ()]]
        clients[2].wait_for_event("didUpdateLocations")
        for _ in range(options.kills):
            # The instant is the check's input.
            time.sleep(chance.uniform(0, 4))
            daemon.kill()
            daemon = Daemon(folder, receiver, SEXTANT_APP_STATE="background")
            # The promise is about the programs' own time: what they wait for a processor is the machine's.
            involved = [program.process.pid for program in (daemon, *clients)]
            begin, waited = time.monotonic(), harness.waiting_seconds(*involved) + harness.waiting_seconds()
            while len(daemon.programs()) < 3:
                expect(time.monotonic() - begin < LIMIT, f"not all are served again: {daemon.programs()}")
                time.sleep(0.05)
            waited = harness.waiting_seconds(*involved) + harness.waiting_seconds() - waited
            slowest = max(slowest, time.monotonic() - begin - waited)
        clients[2].wait_for_event("didUpdateLocations")
        count = len(clients[0].events_named("didFinishDeferredUpdates"))
        clients[0].wait_for("output", lambda: len([event for event in clients[0].events if event["event"] ==
                            "didFinishDeferredUpdates"]) > count or None, "end of a deferral after the kills")
        for client in clients:
            client.terminate()
            expect_increasing(times(client), client.name)
        crossings = [event["event"] for event in clients[1].events if event["event"] in ("didEnterRegion", "didExitRegion")]
        expect(all(a != b for a, b in zip(crossings, crossings[1:])), f"a crossing came twice: {crossings}")
        daemon.terminate()
    expect(slowest < 2, f"the programs were served again after {slowest:.1f} s of their own")
    return f"{options.kills} kills; served again after {slowest:.1f} s of their own at most, {len(times(clients[2]))} locations, none twice"


# MARK: Clients that die or do not read

def clients(folder):
    with served(folder) as (_, daemon), daemon.track() as other:
        other.wait_for_event("didUpdateLocations")
        begin = daemon.descriptors()
        first = daemon.wait_for_settings(other)
        manager = [{"addManager": {"_0": 1}}, {"call": {"manager": 1, "_1": {"setDelegate": {"_0": 3}}}}]
        start = {"call": {"manager": 1, "_1": {"startUpdatingLocation": {}}}}
        defer = {"call": {"manager": 1, "_1": {"allowDeferredUpdates": {"metres": 1e9, "seconds": 600}}}}

        def half(client):
            client.socket.sendall(b'{"method": "org.sext')

        def opened(client, *actions):
            client.open()
            client.act(*actions)

        phases = {
            "connected": lambda client: None, "in a call": half, "subscribed": lambda client: client.subscribe(),
            "a request": lambda client: client.send({"method": f"{LOCATION}.RequestLocation"}),
            "requests without a reply": lambda client: [
                client.send({"method": f"{LOCATION}.RequestLocation", "oneway": True}) for _ in range(20)],
            "a stream": lambda client: client.call(f"{LOCATION}.Stream", more=True),
            "opened": opened, "a manager": lambda client: opened(client, *manager),
            "updates": lambda client: opened(client, *manager, start),
            "a deferral": lambda client: opened(client, *manager, start, defer),
            "live": lambda client: opened(client, {"beginLiveUpdates": {"_0": 1, "_1": "other"}}),
        }
        for name, phase in phases.items():
            client = daemon.client()
            phase(client)
            client.socket.close()
            wait_until(lambda: daemon.descriptors() == begin and len(daemon.programs()) == 1,
                       lambda: f"{name}: {daemon.descriptors() - begin} descriptors and the programs {daemon.programs()} are left")
        for words in (), ("--defer-timeout", "600"), ("--once",):
            with daemon.track(*words) as killed:
                killed.wait_for_event("didUpdateLocations")
                killed.kill()
            daemon.expect_alone(1)
        other.terminate()
        expect_in_order(times(other), switched=first)
        expect_equal(daemon.status()["programs"], [], "the programs after the last")
        daemon.terminate()
        return f"{len(phases) + 3} phases"


def stopped(folder):
    with served(folder) as (_, daemon), daemon.track() as other, daemon.track() as paused, daemon.client() as greedy, \
            daemon.client() as subscriber:
        other.wait_for_event("didUpdateLocations")
        first = {program: daemon.wait_for_settings(program) for program in (other, paused)}
        paused.process.send_signal(signal.SIGSTOP)
        # It does not read: a hundred managers are some sixty kilobytes a second.
        greedy.open("greedy")
        for number in range(100):
            greedy.act({"addManager": {"_0": number}}, {"call": {"manager": number, "_1": {"setDelegate": {"_0": 3}}}},
                       {"call": {"manager": number, "_1": {"startUpdatingLocation": {}}}})
        greedy_name = wait_until(lambda: [one["name"] for one in daemon.programs() if one["name"].startswith("greedy")],
                                 "the greedy program is not served")[0]

        def dropped():
            return next(one["dropped"] for one in daemon.programs() if one["name"] == greedy_name)
        wait_until(lambda: dropped() > 1, lambda: f"nothing is joined: {daemon.programs()}")
        # An hour of locations is kept, here in forty seconds; from then on the memory stays.
        wait_until(lambda: dropped() >= 42, lambda: f"joined: {dropped()}")
        before, least = daemon.memory(), dropped()
        wait_until(lambda: dropped() >= least + 20, lambda: f"joined: {dropped()}")
        grown = daemon.memory() - before
        expect(grown < 2048, f"the daemon has grown by {grown} kB for a program that does not read")
        paused.process.send_signal(signal.SIGCONT)
        paused.wait_for_event("didUpdateLocations")
        # It reads again: whole messages, and locations of each manager in order to the newest.
        newest = seconds_of(other.wait_for_event("didUpdateLocations")["locations"][-1]["timestamp"])
        seen = {}
        while not seen or min(seen.values()) < newest:
            message = greedy.receive()
            expect(message is not None, f"the greedy program was disconnected; {daemon.errors[-300:]}")
            for event in message.get("update", {}).get("_0", {}).get("events", []):
                if found := event.get("delegate"):
                    for location in found["_1"].get("didUpdateLocations", {}).get("_0", []):
                        at = location[TIMESTAMP] / 1e9
                        expect(at >= seen.get(found["manager"], 0), f"manager {found['manager']}: {at} after {seen}")
                        seen[found["manager"]] = at
        for program in other, paused:
            program.terminate()
            expect_in_order(times(program), switched=first[program])
        daemon.terminate()
        return f"{len(times(paused))} locations for a program that was stopped, {grown} kB more for one that does not read"


# MARK: Connections and messages

def connections(folder):
    with served(folder) as (_, daemon), daemon.track() as other:
        other.wait_for_event("didUpdateLocations")
        # Before any connection of the rig itself, whose end the daemon may not have seen yet.
        begin = daemon.descriptors()
        first = daemon.wait_for_settings(other)
        for number in range(options.connections):
            with daemon.client() as client:
                if number % 3 == 1:
                    client.send({"method": "org.varlink.service.GetInfo"})
                elif number % 3 == 2:
                    client.send({"method": f"{LOCATION}.Subscribe", "more": True})
        wait_until(lambda: daemon.descriptors() == begin, lambda: f"{daemon.descriptors() - begin} descriptors are left")
        with contextlib.ExitStack() as stack:
            many = [stack.enter_context(daemon.client()) for _ in range(300)]
            for client in many:
                client.send({"method": f"{LOCATION}.Subscribe", "more": True})
            for client in many:
                client.location()
        wait_until(lambda: daemon.descriptors() == begin, lambda: f"{daemon.descriptors() - begin} descriptors are left")
        daemon.expect_alone(1)
        other.terminate()
        expect_in_order(times(other), switched=first)
        daemon.terminate()
        return f"{options.connections} one after the other and 300 at once; no descriptor left"


def hostile(folder):
    info = b'{"method":"org.varlink.service.GetInfo"}\0'
    chance = random.Random(options.seed)
    with served(folder) as (_, daemon), daemon.track() as other:
        first = daemon.wait_for_settings(other)
        with daemon.client() as client:
            for byte in info:
                client.socket.sendall(bytes([byte]))
            expect_equal(client.receive()["parameters"]["vendor"], "Sextant", "the answer to a call of single bytes")
            client.socket.sendall(info * 100)
            for _ in range(100):
                expect_equal(client.receive()["parameters"]["vendor"], "Sextant", "the answer to joined calls")
            for method, error in [("x", "org.varlink.service.InterfaceNotFound"), ("", "org.varlink.service.InterfaceNotFound"),
                                  (f"{LOCATION}.Fly", "org.varlink.service.MethodNotFound"),
                                  (f"{LOCATION}.Subscribe", "org.varlink.service.ExpectedMore"),
                                  (f"{CORE}.Open", "org.varlink.service.InvalidParameter")]:
                expect_equal(client.error(method), error, f"the answer to {method!r}")
            for parameters in {"desiredAccuracy": "10"}, {"desiredAccuracy": []}, {"distanceFilter": True}:
                expect_equal(client.error(f"{LOCATION}.Subscribe", parameters, more=True), "org.varlink.service.InvalidParameter",
                             f"the answer to {parameters}")
            for version in 0, 3, -1, 1 << 62:
                expect(client.error(f"{CORE}.Open", {
                    "version": version, "identifier": "x", "application": 0, "showsPrompts": False, "keys": KEYS},
                    upgrade=version in (1, 2)) is not None, f"version {version} is accepted")
        wrong = [b"\0", b"[]\0", b"null\0", b"{\0", b'{"method":5}\0', b'{"method":"x","parameters":[]}\0', b"\xff\xfe\0",
                 b'{"method":"x","more":1}\0', b"[" * 60_000 + b"\0", b'{"a":' * 10_000 + b"\0", b"x" * 100_000 + b"\0",
                 b'{"method":"' + b"x" * 100_000 + b'"}\0', b"GET / HTTP/1.1\r\n\r\n\0", b"a" * 10_000_000]
        wrong += [bytes(chance.randbytes(chance.randrange(1, 400))) + b"\0" for _ in range(50)]
        for message in wrong:
            expect_ends(daemon, message)
        opened = [b"5\0", b'{"number":1}\0', b'{"number":"1","action":{}}\0', b'{"number":1,"action":{"fly":{}}}\0',
                  b'{"number":1e300,"action":{"refreshNewest":{}}}\0', b'{"number":1,"action":{"addManager":{"_0":1e99}}}\0',
                  b'{"number":1,"action":{"call":{"manager":1,"_1":{"setDistanceFilter":{"metres":"x"}}}}}\0', b"{\0", b"\xff\0"]
        # Texts beyond the limit.
        opened += [json.dumps({"number": 1, "action": {"openMonitor": {"_0": name}}}, ensure_ascii=False).encode() + b"\0"
                   for name in ("x" * (TEXT_BYTES + 1), "é" * (TEXT_BYTES // 2 + 1), "x" * 60_000)]
        for message in opened:
            expect_ends(daemon, message, opens=True)
        # Numbers at the ends of their types are answered or disconnected, as the program likes.
        for action in EXTREME_ACTIONS:
            with daemon.client() as client:
                client.open()
                client.act({"addManager": {"_0": 1}}, {"call": {"manager": 1, "_1": {"setDelegate": {"_0": 3}}}},
                           {"call": {"manager": 1, "_1": {"startUpdatingLocation": {}}}}, action, {"refreshNewest": {}})
                expect(client.receive() is not None, f"{action}: it is disconnected")
        daemon.expect_alone(1)
        other.wait_for_event("didUpdateLocations")
        other.terminate()
        expect_in_order(times(other), switched=first)
        daemon.terminate()
        return f"{len(wrong) + len(opened) + len(EXTREME_ACTIONS)} hostile messages, and the others were served on"


def objects(folder):
    """A program with more managers than the service takes keeps those that it has, and is told the limit."""
    with served(folder) as (_, daemon), daemon.client() as client:
        client.open("many")
        for number in range(1, 261):
            client.act({"addManager": {"_0": number}}, {"call": {"manager": number, "_1": {"setDelegate": {"_0": 3}}}},
                       {"call": {"manager": number, "_1": {"startUpdatingLocation": {}}}})
        text, managers = "", set()
        while len(managers) < 256 or "at most 256 managers" not in text:
            message = client.receive()
            expect(message is not None, f"it was disconnected: {daemon.errors[-300:]}")
            text += json.dumps([event["log"] for event in message["update"]["_0"].get("events", []) if "log" in event])
            managers |= {event["delegate"]["manager"] for event in message["update"]["_0"].get("events", [])
                         if "didUpdateLocations" in event.get("delegate", {}).get("_1", {})}
        expect_equal(managers, set(range(1, 257)), "the managers with locations")
        expect_equal(text.count("at most 256"), 1, "the lines about the limit")
        client.act({"removeManager": {"_0": 1}}, {"addManager": {"_0": 300}}, {"call": {"manager": 300, "_1": {"setDelegate": {"_0": 3}}}},
                   {"call": {"manager": 300, "_1": {"startUpdatingLocation": {}}}})
        while '"manager": 300' not in (text := json.dumps(client.receive())):
            expect(text != "null", f"it was disconnected: {daemon.errors[-300:]}")
        daemon.terminate()
        return "256 managers of 260 have locations, and one more once another is released"


def called(name, **values):
    return {"call": {"manager": 1, "_1": {name: values}}}


def circle(latitude, longitude, radius):
    return {"identifier": "r", "shape": {"circle": {"_0": {
        "centre": {"latitudeDegrees": latitude, "longitudeDegrees": longitude}, "radiusMetres": radius}}},
        "notifiesOnEntry": True, "notifiesOnExit": True, "notifiesStateOnDisplay": False}


BIG = (1 << 63) - 1
# The largest text of a message (docs/guides/service.md, Limits).
TEXT_BYTES = 2048
EXTREME_ACTIONS = [
    {"addManager": {"_0": BIG}}, {"addManager": {"_0": -BIG - 1}}, {"addManager": {"_0": (1 << 32) - 1}},
    {"removeManager": {"_0": BIG}}, {"endLiveUpdates": {"_0": -1}}, {"endSession": {"_0": 77}},
    called("setDistanceFilter", metres=1.7e308), called("setDistanceFilter", metres=-1.7e308),
    called("setDesiredAccuracy", metres=1.7e308), called("setDesiredAccuracy", metres=5e-324),
    called("allowDeferredUpdates", metres=1.7e308, seconds=1.7e308), called("allowDeferredUpdates", metres=-1.0, seconds=-1.7e308),
    called("allowDeferredUpdates", metres=1e9, seconds=1e18), called("allowDeferredUpdates", metres=1e9, seconds=9.3e9),
    called("setHeadingFilter", degrees=1e308), called("requestLocation"),
    {"openMonitor": {"_0": "../../../etc/passwd"}}, {"openMonitor": {"_0": ""}}, {"openMonitor": {"_0": "x" * TEXT_BYTES}},
]


def expect_ends(daemon, message, opens=False):
    """A message that is not a call is not answered with a success: the connection ends, or an error comes."""
    with daemon.client() as client:
        if opens:
            client.open()
        try:
            client.socket.sendall(message)
        except (BrokenPipeError, ConnectionResetError):
            return
        while (reply := client.receive()) is not None:
            if "error" in reply:
                return
            expect("update" in reply, f"{message[:60]} is answered with {reply}")


# MARK: Permission

def denied(folder):
    with served(folder, authorization=None) as (_, daemon):
        # The service has locations: another program of the machine may have them.
        with daemon.client() as client:
            # A receiver's bytes are for its owner too: commands_through_service.py has another user's calls.
            for method, flags in ("RequestLocation", {}), ("Subscribe", {"more": True}):
                expect_equal(client.error(f"{LOCATION}.{method}", **flags), f"{LOCATION}.NotDetermined", f"the answer to {method}")
            status = client.call(f"{LOCATION}.GetStatus")
            expect("latitude" not in json.dumps(status), f"the status has a position: {status}")
        # A program's own environment does not grant. The command of root or of a member of gnss needs no permission, so that it is
        # another user's.
        other = NOBODY if os.getuid() == 0 else None
        os.chmod(folder, 0o755)
        with daemon.track(user=other, SEXTANT_AUTHORIZATION="always", SEXTANT_DEFAULT_AUTHORIZATION="always") as track:
            track.wait_for_event("didChangeAuthorization", status="notDetermined")
            wait_until(lambda: daemon.programs(), "the program is not served")
            track.terminate(code=(0, 69))
            expect_equal(track.locations(), [], "the locations of a program without permission")
        with daemon.client() as client:
            client.open()
            client.act({"addManager": {"_0": 1}}, called("setDelegate", _0=3), called("startUpdatingLocation"),
                       called("requestLocation"), called("startSignificantChanges"), called("startVisits"),
                       called("startHeading"), called("startMonitoring", _0=circle(48.1642, 11.6056, 100)),
                       called("requestState", _0=circle(48.1642, 11.6056, 100)),
                       called("allowDeferredUpdates", metres=100.0, seconds=5.0),
                       {"beginLiveUpdates": {"_0": 1, "_1": 0}}, {"openMonitor": {"_0": "m"}}, {"refreshNewest": {}})
            text = ""
            # The answer to requestState; a request without a decision is dropped (RQ-13).
            while '"didDetermineState"' not in text:
                message = client.receive()
                expect(message is not None, f"it was disconnected: {daemon.errors[-300:]}")
                text += json.dumps(message)
            for word in "horizontalAccuracyMetres", "didUpdateLocations", "didEnter", "didExit", "didVisit":
                expect(f'"{word}":' not in text, f"{word} came: {text}")
        daemon.terminate()
        return "every call"


def executes(folder):
    with served(folder) as (_, daemon):
        # It subscribes, and executes `cat` with the open socket after the first bytes.
        code = "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(sys.argv[2].encode() + b'\\0');" \
               "s.recv(1); os.dup2(s.fileno(), 0); os.execvp('cat', ['cat'])"
        call = json.dumps({"method": f"{LOCATION}.Subscribe", "more": True})
        with subprocess.Popen([sys.executable, "-c", code, daemon.socket, call], stdout=subprocess.DEVNULL) as client:
            started = time.monotonic()
            client.wait(LIMIT)
            seconds = time.monotonic() - started
        daemon.wait_for_message(phrases.OTHER_PROGRAM)
        daemon.expect_alone(0)
    return f"the other program lost the connection {seconds:.1f} s after the start of the first one"


def users(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    with served(folder, authorization=None) as (_, daemon):
        # `track` of root is authorized by being typed (commands_through_service.py), so that the other user is not root.
        with daemon.track(user=NOBODY, terminal=True) as permitted, daemon.track(user=ANOTHER) as other:
            permitted.wait_for_message(phrases.QUESTION_NOTICE)
            harness.run(harness.program(), "authorize", "allow", "sextant-track", user=NOBODY, cwd="/",
                        env=environment(folder, SEXTANT_SERVICE=daemon.socket))
            permitted.wait_for_event("didUpdateLocations")
            other.wait_for_event("didChangeAuthorization", status="notDetermined")
            found = {one["uid"]: one["authorization"] for one in daemon.programs()}
            expect_equal(found, {NOBODY: "authorizedAlways", ANOTHER: "notDetermined"}, "the permissions by user")
            for _ in range(3):
                permitted.wait_for_event("didUpdateLocations")
            expect_equal(other.locations(), [], "the locations of the other user")
            permitted.interrupt()
            other.terminate(code=(0, 69))
        daemon.terminate()
        return "each has its own permission"


# MARK: The machine

def unplugged(folder):
    with served(folder) as (receiver, daemon), daemon.track() as plain, daemon.track("--defer-timeout", "30") as deferring, \
            contextlib.ExitStack() as stack:
        many = [stack.enter_context(daemon.client()) for _ in range(30)]
        for client in many:
            client.send({"method": f"{LOCATION}.Subscribe", "more": True})
        last = [client.location() for client in many]
        plain.wait_for_event("didUpdateLocations")
        deferring.wait_for_event("didUpdateLocations")
        receiver.command("fault unplug 3s")
        daemon.wait_for_message(phrases.RECEIVER_LOST)
        daemon.wait_for_message(phrases.RECEIVER_BACK)
        plain.event_mark = len(plain.events)
        newest = plain.wait_for_event("didUpdateLocations", without="didFailWithError")["locations"][-1]["timestamp"]
        for client, before in zip(many, last):
            at = [seconds_of(before["timestamp"])]
            while at[-1] < seconds_of(newest):
                at.append(seconds_of(client.location()["timestamp"]))
            expect_increasing(at, "a subscriber")
        for program in plain, deferring:
            program.terminate()
            expect_increasing(times(program), program.name)
        daemon.terminate()
        return "33 programs went on"


def full(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    os.mkdir(f"{folder}/state")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", f"{folder}/state"]).returncode:
        return "skipped: no permission to mount"
    try:
        with Simulator(folder, scenario=WALK) as receiver:
            with open(f"{folder}/state/filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
                while True:
                    file.write(bytes(4096))
            with Daemon(folder, receiver, SEXTANT_APP_STATE="background") as daemon, \
                    daemon.track("--region", "start,48.1642,11.6056,100", "--accuracy", "best") as watcher, \
                    daemon.track("--defer-timeout", "10") as deferring:
                watcher.wait_for_event("didStartMonitoring", region="start")
                watcher.wait_for_event("didUpdateLocations")
                daemon.wait_for_message(phrases.NO_SPACE)
                deferring.wait_for_event("didFinishDeferredUpdates", code=None)
                for program in watcher, deferring:
                    program.terminate()
                    expect_increasing(times(program), program.name)
                daemon.terminate()
    finally:
        subprocess.run(["umount", f"{folder}/state"])
    return "the service went on"


def slow(folder):
    """strace(1) delays each fsync(2) of the folder with the newest location by ten seconds. Its tracer is a process of its own, so
    that the daemon keeps its number."""
    delayed = f"{folder}/delayed"
    with Simulator(folder, scenario=WALK) as receiver:
        # The first location of all is stored before its event is delivered.
        with Daemon(folder, receiver) as daemon, daemon.track("--once") as program:
            program.wait_for_exit()
            daemon.terminate()
        delay = ["strace", "-D", "-f", "-qq", "-o", delayed, "-P", f"{folder}/state", "-e", "trace=fsync",
                 "-e", "inject=fsync:delay_enter=10s"]
        with Daemon(folder, receiver, under=delay) as daemon, daemon.track() as program:
            begin = time.time()
            while not os.path.getsize(delayed):
                expect(time.time() - begin < LIMIT, "nothing is stored")
                program.wait_for_event("didUpdateLocations")
                with daemon.track("--once") as other:
                    other.wait_for_exit()
            at = [begin] + [seconds_of(event["at"]) for event in program.events_named("didUpdateLocations")]
            slowest = max(b - a for a, b in zip(at, at[1:]))
            expect(slowest < 5, f"{slowest:.1f} s without a location while the disk was slow")
            program.terminate()
            daemon.terminate()
    return f"{slowest:.1f} s between two locations at most"


def odometer(folder):
    def feed(daemon, *words, **options):
        return Program(harness.program(), "feed", "odometer", "--socket", daemon.socket, *words, **options)

    def modes(daemon):
        found = daemon.status()["receivers"][0].get("fusion")
        return found and (found["mode"], {sensor["name"] for sensor in found["sensors"] if sensor["isUsed"]})

    with Simulator(f"{folder}/f9r", "f9r", scenario=WALK) as receiver:
        with Daemon(f"{folder}/f9r", receiver) as daemon, daemon.track() as program:
            program.wait_for_event("didUpdateLocations")
            wait_until(lambda: modes(daemon) == ("initialization", set()), lambda: f"before: {modes(daemon)}")
            address = f"{folder}/lines"
            with socket.socket(socket.AF_UNIX) as source:
                source.bind(address)
                source.listen()
                with feed(daemon, "--from", f"unix:{address}") as feeder:
                    lines, _ = source.accept()
                    deadline, ticks = time.monotonic() + LIMIT, 0
                    while modes(daemon) is None or modes(daemon)[0] != "fusion" or not {"speed", "speed ticks"} <= modes(daemon)[1]:
                        expect(time.monotonic() < deadline, f"while it is fed: {modes(daemon)}")
                        ticks += 10
                        lines.sendall(json.dumps({"speed": 1.4, "ticks": ticks}).encode() + b"\n")
                        time.sleep(0.1)
                    # Bad lines are named once, and the next one is sent.
                    lines.sendall(b'{"speed":1e9}\n{"speed":"1"}\nspeed 1\n{"wheel":1}\n{"speed":1.5}')
                    lines.close()
                    feeder.wait_for_exit(0)
                    expect_equal(len(feeder.errors.strip().splitlines()), 3, f"the lines of {feeder.errors!r}")
            wait_until(lambda: modes(daemon) == ("initialization", set()), lambda: f"afterwards: {modes(daemon)}")
            program.terminate()
            daemon.terminate()
    with Simulator(f"{folder}/m10", "m10", scenario=WALK) as receiver:
        with Daemon(f"{folder}/m10", receiver) as daemon, daemon.track() as program:
            program.wait_for_event("didUpdateLocations")
            # EX_UNAVAILABLE: it has no dead reckoning.
            with feed(daemon, stdin=subprocess.PIPE) as feeder:
                feeder.process.stdin.write(b'{"speed":1}\n')
                feeder.process.stdin.close()
                feeder.wait_for_exit(69)
            program.terminate()
            daemon.terminate()
    return "fusion while it is fed, initialization before and after; an M10 refuses"


def trust(folder):
    cases = {"m10": ("jammed", "MON-RF: jamming is critical at input 0", "NAV-STATUS: spoofing is indicated"),
             "x20": ("suspect", "SEC-SIG: the receiver warns of jamming at 1575 MHz", "SEC-SIG: spoofing is indicated")}
    for model, (state, jamming, spoofing) in cases.items():
        with Simulator(f"{folder}/{model}", model, scenario=WALK) as receiver:
            with Daemon(f"{folder}/{model}", receiver) as daemon, daemon.track() as program:
                def wait_for(*wanted):
                    def holds():
                        found = daemon.status()["receivers"][0]
                        return (found["trust"], *found["reasons"]) == wanted
                    wait_until(holds, lambda: f"{model}: not {wanted}: {daemon.status()['receivers']}")
                program.wait_for_event("didUpdateLocations")
                wait_for("ok")
                receiver.command("fault jam 3s")
                wait_for(state, jamming)
                daemon.wait_for_message(jamming)
                # A worse finding stays for ten seconds.
                wait_for("ok")
                daemon.wait_for_message(phrases.NO_DOUBT)
                receiver.command("fault spoof 3s")
                wait_for("spoofed", spoofing)
                wait_for("ok")
                daemon.wait_for_message(phrases.NO_DOUBT)
                expect_equal(daemon.errors.count(jamming), 1, f"the lines of the log that say {jamming!r}")
                expect_equal(daemon.errors.count(spoofing), 1, f"the lines of the log that say {spoofing!r}")
                program.terminate()
                daemon.terminate()
            receiver.wait_for_state("tracking")
    return "jammed or suspect, spoofed and ok, each logged once"


if __name__ == "__main__":
    options = harness.arguments(__doc__, kills=10, connections=2000, seed=1)
    harness.run_checks([programs, together, kills, clients, stopped, connections, hostile, objects, denied, executes, users,
                       unplugged, full, slow, odometer, trust], options.checks)
