#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Receivers on the network as --device of the commands and of sextantd: Debian's gpsd, a server of TCP, and datagrams.

usage: network.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd

  gpsd      the bytes of a receiver of Debian's gpsd, on IPv4 and IPv6; gpsd ends and starts while sextantd has it as its receiver
  tcp       a server of a receiver, on IPv4 and IPv6: the receiver is identified and configured; the server ends and starts
  udp       datagrams to an address, to all addresses, to a broadcast address, and to groups of IPv4 and IPv6
  faults    each fault in words, with its exit code

Each check has a network of its own, with an interface that no machine is behind.
"""
RIG = {"programs": ["sextant", "sextantd"], "packages": {"gpsd": "gpsd", "iproute2": "ip"},
       "needs": ["root", "network namespaces"], "seconds": 15}

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import threading

from gpsd_clients import WATCH, Client, enter, has_fix
from harness import LIMIT, Program, Simulator, arguments, environment, expect, expect_equal, program, run_checks, wait_until

STILL = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
OWN = "198.18.0.1"


class Network:
    """A network with loopback and the interface rig0, for programs and for this thread's sockets."""

    def __init__(self, folder):
        self.folder = folder
        script = ("ip link set lo up && ip link add rig0 type veth peer name rig1 && "
                  f"ip addr add {OWN}/24 broadcast 198.18.0.255 dev rig0 && ip link set rig0 up && ip link set rig1 up && "
                  "ip route add 224.0.0.0/4 dev rig0 && echo up && exec sleep infinity")
        self.root = subprocess.Popen(["unshare", "--net", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        expect_equal(self.root.stdout.readline().strip(), "up", "the network")
        self.stack = contextlib.ExitStack()
        # An address of IPv6 is for use once no other machine has claimed it (RFC 4862, section 5.4).
        wait_until(lambda: "tentative" not in self.run("ip", "-6", "addr", "show", "dev", "rig0")[0], "rig0 has no address of IPv6")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()
        self.root.kill()
        self.root.wait()

    def inside(self, *command):
        return ("nsenter", f"--net=/proc/{self.root.pid}/ns/net", *command)

    def start(self, *command):
        return self.stack.enter_context(Program(*self.inside(*command), env=environment(self.folder)))

    def run(self, *command):
        done = subprocess.run(self.inside(*command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=LIMIT, env=environment(self.folder))
        return done.stdout, done.returncode

    @contextlib.contextmanager
    def here(self):
        """This thread's new sockets are in the network."""
        own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        other = os.open(f"/proc/{self.root.pid}/ns/net", os.O_RDONLY)
        try:
            enter(other)
            yield
        finally:
            enter(own)
            os.close(own)
            os.close(other)

    def connect(self, host, port):
        with self.here():
            return socket.create_connection((host, port), LIMIT)

    def accepts(self, host, port):
        try:
            self.connect(host, port).close()
            return True
        except OSError:
            return False

    def gpsd(self, *devices, port="2947"):
        """gpsd opens the devices after it has dropped root's privileges (gpsd(8), "Security and permissions issues")."""
        nodes = [os.path.realpath(device) for device in devices]
        for node in nodes:
            os.chmod(node, 0o666)
        daemon = self.start("gpsd", "-N", "-n", "-F", f"{self.folder}/control-{port}", "-S", port, *nodes)
        wait_until(lambda: self.accepts("127.0.0.1", int(port)), "gpsd accepts no connection")
        return daemon, nodes

    def sextantd(self, device):
        return self.start(program("sextantd"), "--device", device, "--socket", f"{self.folder}/location", "--gpsd", "localhost:4000")

    def expect_place(self, device, *options):
        """A command shows the simulated place."""
        shown, code = self.run(program(), "watch", "--json", "--count", "1", "--device", device, *options)
        expect_equal(code, 0, f"the exit code of watch at {device} ({shown[-500:]})")
        positions = [found for found in map(json.loads, (line for line in shown.splitlines() if line.startswith("{"))) if "lat" in found]
        expect(positions and abs(positions[-1]["lat"] - 48.1642) < 1e-3, f"{device} shows {shown[-800:]}")
        return shown


def wait_for_fix(client):
    return client.wait_for("TPV", lambda report: has_fix(report) and "time" in report)


def is_later(report, first):
    return has_fix(report) and report.get("time", "") > first["time"]


class Server:
    """A serial port server: a socket of TCP for the line of a simulated receiver, one client after the other."""

    def __init__(self, network, path):
        self.network, self.client = network, None
        self.line = os.open(path, os.O_RDWR | os.O_NOCTTY)
        threading.Thread(target=self.read_line, daemon=True).start()

    def read_line(self):
        with contextlib.suppress(OSError):
            while data := os.read(self.line, 4096):
                if client := self.client:
                    with contextlib.suppress(OSError):
                        client.sendall(data)

    @contextlib.contextmanager
    def at(self, host, port=5000):
        """The server runs; at the end it closes the connection."""
        with self.network.here():
            listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    self.client, _ = listener.accept()
                    with contextlib.suppress(OSError):
                        while data := self.client.recv(4096):
                            os.write(self.line, data)
                    self.client = self.client.close()
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()
            if client := self.client:
                with contextlib.suppress(OSError):
                    client.shutdown(socket.SHUT_RDWR)
            thread.join(LIMIT)


# MARK: gpsd

def gpsd(folder):
    with Simulator(f"{folder}/receiver", scenario=STILL) as receiver, Network(folder) as network:
        daemon, (node,) = network.gpsd(receiver.link)
        for device in ("gpsd://localhost", "gpsd://127.0.0.1:2947", f"gpsd://[::1]{node}", f"gpsd://[::1]:2947{node}"):
            network.expect_place(device)
        # The service with gpsd as its receiver; its own clients of gpsd get the same position.
        network.sextantd(f"gpsd://[::1]{node}")
        wait_until(lambda: network.accepts("::1", 4000), "sextantd does not listen")
        with Client(network.connect("::1", 4000)) as client:
            client.send(WATCH)
            first = wait_for_fix(client)
            expect(first["device"].startswith("gpsd://"), f"the device is {first['device']}")
            daemon.terminate()
            client.wait_for("DEVICE", lambda found: found.get("activated") == 0)
            _, _ = network.gpsd(receiver.link)
            client.wait_for("TPV", lambda found: is_later(found, first))


# MARK: TCP

def tcp(folder):
    with Simulator(f"{folder}/receiver", "m10", "--usb", scenario=STILL) as receiver, Network(folder) as network:
        server = Server(network, receiver.link)
        for host, name in (("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("127.0.0.1", "localhost")):
            with server.at(host):
                device = f"tcp://{name}:5000"
                shown, code = network.run(program(), "probe", "--device", device)
                expect(code == 0 and "u-blox" in shown, f"probe at {device}: {code} {shown}")
                network.expect_place(device)
        network.sextantd("tcp://[::1]:5000")
        wait_until(lambda: network.accepts("::1", 4000), "sextantd does not listen")
        with Client(network.connect("127.0.0.1", 4000)) as client:
            client.send(WATCH)
            with server.at("::1"):
                first = wait_for_fix(client)

                def is_configured():
                    client.send("?DEVICE;\n")
                    return client.wait_for("DEVICE").get("native") == 1
                wait_until(is_configured, "the receiver is not configured")
            client.wait_for("DEVICE", lambda found: found.get("activated") == 0)
            with server.at("::1"):
                client.wait_for("TPV", lambda found: is_later(found, first))


# MARK: UDP

def udp(folder):
    places = {
        "udp://127.0.0.1:6000": ("127.0.0.1", 6000), "udp://:6001": ("127.0.0.1", 6001), "udp://:6002": ("::1", 6002),
        "udp://[::1]:6003": ("::1", 6003), f"udp://{OWN}:6004": (OWN, 6004), "udp://198.18.0.255:6005": ("198.18.0.255", 6005),
        "udp://239.192.0.1:6006": ("239.192.0.1", 6006), "udp://[ff02::1%rig0]:6007": ("ff02::1%rig0", 6007),
    }
    with Simulator(f"{folder}/receiver", "nmea", scenario=STILL) as receiver, Network(folder) as network:
        senders = []
        with network.here():
            for host, port in places.values():
                family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
                sender = socket.socket(family, socket.SOCK_DGRAM)
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
                # The programs are on this machine.
                if family == socket.AF_INET:
                    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
                else:
                    sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 1)
                senders.append((sender, address))

        def send():
            with open(receiver.link, "rb", buffering=0) as line:
                with contextlib.suppress(OSError):
                    while data := line.read(512):
                        for sender, address in senders:
                            # Nobody listens yet, or no longer.
                            with contextlib.suppress(ConnectionRefusedError):
                                sender.sendto(data, address)
        threading.Thread(target=send, daemon=True).start()
        for device in places:
            network.expect_place(device)
        network.sextantd("udp://[ff02::1%rig0]:6007")
        wait_until(lambda: network.accepts("::1", 4000), "sextantd does not listen")
        with Client(network.connect("::1", 4000)) as client:
            client.send(WATCH)
            wait_for_fix(client)
            # A group has several programs.
            network.expect_place("udp://[ff02::1%rig0]:6007")
        return f"{len(places)} addresses"


# MARK: Faults

def faults(folder):
    with Simulator(f"{folder}/one", scenario=STILL) as one, Simulator(f"{folder}/two", scenario=STILL) as two, \
            Network(folder) as network:
        _, (node, _) = network.gpsd(one.link, two.link)
        network.gpsd(port="2948")
        with network.here():
            used = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            used.bind(("::", 6000))
            silent = socket.create_server(("127.0.0.1", 6001))
        words = {
            "tcp://127.0.0.1:1": (69, r"cannot be connected to \(Connection refused\).*check"),
            "tcp://[::1]:1": (69, r"cannot be connected to \(Connection refused\).*check"),
            "tcp://nowhere.invalid:1": (69, r"the host is not found \(.*\).*check"),
            "gpsd://nowhere.invalid": (69, r"the host is not found \(.*\).*check"),
            "gpsd://[::1]:1": (69, r"cannot be connected to \(Connection refused\).*check"),
            "gpsd://localhost": (69, rf"gpsd has several receivers \(.*{node}.*\).*name one"),
            "gpsd://localhost/dev/none": (69, rf"gpsd has no device /dev/none; it has .*{node}"),
            "gpsd://localhost:2948": (69, r"gpsd has no receiver.*gpsdctl add"),
            "udp://:6000": (75, r"another program receives at this port.*stop it"),
            "udp://192.0.2.1:6002": (69, r"the address is none of this machine"),
            "tcp://localhost": (66, r"names no port.*like tcp://"),
            "udp://localhost:x": (66, r"has no valid host and port"),
            "gpsd://": (66, r"names no host.*like gpsd://"),
        }
        for device, (code, pattern) in words.items():
            shown, found = network.run(program(), "probe", "--device", device)
            expect(found == code and re.search(pattern, shown), f"{device} ends with {found}: {shown!r}")
            # The fault is one line; a source that takes no byte is announced before.
            lines = [line for line in shown.splitlines() if "nothing is sent to this source" not in line]
            expect_equal(len(lines), 1, f"the number of lines at {device} ({lines})")
        silent.listen()
        # Sources that take no byte, and a rate that the server has.
        for command in (("configure", "show"), ("power", "status"), ("reset", "hot"), ("poll", "MON-VER")):
            shown, found = network.run(program(), *command, "--device", f"gpsd://localhost{node}")
            expect(found == 69 and "nothing is sent through it" in shown, f"{command} ends with {found}: {shown!r}")
        shown, found = network.run(program(), "probe", "--baud", "9600", "--device", "tcp://localhost:1")
        expect_equal(found, 64, f"the exit code with --baud ({shown!r})")
        # The service waits for its source, and says why.
        network.sextantd("tcp://127.0.0.1:1")
        wait_until(lambda: network.accepts("::1", 4000), "sextantd does not listen")
        with Client(network.connect("::1", 4000)) as client:
            client.send(WATCH)

            def reason():
                return "Connection refused" in network.run(program(), "status", "--socket", f"{folder}/location")[0]
            wait_until(reason, lambda: f"status is {network.run(program(), 'status', '--socket', f'{folder}/location')}")
        return f"{len(words)} faults"


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("network.py: run as root, for networks of its own")
    options = arguments("network.py FOLDER [CHECK]...")
    run_checks([gpsd, tcp, udp, faults], options.checks)
