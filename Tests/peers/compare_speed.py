#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sextant's decoder and those of other projects over the same recordings, in one process each on one core; prints a table.

usage: compare_speed.py PEERS RECORDINGS BUILD DECODER

PEERS has checkouts of the peers, each in a folder of its name: minmea, nmea (AeroRust), ublox (ublox-rs), RTKLIB, gpsd, pynmeagps,
pyubx2, pyrtcm. One that is missing or does not compile is skipped and named. BUILD gets what is built; the checkouts stay as they are.
RECORDINGS has */*.log. DECODER is the program of Tests/peers/adapters/sextant.

The frames with a right checksum are taken out of all recordings, so that each input has one protocol and nothing else. A program's own
start is not in the figures: they are differences of two numbers of rounds. The allocations are calls of malloc, calloc and realloc.
"""
import collections
import datetime
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ADAPTERS = HERE / "adapters"
LAYOUTS = HERE.parents[1] / "Sources" / "UBX" / "Layouts"
PROTOCOLS = ("nmea", "ubx", "rtcm3")


class Skipped(Exception):
    """A peer that is not measured, with the reason."""


# MARK: The inputs


def sentence_at(data, at):
    end = data.find(b"\n", at, at + 1024)
    line = data[at:end + 1]
    matched = re.fullmatch(rb"\$([\x20-\x7e]+)\*([0-9A-Fa-f]{2})\r?\n", line)
    if not matched or functools.reduce(lambda a, b: a ^ b, matched[1]) != int(matched[2], 16):
        return None
    return line.rstrip() + b"\r\n"


def ubx_at(data, at):
    length = 8 + int.from_bytes(data[at + 4:at + 6], "little")
    frame = data[at:at + length]
    if len(frame) < length or frame[1] != 0x62:
        return None
    a = b = 0
    for byte in frame[2:-2]:
        a = (a + byte) & 255
        b = (b + a) & 255
    return frame if frame[-2:] == bytes((a, b)) else None


def rtcm_at(data, at):
    frame = data[at:at + 6 + (int.from_bytes(data[at + 1:at + 3], "big") & 0x3FF)]
    if len(frame) < 8 or frame[1] & 0xFC:
        return None
    crc = 0
    for byte in frame:
        crc ^= byte << 16
        for _ in range(8):
            crc = crc << 1 ^ 0x1864CFB if crc & 0x800000 else crc << 1
    return frame if crc == 0 else None


def frames_of(data):
    """The protocol and the bytes of each frame with a right checksum."""
    starts = {0x24: ("nmea", sentence_at), 0xB5: ("ubx", ubx_at), 0xD3: ("rtcm3", rtcm_at)}
    at = 0
    while at < len(data):
        protocol, find = starts.get(data[at], (None, None))
        frame = find(data, at) if find else None
        if frame:
            yield protocol, frame
        at += len(frame) if frame else 1


def make_inputs(recordings, folder):
    folder.mkdir(parents=True, exist_ok=True)
    logs = sorted(recordings.glob("*/*.log"))
    if not logs:
        sys.exit(f"compare: no */*.log in {recordings}; name a folder of recordings with RECORDINGS=")
    parts = collections.defaultdict(list)
    for log in logs:
        for protocol, frame in frames_of(log.read_bytes()):
            parts[protocol].append(frame)
    for protocol in PROTOCOLS:
        (folder / protocol).write_bytes(b"".join(parts[protocol]))
    return {protocol: (folder / protocol, len(parts[protocol])) for protocol in PROTOCOLS}


# MARK: The peers


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in lines if "error" in line] or lines or [str(done.returncode)]
        raise Skipped(f"{command[0]} failed: {errors[0]}")
    return done.stdout


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skipped(f"there is no {program}")


def compiled(name, build, *sources_and_flags):
    program = build / name
    run(["cc", "-O2", "-w", "-std=gnu11", "-o", program, ADAPTERS / f"{name}.c", *sources_and_flags])
    return [program]


def build_minmea(checkout, build):
    return compiled("minmea", build, checkout / "minmea.c", "-I", checkout, "-lm")


def build_rtklib(checkout, build):
    source = checkout / "src"
    names = ["rtkcmn", "rcvraw", "rtcm", "rtcm2", "rtcm3", "rtcm3e", "sbas", "preceph", "ephemeris", "qzslex", "ionex", "geoid"]
    units = [source / f"{name}.c" for name in names] + sorted((source / "rcv").glob("*.c"))
    flags = ["-DENAGLO", "-DENAQZS", "-DENAGAL", "-DENACMP", "-DNFREQ=3", "-DNEXOBS=3"]
    return compiled("rtklib", build, *flags, "-I", source, *[unit for unit in units if unit.exists()], "-lm", "-lpthread")


