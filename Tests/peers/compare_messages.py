#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `sextant decode --format messages` with pyubx2 and pynmeagps, field by field.

usage: compare_messages.py SEXTANT LOG...

Every frame that sextant finds is given to the peer as well. Fields are compared by name: scaled values within the
peer's rounding, bit fields as one integer. Exit code 1 when less than 99.5 % of the fields of UBX or of NMEA are
equal, when a field differs that DIFFERENT gives no reason for, when a frame has no name or the payload of a UBX frame is
not decoded, or when a message of pyubx2's tables has neither a layout nor a reason in MISSING.

Messages that no log has are compared on frames that are made from pyubx2's tables, with random values.

The peers are installed into .build/peers, once.
"""

import collections
import datetime
import json
import math
import pathlib
import random as randomness
import re
import struct
import subprocess
import sys

from packages import TOP, install_peers

SHARE = 0.995

install_peers()
import pynmeagps  # noqa: E402
import pyubx2  # noqa: E402
from pyubx2 import ubxtypes_core, ubxtypes_get, ubxtypes_poll, ubxtypes_set  # noqa: E402

# Fields with another name in the peer: (message, peer's name, ours), as regular expressions, each with its reason.
RENAMED = [
    (r"(NAV|NAV2|HNR)-PVT", "second", "sec"),  # sec in the interface descriptions
    (r"(NAV|NAV2)-TIMEUTC", "validflags", "valid"),  # valid in the interface descriptions
    (r"TIM-TP", "refinfo", "refInfo"),  # refInfo in the interface descriptions
    (r"(ESF|HNR)-INS", "flags", "bitfield0"),  # bitfield0 in the interface descriptions
    (r"PGRMF", "leapsec", "leapSec"),  # as PUBX,04
    (r"PGRMV", "velZ", "velU"),  # up, as east and north are E and N
]

# Fields that differ and are right: (protocol, message, field, reason), as regular expressions.
DIFFERENT = [
    ("UBX", r"RXM-RAWX", "version", "the peer takes the version for a reserved byte"),
    ("UBX", r"ESF-MEAS", "data|calibTtag", "the peer counts the calibrated time tag as one more measurement"),
    ("UBX", r"MON-RF", ".*", "the peer reads blocks of 24 bytes where ZED-F9R HPS 1.30 sends 20"),
    ("made", r"RXM-EPH", "sf.d", "the peer interleaves the words of the three subframes"),
    ("made", r"RXM-IMES", "lon", "360 / 2^25 degrees in the signal's specification"),
    ("made", r"NAV-PL", "pl(Pos|Vel)HorizOrient", "0.01 degrees in the interface descriptions"),
    ("made", r"MGA-BDS-ALM", "toa", "2^12 s, not 2^-12 s"),
    ("made", r"NAV-DAHEADINGHP", ".*", "64 bytes with version 2, which no receiver sends"),
    ("NMEA", r".*(RMC|GGA|GLL)", "lat|lon", "no place on earth: 60 minutes, or more than 180 degrees"),
    ("NMEA", r".*TXT", "text", "the peer ends a text at its first comma"),
]

# Variants with a name of their own in the peer, and their message.
VARIANTS = {
    "AID-ALP-ACK": "AID-ALP", "AID-ALPSRV-REQ": "AID-ALPSRV", "AID-ALPSRV-SEND": "AID-ALPSRV",
    "CFG-DAT-NUM": "CFG-DAT", "CFG-NMEAv0": "CFG-NMEA", "CFG-NMEAvX": "CFG-NMEA", "CFG-TP5-TPX": "CFG-TP5",
    "MGA-GAL-OSNMA-MERKLE": "MGA-GAL-OSNMA_MERKLE", "MGA-GAL-OSNMA-PUBKEY": "MGA-GAL-OSNMA_PUBKEY",
    "MGA-INI-POS-LLH": "MGA-INI-POS_LLH", "MGA-INI-POS-XYZ": "MGA-INI-POS_XYZ",
    "MGA-INI-TIME-GNSS": "MGA-INI-TIME_GNSS", "MGA-INI-TIME-UTC": "MGA-INI-TIME_UTC",
    "MGA-NAK-DATA0": "MGA-ACK-DATA0", "NAV-AOPSTATUS-L": "NAV-AOPSTATUS", "NAV-DAHEADINGHP": "NAV-DAHEADING",
    "NAV-RELPOSNED-V0": "NAV-RELPOSNED", "RXM-PMP-V0": "RXM-PMP", "RXM-PMP-V1": "RXM-PMP",
    "RXM-PMREQ-S": "RXM-PMREQ", "RXM-RLM-L": "RXM-RLM", "RXM-RLM-S": "RXM-RLM", "SEC-SIG-V1": "SEC-SIG",
    "SEC-SIG-V2": "SEC-SIG", "SEC-UNIQID-V2": "SEC-UNIQID", "TIM-VCOCAL-V0": "TIM-VCOCAL",
}

# Messages of pyubx2's tables that have no layout: direction and name → reason.
NOT_POLLED = "the interface descriptions know it as output alone; an empty frame of its id is named all the same"
MISSING = {
    "output CFG-CFG": "a command, which no receiver sends",
    "output FOO-BAR": "the peer's own test",
    "output UBX-NOMINAL": "the peer's name for what it does not know",
    "poll NAV-RESETODO": "a command without payload, declared as input",
    "poll RXM-COR": NOT_POLLED, "poll RXM-RLM": NOT_POLLED, "poll RXM-RTCM": NOT_POLLED, "poll RXM-SFRBX": NOT_POLLED,
    "poll RXM-SPARTN": NOT_POLLED, "poll TIM-DOSC": NOT_POLLED, "poll TIM-TOS": NOT_POLLED,
}


# MARK: Fields as a flat dictionary of name to value


def flatten(fields, suffix=""):
    """Repeated blocks and arrays get the peers' names: svid_01, svid_02."""
    flat = {}
    for name, value in fields.items():
        if name in ("groups", "groups2", "groups3"):
            for index, block in enumerate(value, 1):
                flat.update(flatten(block, f"{suffix}_{index:02d}"))
        elif name == "cfgData" and value and isinstance(value[0], dict):
            for pair in value:
                if "key" in pair:
                    flat[pair["key"]] = pair["value"]
        elif isinstance(value, list):
            for index, element in enumerate(value, 1):
                flat[f"{name}{suffix}_{index:02d}"] = element
        else:
            flat[name + suffix] = value
    return flat


