#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time daemons of a computer read sextantd, with a simulated receiver without pulses.

usage: clock.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd

  chronyd   chronyd selects the socket of sextantd, and `sextant time` shows that it reads it
  ntpd      the segment of ntpd's shared memory has samples as mode 1 asks, with gpsd's permissions
  gpsd      TOFF of sextantd's gpsd protocol is the same sample; without the policy nothing is made
  rests     with `time = every 1 min` the receiver sleeps after its samples, and serves the clock again after the minute

chronyd runs with -x: it does not touch the clock. Each check has file systems, a network and shared memory of its own.
"""
RIG = {"programs": ["sextant", "sextantd"], "packages": {"chrony": "chronyd", "iproute2": "ip"}, "needs": ["root", "namespaces"],
       "arguments": ["{programs}"], "seconds": 20}

import contextlib
import json
import os
import shutil
import subprocess
import sys

from harness import (LIMIT, Program, Simulator, arguments, environment, expect, expect_equal, program, run_checks,
                     wait_until)

STILL = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
SEGMENT = r"""
import ctypes, json, sys, time
class Segment(ctypes.Structure):
    # "Shared Memory Driver" of NTP's documentation.
    _fields_ = [("mode", ctypes.c_int), ("count", ctypes.c_int), ("clock", ctypes.c_long), ("clock_us", ctypes.c_int),
                ("receive", ctypes.c_long), ("receive_us", ctypes.c_int), ("leap", ctypes.c_int), ("precision", ctypes.c_int),
                ("samples", ctypes.c_int), ("valid", ctypes.c_int), ("clock_ns", ctypes.c_uint), ("receive_ns", ctypes.c_uint),
                ("unused", ctypes.c_int * 8)]
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
identifier = libc.shmget(0x4e545030 + int(sys.argv[1]), 0, 0)
assert identifier >= 0, "no segment"
segment = Segment.from_address(libc.shmat(identifier, None, 0))
print("attached", flush=True)
seen = 0
while seen < int(sys.argv[2]):
    count = segment.count
    if segment.valid and count % 2 == 0:
        found = {name: getattr(segment, name) for name, *_ in Segment._fields_ if name != "unused"}
        if segment.count == count:
            segment.valid = 0
            seen += 1
            print(json.dumps(found), flush=True)
    time.sleep(0.01)
