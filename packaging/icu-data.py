#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ICU's data for some languages, which a statically linked program uses instead of the data in Foundation's library.

usage: icu-data.py OUTPUT [LANGUAGE...]      LANGUAGE is a language code such as `de`; en is always there
       with CC, OBJCOPY and AR from the environment, and LIBRARY for a lib_FoundationICU.a other than `swift`'s

Writes OUTPUT.o, and OUTPUT.ld for `-Xlinker OUTPUT.ld`. lld has extracted the library's data by then; the script
replaces their symbol.

The data of all languages are 34 MB. These stay: the named languages, what belongs to no language (time zones, rules, characters),
and the root of each table, which ICU falls back to. Converters of old encodings and the dictionaries for line breaks in Chinese,
Japanese, Thai and others are removed. docs/guides/deploy.md has the use and the sizes.

The format is ICU's package format (udatamem and ucmndata in its sources): a header; the number of items; for each the
offsets of its name and of its data, sorted by name; the names; the data, aligned to 16 bytes.
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

MEMBER = "icu_packaged_data.cpp.o"
# The files of a language: `de.res`, `de_AT.res`. Others, such as `pool.res`, have longer names.
LOCALE = re.compile(r"(?:[^/]+/)+([a-z]{2,3})(?:_\w+)?\.res")
REMOVED = (".cnv", ".dict")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def library():
    if given := os.environ.get("LIBRARY"):
        return given
    info = json.loads(output("swift", "-print-target-info", "-static-stdlib"))
    return f"{info['paths']['runtimeResourcePath']}/linux/lib_FoundationICU.a"


def items(data):
    """The items of a package in their order, as names and bytes, and its header."""
    (header, magic), (size_of_char, form) = struct.unpack_from("<HH", data), (data[10], data[12:16])
    if magic != 0x27DA or size_of_char != 2 or form != b"CmnD":
        sys.exit("icu-data.py: the library has another format of data; link without these files")
    count, = struct.unpack_from("<I", data, header)
    table = [struct.unpack_from("<II", data, header + 4 + 8 * index) for index in range(count)]
    ends = [start for _, start in table[1:]] + [len(data) - header]
    found = [(data[header + name:data.index(b"\0", header + name)].decode(), data[header + start:header + end])
             for (name, start), end in zip(table, ends)]
    return data[:header], found


def package(header, found):
    names = b"".join(name.encode() + b"\0" for name, _ in found)
    place = 4 + 8 * len(found)
    start = -(-(place + len(names)) // 16) * 16
    table, contents = [struct.pack("<I", len(found))], []
    for name, content in found:
        table.append(struct.pack("<II", place, start))
        contents.append(content + bytes(-len(content) % 16))
        place += len(name) + 1
        start += len(contents[-1])
    head = b"".join(table) + names
    return header + head + bytes(-len(head) % 16) + b"".join(contents)


def is_kept(name, languages):
    locale = LOCALE.fullmatch(name)
    return not name.endswith(REMOVED) and (not locale or locale[1] in languages)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    languages = {"en", *sys.argv[2:]}
    with tempfile.TemporaryDirectory() as folder:
        member, blob = pathlib.Path(folder, "member.o"), pathlib.Path(folder, "data")
        member.write_bytes(output(os.environ.get("AR", "ar"), "p", library(), MEMBER))
        if member.stat().st_size == 0:
            sys.exit(f"icu-data.py: {library()} has no {MEMBER}; link without these files")
        subprocess.run([os.environ.get("OBJCOPY", "objcopy"), "-O", "binary", "--only-section=.rodata", member, blob], check=True)
        header, found = items(blob.read_bytes())
        present = {locale[1] for name, _ in found if (locale := LOCALE.fullmatch(name))}
        if missing := languages - present:
            sys.exit(f"icu-data.py: ICU has no language {', '.join(sorted(missing))}; use codes such as de or pt")
        kept = [(name, content) for name, content in found if is_kept(name, languages)]
        blob.write_bytes(package(header, kept))
        source = pathlib.Path(folder, "data.s")
        source.write_text(f'.section .rodata\n.balign 16\n.globl icu_data\n.type icu_data, %object\nicu_data:\n.incbin "{blob}"\n'
                          f'.size icu_data, . - icu_data\n.section .note.GNU-stack, "", %progbits\n')
        to = pathlib.Path(sys.argv[1]).resolve()
        subprocess.run([*os.environ.get("CC", "clang").split(), "-c", source, "-o", f"{to}.o"], check=True)
        # The symbol has ICU's version, as the names of the items do.
        symbol = found[0][0].split("/")[0].removesuffix("l") + "_dat"
        pathlib.Path(f"{to}.ld").write_text(f"INPUT({to}.o)\n{symbol} = icu_data;\n")
        print(f"{len(kept)} of {len(found)} items, {blob.stat().st_size} of {sum(len(content) for _, content in found)} bytes")


if __name__ == "__main__":
    main()
