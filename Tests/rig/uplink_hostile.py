#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A broker and a server of HTTP that send anything to the uplink's connections: damaged packets, wrong lengths, acknowledgements of
what was not sent, commands, endless answers.

usage: uplink_hostile.py FOLDER [CHECK ...] [--seconds N] [--seed N]

FOLDER has the tests' process, which runs HostileServerTests.swift with libmosquitto and libcurl.
"""
RIG = {"packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema"},
       "prepare": [["env", "SEXTANT_TESTS=Uplink", "swift", "build", "--build-tests"]], "seconds": 180}

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
from harness import expect, run_checks

TOPIC = b"owntracks/ann/van/cmd"


def packet(kind, body):
    """A packet of MQTT with its length."""
    length, size = b"", len(body)
    while True:
        size, low = size >> 7, size & 127
        length += bytes([low | (128 if size else 0)])
        if not size:
            return bytes([kind]) + length + body


def command(rng):
    """A command of OwnTracks, or what is almost one."""
    number = rng.choice([0, -1, 1e308, -1e308, 1 << 63, 0.1, 91, 181, 20, None, "7", [], True])
    waypoint = {"_type": "waypoint", "desc": rng.choice(["yard", "", "x" * 300, "\u0000", 7]), "lat": rng.choice([48.1, number]),
                "lon": rng.choice([11.5, number]), "rad": rng.choice([50, number]), "tst": rng.choice([1700000000, number])}
    body = rng.choice([
        {"_type": "cmd", "action": "reportLocation"}, {"_type": "cmd", "action": "clearWaypoints"},
        {"_type": "cmd", "action": "setWaypoints", "waypoints": {"_type": "waypoints", "waypoints": [waypoint] * rng.choice([0, 1, 2, 30])}},
        {"_type": "cmd", "action": "setConfiguration", "configuration": {"locatorInterval": number, "locatorDisplacement": number}},
        {"_type": "cmd", "action": number}, [waypoint], number])
    text = json.dumps(body).encode()
    if rng.random() < 0.3:
        text = damaged(rng, text)
    if rng.random() < 0.02:
        text = b"[" * rng.choice([100, 60000, 100000])
    return text


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(3)
        if how == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[place:place] = rng.randbytes(rng.randint(1, 8))
        else:
            del data[place:place + rng.randint(1, 8)]
    return bytes(data)


class Hostile:
    """A listener with a thread for each connection."""

    def __init__(self, seed):
        self.seed, self.connections, self.sent = seed, 0, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            self.connections += 1
            rng = random.Random(self.seed * 1_000_003 + self.connections)
            threading.Thread(target=self._serve, args=(connection, rng), daemon=True).start()

    def _serve(self, connection, rng):
        with contextlib.suppress(OSError), connection:
            connection.settimeout(2)
            self.talk(connection, rng)

    def send(self, connection, data):
        self.sent += len(data)
        # In parts of any size.
        connection.sendall(data)


class HostileBroker(Hostile):
    def __init__(self, seed, version):
        self.version = version
        super().__init__(seed)

    def talk(self, connection, rng):
        received = connection.recv(4096)
        properties = b"\0" if self.version == "5" else b""
        if rng.random() < 0.1:
            return self.send(connection, rng.randbytes(rng.randint(1, 200)))
        code = 0 if rng.random() < 0.85 else rng.randrange(256)
        connack = packet(0x20, bytes([rng.randrange(2), code]) + properties)
        self.send(connection, damaged(rng, connack) if rng.random() < 0.05 else connack)
        identifier = 0
        for _ in range(rng.randint(1, 30)):
            connection.settimeout(0.02)
            with contextlib.suppress(TimeoutError):
                received = connection.recv(65536)
                if not received:
                    return None
            connection.settimeout(2)
            identifier = rng.choice([identifier + 1, rng.randrange(65536), rng.randint(1, 20)]) & 0xFFFF
            reason = bytes([rng.choice([0, 16, 128, 135, 144, 151, 153, rng.randrange(256)])]) + properties if properties else b""
            message = struct.pack(">H", len(TOPIC)) + TOPIC + struct.pack(">H", max(1, identifier)) + properties + command(rng)
            data = rng.choice([
                packet(0x32, message), packet(0x32, message), packet(0x30, struct.pack(">H", len(TOPIC)) + TOPIC + properties + command(rng)),
                packet(0x90, struct.pack(">H", identifier) + properties + bytes([rng.choice([0, 1, 128])])),
                packet(0x40, struct.pack(">H", identifier) + reason), packet(0x40, struct.pack(">H", identifier) + reason),
                b"".join(packet(0x40, struct.pack(">H", one)) for one in range(1, 20)),
                packet(0xD0, b""), packet(0xE0, b""), packet(rng.randrange(256), rng.randbytes(rng.randint(0, 40))),
                # A length of 256 MB, and one without an end.
                bytes([0x32, 0xFF, 0xFF, 0xFF, 0x7F]) + rng.randbytes(20), bytes([0x32, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
                packet(0x32, struct.pack(">H", 60000) + TOPIC)])
            if rng.random() < 0.15:
                data = damaged(rng, data)
            self.send(connection, data[:rng.randint(1, len(data))] if rng.random() < 0.05 else data)
            if rng.random() < 0.03:
                return None
        return None


class HostileServer(Hostile):
    def talk(self, connection, rng):
        while True:
            request = b""
            while b"\r\n\r\n" not in request:
                more = connection.recv(65536)
                if not more:
                    return
                request += more
            status = rng.choice([200, 200, 204, 400, 413, 401, 404, 301, 500, 503, 100, 101, 0, 99, 600, 1000, -1, 99999999999])
            body = rng.randbytes(rng.choice([0, 0, 10, 5000]))
            answer = rng.choice([
                f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body,
                f"HTTP/1.1 {status} X\r\nContent-Length: {rng.choice([-1, 1 << 40, 'x', 5])}\r\n\r\n".encode() + body,
                f"HTTP/1.1 {status} X\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + rng.choice([b"5\r\nabcde\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFF\r\nabc", b"zz\r\n"]),
                f"HTTP/1.1 {status} X\r\nLocation: {rng.choice(['file:///etc/passwd', 'http://127.0.0.1:1/', '/'])}\r\nContent-Length: 0\r\n\r\n".encode(),
                b"HTTP/1.1 200 X\r\n" + b"A: " + b"b" * 200_000 + b"\r\n\r\n", b"HTTP/9.9 200\r\n\r\n", rng.randbytes(100), b"",
                f"HTTP/1.1 {status} X\r\n\r\n".encode() + bytes(rng.choice([10, 3 << 20]))])
            if rng.random() < 0.2 and answer:
                answer = damaged(rng, answer)
            self.send(connection, answer)
            if rng.random() < 0.3 or not answer:
                return


LIBRARY_FAULT = "logging_mosq.c"


def attack(folder, server, address, form, version, seconds):
    """Runs the tests' process for the time. libmosquitto 2.0 ends a process at a property of MQTT 5 that it does not know, by an
    assertion of its own: this is counted, and the process is started again as the unit is."""
    end, lines, faults = time.monotonic() + seconds, [], 0
    while (left := end - time.monotonic()) > 1 or not lines:
        found = subprocess.run(
            [harness.program("sextantPackageTests.xctest"), "--testing-library", "swift-testing", "--filter", "HostileServerTests"],
            cwd=folder, capture_output=True, text=True, timeout=seconds + 120,
            env={**os.environ, "SEXTANT_UPLINK_HOSTILE": f"{address} {form} {version} {max(left, 3):.1f}", "no_proxy": "127.0.0.1",
                 "SWIFT_BACKTRACE": "enable=no"})
        if version == "5" and found.returncode == -signal.SIGABRT and LIBRARY_FAULT in found.stderr:
            faults += 1
            expect(faults < 1000, "the library ends the process at once, each time")
            continue
        line = next((line for line in found.stdout.splitlines() if line.startswith("uplink-hostile: ")), None)
        expect(found.returncode == 0 and line, f"{found.returncode}: {found.stdout[-2000:]}{found.stderr[-2000:]}")
        lines.append(line.removeprefix("uplink-hostile: "))
    expect(server.connections > seconds, f"only {server.connections} connections in {seconds} s: {lines}")
    return f"{server.connections} connections, {server.sent} bytes, {faults} assertions of libmosquitto: {'; '.join(lines)}"


if __name__ == "__main__":
    options = harness.arguments(__doc__, seconds=20, seed=1)

    def broker(folder):
        server = HostileBroker(options.seed, "3.1.1")
        return attack(folder, server, f"mqtt://127.0.0.1:{server.port}", "owntracks", "3.1.1", options.seconds)

    def broker_of_mqtt_5(folder):
        server = HostileBroker(options.seed, "5")
        return attack(folder, server, f"mqtt://127.0.0.1:{server.port}", "owntracks", "5", options.seconds)

    def server_of_http(folder):
        server = HostileServer(options.seed)
        return attack(folder, server, f"http://127.0.0.1:{server.port}/in", "owntracks", "3.1.1", options.seconds)

    run_checks([broker, broker_of_mqtt_5, server_of_http], options.checks)
