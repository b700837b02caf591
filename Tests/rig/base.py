#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant base` at simulated receivers, a ZED-F9P unless said otherwise: its caster, other servers, and rovers. The receiver is as it was found afterwards.

usage: base.py FOLDER [CHECK ...]
"""
RIG = {"programs": ["sextant", "sextantd"], "packages": {"rtklib": "convbin"}, "seconds": 260, "ci": True}

import base64
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tty

import harness
from harness import Program, Simulator, environment, expect, expect_equal, program, run_checks, wait_until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
from packages import PEERS, install_peers  # noqa: E402

SCENARIO = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
# Height above the ellipsoid: the simulator's geoid is 45.6 m.
POSITION = "48.1642,11.6056,557.6"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def frames(data):
    """The message numbers of the RTCM 3 frames of a stream, and the bytes outside of frames."""
    numbers, at, outside = [], 0, 0
    while at + 6 <= len(data):
        length = int.from_bytes(data[at + 1:at + 3], "big")
        if data[at] != 0xD3 or length > 1023:
            at, outside = at + 1, outside + 1
            continue
        if at + length + 6 > len(data):
            break
        numbers.append(int.from_bytes(data[at + 3:at + 5], "big") >> 4)
        at += length + 6
    return numbers, outside


def ask(port, text):
    """The reply of the caster until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=harness.LIMIT) as one:
        one.sendall(text.encode())
        data = b""
        while more := one.recv(65536):
            data += more
        return data.decode()


