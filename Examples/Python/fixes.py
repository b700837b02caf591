#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the fixes of a receiver's bytes on standard input, as Examples/C/fixes.c does, by libsextant through ctypes.

usage: fixes.py HEADER LIBRARY < RECORDING; for example fixes.py /usr/local/include/sextant.h libsextant.so.1
"""
import ctypes
import datetime
import math
import re
import sys

TYPES = {"bool": ctypes.c_bool, "double": ctypes.c_double, "size_t": ctypes.c_size_t, "char": ctypes.c_char,
         **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}}


def structures(header):
    """The structures of the header: a class for each, with pointers as addresses."""
    found = {}
    text = re.sub(r"//.*", "", header)
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
        fields = []
        for line in filter(None, (line.strip() for line in body.split(";"))):
            if called := re.search(r"\(\*(\w+)\)", line):
                fields.append((called[1], ctypes.c_void_p))
                continue
            for part in line.split(",") if "*" not in line else [line]:
                kind, star, field, count = re.fullmatch(r"\s*(?:const )?(\w+)? ?(\*?)(\w+)(?:\[(\d+)\])?\s*", part).groups()
                base = ctypes.c_void_p if star else TYPES[kind]
                fields.append((field, base * int(count) if count else base))
        found[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return found


HEADER = open(sys.argv[1]).read()
STRUCTURES = structures(HEADER)
CONSTANTS = {name: int(value) for name, value in re.findall(r"#define (SEXTANT_\w+) \(?(-?\d+)\)?$", HEADER, re.M)}


def rounded(value, digits):
    """The value with its digits, halves up, as `sextant decode` rounds."""
    units = math.floor(exact := abs(value) * 10 ** digits)
    units += exact - units >= 0.5
    return f"{'-' if value < 0 and units else ''}{units // 10 ** digits}.{units % 10 ** digits:0{digits}}"


def tpv(fix):
    mode = (2 if fix.kind == 2 else 3) if fix.has_position else int(fix.reports_kind or fix.kind != 0)
    fields = [f'"class":"TPV","mode":{mode}']
    if fix.has_time:
        milliseconds = (fix.time_nanoseconds_since_1970 + 500_000) // 1_000_000
        time = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)
        fields.append(f'"time":"{time.isoformat(timespec="milliseconds")}Z"')
    if fix.has_position:
        values = [("lat", fix.latitude_degrees, 9), ("lon", fix.longitude_degrees, 9),
                  ("altHAE", fix.height_above_ellipsoid_metres, 4), ("altMSL", fix.height_above_sea_level_metres, 4)]
        if fix.accuracy_source != 3:
            values += [("eph", fix.horizontal_accuracy_metres, 3), ("epv", fix.vertical_accuracy_metres, 3)]
        values += [("speed", fix.speed_metres_per_second, 3), ("track", fix.course_degrees, 4),
                   ("climb", fix.climb_metres_per_second, 3), ("eps", fix.speed_accuracy_metres_per_second, 3)]
        fields += [f'"{name}":{rounded(value, digits)}' for name, value, digits in values if abs(value) < 1e9]
    return "{" + ",".join(fields) + "}"


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(STRUCTURES["sextant_report"]))
def on_report(_, report):
    report = report.contents
    if report.fix_changed:
        print(tpv(STRUCTURES["sextant_fix"].from_address(report.fix)))
    if report.sky_changed:
        count = report.satellite_count
        satellites = (STRUCTURES["sextant_satellite"] * count).from_address(report.satellites) if count else []
        print(f'{{"class":"SKY","nSat":{count},"uSat":{sum(one.is_used for one in satellites)}}}')


def main():
    library = ctypes.CDLL(sys.argv[2])
    if library.sextant_abi_version() != CONSTANTS["SEXTANT_ABI_VERSION"]:
        sys.exit("fixes.py: libsextant has another version than sextant.h")
    alignment = CONSTANTS["SEXTANT_DECODER_ALIGNMENT"]
    size = CONSTANTS["SEXTANT_DECODER_BASE_BYTES"] + CONSTANTS["SEXTANT_LONGEST_UBX_PAYLOAD"] + 8
    memory = ctypes.create_string_buffer(size + alignment)
    start = -(-ctypes.addressof(memory) // alignment) * alignment
    options = STRUCTURES["sextant_options"](on_report=ctypes.cast(on_report, ctypes.c_void_p).value)
    library.sextant_decoder_init.restype = ctypes.c_void_p
    decoder = ctypes.c_void_p(library.sextant_decoder_init(ctypes.c_void_p(start), ctypes.c_size_t(size), ctypes.byref(options)))
    while piece := sys.stdin.buffer.read(4096):
        library.sextant_decoder_feed(decoder, piece, ctypes.c_size_t(len(piece)))
    library.sextant_decoder_finish(decoder)


main()
