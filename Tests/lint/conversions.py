#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the sources convert a floating-point number to an integer by an initializer that traps.

`Int(number)` ends the process for a number that is not finite or out of range, and numbers come from clients,
files, receivers and command lines. `Int(clamping:)` of WireBytes is the conversion to use.

The compiler's index has the resolved declaration of each call, so that `Int(x)` of an integer is not confused with
`Int(x)` of a Double. `swift build` writes the index; this check builds first if a source is newer.

    conversions.py             checks the sources of the package
    conversions.py --self-test compiles a file with known conversions, and fails unless exactly those are found
"""
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]

# A file, the text of the line, and the reason why its numbers are in range.
ALLOWED = [
    ("Sources/WireBytes/ClampedNumbers.swift", "UInt64(number)", "the number is 0 or more, and less than 2^64"),
    ("Sources/WireBytes/ClampedNumbers.swift", "Int64(number)", "the number is negative, and more than -2^63"),
    ("Sources/MonotonicTime/Milliseconds.swift", "UInt64(min(seconds * 1000, 9e15)",
     "positive and limited; the module has no dependencies"),
    ("Sources/PowerControl/Rules/Orbits.swift", "UInt64(min(seconds, 1e9) * 1e9)",
     "positive and limited; the module knows MonotonicTime alone"),
    ("Sources/PowerControl/Control/Batching.swift", "Int(seconds)", "a distance of instants, at most 1e6"),
    ("Sources/PowerControl/Control/Serving.swift", "Int(longest)", "a constant of the table of receivers"),
    ("Sources/CServiceClient/Request.swift", "UInt64((metres * 1000)",
     "Distance limits it to 0 to 1e9; the module is in the library for C, and has no dependencies"),
]

# Swift.Int.init(Swift.Double) and the like, as USRs: s:SiySdcfc, s:s5Int32VyABSdcfc. The generic forms are those of
# BinaryInteger and FixedWidthInteger.
DECLARATION = re.compile(r"Swift\.(?:U?Int(?:8|16|32|64|128)?|BinaryInteger|FixedWidthInteger)\.init"
                         r"(?:<[^(]*BinaryFloatingPoint[^(]*>)?\((?:Swift\.(?:Double|Float|Float16|Float80)|A1?)\)")


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode() if self.length else ""


class Index:
    """The compiler's index, by libIndexStore of the toolchain."""

    def __init__(self, store):
        compiler = pathlib.Path(shutil.which("swiftc")).resolve()
        self.library = ctypes.CDLL(str(compiler.parent.parent / "lib" / "libIndexStore.so"))
        self.error = ctypes.c_void_p()
        self.store = self.call("store_create", ctypes.c_void_p, str(store).encode(), ctypes.byref(self.error))
        if not self.store:
            raise SystemExit(f"{store}: cannot be read; run `swift build`")

    def call(self, name, result, *arguments):
        function = getattr(self.library, "indexstore_" + name)
        function.restype = result
        return function(*(ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments))

    def each(self, name, subject, element, of_one, *options):
        """`of_one` of all that an `apply` function passes to its body, which is valid in the body alone."""
        found = []
        body = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, element)(
            lambda _, one: found.append(of_one(one)) is None)
        self.call(name + "_apply_f", ctypes.c_bool, subject, *options, None, body)
        return found

    def records(self):
        """The files of all units, each with its records."""
        found = {}

        def note(dependency):
            # INDEXSTORE_UNIT_DEPENDENCY_RECORD
            if self.call("unit_dependency_get_kind", ctypes.c_int, dependency) == 2:
                path = str(self.call("unit_dependency_get_filepath", Text, dependency))
                found.setdefault(path, set()).add(str(self.call("unit_dependency_get_name", Text, dependency)))

        for unit in self.each("store_units", self.store, Text, str, ctypes.c_uint(0)):
            reader = self.call("unit_reader_create", ctypes.c_void_p, self.store, unit.encode(),
                               ctypes.byref(self.error))
            self.each("unit_reader_dependencies", reader, ctypes.c_void_p, note)
            self.call("unit_reader_dispose", None, reader)
        return found

    def references(self, record):
        """The declarations that a record refers to, with their lines."""
        reader = self.call("record_reader_create", ctypes.c_void_p, self.store, record.encode(),
                           ctypes.byref(self.error))
        if not reader:
            return []
        line, column = ctypes.c_uint(), ctypes.c_uint()

        def reference(occurrence):
            self.call("occurrence_get_line_col", None, occurrence, ctypes.byref(line), ctypes.byref(column))
            symbol = self.call("occurrence_get_symbol", ctypes.c_void_p, occurrence)
            return str(self.call("symbol_get_usr", Text, symbol)), line.value

        found = self.each("record_reader_occurrences", reader, ctypes.c_void_p, reference)
        self.call("record_reader_dispose", None, reader)
        return found


