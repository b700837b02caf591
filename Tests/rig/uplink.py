#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sextant-uplink with Debian's mosquitto and with an HTTP server: what is due arrives, whatever happens to the server, the program
and the certificates.

usage: uplink.py FOLDER [CHECK ...] [--kills N]

sextantd has a simulated receiver with a fix a second. Everything is on the loopback.
"""
RIG = {"programs": ["sextant", "sextantd", "sextant-uplink"],
       "packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema"}, "seconds": 44, "ci": True}

import contextlib
import http.client
import http.server
import json
import math
import os
import random
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import jsonschema

import harness
from harness import Program, environment, expect, expect_equal, program, run_checks, wait_until


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def service(folder):
    """sextantd with a receiver on a walk."""
    path = f"{folder}/location"
    with Program(program("sextantd"), "--device", "sim:walk", "--socket", path, "--gpsd", "off",
                 env=environment(f"{folder}/daemon", SEXTANT_AUTHORIZATION="always")) as daemon:
        wait_until(lambda: os.path.exists(path), lambda: f"no socket: {daemon.errors[-500:]}")
        variables = environment(f"{folder}/daemon", SEXTANT_SERVICE=path)

        def state():
            found = subprocess.run([program(), "status", "--json"], env=variables, capture_output=True, text=True)
            # A busy machine may answer late.
            return json.loads(found.stdout)["receivers"][0]["state"] if found.returncode == 0 else None
        # Another program keeps the receiver awake. Until it has its settings an epoch can be lost.
        with Program(program(), "track", "--json", env=variables) as other:
            wait_until(lambda: state() == "awake", lambda: f"the receiver does not get its settings: {other.errors[-500:]}")
            mark = len(other.locations())
            wait_until(lambda: len(other.locations()) > mark + 2, "no location after the settings")
            yield path
        daemon.terminate()


class Gate:
    """The network between the program and the broker: closed until the subscriber is there, and cut with each kill."""

    def __init__(self, target):
        self.target, self.is_open, self.pairs, self.lock = target, False, [], threading.Lock()
        self.bytes = self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                if not self.is_open:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs += [near, far]
                self.connections += 1
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                other.sendall(data)
                with self.lock:
                    self.bytes += len(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self.is_open = False
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for one in pairs:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def end_subscriber(subscriber):
    """Ends mosquitto_sub, which has what the broker sent before. Its handler of the signal takes a lock that the interrupted code
    may hold: then it never ends by itself."""
    subscriber.terminate()
    try:
        subscriber.wait(10)
    except subprocess.TimeoutExpired:
        subscriber.kill()
        subscriber.wait()


class Broker:
    """mosquitto with a subscriber that notes every message. A restart loses all that the broker knows."""

    def __init__(self, folder, *lines):
        self.folder, self.own = folder, free_port()
        self.gate = Gate(self.own)
        self.port = self.gate.port
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/mosquitto.conf", "w") as file:
            file.write("\n".join([f"listener {self.own} 127.0.0.1", "allow_anonymous true", "persistence false", *lines, ""]))
        self.messages, self.lock = [], threading.Lock()
        self.options = []
        self.broker = self.subscriber = None

    def start(self):
        self.broker = subprocess.Popen(["/usr/sbin/mosquitto", "-c", f"{self.folder}/mosquitto.conf"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def accepts():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.own), 1):
                return True
        wait_until(accepts, "mosquitto does not listen")
        ready = threading.Event()
        self.subscriber = subprocess.Popen(
            ["stdbuf", "-oL", "mosquitto_sub", "-h", "localhost", "-p", str(self.own), "-t", "#", "-q", "1", "-F", "%t %p", "-d", *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        threading.Thread(target=self._read, args=(self.subscriber, ready), daemon=True).start()
        expect(ready.wait(60), "the subscriber is not subscribed")
        self.gate.is_open = True

    def _read(self, subscriber, ready):
        for line in subscriber.stdout:
            if line.startswith(("Subscribed", "Client ")):
                if "SUBACK" in line:
                    ready.set()
                continue
            topic, _, text = line.rstrip("\n").partition(" ")
            with self.lock:
                self.messages.append((topic, text))

    def kill(self):
        self.gate.cut()
        if self.broker:
            self.broker.kill()
            self.broker.wait()
        if self.subscriber:
            end_subscriber(self.subscriber)

    def publish(self, topic, text):
        subprocess.run(["mosquitto_pub", "-h", "localhost", "-p", str(self.own), "-t", topic, "-q", "1", "-m", text, *self.options],
                       check=True, timeout=60)

    def locations(self, kind="location"):
        with self.lock:
            found = [json.loads(text) for topic, text in self.messages if text.startswith("{")]
        return [one for one in found if one.get("_type") == kind]


class Uplink(Program):
    def __init__(self, folder, path, text, **more):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        with open(f"{folder}/uplink", "w") as file:
            file.write(text)
        self.variables = environment(folder, SEXTANT_SERVICE=path, **more)
        super().__init__(program("sextant-uplink"), "--config", f"{folder}/uplink", env=self.variables)

    def status(self):
        found = subprocess.run([program("sextant-uplink"), "status", "--json"], env=self.variables, capture_output=True, text=True)
        return json.loads(found.stdout) if found.returncode == 0 else None

    def wait_for_status(self, holds, text):
        last = []

        def look():
            last[:] = [self.status()]
            return last[0] is not None and holds(last[0])
        wait_until(look, lambda: f"{text}: {last}; {self.errors[-500:]}")
        return last[0]


def missing_seconds(seconds):
    """The seconds without a fix."""
    seconds = set(seconds)
    return sorted(set(range(min(seconds), max(seconds))) - seconds)


def no_gap(locations):
    """New fixes go first: the last ones of a backlog may come after them."""
    return not missing_seconds([one["tst"] for one in locations])


def check_arrivals(locations):
    """Every second between the first fix and the last is there; a repeat has the identifier of the first one."""
    times = {}
    for one in locations:
        times.setdefault(one["tst"], set()).add(one["_id"])
    repeated = {time: names for time, names in times.items() if len(names) > 1}
    expect(not repeated, f"one fix has two identifiers: {repeated}")
    seconds = sorted(times)
    missing = missing_seconds(seconds)
    expect(not missing, f"{len(missing)} of {seconds[-1] - seconds[0]} fixes are missing: {missing[:10]}")
    return seconds


def server_kills(folder, kills):
    """The broker is killed, and comes back without its memory."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        with Uplink(f"{folder}/client", path, f"server = mqtt://localhost:{broker.port}\nclient-id = van\ninterval = 1 s\n") as uplink:
            wait_until(lambda: len(broker.locations()) > 3, lambda: f"no location arrives: {uplink.errors[-500:]}")
            for _ in range(kills):
                broker.kill()
                time.sleep(random.uniform(0.1, 2))
                broker.start()
                count = len(broker.locations())
                wait_until(lambda: len(broker.locations()) > count + 3, lambda: f"nothing arrives after a kill: {uplink.errors[-500:]}")
            uplink.wait_for_status(lambda status: status["queued"] <= 2 and no_gap(broker.locations()), "the backlog does not end")
            count = len(check_arrivals(broker.locations()))
            status = uplink.status()
            expect_equal(status["dropped"] + status["thinned"], 0, "the number of lost fixes")
            uplink.terminate()
        broker.kill()
    return f"{kills} kills of the broker, {count} fixes, none lost"


