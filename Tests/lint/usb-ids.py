#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The USB ids of receivers in hw-rules against those of the program: udev marks the devices that the program opens, and no others.

usage: usb-ids.py [--self-test]

Fails for an id that is a receiver in one of the two files alone, or on another USB interface.
"""
import fnmatch
import os
import re
import sys

TOP = os.path.join(os.path.dirname(__file__), "../..")
PROGRAM = "Sources/SerialPort/Hotplug/Plausibility/KnownDevices.swift"
RULES = "hw-rules/60-sextant-gnss.hwdb"
ROW = re.compile(r"^\s*KnownDevice\(\s*0x(\w{4}),\s*(?:0x(\w{4})(?:\.\.\.0x(\w{4}))?|everyProduct),\s*\.(\w+)(?:\((\d+)\))?", re.M)


def of_program(text):
    """The value for udev of each receiver, by vendor and product; the first row of a device decides."""
    verdicts = {}
    for vendor, first, last, verdict, interface in ROW.findall(text):
        products = range(int(first, 16), int(last or first, 16) + 1) if first else range(0x10000)
        value = {"receiver": "1", "receiverOnInterface": f"interface-{int(interface or 0):02}"}.get(verdict)
        for product in products:
            verdicts.setdefault((int(vendor, 16), product), value)
    return {device: value for device, value in verdicts.items() if value}


def of_rules(text):
    """The value of SEXTANT_GNSS of each device, by vendor and product; hwdb(7)."""
    values, patterns, isMatch = {}, [], False
    for line in text.split("\n"):
        if line.startswith("usb:"):
            patterns = patterns * isMatch + [line]
        elif line.startswith(" SEXTANT_GNSS="):
            for pattern in patterns:
                vendor = re.match(r"usb:v([0-9A-F]{4})p", pattern)
                if not vendor:
                    raise SystemExit(f"{RULES}: {pattern}: the vendor is not four upper-case hexadecimal digits")
                for product in range(0x10000):
                    if fnmatch.fnmatchcase(f"usb:v{vendor[1]}p{product:04X}d0100", pattern):
                        values[int(vendor[1], 16), product] = line.partition("=")[2]
        isMatch = line.startswith("usb:")
    return values


def faults_of(program, rules):
    return [f"{vendor:04x}:{product:04x}: {program.get((vendor, product), 'no receiver')} in {PROGRAM}, "
            f"{rules.get((vendor, product), 'no receiver')} in {RULES}"
            for vendor, product in sorted(program.keys() | rules.keys())
            if program.get((vendor, product)) != rules.get((vendor, product))]


def self_test():
    program = of_program("""
    KnownDevice(0x1546, 0x0503, .other(.knownOther("x")), "a"),
    KnownDevice(0x1546, 0x0502...0x0504, .receiver, "b"),
    KnownDevice(0x1546, 0x0506, .receiverOnInterface(2), "c"),
    KnownDevice(0x0403, everyProduct, .bridge, "d"),
    """)
    assert program == {(0x1546, 0x502): "1", (0x1546, 0x504): "1", (0x1546, 0x506): "interface-02"}, program
    text = "# usb:v0403*\nusb:v1546p050[24]*\n SEXTANT_GNSS=1\n\nusb:v1546p0506*\n SEXTANT_GNSS=interface-02\n"
    assert faults_of(program, of_rules(text)) == [], faults_of(program, of_rules(text))
    for changed, id in [(text.replace("[24]", "[234]"), "1546:0503"), (text.replace("[24]", "2"), "1546:0504"),
                        (text.replace("interface-02", "1"), "1546:0506"),
                        (text + "\nusb:v1163p0100*\nusb:v1163p0200*\n OTHER=1\n SEXTANT_GNSS=1\n", "1163:0100")]:
        faults = faults_of(program, of_rules(changed))
        assert faults and faults[0].startswith(id), (changed, faults)
    print("usb-ids.py: the check finds ids that are in one file alone, and other interfaces")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        raise SystemExit(__doc__)
    program, rules = (read(open(f"{TOP}/{path}").read()) for read, path in ((of_program, PROGRAM), (of_rules, RULES)))
    faults = faults_of(program, rules)
    if faults:
        raise SystemExit("\n".join(faults))
    print(f"udev and the program have the same {len(program)} USB ids of receivers")


main()
