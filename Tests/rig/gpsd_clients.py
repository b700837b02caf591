#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients of gpsd at sextantd and at Debian's gpsd, each with the same simulated receiver: both serve them, with the same reports.

usage: gpsd_clients.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd

  clients    Debian's clients without a window, collectd, python3-gps, Perl's Net::GPSD3, and PyPI's gpsd-py3 and gpsdclient, at a
             UBX and an NMEA receiver
  reports    one recording of UBX and one of NMEA, replayed to both: the same positions, motions, times and satellites
  corrections  RTCM 3 of a receiver: the same objects from both
  sentences  the sentences of a UBX fix against those of the same receiver in NMEA
  demand     the receiver sleeps while no client watches, between the locations of a client with an interval, and for one that
             polls or does not read
  bytes      ubxtool polls the receiver, for users who may open it
  changes    gpsctl changes rate, cycle and protocol: as with gpsd, but for what DIFFERENT lists
  control    gpsdctl adds and removes a receiver, and the control socket has the replies of gpsd's
  hostile    clients that vanish, do not read, drip, send nonsense or HTTP: the others are served, and nothing is left
  policy     `gpsd = on`, `off` and the limit of the policy
"""
RIG = {"programs": ["sextant", "sextantd"],
       "packages": {"gpsd": "gpsd", "gpsd-clients": "gpspipe", "python3-gps": "python: gps", "collectd-core": "collectd",
           "libnet-gpsd3-perl": "perl: Net::GPSD3", "iproute2": "ip", "bsdutils": "script"},
       "needs": ["root", "network namespaces", "PyPI"], "seconds": 125, "ci": True}

import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

from harness import (LIMIT, Failure, Program, Simulator, arguments, environment, expect, expect_equal, program, run_checks,
                     seconds_of, wait_until)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
from packages import PEERS, install_peers  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, for which python3-gps is.
STILL = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"
WATCH = '?WATCH={"enable":true,"json":true};\n'
# The simulator's, of a receiver that sleeps and of one that does not.
ASLEEP = ("backup", "standby")


def enter(descriptor):
    """Moves this thread into a network: setns(2), which Python has from 3.12 on."""
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0x40000000) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def connect(process):
    """A connection to port 2947 in the network of a process, in which it stays."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    other = os.open(f"/proc/{process}/ns/net", os.O_RDONLY)
    try:
        enter(other)
        return Client(socket.create_connection(("127.0.0.1", 2947), LIMIT))
    finally:
        enter(own)
        os.close(own)
        os.close(other)


