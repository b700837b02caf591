#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libsextant: its symbols, its header, the examples in C and Python, whose output equals that of `sextant decode`, and the example of
the location service at sextantd with the built-in simulator.

usage: c_library.py SEXTANT LIBRARY RECORDINGS; sextantd is beside SEXTANT, LIBRARY is the folder of `make clib`, RECORDINGS a folder with */*.log, which may
be absent
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from harness import LIMIT, Program, environment, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADERS = TOP / "CSupport" / "CSextant"
EXAMPLE = TOP / "Examples" / "C"
# What the library may need of the C library: nothing that allocates. The second line is for the client of the service.
NEEDED = {"memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "round", "sqrt", "trunc", "fmod",
          "socket", "connect", "send", "recv", "close", "strlen", "__errno_location"}
FIELDS = ["class", "mode", "time", "lat", "lon", "altHAE", "altMSL", "eph", "epv", "speed", "track", "climb", "eps"]
SATELLITES = ["class", "nSat", "uSat"]
# Half of the recordings are also decoded under valgrind up to this size.
VALGRIND_BYTES = 70_000


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, **options).stdout


def sentence(content):
    check = 0
    for byte in content.encode():
        check ^= byte
    return f"${content}*{check:02X}\r\n"


def walk(folder):
    """A recording of a minute of NMEA, for machines without recordings."""
    lines = ""
    for second in range(60):
        time = f"1200{second:02}.00"
        latitude = f"4809.{85220 + second * 13:05},N"
        lines += sentence(f"GPRMC,{time},A,{latitude},01136.33780,E,2.5,0.0,150626,,,A")
        lines += sentence(f"GPGGA,{time},{latitude},01136.33780,E,1,06,1.3,520.4,M,47.1,M,,")
        lines += sentence("GPGSA,A,3,02,05,12,20,25,29,,,,,,,2.1,1.3,1.7")
        lines += sentence(f"GPGSV,1,1,02,02,45,120,{30 + second % 9},05,30,200,38")
    path = pathlib.Path(folder) / "walk.log"
    path.write_text(lines)
    return path


def expected(sextant, recording):
    """The objects of `sextant decode`, with the fields of the examples as they are written."""
    lines = []
    decoded = subprocess.run([sextant, "decode", recording], capture_output=True)
    for line in decoded.stdout.decode().splitlines():
        whole = json.loads(line, parse_float=str, parse_int=str)
        names = FIELDS if whole["class"] == "TPV" else SATELLITES
        if whole["class"] == "TPV" or "nSat" in whole:
            lines.append({name: whole[name] for name in names if name in whole})
    return lines


def printed(output):
    return [json.loads(line, parse_float=str, parse_int=str) for line in output.decode().splitlines()]


def check_symbols(library):
    for line in run("nm", "-D", library / "libsextant.so").decode().splitlines():
        kind, name = line.split()[-2:]
        name = name.split("@")[0]
        if kind == "U":
            assert name in NEEDED, f"the library needs {name}"
        elif kind not in "wA":
            assert name.startswith("sextant_"), f"the library exports {name}"
    others = [line for line in run("nm", "-g", "--defined-only", library / "libsextant.a").decode().splitlines()
              if " " in line and not line.split()[-1].startswith("sextant_")]
    assert not others, f"the static library defines {others[:3]}"
    declared = set()
    for line in (HEADERS / "sextant.h").read_text().splitlines():
        if not line.startswith(("//", " ", "#", "typedef", "}")) and "sextant_" in line and "(" in line:
            declared.add(line.split("(")[0].split()[-1].lstrip("*"))
    defined = {line.split()[-1] for line in run("nm", "-g", "--defined-only", library / "libsextant.a").decode().splitlines()
               if " sextant_" in line or " T " in line}
    assert declared == defined, f"declared and defined differ: {declared ^ defined}"
    print(f"{len(defined)} functions, each in the header; no other symbol; needs no function that allocates")


def check_service(sextantd, shared, static, folder):
    """The example of the service prints what the service has, and each end of it in words."""
    path = f"{folder}/location"
    valgrind = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", shared]

    def ends(command, count, **options):
        return subprocess.run([*command, path, str(count)], capture_output=True, text=True, timeout=LIMIT, **options)

    absent = ends([shared], 1)
    assert absent.returncode == 1 and "no location service at this path" in absent.stderr, absent
    for authorization, error in (("always", None), ("denied", "no permission for locations")):
        service = Program(sextantd, "--device", "sim:walk", "--socket", path, stderr=subprocess.DEVNULL,
                          env=environment(folder, SEXTANT_AUTHORIZATION=authorization))
        with service:
            wait_until(lambda: pathlib.Path(path).exists() or service.process.poll() is not None, "no socket")
            for command in ([shared], [static], valgrind):
                done = ends(command, 3)
                lines = done.stdout.splitlines()
                assert lines[0].startswith("sextantd ") and lines[1].startswith("receiver sim:walk: "), lines
                assert "==" not in done.stderr, done.stderr
                if error:
                    assert done.returncode == 1 and error in done.stderr and len(lines) == 2, done
                else:
                    times = [int(line.split()[0]) for line in lines[2:]]
                    assert done.returncode == 0 and len(times) == 3 and times == sorted(set(times)), done
                    assert all(line.split()[1].startswith("48.1") and line.endswith(" simulated") for line in lines[2:]), lines
            if not error:
                waiting = Program(shared, path, "1000000")
                with waiting:
                    # The lines are in a buffer of the C library; `sextant status` shows the program.
                    wait_until(lambda: json.loads(run(pathlib.Path(sextantd).with_name("sextant"), "status", "--json", env=environment(
                        folder, SEXTANT_SERVICE=path)))["programs"], "no program is served")
                    service.terminate()
                    waiting.process.wait(LIMIT)
                    assert waiting.process.returncode == 1
                    wait_until(lambda: "has ended the connection" in waiting.errors, f"it prints {waiting.errors}")
    print("the example of the service: status, locations, refusal, absent and stopped service; valgrind without an error")


def main():
    sextant, library, recordings = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    check_symbols(library)
    with tempfile.TemporaryDirectory() as folder:
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        run("cc", "-std=c11", *warnings, "-fsyntax-only", "-x", "c", HEADERS / "sextant.h")
        run("cc", "-std=c++11", *warnings, "-fsyntax-only", "-x", "c++", HEADERS / "sextant.h")
        sources = [EXAMPLE / "fixes.c", EXAMPLE / "fix_line.c"]
        shared, static = f"{folder}/shared", f"{folder}/static"
        common = ["cc", "-std=c11", "-O1", "-g", *warnings, "-I", HEADERS, *sources]
        run(*common, "-L", library, "-lsextant", f"-Wl,-rpath,{library.resolve()}", "-o", shared)
        run(*common, library / "libsextant.a", "-lm", "-Wl,--gc-sections", "-o", static)
        clients = [f"{folder}/client-shared", f"{folder}/client-static"]
        source = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", *warnings, "-I", HEADERS, EXAMPLE / "locations.c"]
        run(*source, "-L", library, "-lsextant", f"-Wl,-rpath,{library.resolve()}", "-o", clients[0])
        run(*source, library / "libsextant.a", "-lm", "-Wl,--gc-sections", "-o", clients[1])
        check_service(str(pathlib.Path(sextant).resolve().with_name("sextantd")), *clients, folder)
        paths = sorted(recordings.glob("*/*.log")) or [walk(folder)]
        fixes = checked = 0
        for path in paths:
            lines = expected(sextant, path)
            fixes += len(lines)
            for command in [[shared], [static],
                            [sys.executable, TOP / "Examples" / "Python" / "fixes.py", HEADERS / "sextant.h",
                             library.resolve() / "libsextant.so"]]:
                output = printed(run(*command, stdin=path.open("rb")))
                assert output == lines, f"{path.name}: {command[0]} prints {next(pair for pair in zip(output, lines) if pair[0] != pair[1])}" \
                    if len(output) == len(lines) else f"{path.name}: {len(output)} lines instead of {len(lines)}"
            if path.stat().st_size <= VALGRIND_BYTES:
                checked += 1
                run("valgrind", "-q", "--error-exitcode=9", "--leak-check=full", shared, stdin=path.open("rb"))
        print(f"{len(paths)} recordings: {fixes} lines of the examples in C (shared, static) and Python equal those of sextant decode")
        print(f"valgrind: {checked} recordings without an error")
        assert fixes > 0


if __name__ == "__main__":
    main()
