#!/usr/bin/env python3
"""How commands end, and what they say when they cannot do what is asked.

usage: ends.py FOLDER [NAME...]

FOLDER has the programs. A receiver of another author's making (ublox.py) is watched and tracked until the reader of the output
goes, the disk is full, the terminal is lost: it has to be as it was found. A receiver whose output is off is found. What is no
receiver, no recording or has no room is told in a line with the cure. It prints what is wrong, and fails then.
"""
import fcntl
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time

import checks
from checks import Wrong, expect
from ublox import MESSAGE_KEYS, MODELS, Manners, Receiver

FOLDER = os.path.abspath(sys.argv[1])


class Bench:
    """A folder, and a receiver where one is wanted."""

    def __init__(self, folder, model=None, silent=False):
        self.folder = folder
        self.environment = {**os.environ, "SEXTANT_STATE_DIR": folder + "/state", "XDG_CONFIG_HOME": folder}
        self.receiver = None
        if model:
            self.link = os.path.join(folder, "receiver")
            self.receiver = Receiver(MODELS[model], Manners(), self.link)
            if silent:
                self.receiver.items.update({key: 0 for key in MESSAGE_KEYS})
            self.before = self.receiver.snapshot()

    def __enter__(self):
        if self.receiver:
            self.receiver.start()
        return self

    def __exit__(self, *_):
        if self.receiver:
            self.receiver.stop()

    def start(self, *words, output=subprocess.PIPE, **options):
        return subprocess.Popen([FOLDER + "/sextant", *words], stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.PIPE, text=True, env=self.environment, **options)

    def run(self, *words, code, says="", **options):
        """Runs a command, which must end with this code and say that; its output."""
        process = self.start(*words, **options)
        text, said = process.communicate(timeout=60)
        expect(process.returncode == code, f"{' '.join(words)} ended with {process.returncode}, not {code}: {said!r}")
        expect(re.search(says, said), f"{' '.join(words)} says {said!r}, not {says!r}")
        return text

    def is_as_found(self):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if self.receiver.snapshot() == self.before and self.receiver.rate == self.receiver.traits.rate:
                return
            time.sleep(0.1)
        now = self.receiver.snapshot()
        raise Wrong(f"other settings are left: {[(key, self.before[key], now[key]) for key in now if now[key] != self.before[key]][:3]}")


def is_set(bench, process):
    """Waits until the command has set the receiver, so that there is something to put back."""
    deadline = time.monotonic() + 20
    while bench.receiver.snapshot() == bench.before:
        expect(process.poll() is None and time.monotonic() < deadline, "the receiver was not set")
        time.sleep(0.05)
    time.sleep(1.5)


def a_reader_that_goes(folder):
    with Bench(folder, "m10") as bench:
        process = bench.start("watch", "--device", bench.link, "--json")
        is_set(bench, process)
        process.stdout.readline()
        process.stdout.close()
        expect(process.wait(20) == 0, f"ended with {process.returncode}")
        bench.is_as_found()


def a_reader_that_stands_still(folder):
    """A pager that shows its first page, a terminal that was stopped: nobody takes what is written, and the user ends it."""
    for command in ("watch", "track"):
        os.makedirs(f"{folder}/{command}")
        with Bench(f"{folder}/{command}", "m10") as bench:
            reader, writer = os.pipe()
            # Few lines fill it.
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
            process = bench.start(command, "--device", bench.link, "--json", output=writer)
            os.close(writer)
            reading = threading.Event()
            reading.set()

            def read():
                while reading.is_set() and os.read(reader, 4096):
                    pass

            thread = threading.Thread(target=read)
            thread.start()
            is_set(bench, process)
            reading.clear()
            thread.join()
            time.sleep(15)
            process.send_signal(signal.SIGINT)
            try:
                process.wait(12)
            except subprocess.TimeoutExpired:
                process.kill()
                raise Wrong(f"{command} does not end") from None
            finally:
                os.close(reader)
            expect(process.returncode == 0, f"{command} ended with {process.returncode}: {process.stderr.read()!r}")
            bench.is_as_found()


def a_full_disk(folder):
    with Bench(folder, "m8") as bench:
        ahead = bench.start("watch", "--device", bench.link, "--json", "--count", "3", output=subprocess.DEVNULL)
        expect(ahead.wait(40) == 0, "the receiver is not watched")
        with open("/dev/full", "w") as full:
            bench.run("watch", "--device", bench.link, "--json", code=73, says="standard output: No space", output=full)
        bench.is_as_found()


def hang_up(folder, disposition, meanwhile):
    """SIGHUP for a command that was started with that disposition of it; it has to end in order after what is done meanwhile."""
    for command in ("watch", "track"):
        os.makedirs(f"{folder}/{command}")
        with Bench(f"{folder}/{command}", "m10") as bench:
            # Said, as what is ignored is inherited: who runs this may have it ignored.
            process = bench.start(command, "--device", bench.link, "--json", output=subprocess.DEVNULL,
                                  preexec_fn=lambda: signal.signal(signal.SIGHUP, disposition))
            is_set(bench, process)
            process.send_signal(signal.SIGHUP)
            meanwhile(command, process)
            expect(process.wait(20) == 0, f"{command} ended with {process.returncode}")
            bench.is_as_found()


def a_lost_terminal(folder):
    hang_up(folder, signal.SIG_DFL, lambda command, process: None)


