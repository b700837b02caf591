#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How commands end, and what they say when they cannot do what is requested.

usage: ends.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track

A receiver that shares no code with Sextant (ublox.py) is watched and tracked until the reader of the output closes it, the disk
is full or the terminal is lost: its settings have to be the original ones then. A receiver whose output is off is found. An
input that is not a receiver or not a recording, and an output without room, is named in one line with the cure.
"""
RIG = {"programs": ["sextant", "sextant-track"], "seconds": 29, "ci": True}

import array
import fcntl
import os
import pty
import resource
import select
import signal
import subprocess
import termios
import threading

import harness
import phrases
from harness import Program, environment, expect, expect_equal, matches, program, wait_until
from ublox import MESSAGE_KEYS, MODELS, Quirks, Receiver


class Bench:
    """A receiver, and commands on it."""

    def __init__(self, folder, model, silent=False):
        self.folder, self.link = folder, f"{folder}/receiver"
        os.makedirs(folder, exist_ok=True)
        self.receiver = Receiver(MODELS[model], Quirks(), self.link)
        if silent:
            self.receiver.items.update({key: 0 for key in MESSAGE_KEYS})
        self.before = self.receiver.snapshot()

    def __enter__(self):
        self.receiver.start()
        return self

    def __exit__(self, *_):
        self.receiver.stop()

    def start(self, command, *words, **options):
        self.command = Program(program(), command, "--device", self.link, *words, env=environment(self.folder), **options)
        return self.command

    def wait_for_configuration(self):
        """Waits until the command has changed the receiver's settings, and sent nothing more for two epochs."""
        self.receiver.wait_for(lambda: self.receiver.snapshot() != self.before,
                               f"the receiver was not configured: {self.command.errors!r}")
        commands = None
        while commands != self.receiver.commands:
            commands = self.receiver.commands
            self.receiver.wait_for_epochs(2)

    def expect_original_settings(self):
        def changes():
            now = self.receiver.snapshot()
            return [(key, self.before[key], now[key]) for key in now if now[key] != self.before[key]][:3]

        try:
            self.receiver.wait_for(lambda: not changes() and self.receiver.rate == self.receiver.traits.rate, "")
        except harness.Failure:
            raise harness.Failure(f"the settings are not the original ones: {changes()}, {self.receiver.rate} baud") from None


def fails(folder, *words, code, says, **options):
    """A command that ends with this code and message; its output."""
    done = harness.run(program(), *words, code=code, env=environment(folder), **options)
    expect(matches(says, done.errors), f"{words} says {done.errors!r}, not {says!r}")
    return done.output


def reader_that_closes(folder):
    with Bench(folder, "m10") as bench:
        reader, writer = os.pipe()
        with bench.start("watch", "--json", stdout=writer) as command:
            os.close(writer)
            bench.wait_for_configuration()
            os.read(reader, 1)
            os.close(reader)
            command.wait_for_exit(0)
        bench.expect_original_settings()


def reader_that_stops(folder, command):
    """A pager that shows its first page, or a stopped terminal: the output is not read, and the user ends the command."""
    with Bench(folder, "m10") as bench:
        reader, writer = os.pipe()
        # A few lines fill it.
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)

        def waiting_bytes():
            count = array.array("i", [0])
            fcntl.ioctl(reader, termios.FIONREAD, count)
            return count[0]

        with bench.start(command, "--json", stdout=writer) as process:
            os.close(writer)
            while bench.receiver.snapshot() == bench.before:
                if select.select([reader], [], [], 0.1)[0]:
                    os.read(reader, 4096)
            # From here on the output is not read, for fifteen epochs after it is full.
            count = None
            while count != (count := waiting_bytes()):
                bench.receiver.wait_for_epochs(4)
            bench.receiver.wait_for_epochs(15)
            process.interrupt()
        os.close(reader)
        bench.expect_original_settings()


def full_disk(folder):
    with Bench(folder, "m8") as bench:
        with bench.start("watch", "--json", "--count", "3") as command:
            command.wait_for_exit(0)
        with open("/dev/full", "w") as full, bench.start("watch", "--json", stdout=full) as command:
            command.wait_for_exit(73)
            expect(matches(phrases.OUTPUT_FULL, command.errors), f"it says {command.errors!r}")
        bench.expect_original_settings()


def hang_up(folder, command, disposition):
    """SIGHUP ends a command, unless it is ignored."""
    # The disposition is inherited: it may be ignored where this rig runs.
    with Bench(folder, "m10") as bench, bench.start(
            command, "--json", prepare=lambda: signal.signal(signal.SIGHUP, disposition)) as process:
        bench.wait_for_configuration()
        process.process.send_signal(signal.SIGHUP)
        if disposition == signal.SIG_IGN:
            bench.receiver.wait_for_epochs(2)
            expect(process.process.poll() is None, "it ended although SIGHUP is ignored")
            process.process.terminate()
        process.wait_for_exit(0)
        bench.expect_original_settings()


