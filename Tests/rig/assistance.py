#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sextantd with a simulated MAX-M10S and an HTTPS server on the loopback in the place of AssistNow: predicted orbits are downloaded once,
stored, and shorten the next cold start; a refused request is not repeated, and other answers are named. The server's messages are
generated here; their orbits have no content.

usage: assistance.py FOLDER [CHECK ...]
"""
RIG = {"programs": ["sextant", "sextantd"], "packages": {"openssl": "openssl", "gcc": "gcc", "libc6-dev": "/usr/include/stdio.h"},
       "seconds": 40, "ci": True}

import contextlib
import datetime
import os
import socket
import ssl
import subprocess
import threading
import time

import harness
from harness import Program, Simulator, environment, expect, expect_equal, program, run_checks, wait_until

# Base64 of 0123456789AB:secret12.
CODE = "MDEyMzQ1Njc4OUFCOnNlY3JldDEy"
DAYS = 7
# A clock that NTP keeps; the clock of a container may not be kept.
SHIM = """
#include <string.h>
#include <sys/timex.h>
int adjtimex(struct timex *state) { memset(state, 0, sizeof *state); return TIME_OK; }
"""
SCENARIO = "start 48.1642,11.6056 512m\nstay forever\n"


def frame(payload):
    """A UBX frame MGA-ANO."""
    body = b"\x13\x20" + len(payload).to_bytes(2, "little") + payload
    a = b = 0
    for byte in body:
        a = (a + byte) & 0xFF
        b = (b + a) & 0xFF
    return b"\xb5\x62" + body + bytes([a, b])


def predictions():
    today = datetime.datetime.now(datetime.timezone.utc).date()
    answer = b""
    for offset in range(DAYS):
        day = today + datetime.timedelta(days=offset)
        for system, count in ((0, 32), (2, 32), (6, 24)):
            for number in range(1, count + 1):
                answer += frame(bytes([0, 0, number, system, day.year - 2000, day.month, day.day, 0]) + bytes(68))
    return answer


class Server:
    """An HTTPS server that gives each request the same response, and closes the connection."""

    def __init__(self, folder, response):
        self.response, self.requests = response, []
        key, self.certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.context = context
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one):
        with contextlib.suppress(OSError):
            with self.context.wrap_socket(one, server_side=True) as secured:
                request = b""
                while b"\r\n\r\n" not in request:
                    piece = secured.recv(65536)
                    if not piece:
                        return
                    request += piece
                self.requests.append(request)
                secured.sendall(self.response)
                with contextlib.suppress(ssl.SSLError):
                    secured.unwrap()


def response(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


@contextlib.contextmanager
def service(folder, server, line="on"):
    """A new receiver, and sextantd with the state of the folder."""
    os.makedirs(f"{folder}/configuration/sextant", exist_ok=True)
    with open(f"{folder}/configuration/sextant/config", "w") as file:
        file.write(f"assistnow = {line}\n")
    with open(f"{folder}/account", "w") as file:
        file.write(f"{CODE}\n")
    with open(f"{folder}/clock.c", "w") as file:
        file.write(SHIM)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", f"{folder}/clock.so", f"{folder}/clock.c"], check=True)
    path = f"{folder}/location"
    variables = environment(
        f"{folder}/daemon", SEXTANT_AUTHORIZATION="always", XDG_CONFIG_HOME=f"{folder}/configuration", LD_PRELOAD=f"{folder}/clock.so",
        SEXTANT_ASSISTNOW_FILE=f"{folder}/account", SEXTANT_ASSISTNOW_SERVER=f"localhost:{server.port}", SSL_CERT_FILE=server.certificate)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    with Simulator(folder, "m10", scenario=SCENARIO) as receiver, \
            Program(program("sextantd"), "--device", receiver.link, "--socket", path, "--gpsd", "off", env=variables) as daemon:
        wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
        yield daemon, environment(f"{folder}/program", SEXTANT_SERVICE=path)
        daemon.terminate()
    expect(CODE not in daemon.errors, "the account is in the log")


def first_fix(own):
    """The seconds until a program has its first location."""
    begin = time.monotonic()
    with Program(program(), "track", "--json", "--accuracy", "100", env=own) as track:
        track.wait_for_event("didUpdateLocations")
        found = time.monotonic() - begin
        track.terminate(None)
    return found


def download(folder):
    server = Server(folder, response(predictions()))
    with service(folder, server) as (daemon, own):
        without = first_fix(own)
        wait_until(lambda: "AssistNow: predicted orbits of 88 satellites for 7 days" in daemon.errors, lambda: daemon.errors[-2000:])
        wait_until(lambda: os.path.exists(f"{folder}/daemon/state/assistance/assistnow.predictions"), "the orbits are not stored")
    expect_equal(len(server.requests), 1, "the number of requests")
    wanted = f"GET /GetAssistNowData.ashx?chipcode={CODE}&gnss=gps,gal,glo&data=uporb_7 HTTP/1.1\r\nHost: localhost:{server.port}\r\n"
    expect(server.requests[0].startswith(wanted.encode()), f"the request is {server.requests[0]!r}")
    # The receiver has no orbits, time and position again; the stored orbits are still good for days. A program must not get the location
    # that the service remembers.
    for name in ("newest-location", "run"):
        subprocess.run(["rm", "-rf", f"{folder}/daemon/state/{name}", f"{folder}/daemon/{name}"], check=True)
    subprocess.run(["rm", "-rf", f"{folder}/sextantd"], check=True)
    with service(folder, server) as (daemon, own):
        with_orbits = first_fix(own)
    expect_equal(len(server.requests), 1, "the number of requests after another start")
    expect(with_orbits < without - 8, f"the first fix took {without:.1f} s, and {with_orbits:.1f} s with predicted orbits")
    return f"first fix {without:.1f} s, and {with_orbits:.1f} s with stored predictions"


def refused(folder):
    server = Server(folder, response(f"chipcode {CODE} is not allowed".encode(), "403 Forbidden"))
    with service(folder, server, "on, live") as (daemon, own):
        first_fix(own)
        wait_until(lambda: "refuses the request (HTTP status 403)" in daemon.errors, lambda: daemon.errors[-2000:])
        first_fix(own)
        time.sleep(3)
        expect_equal(daemon.errors.count("AssistNow:"), 1, "the number of lines in the log")
    expect_equal(len(server.requests), 1, "the number of requests")


def other_answers(folder):
    found = []
    for number, (answer, text) in enumerate([
            (response(b"<html>Sign in</html>"), "sends a text instead of orbits: <html>Sign in</html>"),
            (response(predictions()[:200]), "sends damaged messages (at byte 168)"),
            (response(predictions())[:5000], "closes the connection before the end of its answer"),
            (response(b"", "503 Busy"), "fails (HTTP status 503)"),
            (b"SSH-2.0-OpenSSH\r\n", "does not reply with HTTP")]):
        own_folder = f"{folder}/{number}"
        os.makedirs(own_folder)
        server = Server(own_folder, answer)
        with service(own_folder, server) as (daemon, own):
            with Program(program(), "track", "--json", "--accuracy", "100", env=own) as track:
                wait_until(lambda: f"AssistNow: {text}; trying again" in daemon.errors, lambda: f"{text}: {daemon.errors[-2000:]}")
                track.terminate(None)
        expect(not os.path.exists(f"{own_folder}/daemon/state/assistance/assistnow.predictions"), f"{text}: something is stored")
        found.append(text)
    return f"{len(found)} answers"


if __name__ == "__main__":
    run_checks([download, refused, other_answers], harness.arguments(__doc__).checks)
