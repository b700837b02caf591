#!/usr/bin/python3
"""testbed.py - a receiver on a mocked USB is plugged and unplugged; a consumer has to serve it each time.

usage: umockdev-wrapper /usr/bin/python3 testbed.py [options] -- CONSUMER [ARG...]

  --cycles N           plugs (default 100)
  --one-name           always /dev/ttyACM0; else it alternates with /dev/ttyACM1
  --ready SOURCE       where the consumer has to say that its news come from (default udev)
  --served PATTERN     what the consumer writes when it has a fix (default: ^fix )
  --descriptors        check the number in "descriptors=N" lines, and those of /proc
  --limit SECONDS      from the node's appearance to the fix (default 2)
  --standby            two receivers and a consumer that prints locations: one goes on when the other is pulled out
  --devices COMMAND    run it while the receiver is plugged in, and check what it prints

The unplugs differ: the hang-up comes before udev's message, after it, or the message is lost. At some plugs another
program holds the port for 300 ms. Exit status 0 if every plug was served in time.
"""
import argparse
import fcntl
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import threading
import time
import tty

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import emulator

TIOCVHANGUP = 0x5437
USB = "/devices/pci0000:00/0000:00:14.0/usb1/1-1"
IDS = """E: ID_BUS=usb
E: ID_VENDOR_ID=1546
E: ID_MODEL_ID=01a8
E: ID_SERIAL_SHORT=RIG0001
E: ID_MODEL=u-blox_GNSS_receiver
E: ID_PATH=pci-0000:00:14.0-usb-0:1:1.0
"""
# A device comes after those that it hangs on: a consumer looks for its parents.
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
        # A master whose slaves are all closed reads errors; and cooked, it would hear its own epochs.
        self.slave = os.open(self.node, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.slave)

    def unplug(self, manner):
        self.plugged.clear()
        for there, aside in self.moves:
            os.rename(there, aside)
        if manner == "message first":
            self.bed.uevent("/sys" + self.path, "remove")
            time.sleep(0.02)
        fcntl.ioctl(self.slave, TIOCVHANGUP)
        os.close(self.slave)
        if manner == "hang-up first":
            time.sleep(0.02)
            self.bed.uevent("/sys" + self.path, "remove")

    def send(self):
        number = 0
        while True:
            self.plugged.wait()
            try:
                os.write(self.master, emulator.epoch(number, self.longitude))
            except OSError:
                pass
            number += 1
            time.sleep(0.2)


class Consumer:
    def __init__(self, command, served):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.served = re.compile(served)
        self.rest = b""
        self.lines = []

    def read(self, until, timeout):
        """Reads lines until one matches; it, or None."""
        end = time.monotonic() + timeout
        out = self.process.stdout.fileno()
        while True:
            while b"\n" in self.rest:
                line, _, self.rest = self.rest.partition(b"\n")
                self.lines.append(line.decode())
                if until and until.search(self.lines[-1]):
                    return self.lines[-1]
            left = max(0, end - time.monotonic())
            if not select.select([out], [], [], left)[0]:
                return None
            got = os.read(out, 65536)
            if not got:
                return None
            self.rest += got

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_devices(command):
    found = json.loads(subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE).stdout)
    mine = [port for port in found if port["node"].startswith("/dev/ttyACM")]
    assert len(mine) == 1, found
    expected = {"likelihood": "receiver", "identity": "usb:1546:01a8:RIG0001:0", "name": "u-blox GNSS receiver",
                "driver": "cdc_acm", "kind": "tty"}
    for key, value in expected.items():
        assert mine[0][key] == value, (key, mine[0])
    print("devices: ok")