def stream(port, text, wanted):
    """The header and the bytes of a stream, until each wanted message was in it twice: it begins within an epoch, and a whole one follows."""
    with socket.create_connection(("127.0.0.1", port), timeout=harness.LIMIT) as one:
        one.sendall(text.encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += one.recv(65536)
        header, _, data = data.partition(b"\r\n\r\n")
        is_chunked = b"chunked" in header

        def content():
            if not is_chunked:
                return data
            rest, parts = data, b""
            while b"\r\n" in rest:
                size, _, rest = rest.partition(b"\r\n")
                if len(rest) < int(size, 16) + 2:
                    break
                parts, rest = parts + rest[:int(size, 16)], rest[int(size, 16) + 2:]
            return parts
        while min(frames(content())[0].count(number) for number in wanted) < 2:
            more = one.recv(65536)
            expect(more, "the caster closed the stream")
            data += more
        expect_equal(frames(content())[1], 0, "bytes outside of frames")
        return header.decode(), content()


def settings(receiver, variables):
    """The settings of the receiver by name."""
    found = subprocess.run([program(), "configure", "show", "--device", receiver.link, "--json"], env=variables, capture_output=True, text=True)
    expect_equal(found.returncode, 0, f"configure show: {found.stderr}")
    return found.stdout


def base(receiver, variables, *words):
    started = Program(program(), "base", "--device", receiver.link, *words, env=variables)
    if "--caster" in words:
        started.wait_for_message("rovers connect to")
    return started


def caster(folder):
    variables, port = environment(folder), free_port()
    with Simulator(folder, "f9p", scenario=SCENARIO) as receiver:
        before = settings(receiver, variables)
        with base(receiver, variables, "--survey", "5,20", "--caster", f"{port}/BASE") as program_of_base:
            program_of_base.wait_for_message("survey .*valid; the position is 48.16")
            wanted = {1005, 1077, 1087, 1097, 1127, 1230}
            header, data = stream(port, "GET /BASE HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\nUser-Agent: NTRIP rig\r\n\r\n", wanted)
            expect(header.startswith("HTTP/1.1 200 OK") and "gnss/data" in header, header)
            header, _ = stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", wanted)
            expect_equal(header, "ICY 200 OK", "the header of version 1")
            table = ask(port, "GET / HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\n\r\n")
            expect("STR;BASE;BASE;RTCM 3.3;1005(1),1077(1),1087(1),1097(1),1127(1),1230(1);2;GPS+GLO+GAL+BDS;none;;48.16;11.61;" in table, table)
            expect(ask(port, "GET /NONE HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\n\r\n").startswith("HTTP/1.1 404"), "an unknown mount point")
            expect(ask(port, "GET /NONE HTTP/1.0\r\n\r\n").startswith("SOURCETABLE 200 OK"), "an unknown mount point of version 1")
            expect(ask(port, "POST /BASE HTTP/1.1\r\nHost: x\r\nNtrip-Version: Ntrip/2.0\r\n\r\n").startswith("HTTP/1.1 405"), "a source")
            program_of_base.wait_for_message("a client is connected .NTRIP rig.")
            decoded = convbin(folder, data)
            program_of_base.terminate()
        expect_equal(settings(receiver, variables), before, "the settings after the end")
        with base(receiver, variables, "--survey", "600,2", "--caster", f"{port}/BASE") as killed:
            stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", {1077})
            killed.process.send_signal(signal.SIGKILL)
            killed.process.wait()
        expect_equal(settings(receiver, variables), before, "the settings after a kill")
    return decoded


def convbin(folder, data):
    """Decodes a stream with rtklib's convbin. Returns what was checked."""
    if not shutil.which("convbin"):
        return "without convbin"
    with open(f"{folder}/base.rtcm3", "wb") as file:
        file.write(data)
    done = subprocess.run(["convbin", "-r", "rtcm3", "-v", "3.04", "-o", f"{folder}/base.obs", f"{folder}/base.rtcm3"],
                          capture_output=True, text=True)
    with open(f"{folder}/base.obs") as file:
        text = file.read()
    body = text.partition("END OF HEADER")[2]
    systems = {line[0] for line in body.splitlines() if line[:1] in "GREC" and line[1:3].strip().isdigit()}
    expect_equal(systems, set("GREC"), f"the constellations that convbin decodes ({done.stderr[-300:]})")
    expect("APPROX POSITION XYZ" in text and "4175" in text.split("APPROX POSITION")[0].splitlines()[-1], "the position of 1005")
    return f"convbin: {sum(line.startswith('>') for line in body.splitlines())} epochs"


def others(folder):
    """Receivers of other makers: the survey, the stream, and the receiver afterwards."""
    port = free_port()
    for model, query, reply in (("um980", b"MODE\r\n", b";MODE ROVER SURVEY,"), ("lg290p", b"$PQTMCFGRCVRMODE,R*32\r\n", b"PQTMCFGRCVRMODE,OK,1*")):
        variables = environment(f"{folder}/{model}")
        os.makedirs(f"{folder}/of-{model}")
        with Simulator(f"{folder}/of-{model}", model, scenario=SCENARIO) as receiver:
            with base(receiver, variables, "--survey", "5,50", "--caster", f"{port}/BASE") as surveying:
                surveying.wait_for_message("; the position is 48.16", 90)
                stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", {1005, 1074, 1084, 1094, 1124})
                surveying.terminate()
            line = os.open(receiver.link, os.O_RDWR | os.O_NOCTTY)
            try:
                # Without an echo of the receiver's sentences.
                tty.setraw(line)
                os.write(line, query)
                data = b""

                def answered():
                    nonlocal data
                    data += os.read(line, 4096) if select.select([line], [], [], 0.2)[0] else b""
                    return reply in data
                wait_until(answered, lambda: f"the mode after the end: {data[-500:]}")
            finally:
                os.close(line)


def refusals(folder):
    variables = environment(folder)
    with Simulator(folder, "m9", scenario=SCENARIO) as receiver:
        before = settings(receiver, variables)
        with base(receiver, variables, "--survey", "60,2") as refused:
            expect_equal(refused.process.wait(harness.LIMIT), 69, "the exit code")
            refused.wait_for_message("NEO-M9N.* cannot be a base station")
        expect_equal(settings(receiver, variables), before, "the settings")
    for words in (["--survey", "0,2"], ["--survey", "60"], ["--position=91,0,0"], [], ["--survey", "60,2", "--position=0,0,0"],
                  ["--survey", "60,2", "--caster", "x/B"], ["--survey", "60,2", "--push", "ntrip://c/M"]):
        done = subprocess.run([program(), "base", "--device", "/dev/null", *words], env=variables, capture_output=True, text=True)
        expect_equal(done.returncode, 64, f"the exit code of {words}: {done.stderr}")


def wrong_position(folder):
    variables, port = environment(folder), free_port()
    with Simulator(folder, "f9p", scenario=SCENARIO) as receiver:
        with base(receiver, variables, "--position=48.1732,11.6056,557.6", "--caster", f"{port}/BASE") as wrong:
            wrong.wait_for_message(r"the given position is (99\d|100\d|101\d) m away from the receiver's own")
            stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", {1005})
            wrong.terminate()
        with base(receiver, variables, f"--position={POSITION}", "--caster", f"{port}/BASE") as right:
            stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", {1005})
            right.terminate()
        expect("away from the receiver" not in right.errors, f"a right position is reported: {right.errors}")


class Server:
    """A caster for sources, or plain TCP. `answer` gets the request, and returns the reply; None closes the connection."""

    def __init__(self, answer=None):
        self.answer, self.requests, self.data = answer, [], b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            one, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one):
        with one:
            if self.answer:
                request = b""
                while not request.endswith(b"\r\n\r\n"):
                    request += one.recv(1)
                self.requests.append(request.decode())
                reply = self.answer(request.decode())
                if reply is None:
                    return
                one.sendall(reply.encode())
                if " 200 " not in reply:
                    return
            while more := one.recv(65536):
                self.data += more