def trapping(names):
    """Those of the USRs that are conversions that trap."""
    names = sorted(names)
    text = "\n".join("$" + name.replace(":", "", 1) for name in names)
    demangled = subprocess.run(["swift", "demangle", "--compact"], input=text, text=True, capture_output=True,
                               check=True).stdout.splitlines()
    return {name for name, plain in zip(names, demangled) if DECLARATION.search(plain)}


def conversions(store, of_file):
    """The path and the line of each conversion that traps, of the files that `of_file` accepts."""
    index = Index(store)
    uses = set()
    for path, records in index.records().items():
        name = of_file(path)
        if name:
            uses |= {(usr, name, line) for record in records for usr, line in index.references(record)
                     if usr.startswith(("s:S", "s:s")) and usr.endswith("fc")}
    wanted = trapping({usr for usr, _, _ in uses})
    return sorted({(name, line) for usr, name, line in uses if usr in wanted})


def of_package(path):
    """The path below the package, for a source of it as it is now."""
    parts = pathlib.PurePath(path).parts
    if ".build" in parts or "Sources" not in parts or not path.endswith(".swift"):
        return None
    name = "/".join(parts[parts.index("Sources"):])
    return name if (TOP / name).exists() else None


def build():
    """The folder of the index, after a build if a source is newer than it."""
    def built():
        times = {}
        for unit in TOP.glob(".build/*/debug/index/store/v5/units/*"):
            name = unit.name.rsplit(".o-", 1)[0].split("~partial")[0]
            times[name] = max(times.get(name, 0), unit.stat().st_mtime)
        return times

    # Plugins are compiled without an index, and run on the developer's machine.
    sources = [source for source in (TOP / "Sources").rglob("*.swift") if not source.parent.name.endswith("Plugin")]
    times = built()
    if any(times.get(source.name, 0) < source.stat().st_mtime for source in sources):
        subprocess.run(["swift", "build", "--package-path", TOP], check=True, stdout=sys.stderr)
    stores = list(TOP.glob(".build/*/debug/index/store"))
    if len(stores) != 1:
        raise SystemExit("there is no index in .build, or there are several: run `swift build`")
    return stores[0]


def check():
    found = conversions(build(), of_package)
    if not found:
        raise SystemExit("the index has no conversions at all: it is not that of this package")
    unused = list(ALLOWED)
    problems = []
    for name, line in found:
        text = (TOP / name).read_text(encoding="utf-8").splitlines()[line - 1]
        entry = next((one for one in ALLOWED if one[0] == name and one[1] in text), None)
        if entry is None:
            problems.append(f"{name}:{line}: {text.strip()}: traps for some numbers; use init(clamping:)")
        elif entry in unused:
            unused.remove(entry)
    problems += [f"{name}: `{text}` is allowed, and not there any more" for name, text, _ in unused]
    return problems


SELF_TEST = """
func convert<F: BinaryFloatingPoint, I: FixedWidthInteger>(_ d: Double, _ f: Float, _ g: F, _ i: Int, _ o: I.Type) {
  _ = Int(d)                          // traps
  _ = UInt16(f * 2)                   // traps
  _ = [d].map(Int64.init)             // traps
  let byte = UInt8((d + 1).rounded()) // traps
  _ = I(g)                            // traps
  _ = Int32(g)                        // traps
  _ = (Int8(d), Int(i))               // traps
  _ = Int(i) + Int(byte)
  _ = Int(exactly: d)
  _ = UInt8(clamping: i)
  _ = UInt8(truncatingIfNeeded: i)
  _ = Int("7")
  _ = Double(i)
}
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "Conversions.swift")
        source.write_text(SELF_TEST, encoding="utf-8")
        subprocess.run(["swiftc", "-c", "-o", f"{folder}/out.o", "-index-store-path", f"{folder}/store", source],
                       check=True)
        found = {line for _, line in conversions(f"{folder}/store", lambda path: path.endswith(source.name) and path)}
    expected = {n for n, line in enumerate(SELF_TEST.splitlines(), 1) if line.endswith("// traps")}
    return [f"line {line} of the test: {'not found' if line in expected else 'found, but does not trap'}"
            for line in sorted(found ^ expected)]


def main():
    problems = self_test() if sys.argv[1:] == ["--self-test"] else check()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