def program_kills(folder, kills):
    """The program is killed: what was delivered 1.5 s before is there."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        text = f"server = mqtt://localhost:{broker.port}\nclient-id = van\ninterval = 1 s\n"
        for round in range(kills):
            with Uplink(f"{folder}/client", path, text) as uplink:
                count = len(broker.locations())
                wait_until(lambda: len(broker.locations()) > count + 5, lambda: f"nothing arrives: {uplink.errors[-500:]}")
                time.sleep(random.uniform(0, 1.5))
                uplink.process.send_signal(signal.SIGKILL)
                uplink.process.wait()
        with Uplink(f"{folder}/client", path, text) as uplink:
            uplink.wait_for_status(lambda status: status["connected"] and status["queued"] <= 2, "the backlog does not end")
            names = [one["_id"] for one in broker.locations()]
            times = [one["tst"] for one in broker.locations()]
            numbers = sorted({int(name.split("-")[1]) for name in names})
            expect_equal(numbers, list(range(numbers[0], numbers[-1] + 1)), "the numbers of the fixes")
            expect(len(set(zip(names, times))) == len(set(names)), "an identifier has two fixes")
            uplink.terminate()
        broker.kill()
    return f"{kills} kills of the program, {len(numbers)} fixes, {len(names) - len(numbers)} repeats"


def commands(folder):
    """What the server may command, and the crossing of a region that it set."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        text = (f"server = mqtt://localhost:{broker.port}\nclient-id = van\ntopic = owntracks/ann/van\ninterval = 1 s\n"
                "allow = reportLocation setWaypoints\n")
        with Uplink(f"{folder}/client", path, text) as uplink:
            wait_until(lambda: broker.locations(), "no location arrives")
            here = broker.locations()[-1]
            broker.publish("owntracks/ann/van/cmd", json.dumps({"_type": "cmd", "action": "reportLocation"}))
            wait_until(lambda: any(one.get("t") == "r" for one in broker.locations()), "no answer to reportLocation")
            broker.publish("owntracks/ann/van/cmd", json.dumps({"_type": "cmd", "action": "clearWaypoints"}))
            uplink.wait_for_message("clearWaypoints is not allowed")
            # The walk leaves a circle that is around its place now.
            broker.publish("owntracks/ann/van/cmd", json.dumps({
                "_type": "cmd", "action": "setWaypoints", "waypoints": {"_type": "waypoints", "waypoints": [
                    {"_type": "waypoint", "desc": "yard", "lat": here["lat"], "lon": here["lon"], "rad": 20, "tst": 1700000000}]}}))
            wait_until(lambda: any(topic.endswith("/waypoints") for topic, _ in broker.messages), "no list of waypoints")
            wait_until(lambda: broker.locations("transition"), lambda: f"no transition: {uplink.errors[-500:]}")
            crossing = broker.locations("transition")[0]
            expect_equal((crossing["event"], crossing["desc"], crossing["wtst"]), ("leave", "yard", 1700000000), "the transition")
            uplink.process.kill()
            wait_until(lambda: broker.locations("lwt"), "the broker has no last will")
        broker.kill()
    schema = published("owntracks")
    types = {}
    for topic, text in broker.messages:
        if topic.endswith("/cmd"):
            continue
        message = json.loads(text)
        jsonschema.validate(message, schema)
        types[message["_type"]] = topic
    base = "owntracks/ann/van"
    expect_equal(types, {"location": base, "lwt": base, "status": f"{base}/status", "transition": f"{base}/event",
                         "waypoints": f"{base}/waypoints"}, "the topics")
    return "reportLocation, a refusal, and a region that was set and left; every message is as OwnTracks describes it"