def push(folder):
    variables = environment(folder, SEXTANT_NTRIP_PASSWORD="pass-of-the-rig")
    new = Server(lambda _: "HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\n\r\n")
    old = Server(lambda request: "ICY 200 OK\r\n" if request.startswith("SOURCE ") else "ERROR - Bad Request\r\n")
    plain = Server()
    with Simulator(folder, "f9p", scenario=SCENARIO) as receiver:
        words = [f"--position={POSITION}", "--push", f"ntrip+post://me@127.0.0.1:{new.port}/NEW",
                 "--push", f"ntrip+post://me@127.0.0.1:{old.port}/OLD", "--push", f"tcp://127.0.0.1:{plain.port}"]
        with base(receiver, variables, *words) as pushing:
            wait_until(lambda: 1005 in frames(plain.data)[0], "no 1005 over TCP")
            wait_until(lambda: 1005 in frames(old.data)[0], lambda: f"no 1005 with version 1: {old.requests} {pushing.errors}")
            wait_until(lambda: new.data.count(b"\xd3\x00") > 2, "nothing with version 2")
            pushing.terminate()
    credentials = base64.b64encode(b"me:pass-of-the-rig").decode()
    expect(new.requests[0].startswith("POST /NEW HTTP/1.1\r\n") and f"Basic {credentials}" in new.requests[0], new.requests[0])
    expect(old.requests[1].startswith("SOURCE pass-of-the-rig /OLD\r\n"), f"{old.requests}")
    expect_equal(frames(plain.data)[1], 0, "bytes outside of frames")
    expect("pass-of-the-rig" not in pushing.errors, "the password is shown")


