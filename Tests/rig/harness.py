# SPDX-License-Identifier: Apache-2.0
"""The harness of the rigs: programs that are read all the while, the receiver simulator, and checks that run side by side.

A wait is for an event: a line, a state of the receiver, the end of a process. `LIMIT` only ends a wait that would never end,
and no check depends on how fast the machine is: what the program promises in seconds is checked in virtual time by the
tests in Swift. The first argument of every rig is the folder with the programs.
"""
import argparse
import concurrent.futures
import contextlib
import datetime
import fcntl
import glob
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

import phrases

# Seconds.
LIMIT = 120


class Failure(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Failure(text)


def expect_equal(found, wanted, subject):
    expect(found == wanted, f"{subject} is {found!r}, not {wanted!r}")


def matches(pattern, text):
    """The match of a phrase anywhere in a text, or None."""
    return re.search(pattern, text, re.IGNORECASE | re.MULTILINE)


def program(name="sextant"):
    return os.path.join(os.path.abspath(sys.argv[1]), name)


def seconds_of(text):
    """The seconds since 1970 of a time in ISO 8601."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def environment(folder, **more):
    """The caller's environment without its receivers, and with the program's files in a folder of the check."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SEXTANT_", "GNSS_"))}
    return {**kept, "SEXTANT_STATE_DIR": f"{folder}/state", "SEXTANT_RUN_DIR": f"{folder}/run",
            "XDG_CONFIG_HOME": f"{folder}/config", **more}