def peer_fields(message):
    flat = {}
    for name, value in vars(message).items():
        if name.startswith("_") or re.match(r"reserved|padding", name, re.I):
            continue
        if isinstance(value, list):
            for index, element in enumerate(value, 1):
                flat[f"{name}_{index:02d}"] = element
        else:
            flat[name] = value
    return flat


def is_equal(ours, theirs):
    if ours is None:
        return theirs == "" or (isinstance(theirs, float) and not math.isfinite(theirs))
    if isinstance(theirs, (datetime.time, datetime.date)):
        return ours == theirs.isoformat()
    if isinstance(theirs, bytes):
        if isinstance(ours, str):
            return ours == theirs.split(b"\0")[0].decode("latin-1")
        return ours == int.from_bytes(theirs, "little")
    if isinstance(ours, bool):
        return ours == bool(theirs)
    if isinstance(ours, (int, float)) and isinstance(theirs, str):
        try:
            theirs = float(theirs)
        except ValueError:
            return False
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        # The peer rounds to twelve digits, and keeps an R4 as the double next to it.
        return math.isclose(ours, theirs, rel_tol=1e-7 if isinstance(theirs, float) else 0, abs_tol=1e-10)
    if isinstance(ours, str) and isinstance(theirs, str):
        return ours == theirs.split("\0")[0]
    return ours == theirs


# MARK: Comparing


class Tally:
    def __init__(self):
        self.frames = self.named = self.undecoded = self.compared = 0
        self.fields = self.equal = 0
        self.differing = collections.Counter()
        self.examples = {}
        self.notByPeer = collections.Counter()
        self.withoutFields = collections.Counter()

    def compare(self, protocol, message, ours, theirs, where):
        self.compared += 1
        names = dict.fromkeys(list(theirs) + list(ours))
        renamed = {}
        for name in theirs:
            for pattern, old, new in RENAMED:
                if re.fullmatch(pattern, message) and re.fullmatch(old, name):
                    renamed[name] = re.sub(old, new, name)
        for name in names:
            if name in ours and name not in theirs and name in renamed.values():
                continue
            self.fields += 1
            mine = ours.get(renamed.get(name, name), MISSING_VALUE)
            other = theirs.get(name, MISSING_VALUE)
            if name not in theirs and high_precision(name, theirs, ours):
                self.equal += 1  # compared together with the field that the peer adds it to
                continue
            if mine is not MISSING_VALUE and other is not MISSING_VALUE:
                high = ours.get(high_name(name)) if high_name(name) not in theirs else None
                if is_equal(mine, other) or (high is not None and is_equal(mine + high, other)):
                    self.equal += 1
                    continue
            kind = "only the peer's" if mine is MISSING_VALUE else "only ours" if other is MISSING_VALUE else "differs"
            key = (protocol, message, re.sub(r"(_\d+)+$", "", name), kind)
            self.differing[key] += 1
            self.examples.setdefault(key, f"{where}: {mine!r} / {other!r}")


