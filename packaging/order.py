#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of sextantd's functions: those that run while it serves one program, for the linker (`--symbol-ordering-file`). The kernel maps
64 kB of a file at each fault; functions that are used stand together, so that less is mapped.

usage: order.py PROGRAMS OUTPUT      PROGRAMS is the folder of `make static`; needs valgrind

Two runs in callgrind, with a simulated receiver at its default settings and with one at 5 Hz, record the address of each instruction.
Functions that run after the first locations come before the functions of the start, whose code the service releases
(CodePageEviction.swift). The names are the symbols at these addresses. Functions with equal code are one in the program, under several
names, of which one is enough. Each part is in the order of the addresses, so that it changes little when it is made anew. The linker
ignores names that a later version does not have: a function whose name has changed is placed where it would be without an order.
"""
import bisect
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

# Valgrind takes some seconds to start.
LIMIT = 300
# The bytes that the kernel maps at a fault.
WINDOW = 1 << 16


def wait_for(process, is_ready):
    limit = time.monotonic() + LIMIT
    while not is_ready():
        assert process.poll() is None and time.monotonic() < limit, f"{process.args} does not start"
        time.sleep(0.1)


class Client:
    """A program that gets locations."""

    def __init__(self, path, process):
        self.socket = socket.socket(socket.AF_UNIX)
        wait_for(process, lambda: self.socket.connect_ex(path) == 0)
        self.socket.settimeout(LIMIT)
        request = {"method": "org.sextant.Location.Subscribe", "parameters": {"desiredAccuracy": -2}, "more": True}
        self.socket.sendall(json.dumps(request).encode() + b"\0")

    def receive(self, locations):
        while locations > 0:
            received = self.socket.recv(65536)
            assert received, "sextantd has closed the connection"
            locations -= received.count(b'"latitude"')


def addresses(program, device, locations, folder, environment):
    """The addresses in the program's file of the instructions that run until a client has received locations, and while it receives as many
    again."""
    calls = folder / "calls"
    process = subprocess.Popen(
        ["valgrind", "-q", "--tool=callgrind", "--demangle=no", "--dump-instr=yes", "--compress-pos=no", "--compress-strings=no",
         f"--callgrind-out-file={calls}", program, "--device", device, "--socket", folder / "location"], env=environment,
        stderr=subprocess.DEVNULL)
    try:
        client = Client(str(folder / "location"), process)
        for _ in range(2):
            client.receive(locations)
            subprocess.run(["callgrind_control", "--dump", str(process.pid)], check=True, stdout=subprocess.DEVNULL)
    finally:
        process.terminate()
        process.wait(LIMIT)
    return [instructions(program, folder / f"calls.{part}") for part in (1, 2)]


def instructions(program, calls):
    """The addresses of a program's instructions in an output of callgrind."""
    found, is_program = set(), False
    for line in calls.read_text().splitlines():
        if line.startswith("ob="):
            is_program = line == f"ob={program}"
        elif is_program and (address := re.match(r"0x([0-9a-f]+) ", line)):
            found.add(int(address[1], 16))
    return found


def main():
    programs, output = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Valgrind reads the symbols, but not all debugging information of the compiler.
        program = folder / "sextantd"
        subprocess.run(["strip", "--strip-debug", "-o", program, programs / "sextantd"], check=True)
        listed = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
        symbols = {}
        for address, symbol in re.findall(r"^([0-9a-f]+) [TtWw] (\S+)$", listed, re.M):
            symbols.setdefault(int(address, 16), []).append(symbol)
        starts = sorted(symbols)
        environment = dict(os.environ, SEXTANT_STATE_DIR=f"{folder}/state", SEXTANT_AUTHORIZATION="always", SEXTANT_SERVICE="none",
                           PATH=f"{programs}:{os.environ['PATH']}")
        start, steady = addresses(program, "sim:walk", 8, folder, environment)
        line = folder / "receiver"
        simulator = subprocess.Popen(["sextant", "simulate", "--model", "m10", "--link", line], env=environment, stdin=subprocess.PIPE,
                                     stdout=subprocess.DEVNULL)
        try:
            wait_for(simulator, line.exists)
            subprocess.run(["sextant", "configure", "set", "baud=115200", "rate=5Hz", "--device", line], env=environment, check=True,
                           stdout=subprocess.DEVNULL)
            for parts, more in zip((start, steady), addresses(program, line, 40, folder, environment)):
                parts.update(more)
        finally:
            simulator.terminate()
            simulator.wait()
    names = {}
    for part in (steady, start):
        functions = sorted({bisect.bisect_right(starts, address) - 1 for address in part} - {-1})
        names.update((min(symbols[starts[index]]), None) for index in functions)
    output.write_text("# SPDX-License-Identifier: Apache-2.0\n# Written by order.py.\n" + "".join(f"{name}\n" for name in names))
    windows = [len({address // WINDOW for address in part}) for part in (steady, start | steady)]
    print(f"{len(names)} functions in {output}; this program has them in {windows[1]} windows of 64 kB, after the start in {windows[0]}")



main()