def waiting_seconds(*processes):
    """The time for which threads of these processes were ready and had no processor: proc(5), schedstat. Without
    processes it is the time of the calling thread."""
    files = [path for process in processes for path in glob.glob(f"/proc/{process}/task/*/schedstat")]
    total = 0
    for path in files or ["/proc/thread-self/schedstat"]:
        try:
            with open(path) as file:
                total += int(file.read().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            pass  # The thread has ended since the list was made.
    return total / 1e9


def wait_until(condition, text, seconds=LIMIT):
    """Waits for a state that is not announced: it is read ten times a second. Returns it."""
    limit = time.monotonic() + seconds
    while not (found := condition()):
        expect(time.monotonic() < limit, text() if callable(text) else text)
        time.sleep(0.1)
    return found


class Program:
    """A process. Its lines are read as they come; a line that is a JSON object with an `event` is one of its events.

    `terminal` gives it a controlling terminal: its standard input and standard error, with the interrupt key. `stdout` and
    `stderr` name other files, which are not read here.
    """

    def __init__(self, *command, terminal=False, user=None, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                 stderr=subprocess.PIPE, prepare=None, **options):
        self.name = " ".join([os.path.basename(command[0]), *command[1:3]])
        self.changed = threading.Condition()
        self.lines, self.events, self.errors = [], [], ""
        self.line_mark = self.event_mark = self.error_mark = 0
        self.terminal = None
        if terminal:
            self.terminal, slave = pty.openpty()
            stdin = stderr = slave

        def before_exec():
            if terminal:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            if prepare:
                prepare()

        self.process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, preexec_fn=before_exec, **options)
        streams = {}
        if stdout == subprocess.PIPE:
            streams["output"] = self.process.stdout.fileno()
        if terminal:
            os.close(slave)
            streams["errors"] = self.terminal
        elif stderr == subprocess.PIPE:
            streams["errors"] = self.process.stderr.fileno()
        self.open = set(streams)
        self.readers = [threading.Thread(target=self._read, args=item, daemon=True) for item in streams.items()]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def _read(self, name, descriptor):
        rest = b""
        while True:
            try:
                data = os.read(descriptor, 65536)
            except OSError:  # The end of a terminal.
                data = b""
            with self.changed:
                if not data:
                    self.open.discard(name)
                elif name == "errors":
                    self.errors += data.decode(errors="replace")
                else:
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        self._take(line.decode(errors="replace"))
                self.changed.notify_all()
            if not data:
                return

    def _take(self, line):
        self.lines.append(line)
        if line.startswith("{") and '"event"' in line:
            self.events.append(json.loads(line))

    # MARK: Waiting

    def wait_for(self, stream, find, text, seconds=LIMIT):
        """Waits until `find`, called after each piece of output, returns a value; not after the end of the stream."""
        limit = time.monotonic() + seconds
        with self.changed:
            while (found := find()) is None:
                left = limit - time.monotonic()
                if left <= 0 or stream not in self.open:
                    raise Failure(f"{self.name}: no {text} {'before its end' if left > 0 else f'within {seconds} s'}; its last "
                                  f"lines: {self.lines[-5:]}; its errors: {self.errors[-600:]!r}")
                self.changed.wait(left)
            return found

    def wait_for_line(self, pattern, seconds=LIMIT):
        """The match of the next line with this pattern."""
        def find():
            while self.line_mark < len(self.lines):
                self.line_mark += 1
                if found := matches(pattern, self.lines[self.line_mark - 1]):
                    return found
        return self.wait_for("output", find, f"line {pattern!r}", seconds)

    def wait_for_event(self, name, holds=lambda event: True, without=None, seconds=LIMIT, **fields):
        """The next event of this name with these fields; what came before it is passed over, and must not be a `without`."""
        def find():
            while self.event_mark < len(self.events):
                self.event_mark += 1
                event = self.events[self.event_mark - 1]
                expect(event["event"] != without, f"{self.name}: {without} came before {name}: {event}")
                if event["event"] == name and all(event.get(key) == value for key, value in fields.items()) and holds(event):
                    return event
        return self.wait_for("output", find, f"event {name} {fields or ''}", seconds)

    def wait_for_message(self, pattern, seconds=LIMIT):
        """The next match in what it says on standard error or on its terminal."""
        def find():
            if found := matches(pattern, self.errors[self.error_mark:]):
                self.error_mark += found.end()
                return found
        return self.wait_for("errors", find, f"message {pattern!r}", seconds)

    def expect_none(self, name, seconds):
        """Fails if an event of this name comes within the time: the length of a silence is the check itself."""
        with self.changed:
            begin = self.event_mark
            self.changed.wait_for(lambda: any(event["event"] == name for event in self.events[begin:]), seconds)
            expect(not any(event["event"] == name for event in self.events[begin:]),
                   f"{self.name}: {name} came although it must not: {self.events[begin:]}")

    def wait_for_exit(self, code=0, seconds=LIMIT):
        """Its exit code, which must be this one; all its output has come then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name}: it does not end; {self.lines[-5:]} {self.errors[-600:]!r}") from None
        for reader in self.readers:
            reader.join(seconds)
        found = self.process.returncode
        if code is not None:
            expect(found in (code if isinstance(code, tuple) else (code,)),
                   f"{self.name}: it ended with {found}, not {code}; {self.lines[-5:]} {self.errors[-600:]!r}")
        return found

    # MARK: Its state

    def has_open(self, path):
        """Whether it has a file open."""
        for name in os.listdir(folder := f"/proc/{self.process.pid}/fd"):
            try:
                if os.readlink(f"{folder}/{name}") == path:
                    return True
            except FileNotFoundError:
                pass  # Closed meanwhile.
        return False

    def handles(self, number):
        """Whether a signal does not simply end it: it is caught, or blocked and waited for. While the C library creates a thread, it
        blocks all signals for a moment, also the signals of faults, which no program of ours blocks."""
        with open(f"/proc/{self.process.pid}/status") as file:
            masks = {name: int(mask, 16) for name, mask in re.findall(r"^(Sig\w+):\s+(\w+)$", file.read(), re.M)}

        def has(name, number):
            return masks[name] >> (number - 1) & 1
        return has("SigCgt", number) or has("SigBlk", number) and not has("SigBlk", signal.SIGSEGV)

    # MARK: Output

    def events_named(self, name):
        """All events of this name so far."""
        with self.changed:
            return [event for event in self.events if event["event"] == name]

    @property
    def output(self):
        """All whole lines so far."""
        with self.changed:
            return "".join(line + "\n" for line in self.lines)

    def locations(self):
        return [location for event in self.events_named("didUpdateLocations") for location in event["locations"]]

    def fixes_lost(self):
        """How many fixes it said are lost."""
        return sum(int(count) for count in re.findall(phrases.FIXES_LOST, self.errors))

    # MARK: Input and end

    def type(self, text):
        os.write(self.terminal, text.encode())

    def interrupt(self, code=0):
        """The interrupt key, or its signal; it has to end."""
        if self.terminal is not None:
            self.type("\x03")
        else:
            self.process.send_signal(signal.SIGINT)
        return self.wait_for_exit(code)

    def terminate(self, code=0):
        self.process.terminate()
        return self.wait_for_exit(code)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(LIMIT)


def copy_program(source, target):
    """Copies a program that is then executed. Not with shutil: a process that another thread forks meanwhile has the open file until it
    executes its own program, and the kernel refuses to execute a file that is open for writing (ETXTBSY)."""
    subprocess.run(["cp", "--", source, target], check=True)


def run(*command, code=0, **options):
    """A program that ran to its end."""
    with Program(*command, **options) as one:
        one.wait_for_exit(code)
        return one


class Simulator(Program):
    """`sextant simulate`: a receiver on a pseudo-terminal, which `link` leads to. `scenario` is the text of one."""

    def __init__(self, folder, model="m10", *options, scenario=None):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.link = folder, os.path.join(folder, "receiver")
        if scenario is not None:
            with open(f"{folder}/scenario", "w") as file:
                file.write(scenario)
            options += ("--scenario", f"{folder}/scenario")
        super().__init__(program(), "simulate", "--model", model, "--link", self.link, *options, stdin=subprocess.PIPE)
        # The link is there when the path is printed.
        self.wait_for_line("^/dev/")

    def kill(self):
        # A killed simulator leaves its link, which would lead to the next pseudo-terminal with this number, in another rig.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.link)
        super().kill()

    def command(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def status(self):
        """Power state, rate, charge in mAh, kept fixes and bytes sent so far."""
        self.command("status")
        found = self.wait_for_line(phrases.STATUS)
        return {"state": found["state"], "charge": float(found["charge"]),
                **{name: int(found[name]) for name in ("rate", "batch", "bytes")}}

    def wait_for_status(self, holds, text):
        """The first status that this holds of: the simulator does not announce its states."""
        last = {}

        def look():
            last.update(self.status())
            return holds(last)
        wait_until(look, lambda: f"{self.name}: {text}: {last}")
        return dict(last)

    def wait_for_state(self, *states):
        return self.wait_for_status(lambda status: status["state"] in states, f"no state {' or '.join(states)}")


class Track(Program):
    """`sextant track`, its events as JSON, on a terminal of its own or as a service (`terminal=False`)."""

    def __init__(self, folder, *arguments, terminal=True, user=None, **variables):
        super().__init__(program(), "track", "--json", *arguments, terminal=terminal, user=user,
                         env=environment(folder, **variables))


def expect_in_order(times, lost=0, switched=0):
    """Fixes a second apart, oldest first, none twice, and no more missing than were said to be lost. How many are missing.

    `switched` is the number of fixes at the start in which the receiver is switched to keeping them: on a slow machine it gets
    its settings late, and a fix between the last that is sent and the first that is kept may be missing there.
    ReceiverServiceTests check in virtual time that none is.
    """
    steps = [round(b - a, 3) for a, b in zip(times, times[1:])]
    wrong = [step for step in steps if step <= 0]
    expect(not wrong, f"fixes are out of order or twice: {wrong}")
    gaps = {index + 1: step for index, step in enumerate(steps) if step > 1 and index >= switched}
    missing = sum(round(step) - 1 for step in gaps.values())
    expect(missing <= lost, f"{missing} fixes are missing, {lost} are said to be lost; seconds after the nth fix: {gaps}")
    return missing


def expect_deferral(program, least):
    """Fixes of a deferral: in order, and at least `least` of them in one delivery. Returns the size of the largest delivery."""
    deliveries = [[seconds_of(location["timestamp"]) for location in event["locations"]]
                  for event in program.events_named("didUpdateLocations")]
    expect_in_order([time for times in deliveries for time in times], switched=5)
    most = max(map(len, deliveries))
    expect(most >= least, f"{most} fixes at once; {program.errors}")
    return most


def arguments(usage, **options):
    """The command line: FOLDER, names of checks, and these options with their standards."""
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("folder")
    parser.add_argument("checks", nargs="*")
    for name, standard in options.items():
        parser.add_argument(f"--{name}", type=type(standard), default=standard)
    return parser.parse_args()


def run_checks(checks, names=()):
    """Runs the checks that are named, or all: side by side, each in a folder of its own. Prints what each found, and fails if
    one failed. `checks` are functions, or a dictionary of them by name."""
    # The programs would inherit that nohup(1) ignores it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not isinstance(checks, dict):
        checks = {check.__name__: check for check in checks}
    chosen = {name: check for name, check in checks.items() if name in names or name.split()[0] in names or not names}

    def timed(check, folder):
        begin = time.monotonic()
        return check(folder), time.monotonic() - begin

    failed = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, concurrent.futures.ThreadPoolExecutor(len(chosen)) as pool:
        # Programs of other users look for their files in it.
        os.chmod(folder, 0o755)
        jobs = {}
        for name, check in chosen.items():
            own = f"{folder}/{name.replace(' ', '-')}"
            os.mkdir(own)
            jobs[name] = pool.submit(timed, check, own)
            # The programs of thirty checks that start at the same instant wait seconds for a processor.
            time.sleep(0.3)
        for name, job in jobs.items():
            shown = name.replace("_", " ")
            try:
                found, seconds = job.result()
                print(f"{shown}: {found or 'ok'} ({seconds:.0f} s)", flush=True)
            except Failure as failure:
                failed += 1
                print(f"FAILED {shown}: {failure}", flush=True)
            except Exception:
                failed += 1
                print(f"FAILED {shown}: {traceback.format_exc()}", flush=True)
    if failed:
        sys.exit(f"{failed} of {len(chosen)} failed")
