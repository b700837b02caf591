#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program and the commands of docs/guides/from-python.md, with PyPI's varlink, at sextantd with the built-in simulator.

usage: python_client.py FOLDER [CHECK]...; FOLDER has sextant and sextantd
"""
RIG = {"programs": ["sextant", "sextantd"], "needs": ["PyPI"], "seconds": 24, "ci": True}

import os
import pathlib
import re
import shlex
import subprocess
import sys

from harness import LIMIT, Program, arguments, environment, expect, program, run_checks, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "Tests" / "peers"))
from packages import PEERS, install_peers  # noqa: E402

PAGE = (TOP / "docs" / "guides" / "from-python.md").read_text()
SOCKET = "/run/sextant/location"
LINE = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 48\.1\d+ 11\.6\d+$"


def service(folder):
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"
    return Program(program("sextantd"), "--device", "sim:walk", "--socket", f"{folder}/location",
                   env=environment(folder, PATH=path, SEXTANT_AUTHORIZATION="always"), stderr=subprocess.DEVNULL)


def of_page(text, folder):
    """A text of the page for the socket of the check."""
    expect(SOCKET in text, f"the page does not name {SOCKET}: {text}")
    return text.replace(SOCKET, f"{folder}/location")


def wait_for_socket(folder, daemon):
    wait_until(lambda: os.path.exists(f"{folder}/location") or daemon.process.poll() is not None, "no socket")


def program_prints_positions(folder):
    programs = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    expect(len(programs) == 1, f"the page has {len(programs)} programs")
    expect(len(programs[0].strip().splitlines()) <= 10, "the program has more than ten lines")
    with service(folder) as daemon:
        wait_for_socket(folder, daemon)
        with Program(sys.executable, "-c", of_page(programs[0], folder),
                     env={**os.environ, "PYTHONPATH": str(PEERS)}) as client:
            lines = {client.wait_for_line("^.*$")[0] for _ in range(3)}
            expect(len(lines) == 3 and all(re.match(LINE, line) for line in lines), f"it prints {lines}")
        daemon.terminate()


def commands_show_the_service(folder):
    commands = re.findall(r"^ +\$ (python3 -m varlink\.cli (?:info|help|call .*GetStatus).*)$", PAGE, re.M)
    expect(len(commands) == 3, f"the page has {commands}")
    shown = ""
    with service(folder) as daemon:
        wait_for_socket(folder, daemon)
        for command in commands:
            words = [sys.executable, *shlex.split(of_page(command, folder))[1:]]
            done = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(PEERS)}, capture_output=True, text=True,
                                  timeout=LIMIT)
            expect(done.returncode == 0, f"{command} ended with {done.returncode}: {done.stderr}")
            shown += done.stdout
        daemon.terminate()
    for text in ("Product: sextantd", "org.sextant.Location", "method Subscribe", '"device": "sim:walk"'):
        expect(text in shown, f"{text} is not shown: {shown}")


if __name__ == "__main__":
    options = arguments(__doc__)
    install_peers()
    run_checks([program_prints_positions, commands_show_the_service], options.checks)