class Side:
    """A daemon with port 2947 in a network of its own, so that clients need no address. `receiver` is None for a daemon without;
    `command` starts another one."""

    def __init__(self, folder, kind, receiver, is_read_only=False, command=None):
        self.folder, self.kind = f"{folder}/{kind}", kind
        os.makedirs(self.folder, exist_ok=True)
        # The network lives as long as this process.
        self.network = subprocess.Popen(["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity"],
                                        stdout=subprocess.PIPE, text=True)
        expect_equal(self.network.stdout.readline().strip(), "up", "the network")
        if command is None and kind == "gpsd":
            command = ["gpsd", "-N", "-n", "-F", f"{self.folder}/control", *(["-b"] if is_read_only else [])] + ([receiver] if receiver else [])
        elif command is None:
            command = [program("sextantd")] + (["--device", receiver] if receiver else []) + ["--socket", f"{self.folder}/location", "--gpsd", "localhost:2947",
                       "--nmea", f"{self.folder}/nmea", "--gpsd-control", f"{self.folder}/control",
                       *(["--read-only"] if is_read_only else [])]
        self.daemon = Program(*self.inside(*command), env=environment(self.folder))
        wait_until(self.accepts, f"{kind} accepts no connection")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.kill()
        self.network.kill()
        self.network.wait()

    def inside(self, *command):
        return ("nsenter", f"--net=/proc/{self.network.pid}/ns/net", *command)

    def accepts(self):
        try:
            with self.connect():
                return True
        except OSError:
            return False

    def connect(self):
        return connect(self.network.pid)

    def run(self, *command, **variables):
        """What a client has written, and its exit code; a client that does not end by itself is in `timeout`."""
        done = subprocess.run(self.inside(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LIMIT, env={**os.environ, "TERM": "xterm", **variables})
        return done.stdout.decode(errors="replace"), done.returncode


class Client:
    """A connection that reads objects."""

    def __init__(self, connection):
        self.socket, self.rest = connection, b""
        connection.settimeout(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, text):
        self.socket.sendall(text.encode())

    def line(self):
        """The next line; None at the end."""
        while b"\n" not in self.rest:
            try:
                piece = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not piece:
                return None
            self.rest += piece
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace").strip()

    def objects(self):
        """The objects that come, without end."""
        while (line := self.line()) is not None:
            if line.startswith("{"):
                yield json.loads(line)

    def wait_for(self, name, holds=lambda found: True):
        for found in self.objects():
            if found["class"] == name and holds(found):
                return found
        raise Failure(f"the connection ends before {name}")


def has_fix(report):
    return report.get("mode", 0) >= 2


def wait_for_fix(side):
    with side.connect() as client:
        client.send(WATCH)
        client.wait_for("TPV", has_fix)


def both(folder, model, scenario, body):
    """Runs `body` at both daemons, each with a receiver of its own; returns both results."""
    found = {}
    for kind in ("sextantd", "gpsd"):
        with Simulator(f"{folder}/{model}-{kind}", model, scenario=scenario) as receiver, Side(f"{folder}/{model}", kind,
                                                                                              receiver.link) as side:
            found[kind] = body(side)
    return found["sextantd"], found["gpsd"]


# MARK: Clients

GPS = """
import gps
session = gps.gps(mode=gps.WATCH_ENABLE | gps.WATCH_NEWSTYLE)
for report in session:
    if report["class"] == "TPV" and getattr(report, "mode", 0) >= 2:
        print("position", report.lat, report.lon)
        break
"""
GPSD_PY3 = """
import gpsd, time
gpsd.connect()
while True:
    try:
        packet = gpsd.get_current()
        if packet.mode >= 2 and packet.sats > 0:
            break
    except UserWarning:
        pass
    time.sleep(0.2)
print("position", *packet.position(), gpsd.device()["driver"] != "")
"""
GPSDCLIENT = """
from gpsdclient import GPSDClient
with GPSDClient() as client:
    for found in client.dict_stream(convert_datetime=True, filter=["TPV"]):
        if found.get("mode", 0) >= 2:
            print("position", found["lat"], found["lon"])
            break
"""
GPSD3 = """
my $gpsd = Net::GPSD3->new;
$gpsd->addHandler(sub {
  my $report = shift;
  return unless $report->class eq "TPV" and ($report->mode || 0) >= 2;
  print "position ", $report->lat, " ", $report->lon, "\\n";
  exit 0;
});
$gpsd->watch;
"""
# The plugin csv writes to standard output.
COLLECTD = """
printf 'BaseDir "%s"\\nInterval 1\\nLoadPlugin gps\\nLoadPlugin csv\\n<Plugin csv>\\nDataDir "stdout"\\n</Plugin>\\n' "$FOLDER" > "$FOLDER/collectd"
exec collectd -f -C "$FOLDER/collectd"
"""
POSITION = r"position 48\.16\d+ 11\.60\d+"



# By name: the command, and what it has to write. The commands wait for what they show.
CLIENTS = {
    "gpspipe -w": (["gpspipe", "-w", "-n", "12"], r'"class":"TPV".*"lat":48\.16'),
    "gpspipe -S": (["gpspipe", "-S", "-w", "-n", "12"], r'"class":"SKY"(?s:.*)"class":"TPV"|"class":"TPV"(?s:.*)"class":"SKY"'),
    "gpspipe -r": (["gpspipe", "-r", "-n", "24"], r"^\$G[NP]GGA,\d+\.\d+,4809\.\d+,N,01136\.\d+,E,1,"),
    "gpspipe -R": (["gpspipe", "-R", "-n", "24"], r"\$G[NP]GGA|\xb5b|�b"),
    "gpscsv": (["gpscsv", "-n", "2"], r"^\d{4}-.*Z,48\.16\d+,11\.60\d+"),
    "gpsctl": (["gpsctl"], r"identified as a (u-blox|NMEA0183)"),
    "gpsprof": (["gpsprof", "-n", "9"], r"48\.16\d+"),
    "python3-gps": ([PYTHON, "-c", GPS], POSITION),
    "gpsd-py3": ([sys.executable, "-c", GPSD_PY3], POSITION + " True"),
    "Net::GPSD3": (["perl", "-MNet::GPSD3", "-e", GPSD3], POSITION),
    "gpsdclient": ([sys.executable, "-c", GPSDCLIENT], POSITION),
}
# Those that run until they are ended; script(1) gives them a terminal.
ENDLESS = {
    "gpxlogger": (["gpxlogger", "-i", "1", "localhost"], r'<trkpt lat="48\.16'),
    "cgps": (["script", "-qefc", "cgps", "/dev/null"], r"Latitude(?s:.*)48\.16\d+ ?N"),
    "gpsmon": (["script", "-qefc", "gpsmon", "/dev/null"], r"(u-blox|NMEA0183|JSON)(?s:.*)(GGA|b562|class)"),
    "collectd": (["sh", "-c", COLLECTD], r"gps/satellites\S* interval=1\S* \d+\.\d+:[1-9]"),
    "ubxtool": (["ubxtool", "-w", "600", "-v", "2"], r"UBX-NAV-PVT|GGA"),
}


def packages_of(name):
    return {"PYTHONPATH": str(PEERS)} if name in ("gpsd-py3", "gpsdclient") else {}


def clients_at(side):
    wait_for_fix(side)
    with contextlib.ExitStack() as stack:
        # All at once, as programs of a desktop.
        def start(name, command, **options):
            variables = {"FOLDER": side.folder, "TERM": "xterm", "LINES": "40", "COLUMNS": "100", **packages_of(name)}
            return stack.enter_context(Program(*side.inside(*command), env={**os.environ, **variables}, **options))
        running = {name: start(name, command) for name, (command, _) in CLIENTS.items()}
        files = {name: f"{side.folder}/{name}" for name in ENDLESS}

        def start_endless(name):
            return start(name, ENDLESS[name][0], stdout=stack.enter_context(open(files[name], "ab")))
        endless = {name: start_endless(name) for name in ENDLESS}
        found = {}
        for name, one in running.items():
            code = one.wait_for_exit(None)
            text = one.output + one.errors
            expect(re.search(CLIENTS[name][1], text, re.M), f"{name} at {side.kind} writes {text[-1500:]!r}")
            found[name] = code
        for name, path in files.items():
            def shown():
                with open(path, errors="replace") as file:
                    return file.read()

            def is_shown():
                # gpxlogger ends after five seconds without a report, which a busy machine can make.
                if endless[name].process.poll() is not None:
                    endless[name] = start_endless(name)
                return re.search(ENDLESS[name][1], shown(), re.M)
            wait_until(is_shown, lambda: f"{name} at {side.kind} writes {shown()[-1500:]!r}")
    return found


def clients_end_as_with_gpsd(folder, model):
    ours, theirs = both(folder, model, STILL, clients_at)
    expect_equal(ours, theirs, "the exit codes")
    return f"{len(CLIENTS) + len(ENDLESS)} clients"


# MARK: Reports

# The fields that both write, and the largest difference: gpsd rounds.
FIELDS = {"lat": 2e-8, "lon": 2e-8, "altMSL": 0.06, "speed": 2e-3, "track": 1e-3, "mode": 0}


def collected(side, seconds):
    """The TPV by their times, and the satellites of the last SKY. A side that started late gets the end of the log only."""
    fixes, satellites = {}, {}
    with side.connect() as client, contextlib.suppress(TimeoutError):
        client.send(WATCH)
        begin = time.monotonic()
        for report in client.objects():
            if report["class"] == "TPV" and has_fix(report) and "time" in report:
                fixes.setdefault(report["time"], {}).update(report)
            if report["class"] == "SKY":
                for one in report.get("satellites", []):
                    satellites[one["gnssid"], one["svid"]] = (one.get("el"), one.get("az"), one["used"])
            if len(fixes) >= seconds or time.monotonic() > begin + 3 * seconds:
                return fixes, satellites
        raise Failure(f"{side.kind} ends the connection")
    return fixes, satellites


def log_of(folder, model, seconds=24):
    """The bytes of a receiver that walks: of UBX as sextantd configures it, else as the receiver sends by itself."""
    with Simulator(f"{folder}/log", model, scenario=WALK) as receiver, Side(folder, "sextantd", receiver.link) as side:
        wait_for_fix(side)
        with side.connect() as client:
            client.wait_for("VERSION")
            client.send('?WATCH={"enable":true,"raw":2};\n')
            client.line(), client.line()
            data, begin = client.rest, time.monotonic()
            while time.monotonic() < begin + seconds:
                data += client.socket.recv(65536)
    path = f"{folder}/{model}.log"
    with open(path, "wb") as file:
        file.write(data)
    return path


def reports_are_the_same(folder, model):
    log = log_of(folder, model)
    found = {}
    for kind in ("sextantd", "gpsd"):
        with Program(program(), "simulate", "--replay", log, "--link", f"{folder}/replay-{kind}") as replay:
            replay.wait_for_line("^/dev/")
            with Side(f"{folder}/side", kind, f"{folder}/replay-{kind}") as side:
                found[kind] = collected(side, 16)
    (ours, our_sky), (theirs, their_sky) = found["sextantd"], found["gpsd"]
    # One side may start some seconds later than the other. The log may begin within an epoch.
    common = sorted(set(ours) & set(theirs))[1:]
    expect(len(common) >= 4, f"common times are {common}: {sorted(ours)} and {sorted(theirs)}")
    different = {}
    for at in common:
        for field, most in FIELDS.items():
            a, b = ours[at].get(field), theirs[at].get(field)
            if (a is None) != (b is None) or a is not None and abs(a - b) > most:
                different[f"{field} {at}"] = (a, b)
    expect(not different, f"differences of {len(common)} epochs: {different}")
    shared = set(our_sky) & set(their_sky)
    expect(len(shared) >= 8, f"satellites are {sorted(our_sky)} and {sorted(their_sky)}")
    expect_equal({one: our_sky[one][:2] for one in shared if None not in our_sky[one][:2]},
                 {one: their_sky[one][:2] for one in shared if None not in our_sky[one][:2]}, "the places of satellites")
    return f"{len(common)} epochs, {len(shared)} satellites"


# RTCM 3 of a station: 1006, its place; 1033, its equipment; 4072, a vendor's.
CORRECTIONS = [bytes.fromhex(digits) for digits in (
    "d300153ee7d30302980edeef34b4bd62ac0941986f333b8218152f",
    "d3001f4097d30854524d35393830300703534e31045345505403342e310433303031d3951f", "d30007fe800000000005d7846f")]


def corrections_are_the_same(folder):
    """A receiver that sends corrections too: both have the same objects of them."""
    with open(log_of(folder, "nmea"), "rb") as file:
        sentences = file.read().splitlines(keepends=True)
    log = f"{folder}/corrections.log"
    with open(log, "wb") as file:
        for number, sentence in enumerate(sentences):
            file.write(sentence + (CORRECTIONS[number // 2 % 3] if number % 2 else b""))
    found = {}
    for kind in ("sextantd", "gpsd"):
        with Program(program(), "simulate", "--replay", log, "--link", f"{folder}/replay-{kind}") as replay:
            replay.wait_for_line("^/dev/")
            with Side(f"{folder}/side", kind, f"{folder}/replay-{kind}") as side, side.connect() as client:
                client.send(WATCH)
                reports = {}
                while len(reports) < len(CORRECTIONS):
                    report = client.wait_for("RTCM3")
                    expect_equal(report.pop("device"), f"{folder}/replay-{kind}", f"the device of {kind}")
                    reports[report["type"]] = report
                found[kind] = reports
    expect_equal(found["sextantd"], found["gpsd"], "the corrections")
    return f"{sorted(found['gpsd'])}"


# MARK: Sentences

def fields_of(lines):
    """The sentences of each time: the values that do not depend on the number of digits."""
    found = {}
    for line in lines:
        parts = line.split("*")[0].split(",")
        if parts[0][3:] == "RMC" and parts[2] == "A":
            found.setdefault(parts[1], {})["RMC"] = (round(float(parts[3]), 4), parts[4], round(float(parts[5]), 4), parts[6], parts[9])
        if parts[0][3:] == "GGA" and parts[6] != "0":
            found.setdefault(parts[1], {})["GGA"] = (round(float(parts[2]), 4), round(float(parts[4]), 4), parts[6])
    return found


def sentences_are_whole(folder):
    """The sentences for clients of NMEA: right checksums, and the same position as the reports of the same time."""
    with Simulator(folder, "m10", scenario=WALK) as receiver, Side(folder, "sextantd", receiver.link) as side:
        wait_for_fix(side)
        with side.connect() as client:
            client.send('?WATCH={"enable":true,"json":true,"nmea":true};\n')
            lines, fixes = [], {}
            # It sends NMEA until it is configured.
            while len(fixes) < 4 or not any(line[3:6] == "GST" for line in lines):
                line = client.line()
                if line.startswith("$"):
                    lines.append(line)
                elif (report := json.loads(line))["class"] == "TPV" and has_fix(report):
                    fixes[report["time"][11:19].replace(":", "") + ".00"] = report
        for line in lines:
            content, digits = line[1:].split("*")
            sum = 0
            for character in content.encode():
                sum ^= character
            expect_equal(f"{sum:02X}", digits, f"the checksum of {line}")
        found = fields_of(lines)
        # A client that connects while the receiver still sends NMEA gets the rest of an epoch, which has perhaps no RMC.
        for at, sentences in list(found.items())[1:]:
            if at in fixes:
                report = fixes[at]
                expect("RMC" in sentences, f"the epoch of {at} has {list(sentences)} only")
                degrees = sentences["RMC"][0]
                latitude = degrees // 100 + degrees % 100 / 60
                expect(abs(latitude - report["lat"]) < 2e-6, f"RMC {sentences} is not {report}")
        kinds = {line[3:6] for line in lines}
        expect({"RMC", "VTG", "GGA", "GSA", "GSV", "GST", "ZDA"} <= kinds, f"the sentences are {kinds}")
        # The Unix socket has the same.
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(LIMIT)
            plain.connect(f"{side.folder}/nmea")
            expect(plain.recv(4096).startswith(b"$G"), "the socket of NMEA has no sentence")
        side.daemon.process.send_signal(signal.SIGTERM)
        side.daemon.wait_for_exit(0)
        expect(not os.path.exists(f"{side.folder}/nmea"), "the socket of NMEA is left")
    return f"{len(lines)} sentences"


def sentences_are_of_one_receiver(folder):
    """Sentences do not name their receiver: a client of NMEA gets those of one, and of the other one when that is gone."""
    places = {"near": "start 48.1642,11.6056\nhot\nstay forever\n", "far": "start 52.5200,13.4050\nhot\nstay forever\n"}

    def degrees(line):
        parts = line.split(",")
        return parts[3][:2] if parts[0][3:] == "RMC" and parts[2] == "A" else None

    with Simulator(f"{folder}/near", "nmea", scenario=places["near"]) as near, Simulator(f"{folder}/far", "nmea", scenario=places["far"]) as far:
        command = [program("sextantd"), "--device", near.link, "--device", far.link, "--socket", f"{folder}/location",
                   "--gpsd", "localhost:2947", "--nmea", f"{folder}/sentences"]
        with Side(folder, "sextantd", None, command=command) as side, socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(LIMIT)
            plain.connect(f"{folder}/sentences")
            lines = plain.makefile("r", errors="replace")
            found = []
            # Both receivers have a fix by then: a client of gpsd gets the reports of both.
            with side.connect() as client:
                client.send(WATCH)
                client.wait_for("TPV", lambda report: has_fix(report) and report["lat"] > 50)
                client.wait_for("TPV", lambda report: has_fix(report) and report["lat"] < 50)
            while len(found) < 8:
                if place := degrees(next(lines)):
                    found.append(place)
            expect(len(set(found[1:])) == 1, f"the sentences are of two receivers: {found}")
            gone, other = (near, "52") if found[-1] == "48" else (far, "48")
            gone.kill()
            wait_until(lambda: degrees(next(lines)) == other, "no sentence of the other receiver")
    return f"{len(found)} sentences"


# MARK: Demand

def receiver_sleeps_without_clients(folder):
    with Simulator(folder, "m10", scenario=STILL) as receiver, Side(folder, "sextantd", receiver.link) as side:
        with side.connect() as client:
            client.send(WATCH)
            client.wait_for("TPV", has_fix)
            shown, _ = side.run(program(), "status", "--json", "--socket", f"{side.folder}/location")
            programs = json.loads(shown)["programs"]
            expect_equal([(one["name"], one["demands"]) for one in programs], [("gpsd", ["updates"])], "the programs")
            client.send('?WATCH={"enable":false};\n')
            receiver.wait_for_state(*ASLEEP)
            # A connection that only asks does not wake it.
            client.send("?POLL;?DEVICES;\n")
            expect_equal(client.wait_for("POLL")["active"], 0, "the number of active receivers")
            expect(receiver.status()["state"] in ASLEEP, "the receiver was woken")
            client.send(WATCH)
            client.wait_for("TPV", has_fix)
        receiver.wait_for_state(*ASLEEP)
        with side.connect() as client:
            client.send('?WATCH={"enable":true,"json":true,"sextant":{"interval":20,"accuracy":100}};\n')
            first = client.wait_for("TPV", has_fix)
            receiver.wait_for_state(*ASLEEP)
            client.send("?POLL;\n")
            poll = client.wait_for("POLL")
            expect(poll["active"] == 0 and has_fix(poll["tpv"][0]), f"it polls {poll}")
            client.wait_for("TPV", lambda report: has_fix(report) and report["time"] > first["time"])
        receiver.wait_for_state(*ASLEEP)
        # A client that reads no reports has one location with its watch, and one for each poll.
        with side.connect() as client:
            client.send('?WATCH={"enable":true};\n')
            receiver.wait_for_status(lambda status: status["state"] not in ASLEEP, "the receiver is not woken")
            receiver.wait_for_state(*ASLEEP)
            client.send("?POLL;\n")
            expect(has_fix(client.wait_for("POLL")["tpv"][0]), "POLL has no fix")
            # The same for one whose reports stay unread. Its buffer has a size of its own: the kernel enlarges others to megabytes.
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32_768)
            client.send(WATCH)
            receiver.wait_for_status(lambda status: status["state"] not in ASLEEP, "the receiver is not woken for the reports")
            begin = time.monotonic()
            receiver.wait_for_status(lambda status: status["state"] in ASLEEP, "unread reports keep the receiver on")
            unread, asleep = time.monotonic() - begin, time.time()
            # Once it reads again, it gets what has waited, and then new reports.
            client.wait_for("TPV", lambda report: has_fix(report) and seconds_of(report["time"]) > asleep)
    return f"unread reports count as unread after {unread:.0f} s"


# MARK: Bytes for the receiver

def wait_until_configured(client):
    """Waits until the receiver sends UBX."""
    def is_configured():
        client.send("?DEVICE;\n")
        return client.wait_for("DEVICE").get("native") == 1
    wait_until(is_configured, "the receiver is not configured")


def users_of_a_receiver_send_to_it(folder):
    """ubxtool polls the receiver through gpsd's protocol, for users who may open it."""
    with Simulator(folder, "m10", scenario=STILL) as receiver, Side(folder, "sextantd", receiver.link) as side:
        wait_for_fix(side)
        with side.connect() as client:
            client.send(WATCH)
            wait_until_configured(client)
            shown, code = side.run("ubxtool", "-p", "MON-VER", "-w", "8")
            expect(code == 0 and re.search(r"UBX-MON-VER:\n.*ROM SPG", shown), f"ubxtool writes {shown[-1500:]!r}")
            # A message that the service does not poll itself: every client gets every reply.
            poll = ("ubxtool", "-p", "NAV-POSECEF", "-w", "4")
            shown, _ = side.run(*poll)
            expect("UBX-NAV-POSECEF:" in shown, f"ubxtool writes {shown[-1500:]!r}")
            shown, _ = side.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *poll)
            expect("ERROR" in shown, f"another user's ubxtool is not refused: {shown[-1500:]!r}")
            expect("UBX-NAV-POSECEF:" not in shown, "another user's poll is answered")
            shown, code = side.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "gpsctl", "-s", "19200")
            expect(code != 0 and "only users who may open" in shown, f"another user's gpsctl writes {shown!r}")
            # A line of garbage is refused, as `sextant send` refuses it.
            with side.connect() as other:
                other.send('?DEVICE={"hexdata":"b5620a04000000"};\n')
                expect("in no frame" in other.wait_for("ERROR")["message"], "bytes of no frame are sent")
            # The settings that the service needs are written again, and a rate that a message sets is found again.
            for item in ("CFG-MSGOUT-UBX_NAV_PVT_UART1,0,1", "CFG-UART1-BAUDRATE,38400,1"):
                side.run("ubxtool", "-P", "34.10", "-z", item, "-w", "4")
                now = seconds_of(client.wait_for("TPV", has_fix)["time"])
                client.wait_for("TPV", lambda report: has_fix(report) and seconds_of(report["time"]) > now + 10)
                wait_until_configured(client)


# MARK: Changes of the receiver

CHANGES = ["-b", "-s 38400", "-c 0.5", "-s 19200", "-c 1", "-n"]
# The exit codes of sextantd and of gpsd, where they differ, and the reason.
DIFFERENT = {
    "m10 -n": (1, 0, "power control needs UBX; clients get NMEA without it"),
}


def changes_at(side, receiver):
    """The exit codes of gpsctl. A change of sextantd is in effect when gpsctl ends, and the reports go on."""
    found = {}
    with side.connect() as client:
        client.send(WATCH)
        client.wait_for("TPV", has_fix)
        if side.kind == "sextantd" and receiver.model == "m10":
            wait_until_configured(client)
        for change in CHANGES:
            shown, found[change] = side.run("gpsctl", *change.split())
            if side.kind == "sextantd" and receiver.model == "m10" and found[change] == 0:
                option, value = [*change.split(), None][:2]
                if option == "-s":
                    expect_equal(receiver.status()["rate"], int(value), f"the rate after {change}")
                if option == "-c":
                    with side.connect() as other:
                        other.send("?DEVICE;\n")
                        expect_equal(other.wait_for("DEVICE")["cycle"], float(value), change)
                    wait_for_cycle(client, float(value))
            client.wait_for("TPV", has_fix)
    return found


def wait_for_cycle(client, seconds):
    """Waits for two epochs at this interval; those before the change may still come."""
    last = 0
    while True:
        this = seconds_of(client.wait_for("TPV", has_fix)["time"])
        if abs(this - last - seconds) < 0.01:
            return
        last = this


def gpsctl_ends_as_with_gpsd(folder, model):
    found = {}
    for kind in ("sextantd", "gpsd"):
        with Simulator(f"{folder}/{kind}", model, scenario=STILL) as receiver, Side(f"{folder}/side", kind, receiver.link) as side:
            receiver.model = model
            found[kind] = changes_at(side, receiver)
    for change in CHANGES:
        ours, theirs, _ = DIFFERENT.get(f"{model} {change}", (None, None, None))
        expect_equal((found["sextantd"][change], found["gpsd"][change]), (ours, theirs) if ours is not None else
                     (found["gpsd"][change],) * 2, f"the exit codes of gpsctl {change}")
    return f"{found['gpsd']}"


# MARK: The control socket

def control_at(side, receiver):
    """The exit codes of gpsdctl and the first words of the replies, while a receiver is added, used, removed and added again."""
    found = []
    path = f"{side.folder}/control"

    def gpsdctl(*arguments):
        found.append(side.run("gpsdctl", *arguments, GPSD_SOCKET=path)[1])

    def command(text):
        """The lines of the reply to a command."""
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(LIMIT)
            plain.connect(path)
            plain.sendall(text.encode())
            reply = b""
            while not re.search(rb"^(OK|ERROR).*\n", reply, re.M):
                reply += plain.recv(4096)
        # gpsd writes an empty line for each free place.
        return [line.split()[0] for line in reply.decode().splitlines() if line]

    def paths():
        with side.connect() as client:
            client.send("?DEVICES;\n")
            return [device["path"] for device in client.wait_for("DEVICES")["devices"]]

    found.append(command("?devices\n"))
    gpsdctl("add", receiver)
    wait_for_fix(side)
    expect_equal(paths(), [receiver], f"the devices of {side.kind}")
    expect_equal(command("?devices\n"), [receiver, "OK"], f"the devices of {side.kind}")
    found.append(command(f"+{receiver}\n"))
    with side.connect() as client:
        client.send('?WATCH={"enable":true,"json":true};\n')
        client.wait_for("TPV", has_fix)
        if side.kind == "sextantd":
            wait_until_configured(client)
        client.send('?WATCH={"raw":2,"json":false};\n')
        found.append(command(f"&{receiver}=b5620a0400000e34\r\n"))
        seen = b""
        while b"\xb5\x62\x0a\x04" not in seen:
            seen += client.socket.recv(65536)
    for text in (f"!{receiver}=$PUBX,40,GLL,0,0,0,0,0,0\n", "&/dev/none=00\n", f"&{receiver}=0\n", f"!{receiver}\n", "-/dev/none\n",
                 "hello\n"):
        found.append(command(text))
    gpsdctl("remove", receiver)
    expect_equal(paths(), [], f"the devices of {side.kind} after the removal")
    if side.kind == "sextantd":
        wait_until(lambda: not side.daemon.has_open(os.path.realpath(receiver)), "a removed receiver stays open")
    gpsdctl("add", receiver)
    wait_for_fix(side)
    gpsdctl("change", receiver)
    gpsdctl("add")
    return found


def control_socket_is_that_of_gpsd(folder):
    found = {}
    for kind in ("sextantd", "gpsd"):
        with Simulator(f"{folder}/{kind}", "m10", scenario=STILL) as receiver, Side(f"{folder}/side", kind, None) as side:
            # gpsd opens it after it has dropped root's privileges (gpsd(8), "Security and permissions issues").
            node = os.path.realpath(receiver.link)
            os.chmod(node, 0o666)
            # gpsd ends without a device and a subscriber, once it had a device (gpsd(8), "GPS device management").
            with side.connect() as subscriber:
                subscriber.send(WATCH)
                found[kind] = control_at(side, node)
            if kind == "sextantd":
                _, code = side.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "gpsdctl", "remove", node,
                                   GPSD_SOCKET=f"{side.folder}/control")
                expect(code != 0, "another user removes a receiver")
                side.daemon.process.send_signal(signal.SIGTERM)
                side.daemon.wait_for_exit(0)
                expect(not os.path.exists(f"{side.folder}/control"), "the control socket is left")
    expect_equal(found["sextantd"], found["gpsd"], "the exit codes and replies")
    return f"{len(found['gpsd'])} results"


