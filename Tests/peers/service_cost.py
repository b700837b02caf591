#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory, wake-ups, processor time and delays of sextantd with 1, 10, 50 and 200 programs at 5 Hz, and of gpsd with as many clients.

usage: service_cost.py SEXTANT SEXTANTD [--seconds S] [--rate HZ] [--programs N,N]

Each daemon has a simulated receiver of its own. Both run at the same time, and no daemon runs twice, so that no memory is shared
between two of a kind. A wake-up is a voluntary context switch of one of
its threads (proc(5)). A delay is the time from the time of a fix to its arrival at a client: of the receiver, which is of one model for both, the
line, the daemon and the socket. gpsd is measured if it is installed. Run it as root: other users cannot read the memory of gpsd.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time

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

    def __init__(self, folder, daemon, programs, port):
        os.mkdir(folder)
        self.name, self.programs, self.fixes, self.rests, self.delays = daemon, programs, 0, {}, []
        link = f"{folder}/receiver"
        self.children = [subprocess.Popen([sextant, "simulate", "--model", "m10", "--link", link], stdin=subprocess.PIPE,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        wait_for(lambda: os.path.exists(link))
        if options.rate > 1:
            subprocess.run([sextant, "configure", "set", "baud=115200", f"rate={options.rate}Hz", "--device", link], check=True,
                           env={"SEXTANT_SERVICE": "none", "SEXTANT_STATE_DIR": f"{folder}/configure", "PATH": os.environ["PATH"]},
                           stdout=subprocess.DEVNULL)
        if daemon == "gpsd":
            self.address, self.call = ("127.0.0.1", port), b'?WATCH={"enable":true,"json":true}\n'
            self.end, self.word, self.time = b"\n", b'"class":"TPV"', re.compile(rb'"time":"([^"]+)"')
            command, environment = [
                shutil.which("gpsd"), "-N", "-n", *(["-s", "115200"] * (options.rate > 1)), "-S", str(port), os.path.realpath(link)], None
        else:
            self.address, self.end, self.word = f"{folder}/location", b"\0", b'"latitude"'
            self.time = re.compile(rb'"timestamp":"([^"]+)"')
            self.call = json.dumps({
                "method": "org.sextant.Location.Subscribe", "parameters": {"desiredAccuracy": -2} if options.rate > 1 else {}, "more": True}).encode() + b"\0"
            command = [sextantd, "--device", link, "--socket", self.address]
            environment = {"SEXTANT_STATE_DIR": f"{folder}/state", "SEXTANT_AUTHORIZATION": "always", "PATH": os.environ["PATH"]}
        self.children.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        self.process = self.children[-1].pid
        for _ in range(programs):
            self.connect()

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
        now = time.time()
        for message in messages:
            if self.word in message:
                self.fixes += 1
                if found := self.time.search(message):
                    self.delays.append(now - datetime.datetime.fromisoformat(found[1].decode().replace("Z", "+00:00")).timestamp())

    def delay(self, share):
        """The delay in milliseconds that this share of the locations does not exceed."""
        return sorted(self.delays)[min(len(self.delays) - 1, int(share * len(self.delays)))] * 1000 if self.delays else float("nan")

    def end_all(self):
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
rows = []
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    for programs in map(int, options.programs.split(",")):
        cases = []
        try:
            for port, daemon in enumerate(daemons if programs <= GPSD_LIMIT else daemons[:1], FIRST_PORT):
                cases.append(Case(f"{folder}/{daemon}-{programs}", daemon, programs, port))
            # Until every receiver is configured and has a fix.
            read_for(30)
            begin = [status(case.process) for case in cases]
            for case in cases:
                case.fixes, case.delays = 0, []
            read_for(seconds)
            for case, (wake_ups, milliseconds) in zip(cases, begin):
                now = status(case.process)
                private, proportional = memory(case.process)
                rows.append(f"| {case.name} | {case.programs} | {case.fixes / case.programs / seconds:.2f} | {private} kB "
                            f"| {proportional} kB | {(now[0] - wake_ups) / seconds:.1f} | {(now[1] - milliseconds) / seconds:.2f} ms "
                            f"| {case.delay(0.5):.1f} ms | {case.delay(0.99):.1f} ms |")
        finally:
            for case in cases:
                case.end_all()
print("| Daemon | Clients | Locations to each in a second | RssAnon | PSS | Wake-ups in a second | Processor time in a second "
      "| Delay, median | Delay, 99 % |")
print("|---|---|---|---|---|---|---|---|---|")
print("\n".join(sorted(rows, key=lambda row: row.split(" |")[0], reverse=True)))
