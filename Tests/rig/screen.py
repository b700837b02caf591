#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The screen of `sextant watch` on a pseudo-terminal, as PyPI's terminal emulator pyte shows it: its sizes, keys and locales, and
the terminal after each way of ending.

usage: screen.py FOLDER [CHECK]...; FOLDER has sextant
"""
RIG = {"programs": ["sextant"], "needs": ["PyPI"], "seconds": 21, "ci": True}

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from harness import LIMIT, Simulator, arguments, environment, expect, expect_equal, program, run_checks

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "Tests" / "peers"))
from packages import install_peers  # noqa: E402

BEGIN, END = b"\x1b[?1049h", b"\x1b[?7h\x1b[?25h\x1b[?1049l"
POSITION = r"48\.16\d+° N  11\.6\d+° E"


class Terminal:
    """A process with a controlling terminal, and what the terminal shows."""

    def __init__(self, folder, *command, columns=80, rows=24, **variables):
        import pyte
        self.written = b""
        self.display = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.display)
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(slave)

        def before_exec():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        env = environment(folder, TERM="xterm", LANG="C.UTF-8", LC_ALL="", LC_CTYPE="", NO_COLOR="", **variables)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=before_exec, env=env)
        # The state of the terminal is read after the end of the process.
        self.slave = slave

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds):
        """Shows what is written next. Whether there was something."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        data = os.read(self.master, 65536)
        self.written += data
        # pyte has no alternate screen: its sequences are looked for in the bytes.
        self.stream.feed(data)
        return True

    def wait_for(self, condition, text):
        limit = time.monotonic() + LIMIT
        while not (found := condition()):
            expect(time.monotonic() < limit, f"{text}: {self.lines()} {self.written[-300:]!r}")
            self.read(0.2)
        return found

    def lines(self):
        return [line.rstrip() for line in self.display.display]

    def shows(self, pattern):
        return re.search(pattern, "\n".join(self.lines()), re.M)

    def wait_for_text(self, pattern):
        return self.wait_for(lambda: self.shows(pattern), f"no {pattern!r}")

    def type(self, keys):
        os.write(self.master, keys.encode())

    def resize(self, columns, rows):
        """Sets the size of the terminal."""
        self.display.resize(rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for_exit(self, code):
        self.wait_for(lambda: self.process.poll() is not None, "it does not end")
        while self.read(0):
            pass
        expect_equal(self.process.returncode, code, f"the exit code ({self.written[-300:]!r})")

    def expect_restored(self):
        """The screen was left after it was last shown, and keys have echo and Return again."""
        expect(self.written.rfind(END) > self.written.rfind(BEGIN) >= 0, f"the screen is not left: {self.written[-300:]!r}")
        expect_equal(termios.tcgetattr(self.slave), self.before, "the terminal's state")

    def has_keys(self):
        return not termios.tcgetattr(self.slave)[3] & termios.ICANON


def watch(folder, *options, device="sim:walk", **more):
    return Terminal(folder, program(), "watch", "--device", device, *options, **more)


def views_and_keys(folder):
    """Each view, the pause and the summary, by keys."""
    with watch(folder) as terminal:
        terminal.wait_for_text(f"\\A  Position   {POSITION}")
        terminal.wait_for_text(r"^  Satellites \d+(: rows 1-\d+ of \d+)?, \d+ received, \d+ used")
        expect(terminal.shows(r"^  [GREC]\d\d  \d\d [█▊▌▎]+ +\d+°"), f"no satellite: {terminal.lines()}")
        expect(terminal.shows(r"^  Sat C/N0 +Elev   Az"), f"no heads of the columns: {terminal.lines()}")
        expect(terminal.shows(r"q ends  \? keys$") and terminal.display.cursor.hidden, f"the last line: {terminal.lines()[-1]}")
        terminal.type("s")
        terminal.wait_for_text(r"^  Sky: \d+ satellites")
        expect(terminal.shows(r"^ +·.*   [GREC]\d\d  \d\d [█▊▌▎]"), f"no sky: {terminal.lines()}")
        terminal.type("m")
        terminal.wait_for_text(r"^  Messages \d+")
        terminal.wait_for_text(r"^  UBX NAV-PVT  100 bytes  b562")
        terminal.type("?")
        terminal.wait_for_text(r"^  PgUp PgDn +scroll by a page")
        terminal.type("?l ")
        terminal.wait_for_text("^ paused ")
        terminal.type("p")
        terminal.wait_for(lambda: not terminal.shows("^ paused "), "it is still paused")
        terminal.type("\x1b[6~q")
        terminal.wait_for_exit(0)
        terminal.expect_restored()
        summary = terminal.written[terminal.written.rfind(END) + len(END):].decode()
        expect(re.match(rf"simulator: walk: \d+ epochs in \d+ s, \d+ with a position, the first after [\d.]+ s\r\n"
                        rf"last position {POSITION}  ± [\d.]+ m  [\dTZ:.-]+\r\n"
                        r"\d+ bytes, \d+ frames, 0 wrong checksums, 0 bytes skipped\r\n\Z", summary), f"the summary: {summary!r}")


def sizes(folder):
    """The position is in the first row of a window of any size, and no row is wrapped."""
    with watch(folder) as terminal:
        terminal.wait_for_text(f"\\A  Position   {POSITION}")
        for columns, rows in ((300, 100), (44, 6), (30, 10), (28, 2), (12, 5), (80, 1), (1, 1), (80, 24)):
            terminal.display.reset()
            terminal.resize(columns, rows)
            if columns == 1:
                terminal.wait_for(lambda: terminal.lines() == ["…"], "no mark in one cell")
                continue

            def is_whole():
                lines = terminal.lines()
                return re.match(r" *(Position +)?48\.1", lines[0]) and (rows < 3 or columns < 20 or "q ends" in lines[-1])
            terminal.wait_for(is_whole, f"{columns} × {rows}")
            expect_equal(sum("48.1" in line for line in terminal.lines()), 1, f"{columns} × {rows}: the rows with a position")
        terminal.type("q")
        terminal.wait_for_exit(0)
        terminal.expect_restored()


def plain(folder):
    """Without a locale of UTF-8 every byte is ASCII, and with NO_COLOR there is no colour; with neither there are both."""
    for is_plain in (False, True):
        variables = {"LC_ALL": "C", "NO_COLOR": "1"} if is_plain else {}
        with Terminal(folder, "/usr/bin/env", *(f"{name}={value}" for name, value in variables.items()), program(), "watch",
                      "--device", "sim:walk") as terminal:
            terminal.wait_for_text(r"\A  Position   48\.16\d+" + (" N  11" if is_plain else "° N  11"))
            terminal.wait_for_text(r"[GREC]\d\d  \d\d " + ("#+" if is_plain else "█+"))
            terminal.type("sq")
            terminal.wait_for_exit(0)
            expect(bool(re.search(rb"\x1b\[3\dm", terminal.written)) != is_plain, f"colours: {terminal.written[-300:]!r}")
            expect(terminal.written.isascii() == is_plain, f"ASCII: {terminal.written[-300:]!r}")


ENDS = {
    "^C": lambda one: one.type("\x03"),
    "TERM": lambda one: one.process.terminate(),
    "HUP": lambda one: one.process.send_signal(signal.SIGHUP),
    "QUIT": lambda one: one.process.send_signal(signal.SIGQUIT),
    # The quit key and ^S, which are keys like others, and q.
    "quit key": lambda one: one.type("\x1c\x13q"),
}


def end_by(name):
    """The terminal after a signal or a key."""
    def check(folder):
        with watch(folder) as terminal:
            terminal.wait_for_text(f"\\A  Position   {POSITION}")
            expect(terminal.has_keys(), "keys need Return")
            ENDS[name](terminal)
            terminal.wait_for_exit(0)
            terminal.expect_restored()
    return check


def count(folder):
    with watch(folder, "--count", "2") as terminal:
        terminal.wait_for_exit(0)
        terminal.expect_restored()
    with watch(folder, "--seconds", "1", device="sim:indoor") as terminal:
        terminal.wait_for_exit(69)
        terminal.expect_restored()
        expect(b"no fix was received" in terminal.written, f"{terminal.written[-300:]!r}")


def unplugged(folder):
    """A receiver that is unplugged is waited for on the screen, and the end restores the terminal."""
    with Simulator(folder) as receiver:
        with watch(folder, device=receiver.link) as terminal:
            terminal.wait_for_text(f"\\A  Position   {POSITION}")
            receiver.kill()
            terminal.wait_for_text(r"\A  Position +no valid message any more")
            terminal.type("q")
            terminal.wait_for_exit(0)
            terminal.expect_restored()


def stop_without_a_shell(folder):
    """^Z is ignored where no shell could continue the process."""
    with watch(folder) as terminal:
        terminal.wait_for_text(f"\\A  Position   {POSITION}")
        terminal.type("\x1a")
        terminal.wait_for(lambda: terminal.written.count(BEGIN) == 2, "the screen is not shown again")
        terminal.type("q")
        terminal.wait_for_exit(0)
        terminal.expect_restored()


def job_control(folder):
    """^Z gives the terminal back to the shell, `bg` leaves it there, and `fg` shows the screen again."""
    with Terminal(folder, "/bin/bash", "--norc", "--noprofile", "-i", PS1="ready> ") as terminal:
        def shell(line):
            """Types a line at the prompt."""
            terminal.wait_for(lambda: terminal.written.endswith(b"ready> "), "no prompt")
            terminal.type(line + "\n")
        shell(f"{program()} watch --device sim:walk")
        terminal.wait_for(lambda: re.search(b"48\\.16", terminal.written), "no position")
        terminal.type("\x1a")
        terminal.wait_for(lambda: b"Stopped" in terminal.written, "it is not stopped")
        expect(terminal.written.rfind(END) > terminal.written.rfind(BEGIN), "the screen is not left at ^Z")
        shell("bg; sleep 1.5; jobs")
        terminal.wait_for(lambda: b"Running" in terminal.written, "it does not run in the background")
        expect(terminal.written.count(BEGIN) == 1, "a job in the background draws its screen")
        shell("fg")
        terminal.wait_for(lambda: terminal.written.count(BEGIN) >= 2, "the screen is not shown again")
        begin = len(terminal.written)
        terminal.wait_for(lambda: re.search(b"48\\.16", terminal.written[begin:]), "no position after fg")
        terminal.type("q")
        shell("echo code $?")
        terminal.wait_for(lambda: b"code 0" in terminal.written, "it did not end in order")
        expect(terminal.written.rfind(END) > terminal.written.rfind(BEGIN), "the screen is not left")
        terminal.type("exit\n")
        terminal.wait_for(lambda: terminal.process.poll() is not None, "the shell does not end")


if __name__ == "__main__":
    options = arguments(__doc__)
    install_peers()
    checks = {check.__name__: check for check in (
        views_and_keys, sizes, plain, count, unplugged, stop_without_a_shell, job_control)}
    run_checks({**checks, **{f"end by {name}": end_by(name) for name in ENDS}}, options.checks)