# MARK: Hostile clients

def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def memory(daemon):
    with open(f"/proc/{daemon.process.pid}/smaps_rollup") as file:
        return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+)", file.read(), re.M))


def hostile_clients_change_nothing(folder):
    with Simulator(folder, "m10", scenario=STILL) as receiver, Side(folder, "sextantd", receiver.link) as side:
        with side.connect() as witness:
            witness.send(WATCH)
            witness.wait_for("TPV", has_fix)
            for round in range(2):
                clients = [side.connect() for _ in range(300)]
                for index, client in enumerate(clients):
                    with contextlib.suppress(OSError):
                        client.send(WATCH[:index % len(WATCH)] if round else WATCH)
                for client in clients:
                    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if round else b"\0" * 8)
                    client.socket.close()
                witness.wait_for("TPV", has_fix)
                if round == 0:
                    wait_until(lambda: descriptors(side.daemon) < 60, "descriptors are left")
                    before = memory(side.daemon)
            wait_until(lambda: descriptors(side.daemon) < 60, "descriptors are left")
            expect(memory(side.daemon) < before + 2000, f"memory grew from {before} to {memory(side.daemon)} kB")
            with side.connect() as silent, side.connect() as drip, side.connect() as large, side.connect() as browser:
                silent.send('?WATCH={"enable":true,"json":true,"nmea":true,"raw":1};\n')
                for character in "?WATCH={\"enable\":true,\"json\":true};":
                    drip.send(character)
                drip.wait_for("TPV", has_fix)
                large.send("?WATCH={" + "A" * 10_000 + "};\n?VERSION;\n")
                large.wait_for("ERROR")
                large.wait_for("VERSION")
                browser.send("POST / HTTP/1.1\r\nHost: localhost\r\n\r\n" + WATCH)
                expect_equal([report["class"] for report in browser.objects()], ["VERSION"], "a browser's reports")
                witness.wait_for("TPV", has_fix)
            side.daemon.process.send_signal(signal.SIGTERM)
            side.daemon.wait_for_exit(0)
    return f"{before} kB"