def crossed_while_dead(folder):
    """A region of the server is left while the program does not run: its next start reports it."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        text = (f"server = mqtt://localhost:{broker.port}\nclient-id = van\ntopic = owntracks/ann/van\ninterval = 1 s\n"
                "allow = setWaypoints\n")
        with Uplink(f"{folder}/client", path, text) as uplink:
            wait_until(lambda: broker.locations(), "no location arrives")
            here = broker.locations()[-1]
            broker.publish("owntracks/ann/van/cmd", json.dumps({
                "_type": "cmd", "action": "setWaypoints", "waypoints": {"_type": "waypoints", "waypoints": [
                    {"_type": "waypoint", "desc": "yard", "lat": here["lat"], "lon": here["lon"], "rad": 15, "tst": 1700000000}]}}))
            wait_until(lambda: "yard" in broker.locations()[-1].get("inregions", []), "it is not in the region")
            expect_equal(broker.locations("transition"), [], "the transitions before the crossing")
            uplink.process.kill()
            uplink.process.wait()

        def metres(one):
            north = (one["latitude"] - here["lat"]) * 111_195
            return math.hypot(north, (one["longitude"] - here["lon"]) * 111_195 * math.cos(math.radians(here["lat"])))
        with Program(program(), "track", "--json", env=environment(f"{folder}/other", SEXTANT_SERVICE=path)) as other:
            wait_until(lambda: (seen := other.locations()) and metres(seen[-1]) > 50, "the walk does not leave the region")
        with Uplink(f"{folder}/client", path, text) as uplink:
            wait_until(lambda: broker.locations("transition"), lambda: f"no transition: {uplink.errors[-500:]}")
            crossing = broker.locations("transition")[0]
            expect_equal((crossing["event"], crossing["desc"], crossing["wtst"]), ("leave", "yard", 1700000000), "the transition")
            uplink.terminate()
        broker.kill()
    return "a region that was left while the program did not run"


def published(name):
    """A schema by what the maker of a format has published."""
    with open(f"{os.path.dirname(os.path.abspath(__file__))}/schemas/{name}.json") as file:
        return json.load(file)


def home_assistant(folder):
    """Discovery, availability and attributes."""
    broker = Broker(f"{folder}/broker")
    with service(folder) as path:
        broker.start()
        text = f"server = mqtt://localhost:{broker.port}\nformat = homeassistant\ntopic = sextant/van\nclient-id = van 7\n"
        with Uplink(f"{folder}/client", path, text) as uplink:
            wait_until(lambda: any(topic == "sextant/van/attributes" for topic, _ in broker.messages), "no attributes")
            uplink.process.kill()
            wait_until(lambda: ("sextant/van/availability", "offline") in broker.messages, "it stays available")
        broker.kill()
    discovery = [json.loads(text) for topic, text in broker.messages if topic == "homeassistant/device_tracker/van_7/config"]
    expect_equal(len(discovery), 1, "the number of discovery messages")
    jsonschema.validate(discovery[0], published("homeassistant"))
    expect_equal(discovery[0]["json_attributes_topic"], "sextant/van/attributes", "the topic of the attributes")
    attributes = next(json.loads(text) for topic, text in broker.messages if topic == "sextant/van/attributes")
    expect(all(isinstance(attributes[name], float) for name in ("latitude", "longitude", "gps_accuracy")), f"{attributes}")
    return "discovery by its schema, attributes, and unavailable after a kill"


class Traccar:
    """A server of OsmAnd's form that fails in every way before it works."""

    def __init__(self):
        self.positions, self.requests, self.plan = [], 0, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests += 1
                how = outer.plan.pop(0) if outer.plan else 200
                fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                if how == "close":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if how == "stored, no answer":
                    outer.positions.append(fields)
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if how == 200:
                    outer.positions.append(fields)
                self.send_response(how)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def traccar(folder):
    server = Traccar()
    server.plan = [500, "close", 401, "stored, no answer", 302]
    with service(folder) as path:
        text = f"server = http://127.0.0.1:{server.server.server_port}/\nformat = traccar\nclient-id = van 7\ninterval = 1 s\n"
        with Uplink(f"{folder}/client", path, text) as uplink:
            wait_until(lambda: len(server.positions) > 5, lambda: f"no position arrives: {uplink.errors[-800:]}")
            uplink.wait_for_status(lambda status: status["queued"] <= 2, "the backlog does not end")
            # Three refusals of one fix set it aside.
            server.plan = [400, 400, 400, 400, 400, 400]
            uplink.wait_for_status(lambda status: status["dropped"] >= 1, "no fix is set aside")
            server.plan = []
            count = len(server.positions)
            wait_until(lambda: len(server.positions) > count + 3, "nothing arrives after a refused fix")
            dropped = uplink.status()["dropped"]
            uplink.terminate()
    positions = [(one["timestamp"], one["fixId"]) for one in server.positions]
    names = {name for _, name in positions}
    seconds = sorted({int(one["timestamp"]) for one in server.positions})
    missing = missing_seconds(seconds)
    expect(len(missing) <= dropped,
           f"{missing} of {seconds} are missing, {dropped} were set aside; {positions[:12]}; {uplink.errors[-800:]}")
    expect_equal({one["id"] for one in server.positions}, {"van 7"}, "the id")
    return f"{len(names)} positions in {server.requests} requests, {dropped} set aside"


