#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sextantd with a simulated ZED-F9P and two casters on the loopback: corrections flow while a program needs the best accuracy, and
the second caster takes the place of the first one when that is killed or stalls. Each state is read by `sextant status --json`.

usage: corrections.py FOLDER [CHECK ...]
"""
RIG = {"programs": ["sextant", "sextantd"], "seconds": 25, "ci": True}

import json
import os
import socket
import subprocess
import threading
import time

import harness
from harness import Program, Simulator, environment, expect, expect_equal, program, run_checks, wait_until

PASSWORD = "pass-of-the-rig"
# A source without corrections for this long has stalled; 45 s without the variable.
STALL = 5


def rtcm3(number, length=60):
    """A frame of this message number: station 7, and the rest zero. RTCM 10403.3, section 4."""
    payload = (number << 12 | 7).to_bytes(3, "big") + bytes(length - 3)
    frame = b"\xd3" + length.to_bytes(2, "big") + payload
    remainder = 0
    for byte in frame:
        remainder ^= byte << 16
        for _ in range(8):
            remainder <<= 1
            if remainder & 0x1000000:
                remainder ^= 0x1864CFB
    return frame + remainder.to_bytes(3, "big")


class Caster:
    """An NTRIP caster, version 1. It sends a station and observations every second, unless it is silent."""

    FRAMES = rtcm3(1005, 19) + rtcm3(1077) + rtcm3(1087)

    def __init__(self, port=0):
        self.port, self.requests, self.ones, self.is_silent, self.listener = port, [], [], False, None
        self.start()

    def start(self, silent=False):
        self.is_silent, self.ones = silent, []
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                one, _ = listener.accept()
            except OSError:
                return
            self.ones.append(one)
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one):
        try:
            self.requests.append(one.recv(65536))
            one.sendall(b"ICY 200 OK\r\n\r\n")
            while not self.is_silent:
                one.sendall(self.FRAMES)
                time.sleep(1)
        except OSError:
            pass

    def kill(self):
        # A blocked accept() keeps a closed listener open.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for one in self.ones:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def has_client(self):
        """Whether a client is connected now, by the end of its stream."""
        for one in self.ones:
            try:
                if one.recv(65536, socket.MSG_DONTWAIT) != b"":
                    return True
            except BlockingIOError:
                return True
            except OSError:
                pass
        return False


def service(folder):
    first, second = Caster(), Caster()
    os.makedirs(f"{folder}/configuration/sextant")
    with open(f"{folder}/password", "w") as file:
        file.write(f"{PASSWORD}\n")
    with open(f"{folder}/configuration/sextant/config", "w") as file:
        for caster in (first, second):
            file.write(f"corrections = ntrip://rover@127.0.0.1:{caster.port}/NEAR   # a caster\n")
    path = f"{folder}/location"
    variables = environment(
        f"{folder}/daemon", SEXTANT_AUTHORIZATION="always", XDG_CONFIG_HOME=f"{folder}/configuration",
        SEXTANT_NTRIP_PASSWORD_FILE=f"{folder}/password", SEXTANT_CORRECTIONS_STALL_SECONDS=str(STALL))
    outputs = []

    with Simulator(folder, "f9p", scenario="start 48.1642,11.6056 512m\nhot\nstay forever\n") as receiver, \
            Program(program("sextantd"), "--device", receiver.link, "--socket", path, "--gpsd", "off", env=variables) as daemon:
        wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
        own = environment(f"{folder}/program", SEXTANT_SERVICE=path)

        def status(*words):
            found = subprocess.run([program(), "status", *words], env=own, capture_output=True, text=True)
            outputs.append(found.stdout + found.stderr)
            return found.stdout

        def wait_for(text, **wanted):
            """Waits for values of the receiver and of its corrections."""
            last = {}

            def look():
                last.clear()
                last.update(json.loads(status("--json"))["receivers"][0])
                values = {**last, **last.get("corrections", {})}
                return all(value(values.get(name)) if callable(value) else values.get(name) == value for name, value in wanted.items())
            wait_until(look, lambda: f"{text}: {last}; {daemon.errors[-2000:]}")
            return dict(last["corrections"])

        def address(caster):
            return f"ntrip://127.0.0.1:{caster.port}/NEAR"

        found = wait_for("without a demand", solution="none", state="off", source=address(first), bytes=0)
        expect("ageSeconds" not in found, f"an age without corrections: {found}")
        with Program(program(), "track", "--json", "--accuracy", "100", env=own) as coarse:
            coarse.wait_for_event("didUpdateLocations")
            wait_for("a demand of 100 m", state="off", bytes=0)
            expect_equal(first.requests + second.requests, [], "requests to casters for a demand of 100 m")
            with Program(program(), "track", "--json", "--accuracy", "best", env=own) as best:
                wait_for("the first corrections", solution="float", source=address(first), ageSeconds=lambda age: age is not None and age < 5)
                wait_for("ten seconds of corrections", solution="fixed", bytes=lambda count: count > 1000)
                # RFC 7617: rover:pass-of-the-rig.
                expect(b"Authorization: Basic cm92ZXI6cGFzcy1vZi10aGUtcmln" in first.requests[0], f"the request is {first.requests[0]!r}")
                expect(f"corrections ntrip://127.0.0.1:{first.port}/NEAR, flowing" in status(), "the text of the status")
                expect_equal(second.requests, [], "requests to the second caster")
                first.kill()
                wait_for("the first caster is killed", source=address(second), state=lambda _: True, ageSeconds=lambda age: age is not None)
                wait_for("the solution with the second caster", solution="fixed")
                second.kill()
                found = wait_for("no caster", reason=lambda text: text is not None and "refused" in text.lower())
                expect(found["state"] in ("waiting", "connecting"), f"the state without a caster: {found}")
                count = len(first.requests)
                first.start(silent=True)
                wait_for("a silent caster", source=address(first))
                wait_until(lambda: len(first.requests) > count, "the silent caster gets no request")
                second.start()
                wait_for("the silent caster has stalled", source=address(second), ageSeconds=lambda age: age is not None)
                best.terminate(None)
            wait_for("only a demand of 100 m", state="off")
            wait_until(lambda: not second.has_client(), "the caster stays connected without a demand of the best accuracy")
            coarse.terminate(None)
        daemon.terminate()
        expect("has sent nothing for 5 s" in daemon.errors, f"the stall is not in the log: {daemon.errors[-2000:]}")
        expect_equal(daemon.errors.count(f"127.0.0.1:{second.port}/NEAR: corrections arrive"), 2, "takeovers in the log")
    expect(PASSWORD not in daemon.errors and not any(PASSWORD in text for text in outputs), "the password is shown")
    return f"{len(first.requests)} and {len(second.requests)} requests"


if __name__ == "__main__":
    run_checks({"corrections": service}, harness.arguments(__doc__).checks)