class Missing:
    def __repr__(self):
        return "–"


MISSING_VALUE = Missing()


def high_name(name):
    """pyubx2 adds the high-precision part to the field that it refines: lonHp to lon, relPosHPN to relPosN."""
    if name.startswith("relPos"):
        return "relPosHP" + name[len("relPos"):]
    base, _, index = name.partition("_")
    return base + "Hp" + ("_" + index if index else "")


def high_precision(name, theirs, ours):
    return any(high_name(whole) == name for whole in theirs if whole in ours)


def parse_ubx(frame):
    modes = (pyubx2.GET, pyubx2.SET, pyubx2.POLL) if len(frame) > 8 else (pyubx2.POLL,)
    for mode in modes:
        try:
            message = pyubx2.UBXReader.parse(frame, msgmode=mode, parsebitfield=0)
        except Exception:
            continue
        if not message.identity.endswith("NOMINAL"):
            return message
    return None


def parse_nmea(frame):
    try:
        return pynmeagps.NMEAReader.parse(frame)
    except Exception:
        return None


def compare(sextant, log, tallies):
    data = pathlib.Path(log).read_bytes()
    output = subprocess.run([sextant, "decode", "--format", "messages", log], check=True, capture_output=True).stdout
    for line in output.splitlines():
        record = json.loads(line)
        protocol, name = record["protocol"], record["name"]
        if protocol not in tallies:
            continue
        tally = tallies[protocol]
        tally.frames += 1
        frame = data[record["offset"]:record["offset"] + record["length"]]
        where = f"{pathlib.Path(log).name} {record['offset']}"
        message = parse_ubx(frame) if protocol == "UBX" else parse_nmea(frame)
        if name and not name.startswith("0x"):
            tally.named += 1
        if "raw" in record:
            tally.undecoded += 1
            tally.withoutFields[name] += 1
        if message is None or (protocol == "NMEA" and "field_01" in vars(message)):
            tally.notByPeer[name] += 1
            continue
        if "fields" not in record:
            continue
        if protocol == "NMEA" and message.identity != name:
            tally.differing[(protocol, name, message.identity, "name")] += 1
        tally.compare(protocol, name, flatten(record["fields"]), peer_fields(message), where)


# MARK: Completeness


def layout_names():
    names = collections.defaultdict(set)
    for path in sorted((TOP / "Sources" / "UBX" / "Layouts").glob("*.ubx")):
        for line in path.read_text().splitlines():
            words = line.split(";")[0].split()
            if words[:1] == ["message"]:
                for word in words[4:]:
                    if word in ("as", "when"):
                        break
                    names[word].add(words[1])
    return names


def missing_layouts():
    names = layout_names()
    tables = {
        "output": ubxtypes_get.UBX_PAYLOADS_GET, "input": ubxtypes_set.UBX_PAYLOADS_SET,
        "poll": ubxtypes_poll.UBX_PAYLOADS_POLL,
    }
    for direction, table in tables.items():
        for name in table:
            if VARIANTS.get(name, name) not in names[direction] and f"{direction} {name}" not in MISSING:
                yield direction, name


# MARK: Frames made from the peer's tables


def ubx_frame(key, payload):
    body = key[:2] + len(payload).to_bytes(2, "little") + payload
    a = b = 0
    for byte in body:
        a = (a + byte) % 256
        b = (b + a) % 256
    return b"\xb5\x62" + body + bytes((a, b))


def payload_of(table, fixed, random):
    """Random bytes in the places of a table's fields; `fixed` are the values of some by name. Counted groups stand
    twice, and so do those that last to the end."""
    counters = set()

    def find(fields):
        for value in fields.values():
            if isinstance(value, tuple) and isinstance(value[1], dict):
                if isinstance(value[0], str) and value[0] != "None":
                    counters.add(value[0])
                find(value[1])

    find(table)

    def put(fields):
        out = b""
        for name, value in fields.items():
            if isinstance(value, tuple) and isinstance(value[1], dict):
                if name.endswith("_bit"):
                    out += counted_bits(value, counters, random)
                    continue
                for _ in range(value[0] if isinstance(value[0], int) else 2):
                    out += put(value[1])
                continue
            kind = value[0] if isinstance(value, tuple) else value
            size = 12 if kind == ubxtypes_core.CH else int(kind[1:])
            if name in fixed:
                out += fixed[name].to_bytes(size, "little")
            elif name in counters:
                out += (2).to_bytes(size, "little")
            elif kind[0] == "R":
                out += struct.pack("<f" if size == 4 else "<d", random.uniform(-1e6, 1e6))
            elif kind[0] == "C":
                out += bytes(random.choice(b"ABCxyz 019") for _ in range(size))
            else:
                out += bytes(random.randrange(256) for _ in range(size))
        return out

    return put(table)


