#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sextant-uplink through many kills: every fix that was due arrives, in order by its time, and a repeat has the same identifier.

usage: uplink_kills.py FOLDER [CHECK ...] [--broker N] [--program N] [--speed F]

The receiver of `sextant simulate` drives F times as fast as a real one. Another program of the location service notes the fixes
that were delivered. Not in CI: with the defaults it takes a quarter of an hour.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd", "sextant-uplink"],
       "packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema"}, "seconds": 1200}

import contextlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time

import harness
from harness import Program, environment, expect, expect_equal, program, run_checks, seconds_of, wait_until
from uplink import Gate, Uplink, free_port

SAFE = 1.5
DRIVE = "start 48.1642,11.6056 512m\nhot\nstay 60s\ncircle 2km in 30min forever\n"


@contextlib.contextmanager
def drive(folder, speed):
    """sextantd with a receiver in fast time, and a program that notes when each fix was delivered."""
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/drive", "w") as file:
        file.write(DRIVE)
    link, path = f"{folder}/receiver", f"{folder}/location"
    with Program(program(), "simulate", "--scenario", f"{folder}/drive", "--link", link, "--speed", str(speed)) as simulator:
        wait_until(lambda: os.path.exists(link), lambda: f"no simulator: {simulator.errors[-500:]}")
        with Program(program("sextantd"), "--device", link, "--socket", path, "--gpsd", "off",
                     env=environment(f"{folder}/daemon", SEXTANT_AUTHORIZATION="always")) as daemon:
            wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
            with Noted(path, environment(f"{folder}/other", SEXTANT_SERVICE=path)) as noted:
                wait_until(lambda: len(noted.fixes) > 50, lambda: f"no fixes: {noted.errors[-500:]} {daemon.errors[-500:]}")
                yield path, noted
            daemon.terminate()


class Noted(Program):
    """`sextant track --json`: when each fix was delivered, by its time."""

    def __init__(self, path, variables):
        self.fixes = {}
        super().__init__(program(), "track", "--json", env=variables)

    def _take(self, line):
        if '"timestamp"' not in line:
            return
        now = time.monotonic()
        event = json.loads(line)
        for location in event.get("locations", [event.get("location")]):
            if location:
                self.fixes.setdefault(round(seconds_of(location["timestamp"])), now)


class Broker:
    """mosquitto without a memory, and a subscriber that reads until the broker has closed."""

    def __init__(self, folder, address="127.0.0.1"):
        self.address, self.own = address, free_port()
        # Closed until the subscriber is subscribed: the broker acknowledges what nobody gets.
        self.gate = Gate(self.own)
        self.port = self.gate.port
        os.makedirs(folder, exist_ok=True)
        self.configuration = f"{folder}/mosquitto.conf"
        with open(self.configuration, "w") as file:
            file.write(f"listener {self.own} {address}\nallow_anonymous true\npersistence false\n")
        self.arrivals, self.lock = [], threading.Lock()
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        connection = wait_until(self._connect, "mosquitto does not listen")
        self.reader = threading.Thread(target=self._read, args=(connection,), daemon=True)
        self.reader.start()
        self.gate.is_open = True

    def command(self):
        return ["/usr/sbin/mosquitto", "-c", self.configuration]

    def _connect(self):
        with contextlib.suppress(OSError):
            connection = socket.create_connection((self.address, self.own), 5)
            name = os.urandom(6).hex().encode()
            connect = b"\x00\x04MQTT\x04\x02\x00\x00" + struct.pack(">H", len(name)) + name
            subscribe = b"\x00\x01\x00\x01#\x00"
            for kind, body in ((0x10, connect), (0x82, subscribe)):
                connection.sendall(bytes([kind, len(body)]) + body)
            answers = b""
            while len(answers) < 9 and (more := connection.recv(9 - len(answers))):
                answers += more
            expect(answers[:1] == b"\x20" and answers[4:5] == b"\x90", f"mosquitto's answers are {answers}")
            connection.settimeout(None)
            return connection

    def _read(self, connection):
        file = connection.makefile("rb")
        with contextlib.suppress(OSError):
            while head := file.read(1):
                length = shift = 0
                while True:
                    byte = file.read(1)[0]
                    length |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                body = file.read(length)
                if head[0] >> 4 == 3 and len(body) == length:
                    text = body[2 + struct.unpack(">H", body[:2])[0]:]
                    if text.startswith(b"{"):
                        with self.lock:
                            self.arrivals.append(json.loads(text))

    def kill(self):
        self.gate.is_open = False
        self.process.kill()
        self.process.wait()
        # It reads what the broker had sent.
        self.reader.join()

    def locations(self):
        with self.lock:
            return [one for one in self.arrivals if one["_type"] == "location"]