class Certificates:
    """An authority, and certificates for `localhost`."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca.key", "-out",
                      "ca.crt", "-days", "2", "-subj", "/CN=authority")

    def _openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True, timeout=60)

    def make(self, days):
        """A new key and certificate of the server, for these days from now; -1: expired."""
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "server.key", "-out",
                      "server.csr", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
        self._openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.crt",
                      "-copy_extensions", "copy", "-days", str(days))
        for name in ("server.key", "server.crt"):
            os.chmod(f"{self.folder}/{name}", 0o644)

    def broker(self, *lines):
        folder = self.folder
        broker = Broker(f"{folder}/broker", f"cafile {folder}/ca.crt", f"certfile {folder}/server.crt", f"keyfile {folder}/server.key",
                        *lines)
        broker.options = ["--cafile", f"{folder}/ca.crt", "--insecure"]
        return broker


def certificates(folder):
    """TLS while the program runs: a certificate that has expired, and renewed ones."""
    made = Certificates(folder)
    made.make(-1)
    broker = made.broker()
    with service(folder) as path:
        broker.broker = subprocess.Popen(["/usr/sbin/mosquitto", "-c", f"{folder}/broker/mosquitto.conf"],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        broker.gate.is_open = True
        text = f"server = mqtts://localhost:{broker.port}\nca = {folder}/ca.crt\nclient-id = van\ninterval = 1 s\n"
        with Uplink(f"{folder}/client", path, text) as uplink:
            status = uplink.wait_for_status(lambda status: status["lastError"] and status["queued"] > 1, "an expired certificate is accepted")
            expect(not status["connected"], f"it is connected: {status}")
            for _ in range(2):
                broker.gate.cut()
                broker.broker.kill()
                broker.broker.wait()
                if broker.subscriber:
                    end_subscriber(broker.subscriber)
                made.make(2)
                broker.start()
                count = len(broker.locations())
                wait_until(lambda: len(broker.locations()) > count + 3, lambda: f"nothing arrives with a new certificate: {uplink.errors[-500:]}")
            uplink.wait_for_status(lambda status: status["queued"] <= 2 and no_gap(broker.locations()), "the backlog does not end")
            check_arrivals(broker.locations())
            uplink.terminate()
        broker.kill()
    return f"refused while expired ({status['lastError']}), and all fixes after two renewals"


def dry_run(folder):
    with service(folder) as path:
        os.makedirs(f"{folder}/client")
        with open(f"{folder}/client/uplink", "w") as file:
            file.write("server = https://example.net/in\nformat = geojson\nclient-id = van\n")
        with Program(program("sextant-uplink"), "--dry-run", "--config", f"{folder}/client/uplink",
                     env=environment(f"{folder}/client", SEXTANT_SERVICE=path)) as uplink:
            line = uplink.wait_for_line(r"^https://example\.net:443/in (\{.*\})$")
            expect_equal(json.loads(line[1])["type"], "Feature", "the type")
            uplink.terminate()
    return "a feature, and no connection"


def live_page(folder):
    """`sextant view` has the status of the uplink as an event, and an empty one after its end."""
    broker, port = Broker(f"{folder}/broker"), free_port()
    with service(folder) as path:
        broker.start()
        with Uplink(f"{folder}/client", path, f"server = mqtt://localhost:{broker.port}\nclient-id = van\ninterval = 1 s\n") as uplink:
            uplink.wait_for_status(lambda status: status["acknowledged"] > 0, "nothing is acknowledged")
            with Program(program(), "view", "--listen", f"127.0.0.1:{port}", env=uplink.variables) as view:
                view.wait_for_message("the page is at")
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=harness.LIMIT)
                connection.request("GET", "/events")
                stream = connection.getresponse()

                def next_status():
                    while stream.readline() != b"event: uplink\n":
                        pass
                    return json.loads(stream.readline().removeprefix(b"data: "))
                status = next_status()
                expect(status["connected"] and status["acknowledged"] > 0 and status["lastSuccess"], f"{status}")
                uplink.terminate()
                while (last := next_status()) != {}:
                    expect("connected" in last, f"{last}")
                connection.close()
                view.terminate()
        broker.kill()
    return "connected, and then an empty status"


if __name__ == "__main__":
    options = harness.arguments(__doc__, kills=6)

    def broker_killed(folder):
        return server_kills(folder, options.kills)

    def program_killed(folder):
        return program_kills(folder, options.kills)

    run_checks([broker_killed, program_killed, commands, crossed_while_dead, home_assistant, traccar, certificates, dry_run, live_page], options.checks)