def output_that_is_off(folder):
    """A receiver without messages is found by requests. How soon is checked in virtual time by BaudRateSearchTests."""
    with Bench(folder, "m9", silent=True) as bench:
        with bench.start("watch", "--json", "--count", "1") as command:
            command.wait_for_exit(0)
            expect('"lat"' in command.output, "no fix")
        bench.expect_original_settings()


def batch_without_room(folder):
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with Bench(folder, "m10") as bench:
        fails(folder, "batch", "--device", bench.link, "start", code=73, says=phrases.NO_ROOM_FOR_BATCH, prepare=no_room)
        expect_equal(bench.receiver.commands, 0, "the number of requests to the receiver")


def rate_that_is_fixed(folder):
    """A wrong --baud is named as the reason; the advice is not to try again."""
    with Bench(folder, "m8") as bench, bench.start("watch", "--json", "--baud", "115200", "--seconds", "9") as command:
        command.wait_for_exit(None)
        expect(matches(phrases.BAUD_OPTION_AT_FAULT, command.errors) and not matches(phrases.TRY_AGAIN, command.errors),
               f"it says {command.errors!r}")


def no_receiver(folder):
    log = f"{folder}/log.nmea"
    with open(log, "w") as file:
        file.write("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n")
    for words in (["power", "status"], ["batch", "status"], ["configure", "show"], ["poll", "MON-VER"], ["reset", "hot"],
                  ["send", "CFG-RATE", "measRate=200"]):
        fails(folder, *words, "--device", log, code=66, says=phrases.FILE_IS_NO_RECEIVER)
        fails(folder, *words, "--device", f"replay:{log}", code=69, says=phrases.FILE_TAKES_NO_COMMANDS)
    with Program(program(), "track", "--once", env=environment(folder, GNSS_DEVICE=f"{folder}/absent")) as command:
        command.wait_for_exit(69)
        expect(matches(phrases.NOT_CONNECTED, command.output) and not matches(phrases.SKY_ADVICE, command.output),
               f"track says {command.output!r}")
    master, slave = pty.openpty()
    fails(folder, "power", "--device", os.ttyname(slave), "--seconds", "2", code=69,
          says=f"{phrases.NO_UBLOX_RECEIVER}.*{phrases.CHECK_ADVICE}")
    os.close(master)
    os.close(slave)


def no_recording(folder):
    files = {"empty": (b"", phrases.EMPTY_FILE), "text": (b"hello\n" * 9, phrases.NO_FRAMES),
             "bare": (b"$GPGLL,4916.45,N,12311.12,W,225444,A\r\n" * 3, phrases.NO_CHECKSUMS)}
    for name, (content, says) in files.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
        for form in ("tpv", "messages"):
            text = fails(folder, "decode", "--format", form, f"{folder}/{name}", code=65, says=f"/{name}: {says}")
            expect_equal(text, "", f"the output for {name}")
        if name != "bare":
            fails(folder, "simulate", "--replay", f"{folder}/{name}", code=65, says=f"/{name}: {says}")
        for command in (["watch"], ["record", f"{folder}/new"], ["track", "--once"]):
            fails(folder, *command, "--device", f"replay:{folder}/{name}", code=65, says=f"/{name}: {says}")
    fails(folder, "configure", "--device", "x", "restore", f"{folder}/none", code=66, says=phrases.NO_SUCH_FILE)
    with open(f"{folder}/good", "w") as file:
        file.write("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n")
    for command in (["watch"], ["record", f"{folder}/new"], ["track", "--once"]):
        fails(folder, *command, "--device", f"{folder}/good", code=66, says=phrases.FILE_IS_NO_RECEIVER)
    fails(folder, "record", "--device", f"replay:{folder}/good", folder, code=73, says=phrases.IS_FOLDER)
    fails(folder, "configure", "--device", "x", "restore", folder, code=66, says=phrases.IS_FOLDER)
    fails(folder, "simulate", "--replay", folder, code=66, says=phrases.IS_FOLDER)
    fails(folder, "simulate", "--baud", "3", code=64, says=phrases.BAUD_RANGE)
    with open(f"{folder}/sky", "w") as file:
        file.write("start 48,11 2200km\r\n")
    fails(folder, "simulate", "--scenario", f"{folder}/sky", code=65, says=phrases.SCENARIO_ERROR)
    with open("/dev/full", "w") as full:
        fails(folder, "record", "--device", f"replay:{folder}/good", "-", stdout=full, code=74,
              says=f"{phrases.OUTPUT_FULL}.*{phrases.CHECK_ADVICE}")


def other_reader(folder):
    """A program that has the line open without a lock, as gpsd has a pseudo-terminal, is named with its id."""
    with Bench(folder, "m10") as bench, open(bench.link, "rb", buffering=0) as line:
        with subprocess.Popen(["sleep", "60"], stdin=line) as other:
            line.close()
            try:
                for words in (["watch"], ["watch", "--read-only"], ["probe"], ["poll", "MON-VER"], ["reset", "hot"]):
                    fails(folder, *words, "--device", bench.link, code=75, says=rf"sleep \(pid {other.pid}\)")
            finally:
                other.kill()
        fails(folder, "probe", "--device", bench.link, code=0, says="")


