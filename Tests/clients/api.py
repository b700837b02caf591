#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public names of module CoreLocation, with their types, against the list in api.txt.

usage: api.py FOLDER [--write]

FOLDER holds the built modules. The list, api.txt, has a line for each declaration: a name that is lost or added, or whose
type, default value, deprecation or conformance changes, is reported. --write writes the list again.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
LIST = HERE / "api.txt"
# Conformances that the compiler derives from a declaration that is listed.
DERIVED = {"Copyable", "Escapable", "SendableMetatype", "CVarArg", "CustomStringConvertible", "CustomDebugStringConvertible",
           "Equatable", "Hashable"}


def graph(built):
    target = json.loads(subprocess.check_output(["swiftc", "-print-target-info"]))["target"]["unversionedTriple"]
    system = pathlib.Path(built).resolve().parent.parent / "checkouts/swift-system/Sources/CSystem/include"
    maps = [f"-fmodule-map-file={path}" for path in sorted(pathlib.Path(built).glob("C*.build/module.modulemap"))]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.check_call([
            "swift", "symbolgraph-extract", "-module-name", "CoreLocation", "-target", target, "-minimum-access-level",
            "public", "-skip-inherited-docs", "-I", f"{built}/Modules", "-I", str(system), "-I", str(TOP / "CSupport/CLinux/include"),
            *(word for path in sorted(TOP.glob("CSupport/*/")) for word in ("-I", str(path))),
            *(word for path in maps for word in ("-Xcc", path)), "-output-dir", folder])
        return json.loads((pathlib.Path(folder) / "CoreLocation.symbols.json").read_text())


def lines(graph):
    names, found = {}, set()
    for symbol in graph["symbols"]:
        ident = symbol["identifier"]["precise"]
        if "::SYNTHESIZED::" in ident:
            continue
        path = ".".join(symbol["pathComponents"])
        names[ident] = path
        text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"]).replace("\n", " ")
        if any("isUnconditionallyDeprecated" in one for one in symbol.get("availability", [])):
            text += "  deprecated"
        owner = ".".join(symbol["pathComponents"][:-1])
        if symbol["accessLevel"] == "open" and not text.startswith("override "):
            text = "open " + text
        found.add(f"{owner}: {text}" if owner else text)
    for relation in graph["relationships"]:
        if relation["kind"] not in ("conformsTo", "inheritsFrom") or relation["source"] not in names:
            continue
        whole = relation.get("targetFallback") or names.get(relation["target"], "")
        other = whole.split(".")[-1] if whole else ""
        if other and other not in DERIVED:
            found.add(f"{names[relation['source']]} is {other}")
    return sorted(found)


def main():
    found = lines(graph(sys.argv[1]))
    if "--write" in sys.argv:
        LIST.write_text("\n".join(found) + "\n")
        return
    kept = LIST.read_text().splitlines()
    lost, added = sorted(set(kept) - set(found)), sorted(set(found) - set(kept))
    for line in lost:
        print(f"lost: {line}", file=sys.stderr)
    for line in added:
        print(f"not in the list: {line}", file=sys.stderr)
    if lost or added:
        sys.exit(f"{LIST.name}: the module's public names have changed; clients depend on each (`docs/generate api` writes the list again)")
    print(f"{len(found)} declarations as listed")


main()
