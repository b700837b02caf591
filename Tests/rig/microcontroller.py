#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The firmware of Examples/Microcontroller in QEMU (Cortex-M4, MPS2 with AN386): the fixes that it prints equal those of the example
in C on this computer; its flash, variables and stack.

usage: microcontroller.py [RECORDINGS], a folder with */*.log, which may be absent. libsextant is in .build/clib for this computer
       and for armv7em
"""
RIG = {"prepare": [["CSupport/CSextant/build.sh", "host", "armv7em-none-none-eabi"]],
       "packages": {"gcc": "gcc", "libc6-dev": "/usr/include/stdio.h", "gcc-arm-none-eabi": "arm-none-eabi-gcc",
           "libnewlib-arm-none-eabi": "/usr/lib/arm-none-eabi/newlib/libc.a", "qemu-system-arm": "qemu-system-arm"},
       "arguments": ["{recordings}"], "seconds": 60}

import pathlib
import socket
import subprocess
import sys
import tempfile
import threading

from c_library import EXAMPLE, HEADERS, TOP, run, walk

BOARD = TOP / "Examples" / "Microcontroller"
# Name, function, longest UBX payload, recordings, flash and memory in bytes at most.
FIRMWARES = [
    ("NMEA", "sextant_decoder_init_nmea", 0, ["neo-m8n.log", "ublox-8.log", "quectel.log"], 96_000, 16_384),
]


def build(folder, name, function, payload, library):
    compiler = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-Os", "-std=c11", "-Wall", "-Wextra", "-Werror",
                "-fno-short-enums", "-ffunction-sections", "-fdata-sections", "-I", EXAMPLE, "-I", HEADERS]
    objects = []
    for source in [BOARD / "main.c", BOARD / "startup.c", EXAMPLE / "fix_line.c"]:
        objects.append(f"{folder}/{source.stem}.o")
        run(*compiler, f"-DDECODER_INIT={function}", f"-DUBX_PAYLOAD={payload}", "-c", source, "-o", objects[-1])
    libraries = [run(*compiler, f"-print-file-name={name}").decode().strip() for name in ("libm.a", "libc.a", "libgcc.a")]
    elf = f"{folder}/{function}.elf"
    run("ld.lld", "-T", BOARD / "firmware.ld", "--gc-sections", *objects, "--whole-archive", library / "libsextant.a", "--no-whole-archive", "--start-group", *libraries,
        "--end-group", "-o", elf)
    text, data, _ = run("arm-none-eabi-size", elf).decode().splitlines()[1].split()[:3]
    return elf, int(text) + int(data)


def listener(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    return server


def decoded(folder, elf, recording):
    """The lines that the firmware prints for the bytes of a recording at its first UART."""
    servers = [listener(f"{folder}/uart{number}") for number in range(2)]
    machine = subprocess.Popen(
        ["qemu-system-arm", "-M", "mps2-an386", "-display", "none", "-monitor", "none", "-semihosting-config", "enable=on,target=native",
         *[word for number in range(2) for word in ("-chardev", f"socket,id=uart{number},path={folder}/uart{number}",
                                                    "-serial", f"chardev:uart{number}")], "-kernel", elf])
    receiver, console = (server.accept()[0] for server in servers)
    for number, server in enumerate(servers):
        server.close()
        pathlib.Path(f"{folder}/uart{number}").unlink()
    console.sendall(f"{len(recording)}\n".encode())
    feed = threading.Thread(target=receiver.sendall, args=(recording,))
    feed.start()
    output = b""
    while piece := console.recv(65536):
        output += piece
    feed.join()
    assert machine.wait() == 0, f"the firmware ends with {machine.returncode}"
    receiver.close()
    console.close()
    return output.decode().splitlines()


def main():
    recordings = pathlib.Path(*sys.argv[1:])
    library, firmware_library = (TOP / ".build/clib" / target for target in ("host", "armv7em-none-none-eabi"))
    with tempfile.TemporaryDirectory() as folder:
        host = f"{folder}/host"
        run("cc", "-std=c11", "-O1", "-I", HEADERS, EXAMPLE / "fixes.c", EXAMPLE / "fix_line.c", library / "libsextant.a", "-lm",
            "-Wl,--gc-sections", "-o", host)
        for name, function, payload, names, most_flash, most_memory in FIRMWARES:
            elf, flash = build(folder, name, function, payload, firmware_library)
            paths = [path for path in sorted(recordings.glob("*/*.log")) if path.name in names] or [walk(folder)]
            memory = count = 0
            for path in paths:
                lines = decoded(folder, elf, path.read_bytes())
                numbers = dict(line.split(": ") for line in lines if ": " in line)
                fixes = [line for line in lines if ": " not in line]
                expected = run(host, stdin=path.open("rb")).decode().splitlines()
                assert fixes == expected, f"{name}, {path.name}: the firmware prints {len(fixes)} lines, the host {len(expected)}"
                count += len(fixes)
                memory = max(memory, int(numbers["variables"]) + int(numbers["stack"]))
            print(f"{name}: {len(paths)} recordings, {count} lines as on the host; flash {flash}, memory {memory} "
                  f"({numbers['variables']} variables, the rest stack) bytes")
            assert count > 0, f"{name}: no fix was compared"
            assert flash <= most_flash, f"{name}: {flash} bytes of flash, more than {most_flash}"
            assert memory <= most_memory, f"{name}: {memory} bytes of memory, more than {most_memory}"


main()