class Relay:
    """A port that passes the bytes of another one on, in both directions, until it stalls: then it accepts, and sends nothing more."""

    def __init__(self, target=None):
        self.target, self.is_stalled, self.clients = target, False, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            one, _ = self.listener.accept()
            self.clients.append(one)
            if self.target:
                try:
                    other = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    one.close()
                    continue
                for pair in ((one, other), (other, one)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source, sink):
        try:
            while more := source.recv(65536):
                if not self.is_stalled:
                    sink.sendall(more)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def rover(folder):
    """A base and a rover of the service: the caster is killed, is at another port then, and stalls. `status` and a program see it."""
    variables = environment(f"{folder}/base", SEXTANT_CASTER_PASSWORD="pass-of-the-rig")
    ports = [free_port(), free_port()]
    relay = Relay(ports[1])
    path = f"{folder}/location"
    own = environment(f"{folder}/rover", SEXTANT_AUTHORIZATION="always", SEXTANT_NTRIP_PASSWORD="pass-of-the-rig",
                      SEXTANT_CORRECTIONS_STALL_SECONDS="6")
    os.makedirs(f"{folder}/of-base")
    os.makedirs(f"{folder}/of-rover")
    with Simulator(f"{folder}/of-base", "f9p", scenario=SCENARIO) as station, \
            Simulator(f"{folder}/of-rover", "f9p", scenario=SCENARIO) as receiver:
        sources = [f"ntrip://rover@127.0.0.1:{port}/BASE" for port in (ports[0], relay.port)]
        with base(station, variables, f"--position={POSITION}", "--caster", f"{ports[0]}/BASE") as first, \
                Program(program("sextantd"), "--device", receiver.link, "--socket", path, "--gpsd", "off", "--corrections",
                        sources[0], "--corrections", sources[1], env=own) as daemon:
            wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
            client = environment(f"{folder}/program", SEXTANT_SERVICE=path)

            def wait_for(text, **wanted):
                last = {}

                def look():
                    found = subprocess.run([program(), "status", "--json"], env=client, capture_output=True, text=True)
                    last.clear()
                    # The socket has its name a moment before the daemon listens at it.
                    if found.returncode:
                        last["refused"] = found.stderr
                        return False
                    last.update(json.loads(found.stdout)["receivers"][0])
                    values = {**last, **last.get("corrections", {})}
                    return all(values.get(name) == value for name, value in wanted.items())
                wait_until(look, lambda: f"{text}: {last}; {daemon.errors[-1500:]}; {first.errors[-1500:]}")

            def wait_for_accuracy(text, least, most):
                # The next locations only: earlier ones are of an earlier state.
                begin = len(tracking.events)

                def found():
                    values = [place["horizontalAccuracy"] for event in tracking.events[begin:] for place in event.get("locations", [])]
                    return any(least < value <= most for value in values)
                wait_until(found, lambda: f"{text}: {tracking.events[-3:]}", 90)
            with Program(program(), "track", "--json", "--accuracy", "best", env=client) as tracking:
                wait_for("the solution with the own caster", solution="fixed", state="flowing",
                         source=f"ntrip://127.0.0.1:{ports[0]}/BASE")
                wait_for_accuracy("the accuracy of the program with corrections", 0, 0.1)
                first.process.send_signal(signal.SIGKILL)
                first.process.wait()
                wait_for("the caster is killed", state="waiting")
                with base(station, variables, f"--position={POSITION}", "--caster", f"{ports[1]}/BASE") as second:
                    wait_for("the caster at another port", solution="fixed", state="flowing",
                             source=f"ntrip://127.0.0.1:{relay.port}/BASE")
                    relay.is_stalled = True
                    # The age of the corrections is the only sign.
                    wait_for("the caster stalls", state="waiting")
                    daemon.wait_for_message("has sent nothing for 6 s")
                    wait_for_accuracy("the accuracy of the program without corrections", 0.1, 10)
                    wait_for("the solution without corrections", solution="standard")
                    relay.is_stalled = False
                    wait_for("the caster sends again", solution="fixed", state="flowing")
                    wait_for_accuracy("the accuracy of the program with corrections again", 0, 0.1)
                    second.terminate()
                tracking.terminate(None)
            daemon.terminate()


# Broadcast by u-blox, encrypted: orbits, areas, and orbits of another day, from the tests of u-blox's ubxlib and of pyspartn.
RECORDED_SPARTN = [
    "7300166908bf33d0786c2d482a18f0c03e1d9c377e9a5ee839c60ebddea97d43b91796c704af9a4bbf7065c36680ca45201641a4142b5bd4116f64",
    "730407e4050af06c25482444bccf80364de831b75f944bbfc8bfa0d7",
    "730012e2007c105b1248f509a0b42b990215e20585b783c5fd0ffedf18be7f7620c36082981007dceb827fcff89ea37461ad"]


def spartn(kind, payload, key):
    """An encrypted SPARTN frame of this type (0 orbits, 1 atmosphere, 2 areas) with CRC-24 (SPARTN 2.0.1, transport layer). Its payload is
    not encrypted in fact: the simulated receiver has the keys, and decrypts nothing."""
    start = kind << 13 | len(payload) << 3 | 1 << 2 | 2
    check = 0
    for half in (start >> 12, start >> 16, start >> 4, start >> 8, 0, start):
        check ^= half & 15
        for _ in range(4):
            check = check >> 1 ^ (9 if check & 1 else 0)
    body = (start << 4 | check).to_bytes(3, "big") + (4711 << 11).to_bytes(4, "big") + (key << 12).to_bytes(2, "big") + payload
    remainder = 0
    for byte in body:
        remainder ^= byte << 16
        for _ in range(8):
            remainder = remainder << 1 ^ (0x1864CFB if remainder & 0x800000 else 0)
    return b"\x73" + body + remainder.to_bytes(3, "big")