def build_gpsd(checkout, build):
    needs("scons")
    copy = build / "gpsd-source"
    if not copy.exists():
        shutil.copytree(checkout, copy, ignore=shutil.ignore_patterns(".git"))
    options = ("shared=no python=no qt=no manbuild=no dbus_export=no libgpsmm=no ncurses=no usb=no bluez=no").split()
    run(["scons", "-j2", *options, "build"], cwd=copy)
    made = next(copy.glob("gpsd-*/libgpsd.a")).parent
    return compiled("gpsd", build, "-I", made / "include", "-I", copy / "include", made / "libgpsd.a", made / "libgps_static.a",
                    "-lm", "-lrt", "-lpthread")


def build_crate(name, dependencies):
    def build_it(checkout, build):
        needs("cargo")
        folder = build / f"{name}-crate"
        (folder / "src").mkdir(parents=True, exist_ok=True)
        shutil.copy(ADAPTERS / name / "main.rs", folder / "src" / "main.rs")
        (folder / "Cargo.toml").write_text(
            f'[package]\nname = "peer-{name}"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n'
            f'[profile.release]\nlto = true\ncodegen-units = 1\n[dependencies]\n' + dependencies.format(checkout=checkout))
        # In PEERS, whose .cargo/config.toml may name a folder of crates.
        run(["cargo", "build", "--release", "--manifest-path", folder / "Cargo.toml"], cwd=checkout.parent)
        return [folder / "target" / "release" / f"peer-{name}"]
    return build_it


def build_python(checkout, build):
    return [sys.executable, ADAPTERS / "python_peers.py"]


# The folder of a checkout, its name in the table, its protocols, and what builds it.
PEERS = [
    ("minmea", "minmea", ["nmea"], build_minmea),
    ("nmea", "nmea (AeroRust)", ["nmea"], build_crate("nmea", 'nmea = {{ path = "{checkout}" }}\n')),
    ("ublox", "ublox (ublox-rs)", ["ubx"], build_crate(
        "ublox", 'ublox = {{ path = "{checkout}/ublox", default-features = false, features = ["std", "serde", "ubx_proto31"] }}\n'
                 'serde = "1.0"\n')),
    ("RTKLIB", "RTKLIB", ["ubx", "rtcm3"], build_rtklib),
    ("gpsd", "gpsd", ["nmea", "ubx", "rtcm3"], build_gpsd),
    ("pynmeagps", "pynmeagps", ["nmea"], build_python),
    ("pyubx2", "pyubx2", ["ubx"], build_python),
    ("pyrtcm", "pyrtcm", ["rtcm3"], build_python),
]


def version_of(checkout):
    described = subprocess.run(["git", "-C", checkout, "describe", "--tags", "--always"], capture_output=True, text=True)
    day = subprocess.run(["git", "-C", checkout, "log", "-1", "--format=%cs"], capture_output=True, text=True)
    return f"{described.stdout.strip() or '?'} of {day.stdout.strip() or '?'}"


# MARK: The measurements


class Program:
    def __init__(self, command, environment, folder):
        self.command, self.environment, self.folder = [str(word) for word in command], environment, folder
        self.core = str(max(os.sched_getaffinity(0)))

    def output(self, protocol, path, rounds, before=(), **environment):
        command = ["taskset", "-c", self.core, *before, *self.command, protocol, str(path), str(rounds)]
        return subprocess.run(command, check=True, capture_output=True, text=True,
                              env=dict(self.environment, PEER_FILE=str(path), **environment))

    def seconds(self, protocol, path, rounds):
        best = None
        for _ in range(3):
            begin = time.monotonic()
            self.output(protocol, path, rounds)
            taken = time.monotonic() - begin
            best = taken if best is None else min(best, taken)
        return best

    def speed(self, protocol, path):
        """Bytes in a second."""
        one, rounds = self.seconds(protocol, path, 1), 2
        while (many := self.seconds(protocol, path, rounds)) - one < 0.5:
            rounds *= 4
        return path.stat().st_size * (rounds - 1) / (many - one)

    def instructions(self, protocol, path):
        """Instructions of a byte."""
        def counted(rounds):
            done = self.output(protocol, path, rounds, ["valgrind", "--tool=cachegrind", "--cache-sim=no",
                                                        "--cachegrind-out-file=/dev/null"])
            return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
        return (counted(2) - counted(1)) / path.stat().st_size

    def allocations(self, protocol, path):
        report = self.folder / "allocations"

        def counted(rounds):
            self.output(protocol, path, rounds, LD_PRELOAD=str(self.folder / "allocations.so"), ALLOCATIONS=str(report),
                        PYTHONMALLOC="malloc")
            return int(report.read_text())
        return counted(2) - counted(1)

    def values(self, protocol, path):
        """The values of all frames, and the names of frames that were never read, with their number."""
        read, unread, values = collections.Counter(), collections.Counter(), 0
        for line in self.output(protocol, path, "count").stdout.splitlines():
            name, number = line.rsplit(" ", 1)
            if int(number) < 0:
                unread[name] += 1
            else:
                read[name] += 1
                values += int(number)
        return values, sum(read.values()), [(name, count) for name, count in unread.most_common() if not read[name]], sum(
            count for name, count in unread.items() if read[name])


