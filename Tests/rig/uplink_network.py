#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""sextant-uplink in a network namespace of its own, whose link to the broker's loses packets, delays them, is cut, and has no names.

usage: uplink_network.py FOLDER [CHECK ...] [--seconds N]

As root. The link is two tun(4) devices with this program in between, because not every kernel has netem. `--seconds` is how long the
link is bad.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd", "sextant-uplink"],
       "packages": {"mosquitto": "/usr/sbin/mosquitto", "mosquitto-clients": "mosquitto_sub", "openssl": "openssl",
           "libcurl4": "library: libcurl.so.4", "python3-jsonschema": "python: jsonschema", "iproute2": "ip"},
       "needs": ["root", "network namespaces"], "seconds": 90}

import contextlib
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import struct
import subprocess
import threading
import time

import harness
from harness import Program, environment, expect, program, run_checks, wait_until
from uplink import check_arrivals, no_gap, service
from uplink_kills import Broker

NEAR, FAR = "10.77.0.1", "10.77.0.2"


class Link:
    """Two namespaces and the packets between them."""

    def __enter__(self):
        self.loss, self.delay, self.is_open = 0.0, 0.0, True
        self.holders = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
        own = os.stat("/proc/self/ns/net").st_ino
        for holder in self.holders:
            wait_until(lambda: os.stat(f"/proc/{holder.pid}/ns/net").st_ino != own, "no network namespace")
        self.files = []
        for holder in self.holders:
            self._in_namespace(holder, lambda: self.files.append(self._tun()))
        self.far("ip", "addr", "add", f"{FAR}/24", "dev", "link0")
        self.far("ip", "link", "set", "link0", "up")
        self.far("ip", "link", "set", "lo", "up")
        self.connect()
        threading.Thread(target=self._forward, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.is_open = False
        for holder in self.holders:
            holder.kill()
            holder.wait()

    @staticmethod
    def _in_namespace(holder, work):
        """setns(2) is of a thread."""
        failures = []

        def enter():
            with open(f"/proc/{holder.pid}/ns/net") as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x40000000) != 0:
                    return failures.append(ctypes.get_errno())
            work()
        thread = threading.Thread(target=enter)
        thread.start()
        thread.join()
        expect(not failures, f"the namespace cannot be entered: {failures}; run as root")

    @staticmethod
    def _tun():
        file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        # TUNSETIFF with IFF_TUN | IFF_NO_PI.
        fcntl.ioctl(file, 0x400454CA, struct.pack("16sH", b"link0", 0x1001))
        return file

    def _forward(self):
        waiting = []
        number = 0
        while self.is_open:
            timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else 0.2
            readable, _, _ = select.select(self.files, [], [], min(timeout, 0.2))
            for file in readable:
                with contextlib.suppress(OSError):
                    packet = os.read(file, 65536)
                    if random.random() >= self.loss:
                        number += 1
                        other = self.files[1 - self.files.index(file)]
                        heapq.heappush(waiting, (time.monotonic() + self.delay, number, other, packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, other, packet = heapq.heappop(waiting)
                with contextlib.suppress(OSError):
                    os.write(other, packet)

    def _enter(self, holder):
        return ["nsenter", f"--net=/proc/{holder.pid}/ns/net"]

    def near(self, *command):
        subprocess.run([*self._enter(self.holders[0]), *command], check=True, timeout=60)

    def far(self, *command):
        subprocess.run([*self._enter(self.holders[1]), *command], check=True, timeout=60)

    def connect(self):
        self.near("ip", "addr", "replace", f"{NEAR}/24", "dev", "link0")
        self.near("ip", "link", "set", "link0", "up")

    def cut(self):
        self.near("ip", "link", "set", "link0", "down")


class FarBroker(Broker):
    """The broker in the other namespace, and its subscriber there."""

    def __init__(self, folder, link):
        self.link = link
        super().__init__(folder, FAR)
        self.port = self.own

    def command(self):
        return [*self.link._enter(self.link.holders[1]), *super().command()]

    def _connect(self):
        found = []
        self.link._in_namespace(self.link.holders[1], lambda: found.append(super(FarBroker, self)._connect()))
        return found[0]


class Uplink(Program):
    """The program in its namespace, with names of its own."""

    def __init__(self, folder, path, link, text):
        os.makedirs(folder, exist_ok=True)
        for name, content in (("uplink", text), ("hosts", "127.0.0.1 localhost\n"), ("resolv.conf", f"nameserver {FAR}\n")):
            with open(f"{folder}/{name}", "w") as file:
                file.write(content)
        self.folder = folder
        self.variables = environment(folder, SEXTANT_SERVICE=path)
        mounts = f"mount --bind {folder}/hosts /etc/hosts && mount --bind {folder}/resolv.conf /etc/resolv.conf"
        super().__init__(*link._enter(link.holders[0]), "unshare", "-m", "sh", "-c",
                         f"{mounts} && exec {program('sextant-uplink')} --config {folder}/uplink", env=self.variables)


def status(uplink):
    found = subprocess.run([program("sextant-uplink"), "status", "--json"], env=uplink.variables, capture_output=True, text=True)
    # The program may have made no queue yet.
    return json.loads(found.stdout) if found.returncode == 0 else {"lastError": None, "connected": False, "queued": 0}


def ends(uplink, broker):
    """Nothing waits but the newest fixes."""
    wait_until(lambda: (now := status(uplink))["connected"] and now["queued"] <= 2 and no_gap(broker.locations()),
               lambda: f"the backlog does not end: {status(uplink)}; {uplink.errors[-800:]}")
    return check_arrivals(broker.locations())


@contextlib.contextmanager
def scene(folder, host=FAR):
    with service(folder) as path, Link() as link:
        broker = FarBroker(f"{folder}/broker", link)
        with Uplink(f"{folder}/client", path, link,
                    f"server = mqtt://{host}:{broker.port}\nclient-id = van\ninterval = 1 s\nkeepalive = 20 s\n") as uplink:
            yield link, broker, uplink
            uplink.terminate()
        broker.kill()


def bad_link(folder, seconds):
    """30 % loss and a delay of 5 s."""
    with scene(folder) as (link, broker, uplink):
        wait_until(lambda: broker.locations(), lambda: f"nothing arrives: {uplink.errors[-500:]}")
        link.loss, link.delay = 0.3, 5.0
        time.sleep(seconds)
        during = len(broker.locations())
        link.loss, link.delay = 0.0, 0.0
        count = len(ends(uplink, broker))
    return f"{during} messages over the bad link, {count} fixes in all, none lost"


def cut(folder, seconds):
    """The link is cut: no attempt until the kernel reports a route."""
    with scene(folder) as (link, broker, uplink):
        wait_until(lambda: broker.locations(), lambda: f"nothing arrives: {uplink.errors[-500:]}")
        link.cut()
        # The open connection is silent; a new one has no route.
        uplink.wait_for_message("there is no network")
        time.sleep(seconds)
        expect(not status(uplink)["connected"], "it is connected without a link")
        count = len(broker.locations())
        link.connect()
        begin = time.monotonic()
        wait_until(lambda: len(broker.locations()) > count, lambda: f"a new route wakes nothing: {uplink.errors[-500:]}")
        took = time.monotonic() - begin
        count = len(ends(uplink, broker))
    return f"{count} fixes, none lost, the first {took:.1f} s after the route"


def no_names(folder, seconds):
    """The name server does not answer; then the name is known."""
    with scene(folder, "broker.example") as (link, broker, uplink):
        wait_until(lambda: status(uplink)["lastError"], "no error without a name server")
        time.sleep(seconds)
        with open(f"{uplink.folder}/hosts", "a") as file:
            file.write(f"{FAR} broker.example\n")
        count = len(ends(uplink, broker))
    return f"{count} fixes after the names have returned, none lost"


if __name__ == "__main__":
    options = harness.arguments(__doc__, seconds=20)

    def bad(folder):
        return bad_link(folder, options.seconds)

    def link_cut(folder):
        return cut(folder, options.seconds / 4)

    def names(folder):
        return no_names(folder, options.seconds / 4)

    run_checks([bad, link_cut, names], options.checks)
