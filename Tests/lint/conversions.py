#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when the sources convert a floating-point number to an integer by an initializer that traps, or when a module that takes
values from outside calculates with integers by an operator that traps, and nothing says why the result is in range.

`Int(number)` ends the process for a number that is not finite or out of range, and numbers come from clients,
files, receivers and command lines. `Int(clamping:)` of WireBytes is the conversion to use. `a + b` ends it for a sum out of range:
in the modules below each line with such an operator is allowed by an entry of ARITHMETIC, whose reason names the bound. `&+`,
`addingReportingOverflow` and the arithmetic of Double need none.

The compiler's index has the resolved declaration of each call, so that `Int(x)` of an integer is not confused with
`Int(x)` of a Double. `swift build` writes the index; this check builds first if a source is newer.

    conversions.py             checks the sources of the package
    conversions.py --self-test compiles a file with known conversions and operators, and fails unless exactly those are found
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
    ("Sources/Power/Policy/Rules/Orbits.swift", "UInt64(min(seconds, 1e9) * 1e9)",
     "positive and limited; the module knows MonotonicTime alone"),
    ("Sources/Power/Policy/Control/Batching.swift", "Int(seconds)", "a distance of instants, at most 1e6"),
    ("Sources/Power/Policy/Control/WantedState.swift", "Int(longest)", "a constant of the table of receivers"),
    ("Sources/CInterface/ServiceClient/Request.swift", "UInt64((metres * 1000)",
     "Distance limits it to 0 to 1e9; the module is in the library for C, and has no dependencies"),
]

# The folders whose values come from programs, other machines, files of users and the bus.
OUTSIDE = tuple(f"Sources/{folder}/" for folder in (
    "Messages", "GPSD/Protocol", "sextantd", "CInterface/ServiceClient", "LinuxIO", "LocationService/SystemBus"))