def standby(bed, command):
    """Where no receiver is named each one that is plugged in serves, one at a time."""
    bed.add_from_string(at_socket(RECEIVER, 2))
    first, second = Port(bed, 0), Port(bed, 1, 2, "01136.52100")
    first.plug()
    consumer = Consumer(command, "")
    faults = []

    def expect(who, longitude, limit):
        line = consumer.read(re.compile(f'didFailWithError|didUpdateLocations.*"longitude":{longitude}'), limit)
        if line is None or "didFailWithError" in line:
            faults.append(f"{who} does not serve: {line}; the last lines: {consumer.lines[-3:]}")

    expect("the first", "11.60701", 8)
    second.plug()
    # It stands by when it was there for three seconds.
    time.sleep(4.5)
    first.unplug("hang-up first")
    expect("the second", "11.60868", 5)
    first.plug()
    time.sleep(2)
    second.unplug("message first")
    expect("the first, which is back,", "11.60701", 5)
    consumer.process.terminate()
    if consumer.process.wait(10) != 0:
        faults.append(f"the consumer ended with {consumer.process.returncode}")
    print("\n".join("FAIL " + fault for fault in faults) or "two receivers: each goes on when the other is pulled out")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--one-name", action="store_true")
    parser.add_argument("--ready", default="udev")
    parser.add_argument("--served", default="^fix ")
    parser.add_argument("--descriptors", action="store_true")
    parser.add_argument("--limit", type=float, default=2)
    parser.add_argument("--devices")
    parser.add_argument("--standby", action="store_true")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    daemon.bind("/run/udev/control")
    daemon.listen()
    bed = UMockdev.Testbed.new()
    bed.add_from_string(RECEIVER)
    if options.standby:
        return standby(bed, options.command)
    ports = [Port(bed, 0), Port(bed, 1)]
    if options.one_name:
        ports = ports[:1]
        ports[0].plug()                                     # a consumer that is given a path wants it to be there
    consumer = Consumer(options.command, options.served)
    if options.one_name:
        assert consumer.read(consumer.served, 5), "not served at the start"
        ports[0].unplug("hang-up first")
        time.sleep(0.3)
    else:
        assert consumer.read(re.compile("^ready " + options.ready), 5), consumer.lines

    manners = ["hang-up first", "message first", "lost"]
    times, late, counts = [], [], set()
    for cycle in range(options.cycles):
        port = ports[cycle % len(ports)]
        consumer.read(None, 0)                              # what is left of the cycle before
        before = time.monotonic()
        port.plug(hold=0.3 if cycle % 10 == 9 else 0)
        line = consumer.read(consumer.served, max(3, options.limit))
        took = time.monotonic() - before
        times.append(took)
        if line is None or took > options.limit or not options.one_name and port.node not in line:
            late.append((cycle, round(took, 3), consumer.lines[-8:]))
        if cycle == 0 and options.devices:
            check_devices(options.devices)
        if cycle > 0:
            counts.add(consumer.descriptors())
        manner = manners[cycle % 3]
        port.unplug(manner)
        time.sleep(0.12)                                    # a hand needs longer

    start, busy = time.monotonic(), consumer.seconds()
    consumer.read(None, 3)
    share = (consumer.seconds() - busy) / (time.monotonic() - start)
    consumer.process.terminate()
    status = consumer.process.wait(5)

    told = {int(n) for line in consumer.lines for n in re.findall(r"descriptors=(\d+)", line)}
    reports = [line for line in consumer.lines if line.startswith("report ")]
    print(f"{options.cycles} plugs: median {1000 * statistics.median(times):.0f} ms, worst {1000 * max(times):.0f} ms "
          f"from the node's appearance to the first fix; {len(reports)} reports")
    print(f"descriptors {sorted(counts)}, told {sorted(told)}; processor while waiting {100 * share:.1f} %")
    failed = False
    for cycle, took, lines in late:
        failed = True
        print(f"FAIL cycle {cycle}: {took} s; the last lines: {lines}")
    if options.descriptors and (len(counts) != 1 or len(told) != 1):
        failed = True
        print("FAIL the number of descriptors grows")
    if share > 0.01:
        failed = True
        print("FAIL the processor is busy while nothing is plugged in")
    if status not in (0, 69):
        failed = True
        print(f"FAIL the consumer ended with {status}")
    return 1 if failed else 0


sys.exit(main())
