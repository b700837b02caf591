#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libsextant: its symbols, its header, the examples in C and Python, whose output equals that of `sextant decode`, and the example of
the location service at sextantd with the built-in simulator.

usage: c_library.py FOLDER [RECORDINGS]; FOLDER has sextant and sextantd, RECORDINGS */*.log, which may be absent. libsextant is in
       .build/clib for this machine and for 32-bit ARM, whose programs qemu-user runs
"""
RIG = {"programs": ["sextant", "sextantd"], "prepare": [["CSupport/CSextant/build.sh", "host", "armv6-unknown-linux-gnueabihf"]],
       "packages": {"valgrind": "valgrind", "libc6-dbg": "/usr/lib/debug/.build-id", "gcc": "gcc", "libc6-dev": "/usr/include/stdio.h",
           "binutils": "nm", "gcc-arm-linux-gnueabihf": "arm-linux-gnueabihf-gcc",
           "libc6-dev-armhf-cross": "/usr/arm-linux-gnueabihf/include/stdio.h", "qemu-user-static": "qemu-arm-static"},
       "arguments": ["{programs}", "{recordings}"], "seconds": 60, "ci": True}

import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from harness import LIMIT, Program, environment, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADERS = TOP / "CSupport" / "CSextant"
EXAMPLE = TOP / "Examples" / "C"
# The functions of the C library that the library may use: none that allocates. The second line is for the client of the service.
NEEDED = {"memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "round", "sqrt", "trunc", "fmod",
          "socket", "connect", "send", "recv", "close", "strlen", "__errno_location"}
FIELDS = ["class", "mode", "time", "lat", "lon", "altHAE", "altMSL", "eph", "epv", "speed", "track", "climb", "eps"]
SATELLITES = ["class", "nSat", "uSat"]
# The recordings up to this size are also decoded under valgrind.
VALGRIND_BYTES = 70_000
VALGRIND = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


@dataclasses.dataclass
class Machine:
    """The tools of an architecture, and the command that runs its programs here."""
    name: str
    tools: str
    run: list
    needed: set


HOST = Machine("this machine", "", [], NEEDED)
# Division in libgcc refers to `raise`, for a divisor of zero; Swift's own check is before it. The other is the value of the stack protector.
ARM = Machine("32-bit ARM", "arm-linux-gnueabihf-", ["qemu-arm-static", "-L", "/usr/arm-linux-gnueabihf"],
              NEEDED | {"raise", "__stack_chk_guard"})


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


def check_symbols(library, machine):
    nm = machine.tools + "nm"
    for line in run(nm, "-D", library / "libsextant.so").decode().splitlines():
        kind, name = line.split()[-2:]
        name = name.split("@")[0]
        if kind == "U":
            assert name in machine.needed, f"the library needs {name}"
        elif kind not in "wA":
            assert name.startswith("sextant_"), f"the library exports {name}"
    others = [line for line in run(nm, "-g", "--defined-only", library / "libsextant.a").decode().splitlines()
              if " " in line and not line.split()[-1].startswith("sextant_")]
    assert not others, f"the static library defines {others[:3]}"
    declared = set()
    for line in (HEADERS / "sextant.h").read_text().splitlines():
        if not line.startswith(("//", " ", "#", "typedef", "}")) and "sextant_" in line and "(" in line:
            declared.add(line.split("(")[0].split()[-1].lstrip("*"))
    defined = {line.split()[-1] for line in run(nm, "-g", "--defined-only", library / "libsextant.a").decode().splitlines()
               if " sextant_" in line or " T " in line}
    assert declared == defined, f"declared and defined differ: {declared ^ defined}"
    print(f"{machine.name}: {len(defined)} functions, each in the header; no other symbol; needs no function that allocates")


def check_processor(library):
    """The library for 32-bit ARM passes numbers as Debian's armhf does, and has only instructions of the first Raspberry Pi."""
    attributes = run(ARM.tools + "readelf", "-A", library / "libsextant.a").decode()
    for attribute in ("Tag_CPU_arch: v6", "Tag_FP_arch: VFPv2", "Tag_ABI_VFP_args: VFP registers"):
        found = set(re.findall(attribute.split(":")[0] + ": .*", attributes))
        assert {line for line in found if not line.startswith(attribute)} == set() != found, found


def build_examples(library, machine, folder):
    """The examples of the decoder and of the service, each with the shared and with the static library."""
    folder = pathlib.Path(folder) / machine.tools
    folder.mkdir(exist_ok=True)
    programs = []
    for name, sources, more in (("fixes", ["fixes.c", "fix_line.c"], []), ("locations", ["locations.c"], ["-D_GNU_SOURCE"])):
        source = [machine.tools + "gcc", "-std=c11", *more, "-O1", "-g", *WARNINGS, "-I", HEADERS, *(EXAMPLE / source for source in sources)]
        shared, static = folder / f"{name}-shared", folder / f"{name}-static"
        run(*source, "-L", library, "-lsextant", f"-Wl,-rpath,{library.resolve()}", "-o", shared)
        run(*source, library / "libsextant.a", "-lm", "-Wl,--gc-sections", "-o", static)
        programs.append(([*machine.run, str(shared)], [*machine.run, str(static)]))
    return programs


def check_service(sextantd, shared, commands, folder):
    """The example of the service prints what the service has, and each end of it in words."""
    path = f"{folder}/location"

    def ends(command, count, **options):
        return subprocess.run([*command, path, str(count)], capture_output=True, text=True, timeout=LIMIT, **options)

    absent = ends(shared, 1)
    assert absent.returncode == 1 and "no location service at this path" in absent.stderr, absent
    for authorization, error in (("always", None), ("denied", "no permission for locations")):
        service = Program(sextantd, "--device", "sim:walk", "--socket", path, stderr=subprocess.DEVNULL,
                          env=environment(folder, SEXTANT_AUTHORIZATION=authorization))
        with service:
            wait_until(lambda: pathlib.Path(path).exists() or service.process.poll() is not None, "no socket")
            for command in commands:
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
                waiting = Program(*shared, path, "1000000")
                with waiting:
                    # The lines are in a buffer of the C library; `sextant status` shows the program.
                    wait_until(lambda: json.loads(run(pathlib.Path(sextantd).with_name("sextant"), "status", "--json", env=environment(
                        folder, SEXTANT_SERVICE=path)))["programs"], "no program is served")
                    service.terminate()
                    waiting.process.wait(LIMIT)
                    assert waiting.process.returncode == 1
                    wait_until(lambda: "has ended the connection" in waiting.errors, f"it prints {waiting.errors}")
    print("the example of the service, also of 32-bit ARM: status, locations, refusal, absent and stopped service; valgrind without an error")


def main():
    sextant, recordings = f"{sys.argv[1]}/sextant", pathlib.Path(*sys.argv[2:])
    library, arm_library = (TOP / ".build/clib" / target for target in ("host", "armv6-unknown-linux-gnueabihf"))
    check_symbols(library, HOST)
    check_symbols(arm_library, ARM)
    check_processor(arm_library)
    with tempfile.TemporaryDirectory() as folder:
        run("cc", "-std=c11", *WARNINGS, "-fsyntax-only", "-x", "c", HEADERS / "sextant.h")
        run("cc", "-std=c++11", *WARNINGS, "-fsyntax-only", "-x", "c++", HEADERS / "sextant.h")
        fixes, locations = build_examples(library, HOST, folder)
        arm_fixes, arm_locations = build_examples(arm_library, ARM, folder)
        check_service(str(pathlib.Path(sextant).resolve().with_name("sextantd")), locations[0],
                      [*locations, [*VALGRIND, *locations[0]], *arm_locations], folder)
        python = [sys.executable, TOP / "Examples" / "Python" / "fixes.py", HEADERS / "sextant.h", library.resolve() / "libsextant.so"]
        paths = sorted(recordings.glob("*/*.log")) or [walk(folder)]
        count = checked = 0
        for path in paths:
            lines = expected(sextant, path)
            count += len(lines)
            for command in [*fixes, python, *arm_fixes]:
                output = printed(run(*command, stdin=path.open("rb")))
                assert output == lines, f"{path.name}: {command} prints {next(pair for pair in zip(output, lines) if pair[0] != pair[1])}" \
                    if len(output) == len(lines) else f"{path.name}: {command} prints {len(output)} lines instead of {len(lines)}"
            if path.stat().st_size <= VALGRIND_BYTES:
                checked += 1
                run(*VALGRIND, *fixes[0], stdin=path.open("rb"))
        print(f"{len(paths)} recordings: {count} lines of the examples in C (shared, static, both also for 32-bit ARM) and Python equal those of "
              "sextant decode")
        print(f"valgrind: {checked} recordings without an error")
        assert count > 0


if __name__ == "__main__":
    main()