# A file, or all, a pattern that the whole line has to contain, and the reason why the results of its operators are in range.
POSITION = "a position in bytes that are in memory"
COUNTER = "a counter from 0, by one"
ARITHMETIC = [
    ("Sources/sextantd/Daemon/Daemon.swift", r"monotonic\.nanoseconds \+ CodePageEviction", "the time since the computer's start, and a constant"),
    ("Sources/sextantd/Daemon/CodePageEviction.swift", r"size \+ range\.count", "the sizes of mappings of one process"),
    ("*", r"Errno\(rawValue: (Int32\()?(clamping: )?-\w+\)|[=!]= -E[A-Z]+\b", "the negative error of a C function of this package"),
    ("*", r"\(rawValue: \(1 << 20\) - \d\)", "a constant"),
    ("Sources/Messages/Varlink/JSON/JSONReader.swift", r"\bposition\b|count \+= 1", POSITION),
    ("Sources/Messages/Varlink/JSON/JSONReader.swift", r"depth: depth \+ 1", "the depth is limited (JSONReader.depthLimit)"),
    ("Sources/Messages/Varlink/JSON/JSONWriter.swift", r"depth: depth \+ 1", "the depth of a value in memory"),
    ("Sources/Messages/Varlink/JSON/JSONWriter.swift", r"unescaped \+= 1|at \+ 1|start = ", POSITION),
    ("Sources/Messages/Varlink/JSON/JSONDecoder.swift", r"decoder\.next|index - members\.count|currentIndex \+= 1", "an index of members in memory"),
    ("Sources/Messages/Varlink/Connection/MessageFraming.swift", r"\bstart\b|\bsearched\b|bytes\.removeLast", POSITION),
    ("Sources/Messages/Varlink/Connection/VarlinkServerConnection.swift", r"lastCall \+= 1", COUNTER),
    ("Sources/Messages/Service/Mirror/ProgramMirror.swift", r"(lastNumber|lastMessage) \+= 1", COUNTER),
    ("Sources/Messages/Service/State/ServiceUpdate+Join.swift", r"weight|excess|locations\.count / 2", "numbers of events in memory"),
    ("Sources/GPSD/Protocol/Client/OutputQueue.swift", r"\bcount\b|start \+= written", POSITION),
    ("Sources/GPSD/Protocol/Client/GPSDClient.swift", r"(dropped|delivered) \+= 1", COUNTER),
    ("Sources/GPSD/Protocol/Client/GPSDClient.swift", r"OutputQueue\.limit / 2", "a constant"),
    ("Sources/GPSD/Protocol/Client/GPSDClient+Demand.swift", r"count / 2", "a division; Milliseconds saturate"),
    ("Sources/GPSD/Protocol/Reports/FixSentences.swift", r"satellites|page|place", "satellites in memory, at most some dozen"),
    ("Sources/GPSD/Protocol/Reports/FixSentences.swift", r"date\.year % 100|mantissa [/%] 10\b", "a division by a constant"),
    ("Sources/GPSD/Protocol/Reports/ReportLines.swift", r"bytes\.byteCount - 2", "after a line end of two bytes"),
    ("Sources/GPSD/Protocol/Requests/RequestSplitter.swift", r"depth: depth [+-] 1", "at most the length of a request, 4096"),
    ("Sources/sextantd/Daemon/Authorization/PermissionQuestions.swift", r"lastID \+= 1|default: 0\] \+= 1", COUNTER),
    ("Sources/sextantd/Daemon/LocationServer+Streams.swift", r"lostBytes \+= bytes", "bytes of a serial line"),
    ("Sources/sextantd/Daemon/Clock/PulseSource.swift", r"edges\.count - Self\.kept", "a number of elements in memory"),
    ("Sources/sextantd/Daemon/Clock/TimeSyscalls.swift", r"Int\(ctiming_attached\(identifier\)\) - 1", "of a 32-bit number, as Int"),
    ("Sources/sextantd/Daemon/DaemonPolicy.swift", r"revision \+ 1", COUNTER),
    ("Sources/sextantd/Daemon/GPSD/GPSDServer+Control.swift", r"receivers\.count\(where: \{ !\$0\.isVacant \}\) \+ added\.count", "numbers of elements in memory"),
    ("Sources/sextantd/Daemon/GPSD/GPSDConnection.swift", r"\$0 \+ \$1\.amount", "bytes in memory"),
    ("Sources/sextantd/Daemon/GPSD/GPSDServer.swift", r"default: 0\] \+= 1|\$0 \+ \$1\.(delivered|dropped)", COUNTER),
    ("Sources/sextantd/Daemon/GPSD/GPSDServer.swift", r"nextToken|nextListener", "the numbers begin again at the largest one"),
    ("Sources/sextantd/Daemon/GPSD/NMEAAnnouncer.swift", r"name\.count - 1", "a constant length"),
    ("Sources/sextantd/Daemon/Identity/Peer.swift", r"number - 3", "a constant of the caller"),
    ("Sources/sextantd/Daemon/Identity/ProgramIdentity.swift", r"label\.utf8\.count \+ written\.utf8\.count", "bytes in memory"),
    ("Sources/sextantd/Daemon/Launch/Launcher.swift", r"Int\.max / 2", "a constant"),
    ("Sources/sextantd/Daemon/Launch/ProgramLaunch.swift", r"start [+-] 1", "the number of a start, at most that of the delays"),
    ("Sources/sextantd/Daemon/Launch/ProgramLaunch.swift", r"waiting\.last\?\.number", "a stored number is at most Int.max / 2 (LaunchRecord)"),
    ("Sources/sextantd/Daemon/LocationServer+Calls.swift", r"(delivered|dropped) \+= 1", COUNTER),
    ("Sources/sextantd/Daemon/LocationServer+Calls.swift", r"ServiceVersion\.current - 1", "a constant"),
    ("Sources/sextantd/Daemon/Connection.swift", r"\$0 \+ \$1\.amount|BytesWaiting", "bytes in memory"),
    ("Sources/sextantd/Daemon/LocationServer+Streams.swift", r"(delivered|dropped) \+= 1", COUNTER),
    ("Sources/sextantd/Daemon/LocationServer.swift", r"(dropped|count) \+= 1", COUNTER),
    ("Sources/sextantd/Daemon/LocationServer.swift", r"nextToken", "the numbers begin again at the first one of gpsd's"),
    ("Sources/sextantd/Daemon/UserShares.swift", r"amount", "amounts of what is in memory"),
    ("Sources/sextantd/Daemon/UserShares.swift", r"count(\)| \?\? 0\)) - limit\.count|\.count \+= 1", COUNTER),
    ("Sources/CInterface/ServiceClient/Client.swift", r"size|base|filled|at \+ 1|end - start|baseAddress! \+ start", POSITION),
    ("Sources/CInterface/ServiceClient/DecimalNumber.swift", r"\bat [+-]?=? ?1|text\.count - 1|index \+= 1", POSITION),
    ("Sources/CInterface/ServiceClient/DecimalNumber.swift", r"power|exponent|magnitude|-shift - leading", "the exponent is limited to 100,000, and the shift to 64"),
    ("Sources/CInterface/ServiceClient/MessageReader.swift", r"position|end \+= 1|end - start|text\.start \+|depth [+-]= 1", POSITION),
    ("Sources/CInterface/ServiceClient/Client.swift", r"rawValue: UInt32\(-value\)|UInt\(MemoryLayout", "a constant of sextant_client.h; an alignment"),
    ("Sources/CInterface/ServiceClient/DecimalNumber.swift", r"mantissa \* 10|quotient|UInt128", "of at most 19 digits; the divisor is a power of ten"),
    ("Sources/CInterface/ServiceClient/DecimalNumber.swift", r"numbers\[|unit\b|dayOfYear|seconds", "each number has a fixed count of digits, and is in its range"),
    ("Sources/CInterface/ServiceClient/MessageReader.swift", r"0x3FF|0xF \+ 9", "bits that are masked"),
    ("Sources/CInterface/ServiceClient/Request.swift", r"\bunit\b", "a power of ten below a number of at most 1e12"),
    ("Sources/LinuxIO/Sockets/PeerProcess.swift", r"Errno\(rawValue: Int32\(-found\)\)", "the negative error of a C function of this package"),
    ("Sources/LinuxIO/Files/OutputFile.swift", r"size - UInt64\(count\)", "count is at most the size"),
    ("Sources/LinuxIO/Files/Syscalls.swift", r"STDERR_FILENO \+ 1", "a constant"),
    ("Sources/GPSD/Protocol/Reports/GPSDState.swift", r"Int64\(hour\) \* 3600", "bytes as Int64"),
    ("Sources/sextantd/Daemon/Clock/ClockOutputs.swift", r"first \+ 1", "the number of a shared memory segment, 0 to 254"),
    ("Sources/sextantd/Daemon/Clock/TimeSyscalls.swift", r"nanoseconds|second - 1", "clocks of the kernel"),
    ("Sources/sextantd/Daemon/Connection.swift", r"dropped \+= 1", COUNTER),
    ("Sources/sextantd/Daemon/LocationServer.swift", r"delivered \+= update\.events\.count", "a sum of numbers of elements in memory"),
    ("Sources/sextantd/Daemon/SubordinateUsers.swift", r"count - 1", "the count is positive"),
    ("Sources/LocationService/SystemBus/Bus/SystemBus.swift", r"multipliedReportingOverflow", "checked in the line"),
    ("Sources/LocationService/SystemBus/Suspend/SuspendClock.swift", r"differenceNanoseconds|sinceBoot", "clocks of the kernel"),
    ("Sources/Messages/Varlink/Connection/VarlinkClientConnection.swift", r"lastCall \+= 1", COUNTER),
    ("Sources/Messages/Varlink/JSON/JSONReader.swift", r"digits \* 10|digits = -digits", "at most 17 digits"),
    ("Sources/Messages/Varlink/JSON/JSONReader.swift", r"0xD800|0x10000 \+ bits", "surrogates, which are in their ranges"),
    ("Sources/CInterface/ServiceClient/Reply.swift", r"(program|receiver)Count \+= 1", COUNTER),
    ("Sources/CInterface/ServiceClient/Request.swift", r"count \+= 1", COUNTER),
    ("Sources/LinuxIO/Sockets/InternetPeer.swift", r"start \+ 4|count - digits\.count", "of sixteen bytes, or eight digits"),
    ("Sources/LinuxIO/PrintedText.swift", r"4 - digits\.utf8\.count", "of at most four digits"),
    ("Sources/LinuxIO/Processes/Systemd.swift", r"3 \+ index", "the index of a name in memory"),
    ("Sources/LinuxIO/Processes/Systemd.swift", r"size \+ path\.count", "bytes in memory"),
    ("Sources/LinuxIO/Processes/Systemd.swift", r"watchdogMicroseconds / 2000", "a division; Instant and Milliseconds saturate"),
    ("Sources/LinuxIO/Sockets/UnixSocket+Descriptors.swift", r"groups\.count \* 4", "the kernel's limit is 65,536 groups"),
    ("Sources/LinuxIO/Files/NodeAccess.swift", r"at \+|8 \* \$1|list\.count - 8", POSITION),
    ("Sources/LinuxIO/Files/RecordFile.swift", r"Self\.size - 1 - text\.count", "a longer text is refused before"),
    ("Sources/LinuxIO/Files/Syscalls.swift", r"count - read|written", POSITION),
    ("Sources/LocationService/SystemBus/Announcements/ServiceAnnouncement.swift", r"(nameNumber|lastNumber) \+= 1", COUNTER),
    ("Sources/LocationService/SystemBus/Beacons/BeaconScan.swift", r"nextNumber \+= 1", COUNTER),
    ("Sources/LocationService/SystemBus/Units/UnitControl.swift", r"lastNumber \+= 1", COUNTER),
]

