#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `sextant decode --format rinex` and `rinex-nav` with convbin (RTKLIB) on recordings of real receivers.

Epochs and satellites are the same, and so are pseudoranges and phases in each written digit. Flags of lost lock are the same but for
two kinds of differences, which are counted:
- A loss while no phase is written: RTKLIB drops it, or writes a flag without a phase; sextant writes it with the next phase.
- An ambiguity of half a cycle in RTCM 3: RTKLIB writes it as a loss of lock as well, also if it was resolved before the next phase.
RTKLIB misses two messages in each of the last two recordings, and knows fewer signals. A third recording is made of the second one by str2str, as MSM4.
Navigation files have the same ephemerides, and each value is the same in convbin's digits: of GLONASS subframes and of RTCM 3 by recordings,
of GPS, Galileo and BeiDou subframes by random orbits, which rinex_navigation.py writes as UBX.
Usage: rinex.py FOLDER-OF-PROGRAMS FOLDER-OF-RECORDINGS
"""
RIG = {"programs": ["sextant"], "packages": {"rtklib": "convbin"}, "needs": ["recordings"],
       "arguments": ["{programs}", "{recordings}"], "seconds": 7, "ci": True}

import os
import pathlib
import subprocess
import sys
import tempfile
import time

import rinex_navigation

PROGRAM = str(pathlib.Path(sys.argv[1]) / "sextant")
RECORDINGS = pathlib.Path(sys.argv[2])
# Recording, format for convbin, day of an RTCM 3 recording, and whether it is converted to MSM4 first.
CASES = [
    ("gpsd/ublox-neo-m8t.log", "ubx", None, False),
    ("ubx/ublox-zed-f9p_hpg1.11.log", "ubx", None, False),
    ("ubx/ublox-zed-f9p_hpg1.11.log", "rtcm3", "2019-04-12", True),
    ("gpsd/ublox-zed-f9t-rtcm3.log", "rtcm3", "2020-12-31", False),
    ("gpsd/ublox-zed-f9r.log", "rtcm3", "2021-01-01", False),
]

# Recording, format for convbin, day, and the least number of values that are compared.
NAVIGATION = [
    ("gpsd/ublox-glo.log", "ubx", None, 60),
    ("gpsd/ublox-zed-f9r.log", "rtcm3", "2025-04-11", 1800),
    (None, "ubx", None, 250),
]


def read(text):
    """The epochs of an observation file: time, and for each satellite its values by code: text and flag."""
    types, epochs, is_header, system = {}, [], True, None
    for line in text.splitlines():
        label = line[60:].strip()
        if is_header:
            if label == "RINEX VERSION / TYPE":
                assert line[:9].strip() == "3.05" and line[20] == "O", line
            if label == "SYS / # / OBS TYPES":
                system = line[0] if line[0] != " " else system
                types.setdefault(system, []).extend(line[7:60].split())
            is_header = label != "END OF HEADER"
        elif line.startswith(">"):
            epochs.append((line[2:29], {}, int(line[32:35])))
        else:
            values = {}
            for index, name in enumerate(types[line[0]]):
                cell = line[3 + 16 * index:19 + 16 * index].ljust(16)
                if cell.strip():
                    values[name] = (cell[:14].strip(), int(cell[14]) if cell[14] != " " else 0)
            epochs[-1][1][line[:3]] = values
    for time, satellites, count in epochs:
        assert len(satellites) == count, f"{time}: {len(satellites)} satellites, {count} announced"
    return [(time, satellites) for time, satellites, _ in epochs]


def compare(ours, theirs, name, is_rtcm):
    assert [time for time, _ in ours] == [time for time, _ in theirs], f"{name}: epochs differ"
    values = flags = dropped = halves = missed = 0
    known = {(satellite[0], code) for _, other in theirs for satellite in other for code in other[satellite]}
    previous = set()  # signals with a phase in the epoch before
    for (time, own), (_, other) in zip(ours, theirs):
        phases = set()
        lacking = set(own) - set(other)
        assert set(other) <= set(own), f"{name} {time}: satellites {sorted(set(other) - set(own))}"
        for system in {satellite[0] for satellite in lacking}:
            # All satellites of a system: convbin has missed the message.
            assert {one for one in own if one[0] == system} <= lacking, f"{name} {time}: {sorted(lacking)}"
            missed += 1
        for satellite, cells in other.items():
            # RTKLIB 2.4.3 knows fewer signals, such as B1C.
            codes = [code for code in own[satellite] if (satellite[0], code) in known]
            for code in {code for code in list(cells) + codes if code[0] in "CL"}:
                (value, flag), (wanted, wanted_flag) = own[satellite].get(code, ("", 0)), cells.get(code, ("", 0))
                assert value == wanted, f"{name} {time} {satellite} {code}: {value}, convbin {wanted}"
                values += value != ""
                if code[0] != "L":
                    continue
                signal = (satellite, code)
                if not value:
                    assert flag == 0
                    continue
                flags += 1
                phases.add(signal)
                if flag != wanted_flag:
                    if is_rtcm and (flag & 2 or signal not in previous) and wanted_flag == flag | 1:
                        halves += 1
                    elif signal not in previous and flag == wanted_flag | 1:
                        dropped += 1
                    else:
                        raise AssertionError(f"{name} {time} {satellite} {code}: flag {flag}, convbin {wanted_flag}")
        previous = phases
    assert values > 300, f"{name}: {values} values"
    print(f"{name}: {len(ours)} epochs, {values} pseudoranges and phases and {flags} flags are the same; "
          f"{dropped} losses that convbin drops, {halves} half cycles that it calls a loss, {missed} messages that it misses")
    assert missed <= 2, f"{name}: {missed} messages"


def convert(recording, path):
    """Writes MSM4 of a UBX recording. str2str goes on waiting at the end of its input, so it is stopped when the file has stopped growing;
    both programs read the same file."""
    with subprocess.Popen(["str2str", "-in", recording + "#ubx", "-out", path + "#rtcm3", "-msg", "1074(1),1084(1),1094(1),1124(1)"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end, size, growing = time.monotonic() + 60, 0, time.monotonic()
            while time.monotonic() < min(end, growing + 3) or not size:
                assert time.monotonic() < end, "str2str wrote nothing"
                time.sleep(0.2)
                now = os.path.getsize(path) if os.path.exists(path) else 0
                if now != size:
                    size, growing = now, time.monotonic()
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                # It can wait for its own threads without an end.
                process.kill()


with tempfile.TemporaryDirectory() as folder:
    for recording, form, day, is_converted in CASES:
        path, name = str(RECORDINGS / recording), recording
        if is_converted:
            path, name = f"{folder}/converted.rtcm3", recording + " as MSM4"
            convert(str(RECORDINGS / recording), path)
        options = ["-tr", day.replace("-", "/"), "12:00:00"] if day else []
        expected = f"{folder}/expected.obs"
        subprocess.run(["convbin", "-r", form, "-v", "3.05", "-od", "-os", *options, "-o", expected, path],
                       check=True, capture_output=True, timeout=60)
        only = [] if form == "ubx" else ["--date", day]
        found = subprocess.run([PROGRAM, "decode", "--format", "rinex", *only, path], check=True, capture_output=True, timeout=60)
        compare(read(found.stdout.decode()), read(pathlib.Path(expected).read_text()), name, form == "rtcm3")
    for recording, form, day, least in NAVIGATION:
        path, name = str(RECORDINGS / (recording or "")), recording or "subframes of random orbits"
        if not recording:
            path = f"{folder}/subframes.ubx"
            pathlib.Path(path).write_bytes(rinex_navigation.recording())
        options = ["-tr", day.replace("-", "/"), "12:00:00"] if day else []
        expected = f"{folder}/expected.nav"
        subprocess.run(["convbin", "-r", form, "-v", "3.05", *options, "-o", f"{folder}/unused.obs", "-n", expected, path],
                       check=True, capture_output=True, timeout=60)
        found = subprocess.run([PROGRAM, "decode", "--format", "rinex-nav", *(["--date", day] if day else []), path],
                               check=True, capture_output=True, timeout=60)
        # convbin knows no time of transmission in RTCM 3.
        rinex_navigation.compare(rinex_navigation.read(found.stdout.decode()), rinex_navigation.read(pathlib.Path(expected).read_text()),
                                 name, least, sent=form == "ubx")
