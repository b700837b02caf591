#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""testbed.py - a receiver on a mocked USB is plugged and unplugged; a consumer has to serve it each time.

usage: umockdev-wrapper /usr/bin/python3 testbed.py [options] -- CONSUMER [ARG...]

  --cycles N           plugs (default 100)
  --one-name           always /dev/ttyACM0; else it alternates with /dev/ttyACM1
  --ready SOURCE       the source of its events that the consumer has to report (default udev)
  --served PATTERN     the consumer's line when it has a fix (default: ^fix )
  --descriptors        check the number in "descriptors=N" lines, and those of /proc
  --standby            two receivers and a consumer that prints locations: one serves when the other is pulled out
  --absent             a consumer that is started before its named receiver is plugged in, and prints locations
  --devices COMMAND    run it while the receiver is plugged in, and check its output

The unplugs differ: the hang-up comes before udev's message, after it, or the message is lost. At some plugs another program
holds the port for 300 ms. Exit status 0 if every plug was served. The times from the node's appearance to the fix are printed;
ReconnectPolicyTests check in virtual time that a receiver is opened as soon as it is plugged in.
"""
import argparse
import fcntl
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import tty

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import emulator  # noqa: E402
from harness import Failure, Program, expect, expect_equal, wait_until  # noqa: E402

TIOCVHANGUP = 0x5437
USB = "/devices/pci0000:00/0000:00:14.0/usb1/1-1"
IDS = """E: ID_BUS=usb
E: ID_VENDOR_ID=1546
E: ID_MODEL_ID=01a8
E: ID_SERIAL_SHORT=RIG0001
E: ID_MODEL=u-blox_GNSS_receiver
E: ID_PATH=pci-0000:00:14.0-usb-0:1:1.0
"""
# Parents come before their children: a consumer looks for a device's parents.
RECEIVER = f"""P: {USB}
N: bus/usb/001/002
E: SUBSYSTEM=usb
E: DEVTYPE=usb_device
E: DEVNAME=/dev/bus/usb/001/002
{IDS}A: idVendor=1546\\n
A: idProduct=01a8\\n
A: serial=RIG0001\\n
A: product=u-blox GNSS receiver\\n

P: {USB}/1-1:1.0
E: SUBSYSTEM=usb
E: DEVTYPE=usb_interface
E: DRIVER=cdc_acm
A: bInterfaceClass=02\\n
A: bInterfaceNumber=00\\n