# Swift.Int.init(Swift.Double) and the like, as USRs: s:SiySdcfc, s:s5Int32VyABSdcfc. The generic forms belong to
# BinaryInteger and FixedWidthInteger.
DECLARATION = re.compile(r"Swift\.(?:U?Int(?:8|16|32|64|128)?|BinaryInteger|FixedWidthInteger)\.init"
                         r"(?:<[^(]*BinaryFloatingPoint[^(]*>)?\((?:Swift\.(?:Double|Float|Float16|Float80)|A1?)\)")

# Swift.Int.+ infix(Swift.Int, Swift.Int), as the USR s:Si1poiyS2i_SitFZ, and the generic forms.
OPERATOR = re.compile(r"static Swift\.(?:U?Int(?:8|16|32|64|128)?|AdditiveArithmetic|SignedNumeric|Numeric|BinaryInteger|FixedWidthInteger)"
                      r"\.(?:(?:\+|-|\*|/|%|\+=|-=|\*=|/=|%=) infix|- prefix)")
# The division by a positive constant, which has a result for each number.
DIVISION = re.compile(r"[/%]=? (?:[1-9][\d_]*|0x[\dA-Fa-f_]+)\b")


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


def declared(names, declaration):
    """Those of the USRs whose declarations match."""
    names = sorted(names)
    text = "\n".join("$" + name.replace(":", "", 1) for name in names)
    demangled = subprocess.run(["swift", "demangle", "--compact"], input=text, text=True, capture_output=True,
                               check=True).stdout.splitlines()
    return {name for name, plain in zip(names, demangled) if declaration.search(plain)}