def counted_bits(field, counters, random):
    kind, bits = field
    value = place = 0
    for name, width in bits.items():
        width = int((width[0] if isinstance(width, tuple) else width)[1:])
        value |= (2 if name in counters else random.getrandbits(width)) << place
        place += width
    size = int(kind[1:])
    return (value & ((1 << size * 8) - 1)).to_bytes(size, "little")


def made_frames():
    """A frame for each entry of the peer's GET and SET tables, in several versions where there are versions."""
    random = randomness.Random(1)
    keys = {name: key for key, name in ubxtypes_core.UBX_MSGIDS.items()}
    for mode, table in ((pyubx2.GET, ubxtypes_get.UBX_PAYLOADS_GET), (pyubx2.SET, ubxtypes_set.UBX_PAYLOADS_SET)):
        for name, fields in table.items():
            key = keys.get(name) or keys.get(VARIANTS.get(name, name)) or keys.get(VARIANTS.get(name, name)[:-2])
            if key is None or name in ("FOO-BAR", "UBX-NOMINAL") or "VALGET" in name or "VALSET" in name:
                continue
            for version in range(4) if "version" in fields else (None,):
                fixed = {} if version is None else {"version": version}
                if len(key) > 2:
                    fixed["type"] = key[2]
                try:
                    payload = payload_of(fields, fixed, random)
                except (TypeError, ValueError):
                    continue
                yield mode, name, ubx_frame(key, payload)


def compare_made(sextant, tally):
    frames = list(made_frames())
    data = b"".join(frame for _, _, frame in frames)
    command = [sextant, "decode", "--format", "messages", "-"]
    output = subprocess.run(command, check=True, capture_output=True, input=data).stdout
    records = {record["offset"]: record for record in map(json.loads, output.splitlines())}
    offset = 0
    for mode, name, frame in frames:
        record = records.get(offset)
        offset += len(frame)
        tally.frames += 1
        if record is None or "fields" not in record:
            tally.withoutFields[name] += 1
            continue
        tally.named += 1
        if "raw" in record:
            tally.undecoded += 1
            tally.withoutFields[name + " (rest)"] += 1
            continue
        try:
            message = pyubx2.UBXReader.parse(frame, msgmode=mode, parsebitfield=0)
        except Exception:
            tally.notByPeer[name] += 1
            continue
        tally.compare("made", name, flatten(record["fields"]), peer_fields(message), frame.hex()[:60])


def main():
    sextant, logs = sys.argv[1], sys.argv[2:]
    tallies = {"UBX": Tally(), "NMEA": Tally()}
    for log in logs:
        compare(sextant, log, tallies)
    tallies["made"] = Tally()
    compare_made(sextant, tallies["made"])
    isGood = True
    for protocol, tally in tallies.items():
        share = tally.equal / max(1, tally.fields)
        print(f"{protocol}: {tally.frames} frames, {tally.named} named, {tally.undecoded} with undecoded payload")
        print(f"  {tally.compared} frames compared, {tally.fields} fields, {100 * share:.4f} % equal")
        if protocol != "made":
            isGood = isGood and share >= SHARE and tally.named == tally.frames
            isGood = isGood and (protocol != "UBX" or tally.undecoded == 0)
        if protocol == "made":
            # The peer's names that occur in no recording have many spellings; the values show whether a layout is right.
            spelt = {key[1] for key in tally.differing if key[3] != "differs"}
            print(f"  messages with fields of another name or shape: {len(spelt)}: {', '.join(sorted(spelt))}")
            tally.differing = collections.Counter({k: c for k, c in tally.differing.items() if k[3] == "differs"})
        for key, count in sorted(tally.differing.items(), key=lambda item: -item[1]):
            reason = next((r for p, m, f, r in DIFFERENT if p == key[0] and re.fullmatch(m, key[1])
                           and re.fullmatch(f, key[2])), None)
            print(f"  {count:7} {key[1]} {key[2]}: {key[3]} [{tally.examples.get(key, '')}] {reason or 'UNEXPLAINED'}")
            isGood = isGood and reason is not None
        if tally.notByPeer:
            print("  not decoded by the peer:", ", ".join(f"{n} {c}" for n, c in tally.notByPeer.most_common()))
        if tally.withoutFields:
            print("  not decoded by us:", ", ".join(f"{n} {c}" for n, c in tally.withoutFields.most_common()))
    lacking = list(missing_layouts())
    for direction, name in lacking:
        print(f"no layout: {direction} {name}")
    return 0 if isGood and not lacking else 1


if __name__ == "__main__":
    sys.exit(main())
