#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of sextantd's functions: those that run while it serves one program, by their first call in callgrind's output, for the linker
(`--symbol-ordering-file`). The kernel maps 64 kB of a file at each fault; functions that are used stand together, so that less is mapped.

usage: order.py PROGRAMS OUTPUT      PROGRAMS is the folder of `make static`; needs valgrind

The linker ignores names that a later version does not have.
"""
import json
import os
import pathlib
import re
import shlex
import socket
import subprocess
import sys
import tempfile
import time

# Locations of the simulated receiver that the program gets. Valgrind takes some seconds to start.
LOCATIONS = 8
LIMIT = 300


def serve_one_program(path, process):
    client = socket.socket(socket.AF_UNIX)
    limit = time.monotonic() + LIMIT
    while client.connect_ex(path):
        assert process.poll() is None and time.monotonic() < limit, "sextantd does not start"
        time.sleep(0.1)
    client.settimeout(LIMIT)
    request = {"method": "org.sextant.Location.Subscribe", "parameters": {"desiredAccuracy": -2}, "more": True}
    client.sendall(json.dumps(request).encode() + b"\0")
    count = 0
    while count < LOCATIONS:
        received = client.recv(65536)
        assert received, "sextantd has closed the connection"
        count += received.count(b'"latitude"')


def functions(*files):
    return set(re.findall(r" [TtWw] (\S+)$", subprocess.run(["nm", *files], check=True, capture_output=True, text=True).stdout, re.M))


def main():
    programs, output = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        # Valgrind reads the symbols, but not all debugging information of the compiler.
        subprocess.run(["strip", "--strip-debug", "-o", f"{folder}/sextantd", programs / "sextantd"], check=True)
        environment = dict(os.environ, SEXTANT_STATE_DIR=f"{folder}/state", SEXTANT_AUTHORIZATION="always",
                           PATH=f"{programs.resolve()}:{os.environ['PATH']}")
        process = subprocess.Popen(
            ["valgrind", "-q", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={folder}/calls", f"{folder}/sextantd",
             "--device", "sim:walk", "--socket", f"{folder}/location"], env=environment, stderr=subprocess.DEVNULL)
        try:
            serve_one_program(f"{folder}/location", process)
        finally:
            process.terminate()
            process.wait(LIMIT)
        calls = pathlib.Path(f"{folder}/calls").read_text()
    called = dict.fromkeys(re.findall(r"^c?fn=\(\d+\) ([^'\s]+)", calls, re.M))
    objects = shlex.split((programs / "sextantd.product/Objects.LinkFileList").read_text())
    own, linked = functions(*objects), functions(programs / "sextantd")
    # Functions of libc are in another file. Of equal functions, the program has one name.
    names = [name for name in called if name in own or name in linked]
    header = "# SPDX-License-Identifier: Apache-2.0\n# Written by order.py.\n"
    output.write_text(header + "".join(f"{name}\n" for name in names))
    print(f"{len(names)} functions in {output}")


main()
