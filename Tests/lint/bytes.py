#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forbids to divide text by Character where a user of the machine chooses its bytes: names of files, control groups and processes, and stored
names. A separator and a combining mark after it are one Character. Sources/WireBytes/TextSearch.swift has what divides by bytes.

usage: bytes.py [--self-test]
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "Sources"
FOLDERS = ("sextantd/Daemon/Identity", "sextantd/Daemon/Authorization", "sextantd/Daemon/Launch", "LocationService/Administration",
           "LocationService/Storage", "sextant/Authorize", "sextant/LivePage/HTTP")
FORBIDDEN = re.compile(
    r'\.split\s*(\(separator: "|\(whereSeparator:|\(omittingEmptySubsequences: \w+, whereSeparator:|\{)|\.has(Prefix|Suffix)\b'
    r'|\.(firstIndex|lastIndex|contains)\((of: )?"[^"]|\.is(Newline|Whitespace)\b')


def found(text):
    """The numbers of the lines with a forbidden call."""
    return [number for number, line in enumerate(text.splitlines(), 1) if FORBIDDEN.search(line.split("// ")[0])]


def self_test():
    bad = ['a.split(separator: "/")', "a.split { $0 == b }", "a.split(whereSeparator: \\.isNewline)", 'a.hasPrefix("x")', "list.first(where: text.hasSuffix)",
           'a.lastIndex(of: ")")', 'a.firstIndex(of: "=")', 'a.contains("/")', "a.prefix { !$0.isNewline }",
           "a.split(omittingEmptySubsequences: false, whereSeparator: f)"]
    good = ['a.parts(at: "/")', "a.utf8.split(separator: 0x2F)", 'a.begins(with: "x")', "a.lines", "names.contains(name)", "a.firstIndex(of: one)",
            "a.utf8.contains(0x20)", "// a.hasPrefix is wrong", "found.count(where: f)"]
    assert found("\n".join(bad)) == list(range(1, len(bad) + 1)), found("\n".join(bad))
    assert not found("\n".join(good)), found("\n".join(good))


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        raise SystemExit
    places = [f"{path.relative_to(ROOT.parent)}:{line}" for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.swift"))
              for line in found(path.read_text())]
    for place in places:
        print(f"{place}: divides text by Character; use what TextSearch.swift has, or bytes", file=sys.stderr)
    raise SystemExit(bool(places))