class Uses:
    """The initializers and operators of the standard library that the files which `of_file` accepts refer to."""

    def __init__(self, store, of_file):
        index = Index(store)
        self.found = set()
        for path, records in index.records().items():
            name = of_file(path)
            if name:
                self.found |= {(usr, name, line) for record in records for usr, line in index.references(record)
                               if usr.startswith(("s:S", "s:s")) and usr.endswith(("fc", "FZ"))}

    def places(self, declaration):
        """The path and the line of each use of such a declaration."""
        wanted = declared({usr for usr, _, _ in self.found}, declaration)
        return sorted({(name, line) for usr, name, line in self.found if usr in wanted})


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
        for unit in TOP.glob(".build/debug/index/store/v5/units/*"):
            name = unit.name.rsplit(".o-", 1)[0].split("~partial")[0]
            times[name] = max(times.get(name, 0), unit.stat().st_mtime)
        return times

    # Plugins are compiled without an index, and run on the developer's machine.
    sources = [source for source in (TOP / "Sources").rglob("*.swift") if not source.parent.name.endswith("Plugin")]
    times = built()
    if any(times.get(source.name, 0) < source.stat().st_mtime for source in sources):
        subprocess.run(["swift", "build", "--package-path", TOP], check=True, stdout=sys.stderr)
    stores = list(TOP.glob(".build/debug/index/store"))
    if len(stores) != 1:
        raise SystemExit("there is no index in .build/debug: run `swift build`")
    return stores[0]


