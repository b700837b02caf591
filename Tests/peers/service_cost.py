#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory, wake-ups, processor time and delays of sextantd with 1, 10, 50 and 200 programs at 5 Hz, and of gpsd with as many clients.

usage: service_cost.py SEXTANT SEXTANTD [--seconds S] [--rate HZ] [--programs N,N]

Each daemon has a simulated receiver of its own. Both run at the same time, and no daemon runs twice, so that no memory is shared
between two of a kind. A wake-up is a voluntary context switch of one of
its threads (proc(5)). Delays are measured apart, with a pseudo-terminal that is fed as a line of 115200 baud is
(compare_latency.py), 5 epochs of NMEA in a second: from the write of an epoch's last byte to the arrival at a client; the clients are
read one after the other by this program. gpsd is measured if it is installed. Run it as root: other users cannot read the memory of gpsd.
"""
import argparse
import json
import os
import pathlib
import pty
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty

import compare_latency as latency

# The most clients that gpsd takes.
GPSD_LIMIT = 64
FIRST_PORT = 29470
LIMIT = 60


def status(process):
    """Wake-ups, and processor time in milliseconds, since the start of a process."""
    wake_ups = milliseconds = 0
    for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
        wake_ups += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (thread / "status").read_text(), re.M)[1])
        milliseconds += int((thread / "schedstat").read_text().split()[0]) / 1e6
    return wake_ups, milliseconds


def memory(process):
    """Private anonymous memory and proportional set size in kB."""
    rss = re.search(r"^RssAnon:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.M)
    pss = re.search(r"^Pss:\s+(\d+)", pathlib.Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)
    return int(rss[1]), int(pss[1])


class Case:
    """A daemon with its simulated receiver and its clients."""

    def __init__(self, folder, daemon, programs, port, device=None):
        os.mkdir(folder)
        self.name, self.programs, self.fixes, self.rests, self.arrivals = daemon, programs, 0, {}, []
        link, self.children, is_fast = f"{folder}/receiver", [], device is not None or options.rate > 1
        if device is None:
            self.simulate(folder, link)
        else:
            os.symlink(device, link)
        if daemon == "gpsd":
            self.address, self.call = ("127.0.0.1", port), b'?WATCH={"enable":true,"json":true}\n'
            self.end, self.word = b"\n", b'"class":"TPV"'
            command, environment = [
                shutil.which("gpsd"), "-N", "-n", *(["-s", "115200"] * is_fast), "-S", str(port), os.path.realpath(link)], None
        else:
            self.address, self.end, self.word = f"{folder}/location", b"\0", b'"latitude"'
            self.call = json.dumps({
                "method": "org.sextant.Location.Subscribe", "parameters": {"desiredAccuracy": -2} if is_fast else {}, "more": True}).encode() + b"\0"
            command = [sextantd, "--device", link, "--socket", self.address]
            environment = {"SEXTANT_STATE_DIR": f"{folder}/state", "SEXTANT_AUTHORIZATION": "always", "PATH": os.environ["PATH"]}
        self.children.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        self.process = self.children[-1].pid
        for _ in range(programs):
            self.connect()

    def simulate(self, folder, link):
        self.children.append(subprocess.Popen([sextant, "simulate", "--model", "m10", "--link", link], stdin=subprocess.PIPE,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_for(lambda: os.path.exists(link))
        if options.rate > 1:
            subprocess.run([sextant, "configure", "set", "baud=115200", f"rate={options.rate}Hz", "--device", link], check=True,
                           env={"SEXTANT_SERVICE": "none", "SEXTANT_STATE_DIR": f"{folder}/configure", "PATH": os.environ["PATH"]},
                           stdout=subprocess.DEVNULL)

    def connect(self):
        def attempt():
            try:
                client = socket.socket(socket.AF_UNIX if isinstance(self.address, str) else socket.AF_INET)
                client.connect(self.address)
                return client
            except OSError:
                return None
        client = wait_for(attempt)
        client.sendall(self.call)
        client.setblocking(False)
        self.rests[client] = b""
        selector.register(client, selectors.EVENT_READ, self)

    def read(self, client):
        *messages, self.rests[client] = (self.rests[client] + client.recv(1 << 16)).split(self.end)
        count = sum(self.word in message for message in messages)
        self.fixes += count
        self.arrivals += [time.monotonic()] * count

    def end_all(self):
        for client in self.rests:
            selector.unregister(client)
            client.close()
        for child in reversed(self.children):
            child.terminate()
            child.wait()


def wait_for(look):
    limit = time.monotonic() + LIMIT
    while not (found := look()):
        if time.monotonic() > limit:
            sys.exit("service_cost.py: a daemon or its receiver does not start")
        time.sleep(0.1)
    return found


def read_for(seconds):
    limit = time.monotonic() + seconds
    while (left := limit - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            key.data.read(key.fileobj)


def delays(folder, daemon, programs, port, epochs=150):
    """The delay in milliseconds that half, and 99 of 100, locations at the clients of a daemon do not exceed."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    case = Case(folder, daemon, programs, port, os.ttyname(slave))
    try:
        threading.Thread(target=latency.drain, args=(master,), daemon=True).start()
        feeder = latency.Feeder(master, latency.nmea_epoch, epochs)
        feeder.start()
        read_for(latency.PERIOD * (epochs + 2))
        feeder.join()
    finally:
        case.end_all()
    # The first fifth does not count: the daemon finds the receiver.
    first = feeder.written[epochs // 5]
    found = sorted(1000 * (arrival - max(written for written in feeder.written.values() if written <= arrival))
                   for arrival in case.arrivals if arrival >= first)
    if len(found) < programs * epochs * 3 // 5:
        sys.exit(f"service_cost.py: {len(found)} locations of {daemon} for {programs} clients")
    return [f"{found[int(share * (len(found) - 1))]:.2f} ms" for share in (0.5, 0.99)]


parser = argparse.ArgumentParser()
parser.add_argument("sextant", type=os.path.abspath)
parser.add_argument("sextantd", type=os.path.abspath)
parser.add_argument("--seconds", type=int, default=60)
parser.add_argument("--rate", type=int, default=5)
parser.add_argument("--programs", default="1,10,50,200")
options = parser.parse_args()
sextant, sextantd, seconds = options.sextant, options.sextantd, options.seconds
selector = selectors.DefaultSelector()
daemons = ["sextantd"] + ["gpsd"] * bool(shutil.which("gpsd"))
rows, found = [], {}
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    for programs in map(int, options.programs.split(",")):
        for port, daemon in enumerate(daemons if programs <= GPSD_LIMIT else daemons[:1], FIRST_PORT + 10):
            found[daemon, programs] = delays(f"{folder}/delay-{daemon}-{programs}", daemon, programs, port)
        cases = []
        try:
            for port, daemon in enumerate(daemons if programs <= GPSD_LIMIT else daemons[:1], FIRST_PORT):
                cases.append(Case(f"{folder}/{daemon}-{programs}", daemon, programs, port))
            # Until every receiver is configured and has a fix.
            read_for(30)
            begin = [status(case.process) for case in cases]
            for case in cases:
                case.fixes = 0
            read_for(seconds)
            for case, (wake_ups, milliseconds) in zip(cases, begin):
                now = status(case.process)
                private, proportional = memory(case.process)
                rows.append(f"| {case.name} | {case.programs} | {case.fixes / case.programs / seconds:.2f} | {private} kB "
                            f"| {proportional} kB | {(now[0] - wake_ups) / seconds:.1f} | {(now[1] - milliseconds) / seconds:.2f} ms "
                            f"| {' | '.join(found.get((case.name, programs), ['', '']))} |")
        finally:
            for case in cases:
                case.end_all()
print("| Daemon | Clients | Locations to each in a second | RssAnon | PSS | Wake-ups in a second | Processor time in a second "
      "| Delay, median | Delay, 99 % |")
print("|---|---|---|---|---|---|---|---|---|")
print("\n".join(sorted(rows, key=lambda row: row.split(" |")[0], reverse=True)))
