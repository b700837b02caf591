#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The imports of the modules against the layers of docs/ARCHITECTURE.md: a module imports only modules of lower layers.

usage: imports.py [--self-test]

Fails for an upward or lateral import, for a module under Sources that the page's table does not have, and for a module of the
table that is not there.
"""
import os
import re
import sys

TOP = os.path.join(os.path.dirname(__file__), "../..")
IMPORT = re.compile(r"^\s*(?:(?:@\w+|public|package|internal|private|fileprivate)\s+)*import\s+"
                    r"(?:(?:struct|enum|class|func|protocol|typealias|let|var)\s+)?(\w+)", re.M)
ROW = re.compile(r"^\| (\d+) \| ([^|]*) \|", re.M)
# They take part in the build and are in no program.
TOOLS = {"UBXLayoutCompiler", "UBXLayoutPlugin"}


def layers_of(page):
    """The layer of each module in the page's table."""
    layers = {}
    for layer, names in ROW.findall(page):
        for name in re.findall(r"`([\w-]+)`", names):
            if name in layers:
                raise SystemExit(f"imports.py: {name} has two rows in the table of layers")
            layers[name] = int(layer)
    return layers


def module_name(folder):
    """The name by which a module is imported."""
    return folder.replace("-", "_")


def faults_of(layers, files):
    """The faults of the imports, a line each.

    layers: the layer of each module. files: (path below Sources, text) of each source file.
    """
    by_name = {module_name(name): name for name in layers}
    faults = []
    for path, text in files:
        module = path.split("/")[0]
        if module in TOOLS:
            continue
        if module not in layers:
            faults.append(f"{path}: module {module} has no row in the table of layers")
            continue
        for name in IMPORT.findall(text):
            imported = by_name.get(name)
            if imported is None or imported == module:
                continue
            if layers[imported] >= layers[module]:
                way = "lateral" if layers[imported] == layers[module] else "upward"
                faults.append(f"{path}: {way} import of {imported} (layer {layers[imported]}) by {module} "
                              f"(layer {layers[module]})")
    modules = {path.split("/")[0] for path, _ in files}
    faults += [f"the table of layers has {name}, which is not a module" for name in layers if name not in modules]
    return faults


def self_test():
    layers = layers_of("| 2 | `Up`, `up-tool` | text | |\n| 1 | `Middle` | `other` |\n| 0 | `Low` | |\n| – | `none` | |\n")
    assert layers == {"Up": 2, "up-tool": 2, "Middle": 1, "Low": 0}, layers
    good = [("Up/A.swift", "import Low\n@testable import Middle\nimport Glibc\n"), ("up-tool/B.swift", "import struct Low.X\n"),
            ("Middle/C.swift", "package import Low\n// import Up\n"), ("Low/D.swift", "let text = \"import\"\n")]
    assert faults_of(layers, good) == [], faults_of(layers, good)
    for path, text, expected in [
        ("Middle/E.swift", "import Up\n", "upward"), ("Up/E.swift", "import up_tool\n", "lateral"),
        ("Low/E.swift", "@preconcurrency import Middle\n", "upward"), ("Low/E.swift", "import func Up.f\n", "upward"),
        ("New/E.swift", "", "no row"),
    ]:
        faults = faults_of(layers, good + [(path, text)])
        assert len(faults) == 1 and expected in faults[0], (path, text, faults)
    assert faults_of({**layers, "Gone": 3}, good) == ["the table of layers has Gone, which is not a module"]
    print("imports.py: the check finds upward and lateral imports, and modules without a row")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        raise SystemExit(__doc__)
    with open(f"{TOP}/docs/ARCHITECTURE.md") as page:
        layers = layers_of(page.read())
    files = []
    for folder, _, names in sorted(os.walk(f"{TOP}/Sources")):
        for name in sorted(names):
            if name.endswith(".swift"):
                path = os.path.join(folder, name)
                with open(path) as file:
                    files.append((os.path.relpath(path, f"{TOP}/Sources"), file.read()))
    faults = faults_of(layers, files)
    if faults:
        raise SystemExit("\n".join(faults))
    print(f"{len(layers)} modules import only modules of lower layers")


main()
