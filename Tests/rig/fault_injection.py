#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: each call of the programs into the system fails in turn, with the errors of its manual page.

usage: fault_injection.py FOLDER [SCENARIO...] [--call NAME] [--error NAME] [--sample N] [--seed S] [--workers W] [--table PAGE]

FOLDER holds the programs. `--call ioctl --error EIO` injects these faults only.

`faults/faults.c` is preloaded. A first run of each scenario without a fault lists the places of calls; then there is a run for
each place and error: at its first turn, at its last for the main error, and at each turn from the first on for errors that
last, as a full disk does. After each run: no signal ended the program, it did not hang, a failure has a message and a code
of docs/reference/command-line.md, files are whole, no temporary file is left, and the receiver has its settings, or gets
them back by the crash-recovery record. `--sample` runs a random selection. After SIGTERM the table has the faults until then.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "seconds": 3600,
       "ci": {"arguments": ["watch", "record", "configure backup", "batch", "track", "service", "--sample", "24"], "seconds": 24}}

import collections
import concurrent.futures
import errno
import filecmp
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

import harness
from harness import Program, Simulator, environment, program

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER, PLACE, PLACES = struct.Struct("<4I"), struct.Struct("<Q24sIiii9Q96s"), 4096
# Seconds after which a program that does not end by itself is ended by SIGTERM, and within which it has to end then.
LIMIT = 60
CODES = (0, 64, 65, 66, 69, 71, 73, 74, 75, 77, 78)

Place = collections.namedtuple("Place", "hash call turns kind nonblocking file frames")
Fault = collections.namedtuple("Fault", "place turn error")


# MARK: Errors

# The errors of each call, from the pages of section 2 of the Linux manual. The first is the main one.
OPEN = ("EMFILE", "ENFILE", "ENOMEM", "EINTR", "EIO", "EACCES")
NEW_DESCRIPTOR = ("EMFILE", "ENFILE", "ENOMEM")
ERRORS = {
    "open": OPEN + ("ENOSPC",), "openat": OPEN + ("ENOSPC",), "close": ("EIO", "EINTR"),
    "fcntl": ("EMFILE", "EINTR"), "ioctl": ("EIO", "EINTR"), "fsync": ("EIO", "ENOSPC", "EINTR"),
    "fdatasync": ("EIO", "ENOSPC", "EINTR"), "ftruncate": ("EIO", "EINTR"), "lseek": ("ESPIPE",), "flock": ("ENOLCK", "EINTR"),
    "fstat": ("ENOMEM",), "stat": ("ENOMEM", "EACCES"), "lstat": ("ENOMEM", "EACCES"), "fstatat": ("ENOMEM", "EACCES"),
    "access": ("EIO",), "faccessat": ("EIO",), "fchownat": ("EIO", "EPERM"), "chmod": ("EIO",),
    "renameat": ("ENOSPC", "EIO", "ENOMEM"), "unlink": ("EIO", "ENOMEM"), "unlinkat": ("EIO", "ENOMEM"),
    "mkdir": ("ENOSPC", "ENOMEM"), "mkdirat": ("ENOSPC", "ENOMEM", "EACCES"), "rmdir": ("ENOMEM", "EBUSY"),
    "mkdtemp": ("ENOSPC", "EACCES"), "symlink": ("ENOSPC", "EIO"), "readlink": ("EIO", "ENOMEM"), "realpath": ("EIO", "ENOMEM"),
    "getxattr": ("ENOMEM",), "statfs": ("EIO", "ENOMEM", "EINTR"), "fdopendir": ("ENOMEM",), "readdir": ("EIO",),
    "epoll_create1": NEW_DESCRIPTOR, "epoll_ctl": ("ENOMEM", "ENOSPC"), "epoll_wait": ("EINTR",), "poll": ("EINTR", "ENOMEM"),
    "eventfd": NEW_DESCRIPTOR, "timerfd_create": NEW_DESCRIPTOR, "signalfd": NEW_DESCRIPTOR, "inotify_init1": NEW_DESCRIPTOR,
    "inotify_add_watch": ("ENOSPC", "ENOMEM"), "pipe": NEW_DESCRIPTOR, "pipe2": NEW_DESCRIPTOR, "dup": ("EMFILE", "ENOMEM"),
    "dup2": ("EMFILE", "EINTR"), "dup3": ("EMFILE", "EINTR"), "socket": NEW_DESCRIPTOR + ("ENOBUFS", "EAFNOSUPPORT"),
    "bind": ("EADDRINUSE", "ENOMEM"), "listen": ("EADDRINUSE",), "connect": ("EAGAIN", "ECONNREFUSED", "ETIMEDOUT"),
    "accept4": ("EMFILE", "ENFILE", "ENOMEM", "EINTR", "EAGAIN", "ECONNABORTED"), "setsockopt": ("ENOMEM",),
    "getsockopt": ("ENOBUFS",), "getsockname": ("ENOBUFS",), "getpeername": ("ENOBUFS",), "mmap": ("ENOMEM", "EAGAIN"),
    "posix_openpt": NEW_DESCRIPTOR + ("ENOSPC",), "grantpt": ("EACCES",), "unlockpt": ("EINVAL",), "ptsname_r": ("ENOTTY",),
    "waitpid": ("EINTR",), "pthread_create": ("EAGAIN",), "posix_spawn": ("ENOMEM", "EAGAIN"),
}
# Reads and writes by what the descriptor leads to.
READ = {"file": ("EIO", "EINTR", "short"), "tty": ("EIO", "EINTR", "EAGAIN", "short"), "pipe": ("EINTR", "EAGAIN", "short"),
        "socket": ("ECONNRESET", "ENOMEM", "EINTR", "EAGAIN", "short"), "anon": ("EAGAIN", "EINTR"), "other": ("EIO", "EINTR")}