def check():
    uses = Uses(build(), of_package)
    found = uses.places(DECLARATION)
    if not found:
        raise SystemExit("the index has no conversions at all: it does not belong to this package")
    texts = {}

    def text(name, line):
        if name not in texts:
            texts[name] = (TOP / name).read_text(encoding="utf-8").splitlines()
        return texts[name][line - 1] if line <= len(texts[name]) else ""

    unused = list(ALLOWED)
    problems = []
    for name, line in found:
        entry = next((one for one in ALLOWED if one[0] == name and one[1] in text(name, line)), None)
        if entry is None:
            problems.append(f"{name}:{line}: {text(name, line).strip()}: traps for some numbers; use init(clamping:)")
        elif entry in unused:
            unused.remove(entry)
    problems += [f"{name}: `{part}` is allowed, and not there any more" for name, part, _ in unused]
    unused = list(ARITHMETIC)
    for name, line in uses.places(OPERATOR):
        if not name.startswith(OUTSIDE):
            continue
        entries = [one for one in ARITHMETIC if one[0] in ("*", name) and re.search(one[1], text(name, line))]
        if not entries and not (DIVISION.search(text(name, line)) and not re.search(r"[+*]=? |- ", DIVISION.sub("", text(name, line)))):
            problems.append(f"{name}:{line}: {text(name, line).strip()}: ends the process for a result out of range; limit it, or use "
                            "an operator that does not trap, or say in ARITHMETIC why it is in range")
        unused = [one for one in unused if one not in entries]
    problems += [f"{name}: `{pattern}` is allowed in ARITHMETIC, and not there any more" for name, pattern, _ in unused]
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
  _ = (Int(i), Int(byte))
  _ = Int(exactly: d)
  _ = UInt8(clamping: i)
  _ = UInt8(truncatingIfNeeded: i)
  _ = Int("7")
  _ = Double(i)
}

func calculate<I: FixedWidthInteger>(_ a: Int, _ b: UInt8, _ d: Double, _ i: I, _ t: String) {
  _ = a + 1                           // calculates
  _ = b - b                           // calculates
  _ = a * a / 2                       // calculates
  _ = i + i                           // calculates
  _ = -a                              // calculates
  var sum = a
  sum += a                            // calculates
  _ = [a].reduce(0, +)                // calculates
  _ = a &+ 1
  _ = a.addingReportingOverflow(1)
  _ = d + d
  _ = -d
  _ = t + t
  _ = a < sum
}
"""


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "Conversions.swift")
        source.write_text(SELF_TEST, encoding="utf-8")
        subprocess.run(["swiftc", "-c", "-o", f"{folder}/out.o", "-index-store-path", f"{folder}/store", source],
                       check=True)
        uses = Uses(f"{folder}/store", lambda path: path.endswith(source.name) and path)
    problems = []
    for mark, declaration in (("traps", DECLARATION), ("calculates", OPERATOR)):
        found = {line for _, line in uses.places(declaration)}
        expected = {n for n, line in enumerate(SELF_TEST.splitlines(), 1) if line.endswith(f"// {mark}")}
        problems += [f"line {line} of the test: {'not found' if line in expected else f'found, but not one that {mark}'}"
                     for line in sorted(found ^ expected)]
    return problems


def main():
    problems = self_test() if sys.argv[1:] == ["--self-test"] else check()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main())