def killed(folder):
    """`probe` restores what a killed `watch` has changed."""
    for model in ("m8", "m10"):
        with Bench(f"{folder}/{model}", model) as bench:
            with bench.start("watch", "--json") as command:
                bench.wait_for_configuration()
                command.kill()
            fails(bench.folder, "probe", "--device", bench.link, code=0, says="")
            bench.expect_original_settings()


def messages(folder):
    """Messages by name change what they name, and nothing else; a receiver starts anew at a reset, and replies."""
    for model, words in (("m8", ["CFG-RATE", "measRate=200", "navRate=1", "timeRef=1"]),
                         ("m10", ["CFG-VALSET", "layers=1", "CFG-RATE-MEAS=0.2"])):
        with Bench(f"{folder}/{model}", model) as bench:
            text = fails(bench.folder, "poll", "MON-VER", "--json", "--device", bench.link, code=0, says="")
            expect('"swVersion"' in text, f"{model}: {text!r}")
            bench.expect_original_settings()
            text = fails(bench.folder, "send", *words, "--device", bench.link, code=0, says="")
            expect(f"{words[0]} acknowledged" in text, f"{model}: {text!r}")
            now = bench.receiver.snapshot()
            changed = [key for key in now if now[key] != bench.before[key]]
            expect_equal(len(changed), 1, f"the number of changed settings of {model}: {changed}")
            text = fails(bench.folder, "reset", "cold", "--device", bench.link, code=0, says="")
            expect("navBbrMask 0xffff, resetMode 2" in text and "reply after" in text, f"{model}: {text!r}")
            fails(bench.folder, "reset", "hot", "--read-only", "--device", bench.link, code=64, says="omit --read-only")


def interrupt_before_a_reply(folder):
    """^C is not a fault of the receiver, and there is nothing to check."""
    master, slave = pty.openpty()
    for words in (["configure", "show"], ["batch", "status"], ["probe"], ["power", "status"], ["record", f"{folder}/file"],
                  ["poll", "MON-VER"], ["send", "$PUBX,00"], ["reset", "cold"]):
        with Program(program(), *words, "--device", os.ttyname(slave), env=environment(folder)) as command:
            wait_until(lambda: command.has_open(os.ttyname(slave)) and command.handles(signal.SIGINT),
                       lambda: f"{words} does not read: {command.process.poll()} {command.errors!r}")
            command.interrupt(69)
            expect(matches(phrases.INTERRUPTED, command.errors) and not matches(phrases.CHECK_ADVICE, command.errors),
                   f"{words} says {command.errors!r}")
        termios.tcflush(master, termios.TCIFLUSH)
        while select.select([master], [], [], 0)[0]:
            os.read(master, 4096)
    os.close(master)
    os.close(slave)


def slow_end(folder):
    """An end that takes longer than a second says what it waits for: here a receiver that does not reply any more."""
    # A receiver that is not configured yet needs no reply at the end. A time accuracy below NMEA's comes from UBX.
    for words, line in ((["watch", "--json"], r'"ept":0\.000'), (["track", "--json"], "didUpdateLocations")):
        with harness.Simulator(f"{folder}/{words[0]}", "m8") as receiver, \
                Program(program(), *words, "--device", receiver.link, env=environment(receiver.folder)) as command:
            command.wait_for_line(line)
            receiver.command("fault silence 60s")
            command.process.send_signal(signal.SIGTERM)
            command.wait_for_exit(0)
            expect(matches(phrases.SLOW_END, command.errors), f"{words} says {command.errors!r}")


def dumb_terminal(folder):
    """`watch` writes lines there, without sequences that place the cursor."""
    for kind, is_screen in (("dumb", False), ("", False), ("xterm", True)):
        master, slave = pty.openpty()
        with Program(program(), "watch", "--device", "sim:walk", "--count", "1", stdout=slave,
                     env=environment(folder, TERM=kind)) as command:
            os.close(slave)
            text = b""
            try:
                while piece := os.read(master, 65536):
                    text += piece
            except OSError:  # The end of a terminal.
                pass
            command.wait_for_exit(0)
        os.close(master)
        expect((b"\x1b[" in text) == is_screen and len(text) > 20, f"TERM={kind!r}: {text[:200]!r}")


if __name__ == "__main__":
    checks = {check.__name__: check for check in (
        reader_that_closes, full_disk, output_that_is_off, batch_without_room, rate_that_is_fixed, no_receiver, no_recording,
        other_reader, killed, messages, interrupt_before_a_reply, slow_end, dumb_terminal)}
    for name in ("watch", "track"):
        checks[f"reader_that_stops {name}"] = lambda folder, name=name: reader_that_stops(folder, name)
        checks[f"lost_terminal {name}"] = lambda folder, name=name: hang_up(folder, name, signal.SIG_DFL)
        checks[f"nohup {name}"] = lambda folder, name=name: hang_up(folder, name, signal.SIG_IGN)
    harness.run_checks(checks, harness.arguments(__doc__).checks)