"""
PORT = """P: {path}
N: {name}
E: DEVNAME=/dev/{name}
E: SUBSYSTEM=tty
E: MAJOR=166
E: MINOR={minor}
E: DEVLINKS=/dev/serial/by-id/usb-u-blox_GNSS_receiver-if00
E: ID_USB_INTERFACE_NUM=00
E: ID_USB_DRIVER=cdc_acm
{ids}A: dev=166:{minor}
"""


def at_socket(text, number):
    """The same for another receiver, at another socket."""
    return (text.replace("usb1/1-1", f"usb1/1-{number}").replace("/1-1:1.0", f"/1-{number}:1.0")
            .replace("usb-0:1:1.0", f"usb-0:{number}:1.0").replace("RIG0001", f"RIG000{number}")
            .replace("usb/001/002", f"usb/001/00{number + 1}"))


class Port:
    """One node of a receiver: a pseudo-terminal under the name of a USB line."""

    def __init__(self, bed, minor, number=1, longitude="01136.42100"):
        self.bed, self.minor, self.number, self.longitude = bed, minor, number, longitude
        self.name = f"ttyACM{minor}"
        self.node = "/dev/" + self.name
        self.path = at_socket(f"{USB}/1-1:1.0/tty/{self.name}", number)
        root = bed.get_root_dir()
        # The testbed cannot take a node away and give it back: it is moved aside.
        self.moves = [(f"{root}{self.node}", f"{root}/{self.name}.node"),
                      (f"{root}/sys/class/tty/{self.name}", f"{root}/{self.name}.class")]
        self.handler = UMockdev.IoctlBase()
        self.handler.connect("handle-ioctl", self.pass_on)
        bed.attach_ioctl(self.node, self.handler)
        self.master = None
        self.epochs = 0
        self.plugged = threading.Event()

    @staticmethod
    def pass_on(handler, client):
        """The pseudo-terminal answers the requests, not the testbed."""
        client.complete(*client.execute())
        return True

    def plug(self, hold=0):
        if self.master is None:
            ids = at_socket(IDS, self.number)
            self.bed.add_from_string(PORT.format(path=self.path, name=self.name, minor=self.minor, ids=ids))
            self.master = self.bed.get_dev_fd(self.node)
            self.open()
            threading.Thread(target=self.send, daemon=True).start()
        else:
            for there, aside in self.moves:
                os.rename(aside, there)
            self.open()
            if hold:
                fcntl.flock(self.slave, fcntl.LOCK_EX)
                threading.Timer(hold, fcntl.flock, (self.slave, fcntl.LOCK_UN)).start()
            self.bed.uevent("/sys" + self.path, "add")
        self.plugged.set()

    def open(self):
        # A master whose slaves are all closed reads errors; without raw mode it would read its own epochs.
        self.slave = os.open(self.node, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.slave)

    def unplug(self, order):
        self.plugged.clear()
        for there, aside in self.moves:
            os.rename(there, aside)
        if order == "message first":
            self.bed.uevent("/sys" + self.path, "remove")
            # The two may be handled together or apart.
            time.sleep(0.02)
        fcntl.ioctl(self.slave, TIOCVHANGUP)
        os.close(self.slave)
        if order == "hang-up first":
            time.sleep(0.02)
            self.bed.uevent("/sys" + self.path, "remove")

    def send(self):
        while True:
            self.plugged.wait()
            try:
                os.write(self.master, emulator.epoch(self.epochs, self.longitude))
            except OSError:
                pass
            self.epochs += 1
            # Five epochs a second.
            time.sleep(0.2)


def processor_seconds(consumer):
    fields = open(f"/proc/{consumer.process.pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_devices(command):
    found = json.loads(subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE).stdout)
    mine = [port for port in found if port["node"].startswith("/dev/ttyACM")]
    expect_equal(len(mine), 1, "the number of ports")
    expected = {"likelihood": "receiver", "identity": "usb:1546:01a8:RIG0001:0", "name": "u-blox GNSS receiver",
                "driver": "cdc_acm", "kind": "tty"}
    for key, value in expected.items():
        expect_equal(mine[0][key], value, key)
    print("devices: ok")


def standby(bed, command):
    """If no receiver is named, each one that is plugged in serves, one at a time."""
    bed.add_from_string(at_socket(RECEIVER, 2))
    first, second = Port(bed, 0), Port(bed, 1, 2, "01136.52100")
    first.plug()
    with Program(*command, stderr=None) as consumer:
        def serves(longitude):
            consumer.wait_for_event("didUpdateLocations", lambda event: str(event["locations"][-1]["longitude"]).startswith(longitude),
                                    without="didFailWithError")

        def stands_by(port):
            """A receiver stands by when it has been opened and there for three seconds: fifteen epochs."""
            end = port.epochs + 25
            wait_until(lambda: port.epochs >= end, "no epochs are sent")

        serves("11.60701")
        second.plug()
        stands_by(second)
        first.unplug("hang-up first")
        serves("11.60868")
        first.plug()
        stands_by(first)
        second.unplug("message first")
        serves("11.60701")
        consumer.terminate()
    print("two receivers: each serves when the other is pulled out")


def absent(bed, command):
    """A named receiver that is absent at the start is served when udev reports it, before the check every ten seconds."""
    with Program(*command, stderr=None) as consumer:
        consumer.wait_for_event("didChangeAuthorization")
        # The attempts of the first second.
        time.sleep(1.5)
        plugged = time.monotonic()
        Port(bed, 0).plug()
        consumer.wait_for_event("didUpdateLocations")
        took = time.monotonic() - plugged
        consumer.terminate()
    expect(took < 5, f"{took:.1f} s from the node's appearance to the first location")
    print(f"absent at the start: {took:.1f} s from the node's appearance to the first location")


def cycles(bed, options):
    ports = [Port(bed, 0), Port(bed, 1)]
    if options.one_name:
        # A consumer that is given a path needs the node at its start.
        ports = ports[:1]
        ports[0].plug()
    with Program(*options.command, stdin=subprocess.PIPE, stderr=None) as consumer:
        if options.one_name:
            consumer.wait_for_line(options.served)
            ports[0].unplug("hang-up first")
        else:
            consumer.wait_for_line("^ready " + options.ready)

        unplugs = ["hang-up first", "message first", "lost"]
        times, counts = [], set()
        for cycle in range(options.cycles):
            port = ports[cycle % len(ports)]
            # Fixes of the cycle before do not count.
            consumer.line_mark = len(consumer.lines)
            before = time.monotonic()
            port.plug(hold=0.3 if cycle % 10 == 9 else 0)
            line = consumer.wait_for_line(options.served).string
            times.append(time.monotonic() - before)
            expect(options.one_name or port.node in line, f"cycle {cycle}: another port: {line}")
            if cycle == 0 and options.devices:
                check_devices(options.devices)
            if cycle > 0:
                counts.add(len(os.listdir(f"/proc/{consumer.process.pid}/fd")))
            port.unplug(unplugs[cycle % 3])
            # A hand needs longer. The consumer gets the next plug while it may still be busy with this unplug.
            time.sleep(0.12)

        start, busy = time.monotonic(), processor_seconds(consumer)
        # The share of the processor while nothing is plugged in is measured over this time.
        time.sleep(3)
        share = (processor_seconds(consumer) - busy) / (time.monotonic() - start)
        consumer.process.send_signal(signal.SIGTERM)
        consumer.wait_for_exit((0, 69))

    printed = {int(n) for line in consumer.lines for n in re.findall(r"descriptors=(\d+)", line)}
    reports = [line for line in consumer.lines if line.startswith("report ")]
    print(f"{options.cycles} plugs: median {1000 * statistics.median(times):.0f} ms, worst {1000 * max(times):.0f} ms "
          f"from the node's appearance to the first fix; {len(reports)} reports")
    print(f"descriptors {sorted(counts)}, printed {sorted(printed)}; processor while waiting {100 * share:.1f} %")
    expect(not options.descriptors or len(counts) == len(printed) == 1, "the number of descriptors grows")
    expect(share <= 0.01, "the processor is busy while nothing is plugged in")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--one-name", action="store_true")
    parser.add_argument("--ready", default="udev")
    parser.add_argument("--served", default="^fix ")
    parser.add_argument("--descriptors", action="store_true")
    parser.add_argument("--devices")
    parser.add_argument("--standby", action="store_true")
    parser.add_argument("--absent", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    daemon.bind("/run/udev/control")
    daemon.listen()
    bed = UMockdev.Testbed.new()
    bed.add_from_string(RECEIVER)
    try:
        if options.standby:
            standby(bed, options.command)
        elif options.absent:
            absent(bed, options.command)
        else:
            cycles(bed, options)
    except Failure as failure:
        sys.exit(f"FAILED {failure}")


if __name__ == "__main__":
    main()