WRITE = {"file": ("ENOSPC", "EIO", "EDQUOT", "EINTR", "short"), "tty": ("EIO", "EINTR", "EAGAIN", "short"),
         "pipe": ("EPIPE", "EINTR", "EAGAIN", "short"), "socket": ("ECONNRESET", "ENOBUFS", "ENOMEM", "EINTR", "EAGAIN", "short"),
         "anon": ("EAGAIN", "EINTR"), "other": ("ENOSPC", "EIO", "EINTR")}
ERRORS.update(dict.fromkeys(("read", "pread", "recv", "recvmsg"), READ))
ERRORS.update(dict.fromkeys(("write", "pwrite", "send", "sendto", "sendmsg"), WRITE))
# Calls that may fail in each turn until the program ends; EINTR and EAGAIN do not last.
LASTING = ("ENOSPC", "EIO", "EMFILE", "ENOMEM", "ECONNRESET", "EPIPE")


def kind(file):
    for name, beginning in (("anon", "anon_inode:"), ("pipe", "pipe:"), ("socket", "socket:")):
        if file.startswith(beginning):
            return name
    if file.startswith(("/dev/pts/", "/dev/tty")) or file == "/dev/ptmx":
        return "tty"
    return "other" if file.startswith("/dev/") or not file else "file"


def errors_of(place):
    # Attributes of devices, which libudev reads from the kernel's memory.
    if place.call == "read" and place.file.startswith("/sys/"):
        return ("EINTR",)
    errors = ERRORS[place.call.removesuffix("64")]
    if isinstance(errors, dict):
        errors = errors[place.kind]
        if not place.nonblocking:
            errors = [error for error in errors if error != "EAGAIN"]
        # A datagram or message is not cut, and a serial driver that does not block is not interrupted.
        if place.call in ("recvmsg", "sendmsg", "sendto"):
            errors = [error for error in errors if error != "short"]
    return errors