sys.stdin.read()
"""


class Machine:
    """File systems, a network and shared memory of their own, in which the daemons of a check run."""

    def __init__(self, folder, policy):
        self.folder = folder
        os.makedirs(f"{folder}/etc/sextant", exist_ok=True)
        with open(f"{folder}/etc/sextant/policy", "w") as file:
            file.write(policy)
        script = ('ip link set lo up; for name in passwd group nsswitch.conf; do cp /etc/$name "$0/etc/"; done; '
                  'mount --bind "$0/etc" /etc; mount -t tmpfs tmpfs /run; mkdir -m 750 /run/chrony; echo up; exec sleep infinity')
        self.root = subprocess.Popen(["unshare", "--net", "--mount", "--ipc", "sh", "-c", script, folder],
                                     stdout=subprocess.PIPE, text=True)
        expect_equal(self.root.stdout.readline().strip(), "up", "the machine")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.root.kill()
        self.root.wait()

    def inside(self, *command):
        return ("nsenter", f"--target={self.root.pid}", "--net", "--mount", "--ipc", "--", *command)

    def start(self, *command, **options):
        return Program(*self.inside(*command), **options)

    def output(self, *command):
        return subprocess.run(self.inside(*command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=LIMIT).stdout

    def sextantd(self, receiver, *options):
        daemon = self.start(program("sextantd"), "--device", receiver, "--socket", f"{self.folder}/location", *options,
                            env=environment(self.folder))
        wait_until(lambda: os.path.exists(f"{self.folder}/location"), "no socket")
        return daemon

    def time(self):
        return json.loads(self.output(program(), "time", "--json", "--socket", f"{self.folder}/location"))

    @contextlib.contextmanager
    def chronyd(self, refclock):
        with open(f"{self.folder}/chrony.conf", "w") as file:
            file.write(f"refclock {refclock} refid GPS poll 0 filter 4 delay 1.0\nbindcmdaddress /run/chrony/chronyd.sock\n"
                       "pidfile /run/chronyd.pid\ncmdport 0\nport 0\n")
        with self.start("chronyd", "-x", "-d", "-u", "root", "-f", f"{self.folder}/chrony.conf") as daemon:
            daemon.wait_for_message("Disabled control of system clock|starting")
            yield daemon

    def selected(self):
        """The offset of the selected refclock, seconds; None without one."""
        for line in self.output("chronyc", "-h", "/run/chrony/chronyd.sock", "-c", "sources").splitlines():
            fields = line.split(",")
            if fields[:3] == ["#", "*", "GPS"]:
                return float(fields[8])
        return None


def chronyd_selects(folder):
    with Simulator(folder, "m10", scenario=STILL) as receiver, Machine(folder, "time = continuous\n") as machine:
        with machine.chronyd("SOCK /run/chrony.clk.receiver.sock"), machine.sextantd(receiver.link) as daemon:
            # Not 0: an offset of exactly nothing is none.
            offset = wait_until(lambda: machine.selected(), lambda: machine.output("chronyc", "-h", "/run/chrony/chronyd.sock", "sources"))
            expect(abs(offset) < 1, f"the offset is {offset} s")
            found = machine.time()
            expect_equal((found["policy"], found["state"]), ("continuous", "messages"), "the time service")
            outputs = {output["name"]: output["isRead"] for output in found["outputs"]}
            expect_equal(outputs.get("/run/chrony.clk.receiver.sock"), True, "the socket in `sextant time`")
            text = machine.output(program(), "time", "--socket", f"{folder}/location")
            expect("read" in text, "the text")
            expect_equal((found["isProgram"], "pseudo-terminal" in text), (True, True), "the simulator is named as a program")
            daemon.process.terminate()


def ntpd_reads(folder):
    with Simulator(folder, "m10", scenario=STILL) as receiver, Machine(folder, "time = continuous\n") as machine:
        with machine.sextantd(receiver.link) as daemon:
            wait_until(lambda: machine.time().get("messages"), "no samples")
            with open(f"{folder}/segment.py", "w") as file:
                file.write(SEGMENT)
            with machine.start(sys.executable, f"{folder}/segment.py", "0", "3", stdin=subprocess.PIPE) as reader:
                reader.wait_for_line("attached")
                for _ in range(3):
                    sample = json.loads(reader.wait_for_line("^{.*}$")[0])
                    expect_equal((sample["mode"], sample["leap"], sample["precision"]), (1, 0, -1), "the sample")
                    offset = sample["clock"] - sample["receive"] + (sample["clock_ns"] - sample["receive_ns"]) / 1e9
                    # The simulator's seconds begin with its start.
                    expect(-2 < offset <= 0.001, f"the offset is {offset} s")
                    expect_equal(sample["clock_us"], sample["clock_ns"] // 1000, "the microseconds")
                outputs = {output["name"]: output["isRead"] for output in machine.time()["outputs"]}
                expect_equal(outputs["NTP0"], True, "the segment in `sextant time`")
            expect("0x4e545030" in (text := machine.output("ipcs", "-m")) and " 600 " in text, f"the permissions: {text}")
            daemon.process.terminate()


def gpsd_has_toff(folder):
    ask = ('import socket; s = socket.create_connection(("127.0.0.1", 2947), 60); '
           's.sendall(b\'?WATCH={"enable":true,"json":true,"pps":true};\\n\'); f = s.makefile()\n'
           'for line in f:\n'
           '    if "TOFF" in line: print(line, flush=True); break')
    with Simulator(folder, "m10", scenario=STILL) as receiver:
        for policy in ("time = continuous\n", "time = off\n"):
            with Machine(folder, policy) as machine, machine.sextantd(receiver.link, "--gpsd", "localhost:2947") as daemon:
                report = json.loads(machine.output(sys.executable, "-c", ask))
                offset = report["real_sec"] - report["clock_sec"] + (report["real_nsec"] - report["clock_nsec"]) / 1e9
                # The simulator's seconds begin with its start, and a full line delays the first epochs.
                expect(-5 < offset < 0.001, f"the offset of TOFF is {offset} s")
                serves = machine.time()["state"] != "off"
                expect_equal(serves, "continuous" in policy, "whether the clock is served")
                expect_equal("0x4e545030" in machine.output("ipcs", "-m"), serves, "whether there is a segment")
                daemon.terminate()
            os.unlink(f"{folder}/location") if os.path.exists(f"{folder}/location") else None


def rests(folder):
    """The simulator is a program at a pseudo-terminal, so that it can sleep."""
    with Simulator(folder, "m10", scenario=STILL) as receiver, Machine(folder, "time = every 1 min\n") as machine:
        with machine.sextantd(receiver.link) as daemon:
            wait_until(lambda: machine.time()["state"] == "messages", lambda: f"no samples: {machine.time()}")
            wait_until(lambda: machine.time()["state"] == "resting", lambda: f"no rest: {machine.time()}")
            receiver.wait_for_state("backup", "standby")
            wait_until(lambda: machine.time()["state"] == "messages", lambda: f"no samples after the minute: {machine.time()}")
            expect(receiver.status()["state"] not in ("backup", "standby"), "the receiver is awake")
            daemon.process.terminate()


CHECKS = {"chronyd": chronyd_selects, "ntpd": ntpd_reads, "gpsd": gpsd_has_toff, "rests": rests}

if __name__ == "__main__":
    options = arguments(__doc__)
    for tool in ("chronyd", "chronyc", "unshare", "nsenter", "ip", "ipcs"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is missing; Tests/rig/run clock installs it")
    run_checks(CHECKS, options.checks)
