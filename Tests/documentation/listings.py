#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The listings of Core Location's documents against the examples that translate them.

usage: listings.py FOLDER

FOLDER has the documents as text, a number at the start of each name. Every name of Core Location in the code of a document has
to be in the example of that document; `Tests/rig/run examples` runs the examples and compares their output. A listing that is changed,
or an example that leaves out a call of its listing, is reported.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# The examples of each document; documents 3 and 4 show alternatives. The class reference, 2, has declarations and no listings.
EXAMPLES = {"000": ["MyCLQuery", "WhereYouAt"], "001": ["LocationGuide", "Hike"], "003": ["CurrentLocation", "LocateMe"],
            "004": ["LocateMe", "CurrentLocation"]}
CODE = re.compile(r"^\s*(?:[-+] ?\(|func |extension .*\{|\[|\}|case |switch |if |guard |@).*|.*[;{]\s*(?://.*)?$|^\s*\w[\w.]*\([^)]*\)\s*$")


def core_location_names():
    """The Swift names, longest first; of a delegate's method the label that tells it from the others."""
    names = set()
    for line in (TOP / "Tests/clients/apple-names.txt").read_text().splitlines():
        if match := re.match(r"[\w.-]+: (.*)", line):
            for word in match.group(1).split():
                base, _, labels = word.partition("(")
                names.add(labels.split(":")[1] if base == "locationManager" and ":" in labels else base)
    # Short names are words of any language.
    return sorted((name for name in names if len(name) > 7 and name != "location"), key=len, reverse=True)


def swift_name(word, names):
    """The Swift name of a word: the same one, or the first part of an Objective-C selector."""
    for name in names:
        if word == name or re.fullmatch(re.escape(name) + r"(?:For|In|Until|With|Location|Status)[A-Z]?\w*", word):
            return name
    return None


def code_of(text):
    """The lines of code of a document, some of which are rows of a table."""
    for line in text.splitlines():
        line = re.sub(r"^\| ?| ?\|\s*$", "", line)
        if CODE.match(line) and not re.match(r"^\s*(?://|[A-Z][a-z]+ [a-z]+ )", line):
            yield line


def main():
    names, faults, count = core_location_names(), [], 0
    for number, examples in EXAMPLES.items():
        documents = list(pathlib.Path(sys.argv[1]).glob(f"{number}_*.txt"))
        if not documents:
            sys.exit(f"{sys.argv[1]}: has no document {number}")
        source = "".join((TOP / f"Examples/Sources/{name}/main.swift").read_text() for name in examples)
        found = {}
        for line in code_of(documents[0].read_text()):
            for word in re.findall(r"\w+", line.split("//")[0]):
                if name := swift_name(word, names):
                    found.setdefault(name, line.strip())
        missing = {name: line for name, line in found.items() if not re.search(rf"\b{name}\b", source)}
        faults += [f"document {number}: {name} is not in {' or '.join(examples)}: {line}" for name, line in missing.items()]
        count += len(found)
        print(f"document {number}: {len(found)} names in {', '.join(examples)}")
    if faults:
        sys.exit("\n".join(faults))
    if not count:
        sys.exit("the documents have no listings")


main()