def nohup(folder):
    def is_left_alone(command, process):
        time.sleep(1)
        expect(process.poll() is None, f"{command} ended although SIGHUP is ignored")
        process.terminate()

    hang_up(folder, signal.SIG_IGN, is_left_alone)


def an_output_that_is_off(folder):
    with Bench(folder, "m9", silent=True) as bench:
        begin = time.monotonic()
        text = bench.run("watch", "--device", bench.link, "--json", "--count", "1", "--seconds", "40", code=0)
        took = time.monotonic() - begin
        expect('"lat"' in text, "no fix")
        expect(took < 18, f"found after {took:.1f} s")
        bench.is_as_found()


def a_batch_without_room(folder):
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with Bench(folder, "m10") as bench:
        bench.run("batch", "--device", bench.link, "start", code=73, says="state/batch/.*: .*; .*disk", preexec_fn=no_room)
        expect(bench.receiver.commands == 0, "the receiver was told to batch")


def a_rate_that_is_bound(folder):
    with Bench(folder, "m8") as bench:
        process = bench.start("watch", "--device", bench.link, "--json", "--baud", "115200", "--seconds", "9")
        _, said = process.communicate(timeout=40)
        expect("leave --baud out" in said and "again" not in said, f"it says {said!r}")


def what_is_no_receiver(folder):
    bench = Bench(folder)
    log = folder + "/log.nmea"
    with open(log, "w") as file:
        file.write("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n")
    bench.run("power", "--device", log, "status", code=69, says="a file takes no orders; name a receiver")
    bench.run("batch", "--device", log, "status", code=69, says="a file keeps no fixes; name a receiver")
    bench.run("configure", "--device", log, "show", code=69, says="a file cannot be configured; name a receiver")
    master, slave = os.openpty()
    bench.run("power", "--device", os.ttyname(slave), "--seconds", "2", code=69, says="no u-blox receiver answered; check")
    os.close(master)
    os.close(slave)


def what_is_no_recording(folder):
    bench = Bench(folder)
    files = {
        "empty": (b"", "is empty"), "text": (b"hello\n" * 9, "no frame of NMEA, UBX or RTCM 3 in 54 bytes; name"),
        "bare": (b"$GPGLL,4916.45,N,12311.12,W,225444,A\r\n" * 3, "3 sentences without a checksum"),
    }
    for name, (content, says) in files.items():
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)
        for form in ("tpv", "messages"):
            text = bench.run("decode", "--format", form, f"{folder}/{name}", code=0, says=f"/{name}: {says}")
            expect(text == "", f"{name}: {text!r}")
    bench.run("configure", "--device", "x", "restore", folder + "/none", code=66, says="none: .*; check the name")
    bench.run("record", "--device", f"{folder}/bare", folder, code=73, says="it is a folder; name a file")
    bench.run("configure", "--device", "x", "restore", folder, code=66, says="it is a folder; name a file")
    for name in ("empty", "text"):
        bench.run("simulate", "--replay", f"{folder}/{name}", code=65, says=f"/{name}: {files[name][1]}")
    bench.run("simulate", "--replay", folder, code=66, says="is a directory")
    bench.run("simulate", "--baud", "3", code=64, says="a rate from 1200")
    with open(f"{folder}/sky", "w") as file:
        file.write("start 48,11 2200km\r\n")
    bench.run("simulate", "--scenario", f"{folder}/sky", code=65, says="line 1: no receiver works there; a height is between")
    for words in (["batch", "status"], ["power", "status"], ["configure", "show"]):
        bench.run(*words, "--device", f"replay:{folder}/bare", code=69, says="a file takes no orders; name a receiver")
    with open("/dev/full", "w") as full:
        bench.run("record", "--device", f"{folder}/bare", "-", output=full, code=74, says="standard output: No space left on device; check")


def an_interrupt_before_an_answer(folder):
    """^C is no fault of the receiver's."""
    bench = Bench(folder)
    master, slave = os.openpty()
    for words in (["configure", "show"], ["batch", "status"], ["probe"], ["power", "status"], ["record", folder + "/file"]):
        process = bench.start(*words, "--device", os.ttyname(slave))
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        expect(process.returncode == 69 and "interrupted before" in said and "check" not in said,
               f"{words} ended with {process.returncode}: {said!r}")
    os.close(master)
    os.close(slave)


def a_terminal_that_is_dumb(folder):
    """`watch` writes lines there, and no orders to place the cursor."""
    for kind, isScreen in (("dumb", False), ("", False), ("xterm", True)):
        bench = Bench(folder)
        bench.environment["TERM"] = kind
        master, slave = os.openpty()
        process = bench.start("watch", "--device", "sim:walk", "--count", "1", output=slave)
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:
            pass
        process.communicate(timeout=40)
        os.close(master)
        expect((b"\x1b[" in text) == isScreen and len(text) > 20, f"TERM={kind!r}: {text[:200]!r}")


CHECKS = [
    a_reader_that_goes, a_reader_that_stands_still, a_full_disk, a_lost_terminal, nohup, an_output_that_is_off,
    a_batch_without_room, a_rate_that_is_bound, what_is_no_receiver, what_is_no_recording,
    an_interrupt_before_an_answer, a_terminal_that_is_dumb,
]


if __name__ == "__main__":
    checks.run(CHECKS)