# MARK: Policy

def policy_decides(folder):
    """The policy opens and closes the port, and switches locations off, while the daemon runs."""
    os.makedirs(f"{folder}/etc/sextant")
    policy = f"{folder}/etc/sextant/policy"

    def write(text):
        with open(policy, "w") as file:
            file.write(text)
    write("")
    with Simulator(folder, "m10", scenario=STILL) as receiver:
        script = ('ip link set lo up; mount --bind "$0/etc" /etc; exec "$@"')
        command = ["unshare", "--net", "--mount", "sh", "-c", script, folder, program("sextantd"), "--device", receiver.link, "--socket",
                   f"{folder}/location"]
        with Program(*command, env=environment(folder)) as daemon:
            wait_until(lambda: os.path.exists(f"{folder}/location"), "no socket")

            def listening():
                """The addresses at which port 2947 listens, as /proc/net/tcp and tcp6 write them: proc(5)."""
                found = set()
                for name in ("tcp", "tcp6"):
                    with open(f"/proc/{daemon.process.pid}/net/{name}") as file:
                        found |= set(re.findall(r": (\w+):0B83 \w+:0000 0A ", file.read()))
                return found

            def expect_served(is_served):
                # The loopback addresses, and no other.
                wanted = {"0100007F", "00000000000000000000000001000000"} if is_served else set()
                wait_until(lambda: listening() == wanted, lambda: f"port 2947 listens at {listening()}, not at {wanted}")
            expect_served(False)
            for text, is_served in (("gpsd = on\n", True), ("gpsd = off\n", False), ("gpsd = on\nservices off\n", True)):
                write(text)
                daemon.process.send_signal(signal.SIGHUP)
                expect_served(is_served)
            with connect(daemon.process.pid) as client:
                client.send(WATCH)
                reports = client.objects()
                # VERSION, DEVICES and WATCH come before or after it, and no location comes.
                expect_equal({next(reports)["class"] for _ in range(4)}, {"VERSION", "DEVICES", "WATCH", "ERROR"}, "the reports")
                expect(not daemon.has_open(os.path.realpath(receiver.link)), "the receiver is opened")
                write("gpsd = on\n")
                expect(next(report for report in reports if report["class"] not in ("DEVICE", "SKY"))["class"] == "TPV", "no TPV")
                client.wait_for("TPV", has_fix)
                write("gpsd = on, every 20 s, accuracy 100 m\n")
                daemon.process.send_signal(signal.SIGHUP)
                receiver.wait_for_state(*ASLEEP)
                client.wait_for("TPV", has_fix)
                write("gpsd = off\n")
                daemon.process.send_signal(signal.SIGHUP)
                expect(all(report["class"] in ("TPV", "SKY", "DEVICE") for report in reports), "the connection does not end")
            daemon.terminate()


def checks():
    found = {}
    for model in ("m10", "nmea"):
        found[f"clients {model}"] = lambda folder, model=model: clients_end_as_with_gpsd(folder, model)
        found[f"changes {model}"] = lambda folder, model=model: gpsctl_ends_as_with_gpsd(folder, model)
        found[f"reports {model}"] = lambda folder, model=model: reports_are_the_same(folder, model)
    found["corrections"] = corrections_are_the_same
    found["sentences"] = sentences_are_whole
    found["receivers"] = sentences_are_of_one_receiver
    found["demand"] = receiver_sleeps_without_clients
    found["bytes"] = users_of_a_receiver_send_to_it
    found["control"] = control_socket_is_that_of_gpsd
    found["hostile"] = hostile_clients_change_nothing
    found["policy"] = policy_decides
    return found


if __name__ == "__main__":
    options = arguments(__doc__)
    for tool in ("gpsd", "gpspipe", "unshare", "nsenter", "ip", "script"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is missing; Tests/rig/run gpsd_clients installs it")
    install_peers()
    run_checks(checks(), options.checks)