def faults_of(place):
    errors = errors_of(place)
    faults = [Fault(place, 1, error) for error in errors]
    if place.turns > 1:
        faults += [Fault(place, place.turns, errors[0]), Fault(place, place.turns // 2 + 1, errors[-1])]
        faults += [Fault(place, 0, error) for error in errors if error in LASTING][:1]
    return faults


# MARK: The record of the preloaded library

def read_record(path):
    with open(path, "rb") as file:
        data = file.read()
    count, injected, full, _ = HEADER.unpack_from(data)
    harness.expect(not full, "more places than the record has room for")
    places = []
    for index in range(count):
        number, call, turns, _, flags, _, *rest = PLACE.unpack_from(data, HEADER.size + index * PLACE.size)
        file = rest[-1].rstrip(b"\0").decode(errors="replace")
        call = call.rstrip(b"\0").decode()
        places.append(Place(number, call, turns, kind(file), flags != -1 and bool(flags & os.O_NONBLOCK), file,
                            tuple(frame for frame in rest[:-1] if frame)))
    return places, injected


def preload(library, folder, fault):
    path = f"{folder}/faults"
    with open(path, "wb") as file:
        file.truncate(HEADER.size + PLACES * PLACE.size)
    variables = {"FAULT_FILE": path, "LD_PRELOAD": library}
    if fault:
        number = fault.error if fault.error == "short" else str(getattr(errno, fault.error))
        variables.update(FAULT_CALL=fault.place.call, FAULT_PLACE=f"{fault.place.hash:x}", FAULT_TURN=str(fault.turn), FAULT_ERROR=number)
    return variables


# MARK: Scenarios

class Scenario:
    """A command at a receiver of its own. `words` are the command's; RECEIVER and FOLDER in them are replaced."""

    def __init__(self, name, words, executable="sextant", model="m10", before=(), terminal=False, changes=False, output=None, exact=False,
                 least=0):
        self.name, self.words, self.executable, self.model, self.before = name, words, executable, model, before
        self.terminal, self.changes, self.output, self.exact, self.least = terminal, changes, output, exact, least

    def command(self, words, folder, executable="sextant"):
        return [program(executable)] + [word.replace("RECEIVER", f"{folder}/receiver").replace("FOLDER", folder) for word in words]

    def plain(self, words, folder):
        """A command without a fault, before or after the check."""
        return harness.run(*self.command(words, folder), code=None, env=environment(folder, SEXTANT_SERVICE="none"))

    def run(self, folder, variables, recording):
        """The program's end: its code or None for a hang, whether SIGTERM ended it, its output and its errors."""
        shutil.copy(recording, f"{folder}/recording")
        for path in ("backup", "settings", "page.html"):
            with open(f"{folder}/{path}", "w") as file:
                file.write(PREVIOUS)
        if self.model is None:
            return *self.start(folder, variables), []
        with Simulator(folder, self.model) as receiver:
            for words in self.before:
                self.plain(words, folder)
            rate = receiver.wait_for_status(lambda status: status["bytes"] > 0, "no epoch")["rate"]
            found = self.start(folder, variables)
            return *found, self.after(folder, receiver, rate)

    def start(self, folder, variables):
        env = environment(folder, SEXTANT_SERVICE="none", **variables)
        output = open(f"{folder}/{self.output}", "wb") if self.output else subprocess.PIPE
        with Program(*self.command(self.words, folder, self.executable), terminal=self.terminal, stdout=output, env=env) as one:
            found = finish(one)
            if self.output:
                output.close()
                with open(f"{folder}/{self.output}", errors="replace") as file:
                    return *found, file.read(), one.errors
            return *found, one.output, one.errors

    def after(self, folder, receiver, rate):
        """What is wrong at the receiver, after a command without a fault that finds the crash-recovery record, if there is one."""
        if self.changes:
            return []
        done = self.plain(("configure", "backup", "--device", "RECEIVER", "FOLDER/after"), folder)
        if done.process.returncode != 0:
            return [f"the next command ends with {done.process.returncode}: {done.errors!r}"]
        with open(f"{folder}/after") as file:
            left = [line for line in file.read().split("\n") if line and not line.startswith(("#", "unique-id"))]
        wrong = []
        if left != BASELINE.setdefault(self.model, left):
            wrong.append(f"the receiver has other settings: {sorted(set(left) ^ set(BASELINE[self.model]))}")
        if (found := receiver.status()["rate"]) != rate:
            wrong.append(f"the line has {found} baud and not {rate}")
        return wrong


class Service(Scenario):
    """`sextantd` with one client; the fault is in one of them."""

    def __init__(self, name, faulty, client):
        super().__init__(name, ())
        self.faulty, self.client = faulty, client

    def start(self, folder, variables):
        env = environment(folder, SEXTANT_AUTHORIZATION="always")
        service = {**env, **variables} if self.faulty == "service" else env
        client = {**env, "SEXTANT_SERVICE": f"{folder}/socket", **(variables if self.faulty == "client" else {})}
        with Program(program("sextantd"), "--socket", f"{folder}/socket", "--device", f"{folder}/receiver", env=service) as daemon:
            try:
                harness.wait_until(lambda: os.path.exists(f"{folder}/socket") or daemon.process.poll() is not None, "", seconds=LIMIT)
            except harness.Failure:
                pass
            executable, *words = self.client
            with Program(*self.command(words, folder, executable), env=client) as one:
                ended = finish(one)
            if self.faulty == "client":
                daemon.process.terminate()
                daemon.wait_for_exit(0, seconds=LIMIT)
                return *ended, one.output, one.errors
            if daemon.process.poll() is None:
                daemon.process.terminate()
            code, _ = finish(daemon)
            # The client's output belongs to the daemon's output, and the daemon's end to its code.
            return code, False, one.output, daemon.errors


def finish(one):
    try:
        return one.wait_for_exit(None, seconds=LIMIT), False
    except harness.Failure:
        one.process.terminate()
    try:
        return one.wait_for_exit(None, seconds=LIMIT), True
    except harness.Failure:
        return None, True


PREVIOUS = "sextant-configuration 1\nholds differences\nCFG-NAVSPG-DYNMODEL = 4\n"
BASELINE = {}
WATCH = ("watch", "--json", "--count", "2", "--seconds", "20", "--device", "RECEIVER")
TRACK = ("--json", "--once", "--seconds", "20")
SCENARIOS = [
    Scenario("decode", ("decode", "--format", "messages", "FOLDER/recording"), model=None, output="decoded", exact=True),
    Scenario("decode to GPX", ("decode", "--format", "gpx", "FOLDER/recording"), model=None, exact=True),
    Scenario("report", ("report", "--output", "FOLDER/page.html", "FOLDER/recording"), model=None),
    Scenario("devices", ("devices", "--json"), model=None, exact=True),
    Scenario("probe", ("probe", "--device", "RECEIVER")),
    Scenario("poll", ("poll", "MON-VER", "--device", "RECEIVER", "--seconds", "10")),
    Scenario("watch", WATCH, least=2),
    Scenario("watch on a terminal", ("watch", "--seconds", "3", "--device", "RECEIVER"), terminal=True),
    Scenario("record", ("record", "--seconds", "2", "--configure", "--device", "RECEIVER", "FOLDER/recording")),
    Scenario("configure set", ("configure", "set", "model=automotive", "--device", "RECEIVER"), changes=True),
    Scenario("configure backup", ("configure", "backup", "--device", "RECEIVER", "FOLDER/backup")),
    Scenario("configure restore", ("configure", "restore", "--device", "RECEIVER", "FOLDER/settings"), changes=True),
    Scenario("power mode", ("power", "mode", "cyclic:2", "--seconds", "4", "--device", "RECEIVER"), model="m8"),
    Scenario("batch", ("batch", "retrieve", "--seconds", "20", "--device", "RECEIVER"), model="m8-batching", changes=True,
             before=(("batch", "start", "--size", "20", "--device", "RECEIVER"),)),
    Scenario("track", (*TRACK, "--device", "RECEIVER"), "sextant-track", least=1),
    Scenario("simulate", ("simulate", "--seconds", "2", "--link", "FOLDER/link"), model=None),
    Service("service", "service", ("sextant-track", *TRACK)),
    Service("track with the service", "client", ("sextant-track", *TRACK)),
    Service("watch with the service", "client", ("sextant", *WATCH[:-2])),
]
for scenario in SCENARIOS:
    if scenario.executable == "sextant-track":
        scenario.start = lambda folder, variables, start=scenario.start: start(folder, {**variables, "SEXTANT_AUTHORIZATION": "always"})


# MARK: Checks

def damaged(folder, recording):
    """Files that are neither the former nor the new version, and temporary files."""
    wrong = []
    with open(f"{folder}/backup") as file:
        text = file.read()
    if text != PREVIOUS and not (text.startswith("sextant-configuration 1\n") and text.endswith("\n")):
        wrong.append(f"the backup is damaged: {text[-60:]!r}")
    with open(f"{folder}/page.html") as file:
        text = file.read()
    if text != PREVIOUS and not text.rstrip().endswith("</html>"):
        wrong.append(f"the page is damaged: {text[-60:]!r}")
    for parent, _, names in os.walk(folder):
        for name in names:
            if re.search(r"\.\d+$", name):
                wrong.append(f"a temporary file is left: {os.path.join(parent, name)[len(folder):]}")
            elif f"{folder}/state" in parent and stat.S_IMODE(os.lstat(os.path.join(parent, name)).st_mode) & 0o077:
                wrong.append(f"others can read {name}")
    if not filecmp.cmp(recording, f"{folder}/recording", shallow=False):
        done = harness.run(program(), "decode", "--format", "summary", f"{folder}/recording", code=None, env=environment(folder))
        if done.process.returncode != 0:
            wrong.append(f"the recording is damaged: {done.errors!r}")
    return wrong


def judge(scenario, fault, found, expected, folder, recording):
    code, terminated, output, errors, wrong = found
    wrong = list(wrong)
    place = fault.place
    if code is None:
        return ["it hangs, also after SIGTERM"]
    if code < 0:
        wrong.append(f"signal {-code} ended it")
    elif code not in CODES:
        wrong.append(f"its code is {code}")
    # The standard error is where the fault is.
    mute = place.call in ("write", "poll", "fcntl", "dup2") and place.file == expected.errors_file
    said = errors.strip() if scenario.terminal else "\n".join(line for line in errors.splitlines() if plain(line) not in expected.errors)
    if terminated and not said:
        wrong.append("it waits without a message until SIGTERM")
    # An error of Core Location is an event.
    if code != 0 and not errors.strip() and "didFailWithError" not in output and not mute and not (code == 74 and place.call == "write"):
        wrong.append(f"it ends with {code} without a message")
    # A device without an attribute that libudev could not read, or that this user may not open, is not a fault of Sextant.
    if scenario.name == "devices" and (len(place.frames) == 1 or '"cure"' in output):
        said = said or output
    complete = output == expected.output if scenario.exact else output.count('"TPV"') + output.count("didUpdateLocations") >= scenario.least
    if code == 0 and not said and not complete and not mute and fault.error != "EPIPE":
        wrong.append(f"its result is incomplete without a message: {output[-200:]!r}")
    if not (place.call in ("unlinkat", "unlink") or "unlink" in errors):
        wrong += damaged(folder, recording)
    return wrong


def plain(line):
    """A message without numbers and folders, which differ from run to run."""
    return re.sub(r"\d+|/\S*", "", line)


Expected = collections.namedtuple("Expected", "output errors errors_file")


def attempt(scenario, library, recording, fault=None):
    """A run in a folder of its own: what was found, the places, how often the fault was injected, and the folder's verdict."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, prefix="fault-") as folder:
        os.chmod(folder, 0o755)
        found = scenario.run(folder, preload(library, folder, fault), recording)
        places, injected = read_record(f"{folder}/faults")
        wrong = judge(scenario, fault, found, EXPECTED[scenario.name], folder, recording) if fault and injected else []
        return found, places, injected, wrong


EXPECTED = {}


def baseline(scenario, library, recording):
    (code, _, output, errors, wrong), places, _, _ = attempt(scenario, library, recording)
    harness.expect(code == 0 and not wrong, f"{scenario.name} without a fault: {code} {wrong} {errors!r}")
    file = next((place.file for place in places if place.call == "write" and "pipe" in place.file), "")
    EXPECTED[scenario.name] = Expected(output, {plain(line) for line in errors.splitlines()}, file)
    return [fault for place in places for fault in faults_of(place)]


def symbols(scenario, frames):
    executable = program("sextantd" if scenario.name == "service" else "sextant-track" if scenario.name.startswith("track") else "sextant")
    if not shutil.which("llvm-symbolizer"):
        return " < ".join(map(hex, frames))
    done = subprocess.run(["llvm-symbolizer", "--demangle", "--functions=linkage", "-e", executable, *(hex(frame - 1) for frame in frames)],
                          capture_output=True, text=True, check=False)
    places = [line.split("\n")[1] for line in done.stdout.strip().split("\n\n") if "\n" in line]
    shown = [re.sub(r":\d+$", "", os.path.basename(place)) for place in places]
    return " < ".join(dict.fromkeys(place for place in shown if not place.startswith(("Syscalls", "??", "<compiler"))))


def table(counts):
    """The number of injected faults by scenario and call."""
    rows = ["| Scenario | Faults | Calls |", "|---|---|---|"]
    for scenario, calls in counts.items():
        shown = ", ".join(f"{name} {number}" for name, number in sorted(calls.items(), key=lambda item: -item[1]) if number)
        rows.append(f"| {scenario} | {sum(calls.values())} | {shown} |")
    return "\n".join(rows + [f"| all | {sum(sum(calls.values()) for calls in counts.values())} | |"])


def main():
    given = harness.arguments(__doc__, call="", error="", sample=0, seed=1, workers=24, table="")
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    chosen = [scenario for scenario in SCENARIOS if not given.checks or scenario.name in given.checks]
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(given.workers) as pool:
        library, recording = f"{folder}/faults.so", f"{folder}/recording"
        subprocess.run([shutil.which("cc") or "clang", "-O1", "-fno-omit-frame-pointer", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library,
                        f"{HERE}/faults/faults.c", "-ldl"], check=True)
        harness.run(program(), "record", "--seconds", "2", "--device", "sim:parked-van", recording, env=environment(folder))
        jobs = [(scenario, pool.submit(baseline, scenario, library, recording)) for scenario in chosen]
        faults, failed = [], collections.defaultdict(list)
        for scenario, job in jobs:
            try:
                faults += [(scenario, fault) for fault in job.result()
                           if given.call in ("", fault.place.call) and given.error in ("", fault.error)]
            except harness.Failure as failure:
                print(f"FAILED {failure}", flush=True)
                failed[scenario.name, None, None].append(str(failure))
        print(f"{len(faults)} faults in {len(chosen)} scenarios ({time.monotonic() - begin:.0f} s)", flush=True)
        if given.sample:
            faults = random.Random(given.seed).sample(faults, min(given.sample, len(faults)))
        else:
            # Slow scenarios side by side with fast ones.
            random.Random(given.seed).shuffle(faults)
        counts = {scenario.name: collections.Counter() for scenario in chosen}
        missed = 0
        begin = time.monotonic()
        running = {pool.submit(attempt, scenario, library, recording, fault): (scenario, fault) for scenario, fault in faults}
        ended = []

        def end(*_):
            ended.append(True)
            for job in running:
                job.cancel()
        signal.signal(signal.SIGTERM, end)
        for number, job in enumerate(concurrent.futures.as_completed(running), 1):
            # SIGTERM may have reached the programs too.
            if ended:
                print(f"ended by SIGTERM after {number - 1} of {len(faults)}")
                break
            scenario, fault = running[job]
            if number % 500 == 0:
                print(f"{number} of {len(faults)} ({time.monotonic() - begin:.0f} s)", flush=True)
            try:
                _, _, injected, wrong = job.result()
            except Exception as error:
                injected, wrong = 1, [f"{type(error).__name__}: {error}"]
            missed += not injected
            counts[scenario.name][fault.place.call] += bool(injected)
            for text in wrong:
                key = (scenario.name, fault.place.call, fault.place.hash)
                if key not in failed:
                    print(f"FAILED {scenario.name}: {fault.place.call} ({fault.place.file}) turn {fault.turn} {fault.error}: {text}\n    at "
                          f"{symbols(scenario, fault.place.frames)}", flush=True)
                else:
                    print(f"  also turn {fault.turn} {fault.error} at {fault.place.call}: {text[:200]}", flush=True)
                failed[key].append(text)
    found = table(counts)
    print(f"{found}\n{missed} places were not reached again; {time.monotonic() - begin:.0f} s")
    if given.table:
        with open(given.table, "w") as file:
            file.write(found + "\n")
    if failed:
        sys.exit(f"{sum(map(len, failed.values()))} findings at {len(failed)} places")


if __name__ == "__main__":
    main()