@functools.cache
def ubx_names():
    names = {}
    for path in LAYOUTS.glob("*.ubx"):
        for words in map(str.split, path.read_text().splitlines()):
            if words[:1] == ["message"]:
                names.setdefault(f"{words[2]}-{words[3]}".upper(), words[1])
    return names


def measured(name, program, protocol, path, frames):
    values, read, unread, partly = program.values(protocol, path)
    return {
        "name": name, "speed": program.speed(protocol, path), "instructions": program.instructions(protocol, path),
        "allocations": program.allocations(protocol, path) / frames, "values": values, "read": read, "unread": unread, "partly": partly,
    }


def printed(row, frames):
    values = f"{row['values']:,}" if row["name"] != "Sextant, fixes" else f"{row['read']:,} fixes"
    print(f"| {row['name']} | {row['speed'] / 1e6:,.1f} | {row['instructions']:,.1f} | {values} | {row['allocations']:,.2f} |", flush=True)


def unread_text(row, frames):
    names = ubx_names()
    listed = [f"{names.get(name, name)} {count}" for name, count in row["unread"]]
    text = ", ".join(listed[:12]) + (f" and {len(listed) - 12} more names" if len(listed) > 12 else "")
    if row["partly"]:
        text += f"{'; ' if text else ''}{row['partly']} frames of names that it reads elsewhere"
    return text or "nothing"


def main():
    peers, recordings, build, decoder = (pathlib.Path(path).resolve() for path in sys.argv[1:5])
    build.mkdir(parents=True, exist_ok=True)
    inputs = make_inputs(recordings, build / "inputs")
    run(["cc", "-O2", "-shared", "-fPIC", "-o", build / "allocations.so", ADAPTERS / "allocations.c"])
    environment = dict(os.environ, PYTHONPATH=":".join(str(peers / name / "src") for name in ("pynmeagps", "pyubx2", "pyrtcm")))
    programs, skipped, versions = {}, [], []
    for folder, name, protocols, build_it in PEERS:
        try:
            if not (peers / folder).is_dir():
                raise Skipped(f"there is no {folder} in PEERS")
            programs[name] = (protocols, Program(build_it(peers / folder, build), environment, build))
            versions.append(f"{name} {version_of(peers / folder)}")
        except Skipped as reason:
            skipped.append(f"{name}: {reason}")
    # valgrind does not read the debugging information of the Swift compiler.
    run(["strip", "-o", build / "sextant", decoder])
    sextant = Program([build / "sextant"], environment, build)
    machine = next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    family = {key: next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith(key + "\t"))
              for key in ("cpu family", "model")}
    print(f"{datetime.date.today()}, {machine} (family {family['cpu family']}, model {family['model']}), one core; "
          f"{'; '.join(versions)}; Python {sys.version.split()[0]}.")
    for line in skipped:
        print(f"Skipped: {line}.")
    missed = []
    for protocol in PROTOCOLS:
        path, frames = inputs[protocol]
        if not frames:
            continue
        print(f"\n{protocol.upper()}: {frames:,} frames, {path.stat().st_size:,} bytes\n", flush=True)
        print("| Decoder | MB/s | Instructions a byte | Values read | Allocations a frame |\n|---|---|---|---|---|")
        rows = [measured("Sextant, all fields", sextant, protocol, path, frames)]
        printed(rows[0], frames)
        if protocol != "rtcm3":
            rows.append(measured("Sextant, fixes", sextant, "fix", path, frames))
            printed(rows[-1], frames)
        for name, (protocols, program) in programs.items():
            if protocol in protocols:
                rows.append(measured(name, program, protocol, path, frames))
                printed(rows[-1], frames)
        missed += [(protocol, row["name"], unread_text(row, frames)) for row in rows if row["name"] != "Sextant, fixes"]
    print("\n| Input | Decoder | Not read |\n|---|---|---|")
    for protocol, name, text in missed:
        print(f"| {protocol.upper()} | {name} | {text} |")
    if len(programs) == 0:
        sys.exit("compare: no peer was found in PEERS")


if __name__ == "__main__":
    main()