class SPARTNSource:
    """Plain TCP: the recorded frames once, then areas, orbits and atmosphere each second."""

    def __init__(self):
        self.frames = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            one, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one):
        try:
            frames = [bytes.fromhex(text) for text in RECORDED_SPARTN]
            while True:
                one.sendall(b"".join(frames))
                self.frames += len(frames)
                frames = [spartn(kind, bytes(80), 5) for kind in (2, 0, 1)]
                time.sleep(1)
        except OSError:
            pass


def encrypted(folder):
    """A rover of the service with encrypted SPARTN: a file of keys with a mistake, then a correct one. The receiver uses the corrections with the
    keys only, and has its settings again at the end. A receiver without SPARTN gets nothing."""
    source, path, file = SPARTNSource(), f"{folder}/location", f"{folder}/spartn-keys"
    own = environment(f"{folder}/daemon", SEXTANT_AUTHORIZATION="always", SEXTANT_SPARTN_KEYS_FILE=file)
    client = environment(f"{folder}/program", SEXTANT_SERVICE=path)
    outputs, keys = [], ["a1b2c3d4e5f60718293a4b5c6d7e8f90", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"]
    # GPS is 18 s ahead of UTC. The last key ends after four weeks: within the next one.
    day = int(time.time() - 315_964_800 + 18) // 86400 * 86400

    def write(*lines):
        with open(file, "w") as one:
            one.write("# keys of the rig\n" + "".join(f"{line}\n" for line in lines))

    def status(*words):
        found = subprocess.run([program(), "status", *words], env=client, capture_output=True, text=True)
        outputs.append(found.stdout + found.stderr)
        return found.stdout

    def wait_for(text, daemon, **wanted):
        last = {}

        def look():
            found = status("--json")
            last.clear()
            last.update(json.loads(found)["receivers"][0] if found else {})
            values = {**last, **last.get("corrections", {}), "keys": last.get("corrections", {}).get("keys", {}).get("state")}
            return all(values.get(name) == value for name, value in wanted.items())
        wait_until(look, lambda: f"{text}: {last}; {daemon.errors[-1500:]}", 60)
        return last

    def daemon_at(receiver):
        if os.path.exists(path):
            os.unlink(path)
        return Program(program("sextantd"), "--device", receiver.link, "--socket", path, "--gpsd", "off", "--corrections",
                       f"tcp://127.0.0.1:{source.port}", env=own)

    def replies(receiver, message, variables=None):
        found = subprocess.run([program(), "poll", message, "--device", receiver.link, "--json"],
                               env=variables or environment(f"{folder}/poll"), capture_output=True, text=True)
        expect_equal(found.returncode, 0, f"poll {message}: {found.stderr}")
        return json.loads(found.stdout.splitlines()[0])["fields"]

    for name in ("of-rover", "of-other"):
        os.makedirs(f"{folder}/{name}")
    with Simulator(f"{folder}/of-rover", "f9p", scenario=SCENARIO) as receiver:
        done = subprocess.run([program(), "configure", "set", "CFG-SPARTN-USE_SOURCE=1", "CFG-UART1INPROT-SPARTN=0", "--device", receiver.link],
                              env=environment(f"{folder}/configure"), capture_output=True, text=True)
        expect_equal(done.returncode, 0, f"configure set: {done.stderr}")
        before = settings(receiver, environment(f"{folder}/before"))
        write(f"{keys[0]} 2446")
        with daemon_at(receiver) as daemon:
            wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
            with Program(program(), "track", "--json", "--accuracy", "best", env=client) as tracking:
                daemon.wait_for_message(f"{file}: line 2: write KEY WEEK SECOND.*correct the file")
                wait_for("without keys", daemon, solution="standard", state="flowing", keys="unreadable")
                begins = [day - days * 86400 for days in (40, 25)]
                write(*(f"{key} {begin // 604800} {begin % 604800}" for key, begin in zip(keys, begins)))
                found = wait_for("with keys", daemon, solution="float", keys="valid")
                expect(found["corrections"]["keys"]["validUntil"].endswith("Z"), f"{found}")
                expect("keys valid until 20" in status(), outputs[-1])
                # While the receiver is awake: a busy computer sends the command behind a wake-up byte so late that its begin is lost.
                port = replies(receiver, "MON-COMMS", client)["groups"][0]
                sent, read = source.frames, port["msgs"][3]
                tracking.terminate(None)
            daemon.wait_for_message(f"{file}: the last SPARTN key expires at 20")
            daemon.terminate()
            expect_equal(daemon.errors.count("the last SPARTN key expires"), 1, "reports of the end of the keys")
            outputs.append(daemon.errors)
        expect(10 < read <= sent and port["skipped"] == 0, f"the receiver reads {read} of {sent} SPARTN frames, and skips {port['skipped']} bytes")
        # The first key has been replaced by the last one.
        expect_equal(bytes(replies(receiver, "RXM-SPARTN-KEY")["key"]).hex(), keys[1], "the keys of the receiver")
        expect_equal(settings(receiver, environment(f"{folder}/before")), before, "the settings after the end")
    with Simulator(f"{folder}/of-other", "m9", scenario=SCENARIO) as receiver, daemon_at(receiver) as daemon:
        wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
        with Program(program(), "track", "--json", "--accuracy", "best", env=client) as tracking:
            daemon.wait_for_message("NEO-M9N accepts no SPARTN corrections; use a source of RTCM 3")
            tracking.terminate(None)
        daemon.terminate()
        outputs.append(daemon.errors)
    for key in keys:
        expect(not any(key in text.lower() for text in outputs), "a key is shown")
    return f"{read} of {sent} frames read"


def nearest(folder):
    """A rover whose caster is named without a mount point: its source table has one."""
    variables, port = environment(folder), free_port()
    os.makedirs(f"{folder}/of-base")
    os.makedirs(f"{folder}/of-rover")
    with Simulator(f"{folder}/of-base", "f9p", scenario=SCENARIO) as station, \
            Simulator(f"{folder}/of-rover", "f9p", scenario=SCENARIO) as receiver:
        with base(station, variables, f"--position={POSITION}", "--caster", f"{port}/BASE") as serving:
            # The source table has the position of the first 1005.
            stream(port, "GET /BASE HTTP/1.0\r\nUser-Agent: NTRIP old\r\n\r\n", {1005})
            with Program(program(), "watch", "--device", receiver.link, "--json", "--corrections", f"ntrip://127.0.0.1:{port}/",
                         env=environment(f"{folder}/rover")) as watching:
                watching.wait_for_message("BASE: the nearest mount point with RTCM 3, [01] km away")
                # gpsd's status of a fixed solution.
                watching.wait_for_line('"status":3')
                watching.terminate(None)
            serving.terminate()


def str2str(folder):
    """rtklib's str2str as a client of the caster, and as a caster for a source of the receiver's."""
    if not shutil.which("str2str"):
        return "without str2str"
    variables, port = environment(folder), free_port()
    os.makedirs(f"{folder}/of-rover")
    with Simulator(folder, "f9p", scenario=SCENARIO) as receiver:
        with base(receiver, variables, f"--position={POSITION}", "--caster", f"{port}/BASE") as serving:
            with Program("str2str", "-in", f"ntrip://127.0.0.1:{port}/BASE", "-out", f"file://{folder}/str2str.rtcm3"):
                def numbers():
                    path = f"{folder}/str2str.rtcm3"
                    return frames(open(path, "rb").read())[0] if os.path.exists(path) else []
                wait_until(lambda: {1005, 1077} <= set(numbers()), lambda: f"str2str gets {numbers()[:9]}: {serving.errors[-800:]}")
            serving.terminate()
        # The base pushes to str2str, which serves a rover as a caster.
        ports = [free_port(), free_port(), free_port()]
        with Program("str2str", "-in", f"tcpsvr://:{ports[0]}", "-out", f"ntripc://:{ports[1]}/STR", "-out", f"tcpsvr://:{ports[2]}"), \
                base(receiver, variables, f"--position={POSITION}", "--push", f"tcp://127.0.0.1:{ports[0]}") as pushing, \
                Simulator(f"{folder}/of-rover", "f9p", scenario=SCENARIO) as rover_of_str2str, \
                Program(program(), "watch", "--device", rover_of_str2str.link, "--json", "--corrections",
                        f"ntrip://127.0.0.1:{ports[1]}/STR", env=environment(f"{folder}/rover")) as watching:
            watching.wait_for_line('"status":3')
            watching.terminate(None)
            # Another rover: the first one is fixed for a while without corrections.
            os.makedirs(f"{folder}/of-second")
            with Simulator(f"{folder}/of-second", "f9p", scenario=SCENARIO) as second, \
                    Program(program(), "watch", "--device", second.link, "--json", "--corrections", f"tcp://127.0.0.1:{ports[2]}",
                            env=environment(f"{folder}/second")) as of_source:
                of_source.wait_for_line('"status":3')
                of_source.terminate(None)
            pushing.terminate()
    return "str2str as a client, as a caster and as a source"


def pygnssutils(folder):
    """PyPI's pygnssutils as a client of the caster, and as the caster of a rover of the service."""
    install_peers()
    variables, port = environment(folder), free_port()
    python = environment(f"{folder}/python", PYTHONPATH=str(PEERS))
    os.makedirs(f"{folder}/of-rover")
    with Simulator(folder, "f9p", scenario=SCENARIO) as receiver:
        with base(receiver, variables, f"--position={POSITION}", "--caster", f"{port}/BASE") as serving:
            for version in ("1.0", "2.0"):
                path = f"{folder}/ntrip-{version}.rtcm3"
                # Its command does not start in version 1.3.1: the class does.
                text = ("import sys, time\nfrom pygnssutils.gnssntripclient import GNSSNTRIPClient\n"
                        "with open(sys.argv[1], 'wb') as file, GNSSNTRIPClient() as client:\n"
                        "    client.run(server='127.0.0.1', port=int(sys.argv[2]), mountpoint='BASE', version=sys.argv[3], output=file)\n"
                        "    time.sleep(600)\n")
                with Program(sys.executable, "-c", text, path, f"{port}", version, env=python) as client:
                    def numbers():
                        return frames(open(path, "rb").read())[0] if os.path.exists(path) else []
                    wait_until(lambda: {1005, 1077} <= set(numbers()),
                               lambda: f"version {version}: {numbers()[:9]}: {client.errors[-800:]} {serving.errors[-800:]}")
            serving.terminate()
        # The stream of the base is the source of its caster, which a rover of the service reads.
        junction, mount = Junction(), free_port()
        path = f"{folder}/location"
        own = environment(f"{folder}/rover", SEXTANT_AUTHORIZATION="always", SEXTANT_NTRIP_PASSWORD="password")
        with base(receiver, variables, f"--position={POSITION}", "--push", f"tcp://127.0.0.1:{junction.inward.port}") as pushing, \
                Program(sys.executable, "-m", "pygnssutils.gnssserver_cli", "-S", f"127.0.0.1:{junction.outward.port}", "-O", f"{mount}",
                        "-H", "127.0.0.1", "-N", "1", "--protfilter", "4", "--ntripuser", "anon", "--ntrippassword", "password",
                        env=python) as serving, \
                Simulator(f"{folder}/of-rover", "f9p", scenario=SCENARIO) as rover_of_python:
            wait_until(lambda: is_open(mount), lambda: f"no caster: {serving.errors[-800:]}")
            with Program(program("sextantd"), "--device", rover_of_python.link, "--socket", path, "--gpsd", "off", "--corrections",
                         f"ntrip://anon@127.0.0.1:{mount}/pygnssutils", env=own) as daemon:
                wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
                client = environment(f"{folder}/program", SEXTANT_SERVICE=path)
                with Program(program(), "track", "--json", "--accuracy", "best", env=client) as tracking:
                    wait_until(lambda: any(place["horizontalAccuracy"] <= 0.1 for event in tracking.events
                                           for place in event.get("locations", [])),
                               lambda: f"no fixed solution: {daemon.errors[-800:]} {serving.errors[-800:]}", 60)
                    tracking.terminate(None)
                daemon.terminate()
            pushing.terminate()
    return "pygnssutils as a client of both versions and as a caster"


def is_open(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


class Junction:
    """Two ports: what comes in at one goes out at the other."""

    def __init__(self):
        self.inward, self.outward = Server(), Relay()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        at = 0
        while True:
            end = len(self.inward.data)
            for one in list(self.outward.clients) if end > at else []:
                try:
                    one.sendall(self.inward.data[at:end])
                except OSError:
                    self.outward.clients.remove(one)
            at = end
            time.sleep(0.05)


if __name__ == "__main__":
    run_checks({"caster": caster, "others": others, "refusals": refusals, "wrong-position": wrong_position, "push": push, "rover": rover,
                "encrypted": encrypted, "nearest": nearest, "str2str": str2str, "pygnssutils": pygnssutils}, harness.arguments(__doc__).checks)
