#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGTERM in difficult states: the seconds from the signal to the end of each program, and the processor's share of a flood.

usage: termination.py FOLDER [CHECK...]      FOLDER holds the programs

One program runs at a time, so that it alone determines the times. The receiver is silent, sends garbage, is frozen, or sends
fixes that nobody reads from the program's output; a caster sends as fast as it can. The limit is two seconds.
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "seconds": 90}

import os
import pty
import random
import signal
import socket
import threading
import time
import tty

import harness
from harness import Program, Simulator, environment, expect, program

SECONDS = 2
COMMANDS = {
    "watch": ("watch", "--json"), "record": ("record", "FILE"), "probe": ("probe", "--seconds", "120"), "poll": ("poll", "MON-VER", "--seconds", "120"),
    "configure show": ("configure", "show"), "configure set": ("configure", "set", "model=automotive"), "batch": ("batch", "retrieve"),
    "power": ("power", "status", "--seconds", "120"), "reset": ("reset", "hot"), "track": ("track", "--json"),
}


def command(name, folder, device):
    if name == "service":
        return program("sextantd"), "--socket", f"{folder}/socket-{name}", "--device", device
    words = [word.replace("FILE", f"{folder}/recording") for word in COMMANDS[name]]
    return program(), words[0], "--device", device, *words[1:]


class Line:
    """A pseudo-terminal that sends nothing, or garbage."""

    def __init__(self, garbage):
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        os.set_blocking(self.master, False)
        self.path, self.ended = os.ttyname(self.slave), threading.Event()
        self.thread = threading.Thread(target=self.serve, args=(garbage,))
        self.thread.start()

    def serve(self, garbage):
        noise = random.Random(1)
        while not self.ended.wait(0.05):
            try:
                os.read(self.master, 4096)
            except OSError:
                pass
            if garbage:
                try:
                    os.write(self.master, noise.randbytes(200))
                except OSError:
                    pass

    def end(self):
        self.ended.set()
        self.thread.join()
        os.close(self.master)
        os.close(self.slave)


def measure(name, words, folder, arrange=lambda one: None, **options):
    """The seconds from SIGTERM to the end of a program that waits."""
    options.setdefault("stdout", harness.subprocess.DEVNULL)
    with Program(*words, env=environment(folder, SEXTANT_SERVICE="none", SEXTANT_AUTHORIZATION="always"), **options) as one:
        harness.wait_until(lambda: one.process.poll() is not None or one.handles(signal.SIGTERM), f"{name} does not start")
        arrange(one)
        # The instant is the input: in the middle of the dialogue with the receiver.
        time.sleep(1.5)
        if one.process.poll() is not None:
            return None
        begin = time.monotonic()
        one.process.terminate()
        one.wait_for_exit(None)
        return time.monotonic() - begin


def report(found):
    slow = {name: seconds for name, seconds in found.items() if seconds is not None and seconds > SECONDS}
    expect(not slow, f"slower than {SECONDS} s: {slow}")
    shown = ", ".join(f"{name} {'ended before' if seconds is None else f'{seconds:.2f} s'}" for name, seconds in found.items())
    return shown


def silent(folder, garbage=False):
    line = Line(garbage)
    try:
        return report({name: measure(name, command(name, folder, line.path), folder) for name in (*COMMANDS, "service")})
    finally:
        line.end()


def garbage(folder):
    return silent(folder, True)


def frozen(folder):
    found = {}
    for name in (*COMMANDS, "service"):
        with Simulator(f"{folder}/{name.replace(' ', '-')}", "m8-batching") as receiver:
            found[name] = measure(name, command(name, folder, receiver.link), folder, lambda one, receiver=receiver: receiver.command("fault freeze 60s"))
    return report(found)


def full_output(folder):
    """The pipe of standard output is full and nobody reads it."""
    found = {}
    for name in ("watch", "track"):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        with Simulator(f"{folder}/{name}", "m10") as receiver:
            found[name] = measure(name, command(name, folder, receiver.link), folder, stdout=writer)
        os.close(reader)
        os.close(writer)
    return report(found)


def silent_caster(folder):
    with socket.create_server(("127.0.0.1", 0)) as listener, Simulator(folder, "f9p") as receiver:
        words = (*command("watch", folder, receiver.link), "--corrections", f"ntrip://me:x@127.0.0.1:{listener.getsockname()[1]}/M")
        return report({"watch": measure("watch", words, folder)})


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flooding_caster(folder):
    """Whole RTCM frames as fast as the socket takes them: the share of a processor over ten seconds."""
    frame = bytes.fromhex("d300133ed7d30202980edeef34b4bd62ac0941986f33360b98")
    sent = [0]
    with socket.create_server(("127.0.0.1", 0)) as listener, Simulator(folder, "f9p") as receiver:
        def serve():
            one, _ = listener.accept()
            one.recv(65536)
            one.sendall(b"ICY 200 OK\r\n\r\n")
            try:
                while True:
                    sent[0] += one.send(frame * 400)
            except OSError:
                pass
        threading.Thread(target=serve, daemon=True).start()
        share = []

        def arrange(one):
            harness.wait_until(lambda: sent[0] > 0, "no connection to the caster")
            begin, used = time.monotonic(), processor_seconds(one.process)
            time.sleep(10)
            share.append((processor_seconds(one.process) - used) / (time.monotonic() - begin))
        words = (*command("watch", folder, receiver.link), "--corrections", f"ntrip://me:x@127.0.0.1:{listener.getsockname()[1]}/M")
        seconds = measure("watch", words, folder, arrange)
        return f"{100 * share[0]:.0f} % of a processor, {sent[0] // 1000} kB were taken; {report({'watch': seconds})}"


if __name__ == "__main__":
    chosen = harness.arguments(__doc__).checks
    for check in (silent, garbage, frozen, full_output, silent_caster, flooding_caster):
        if not chosen or check.__name__ in chosen:
            harness.run_checks([check])