def check_identifiers(locations):
    """One identifier a fix, and one fix an identifier. Returns the times of the first arrivals."""
    names, times = {}, {}
    for one in locations:
        expect_equal(times.setdefault(one["_id"], one["tst"]), one["tst"], f"the time of a repeat of {one['_id']}")
        expect_equal(names.setdefault(one["tst"], one["_id"]), one["_id"], f"the identifier of the fix of {one['tst']}")
    # A dictionary keeps the order in which its keys were first set.
    return list(times.values())


def check_order(first):
    """New fixes and the backlog are two streams, each in the order of the fixes' times."""
    tails = [0, 0]
    for index, second in enumerate(first):
        fitting = [tail for tail in tails if tail < second]
        expect(fitting, f"fix {second} comes after {tails}: {first[max(0, index - 5):index + 5]}")
        tails[tails.index(max(fitting))] = second


TEXT = "client-id = van\ninterval = 1 s\nbacklog = oldest-first 500/s\n"


def wait_for_arrivals(due, broker, uplink):
    """Waits until every fix that was due has arrived."""
    def missing():
        return sorted(due() - {one["tst"] for one in broker.locations()})
    wait_until(lambda: not missing(), lambda: f"{len(missing())} of {len(due())} fixes are missing: {missing()[:10]}, the "
               f"numbers {missing_numbers(broker.locations())[:10]}; {uplink.status()}; {uplink.errors[-300:]}")


def missing_numbers(locations):
    """The numbers of the queue that have not arrived: fixes without one were never in the queue."""
    numbers = {int(one["_id"].split("-")[1]) for one in locations}
    return sorted(set(range(min(numbers), max(numbers))) - numbers)


def after_first(seconds):
    """The second fix: the first one is the service's newest location, and the epoch under way is not delivered after it."""
    return sorted(seconds)[1] if len(seconds) > 1 else 1 << 62


def broker_killed(folder, kills, speed):
    with drive(folder, speed) as (path, noted):
        broker = Broker(f"{folder}/broker")
        with Uplink(f"{folder}/client", path, f"server = mqtt://127.0.0.1:{broker.port}\n{TEXT}") as uplink:
            wait_until(lambda: broker.locations(), lambda: f"nothing arrives: {uplink.errors[-500:]}")
            for _ in range(kills):
                time.sleep(random.uniform(0, 2))
                broker.kill()
                time.sleep(random.uniform(0, 1.5))
                broker.start()
                count = len(broker.locations())
                wait_until(lambda: len(broker.locations()) > count, lambda: f"nothing arrives: {uplink.errors[-500:]}")
            begin, end = after_first({one["tst"] for one in broker.locations()}), time.monotonic()
            due = {second for second, at in noted.fixes.copy().items() if second >= begin and at <= end}
            wait_for_arrivals(lambda: due, broker, uplink)
            status = uplink.status()
            uplink.terminate()
        broker.kill()
        locations = broker.locations()
        first = check_identifiers(locations)
        check_order(first)
    expect_equal(status["dropped"] + status["thinned"], 0, "the number of lost fixes")
    return f"{kills} kills of the broker: {len(due)} fixes due, {len(first)} arrived, {len(locations) - len(first)} repeats"


def program_killed(folder, kills, speed):
    with drive(folder, speed) as (path, noted):
        broker = Broker(f"{folder}/broker")
        text = f"server = mqtt://127.0.0.1:{broker.port}\n{TEXT}"
        runs = []
        for _ in range(kills):
            begin = time.monotonic()
            with Uplink(f"{folder}/client", path, text) as uplink:
                time.sleep(random.uniform(0, 8))
                runs.append((begin, time.monotonic()))
                uplink.process.send_signal(signal.SIGKILL)
                uplink.process.wait()
        with Uplink(f"{folder}/client", path, text) as uplink:
            uplink.wait_for_status(lambda status: status["connected"], "it does not connect")

            def due():
                """What was delivered after the first fix of a run, and early enough to be safe."""
                arrived, found, fixes = {one["tst"] for one in broker.locations()}, set(), noted.fixes.copy()
                for begin, end in runs:
                    here = {second for second, at in fixes.items() if begin <= at <= end}
                    begin = after_first(here & arrived)
                    found |= {second for second in here if second >= begin and fixes[second] <= end - SAFE}
                return found
            wait_for_arrivals(due, broker, uplink)
            uplink.terminate()
        broker.kill()
        due = due()
        locations = broker.locations()
        first = check_identifiers(locations)
        check_order(first)
    return f"{kills} kills of the program: {len(due)} fixes due, {len(first)} arrived, {len(locations) - len(first)} repeats"


if __name__ == "__main__":
    options = harness.arguments(__doc__, broker=50, program=200, speed=10)

    def broker_kills(folder):
        return broker_killed(folder, options.broker, options.speed)

    def program_kills(folder):
        return program_killed(folder, options.program, options.speed)

    run_checks([broker_kills, program_kills], options.checks)
