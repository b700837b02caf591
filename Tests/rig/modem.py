#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The receiver inside a modem: two ports of a mocked USB device, AT commands and NMEA, with and without ModemManager.

usage: modem.py FOLDER [CHECK]..., as root; FOLDER has sextant-track

  quectel       the engine is switched on by AT+QGPS=1 for a program, and off at its end; the output port is restored
  simcom        the same with AT+CGNSPWR=1 at a modem without echo, which has no AT+CGPS
  found_on      an engine that was on is on at the end, and is never switched
  killed        after kill -9 the next program switches the engine off, at its start or at the end of its use
  asleep        the engine is off while updates are paused, and on for a movement check
  manager       ModemManager has the modem: its Setup is called, its other sources stay, and no AT command is sent
  silent        an AT port that does not answer is reported; positions of a running engine arrive nevertheless

The kernel's /sys and the ports are mocked by umockdev, through the real libudev.
"""
RIG = {"programs": ["sextant", "sextant-track"],
       "packages": {"dbus": "dbus-daemon", "python3-dbus": "python: dbus", "python3-gi": "python: gi",
           "umockdev": "umockdev-wrapper", "gir1.2-umockdev-1.0": "python: UMockdev-1.0"}, "needs": ["root", "mount namespaces"],
       "seconds": 42, "ci": True}

import os
import sys
import threading
import tty

INSIDE = "SEXTANT_RIG_INSIDE"
# libudev takes udevd for running when its control socket has a listener: the mocked machine has a /run of its own, and
# pseudo-terminals whose numbers no other program waits for.
MACHINE = """mount -t tmpfs none /run && mkdir /run/udev && mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts &&
mount --bind /dev/pts/ptmx /dev/ptmx && exec umockdev-wrapper /usr/bin/python3 "$@" """
if __name__ == "__main__" and INSIDE not in os.environ:
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", MACHINE, "sh", os.path.abspath(__file__), *sys.argv[1:]])

import socket  # noqa: E402

import dbus  # noqa: E402
import dbus.mainloop.glib  # noqa: E402
import dbus.service  # noqa: E402
import gi  # noqa: E402

gi.require_version("UMockdev", "1.0")
from gi.repository import GLib, UMockdev  # noqa: E402

import emulator  # noqa: E402
from harness import Program, arguments, environment, expect, expect_equal, program, run_checks, wait_until  # noqa: E402

DEVICE = """P: /devices/usb1/1-{socket}
N: bus/usb/001/00{socket}
E: SUBSYSTEM=usb
E: DEVTYPE=usb_device
E: DEVNAME=/dev/bus/usb/001/00{socket}
A: idVendor={vendor}\\n
A: idProduct={product}\\n

"""
PORT = """P: /devices/usb1/1-{socket}/1-{socket}:1.{interface}
E: SUBSYSTEM=usb
E: DEVTYPE=usb_interface
E: DRIVER=option
A: bInterfaceNumber=0{interface}\\n

P: /devices/usb1/1-{socket}/1-{socket}:1.{interface}/{name}/tty/{name}
N: {name}
E: DEVNAME=/dev/{name}
E: SUBSYSTEM=tty
E: MAJOR=188
E: MINOR={minor}
E: ID_BUS=usb
E: ID_VENDOR_ID={vendor}
E: ID_MODEL_ID={product}
E: ID_PATH=platform-usb-0:{socket}:1.{interface}
E: ID_USB_INTERFACE_NUM=0{interface}
A: dev=188:{minor}\\n

"""


# Everybody may own and call everything: the bus has no other user.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={folder}/bus</listen><policy context="default"><allow user="*"/><allow own="*"/>
<allow send_type="method_call"/><allow send_type="signal"/><allow send_type="method_return"/><allow send_type="error"/>
<allow receive_type="method_call"/><allow receive_type="signal"/><allow receive_type="method_return"/><allow receive_type="error"/>
</policy></busconfig>
"""


class Modem:
    """A modem at a USB socket: interface 1 sends NMEA while the engine is on, interface 2 takes AT commands."""

    def __init__(self, bed, number, vendor, product, answer, echo=True):
        self.answer, self.echo = answer, echo
        self.commands, self.is_on, self.outport, self.is_silent = [], False, "none", False
        ids = {"socket": number, "vendor": vendor, "product": product}
        bed.add_from_string(DEVICE.format(**ids))
        self.nodes, self.masters, self.slaves, self.handlers = [], [], [], []
        for interface in range(4):
            minor = 4 * (number - 1) + interface
            bed.add_from_string(PORT.format(name=f"ttyUSB{minor}", minor=minor, interface=interface, **ids))
            node = f"/dev/ttyUSB{minor}"
            handler = UMockdev.IoctlBase()
            handler.connect("handle-ioctl", lambda handler, client: client.complete(*client.execute()) or True)
            bed.attach_ioctl(node, handler)
            self.nodes.append(node)
            self.handlers.append(handler)
            self.masters.append(bed.get_dev_fd(node))
            # A master without an open slave reads errors.
            self.slaves.append(os.open(node, os.O_RDWR | os.O_NOCTTY))
            tty.setraw(self.slaves[-1])
        self.nmea = self.nodes[1]
        threading.Thread(target=self.send_epochs, daemon=True).start()
        threading.Thread(target=self.serve_commands, daemon=True).start()

    def send_epochs(self):
        number, pace = 0, threading.Event()
        while True:
            if self.is_on:
                os.write(self.masters[1], emulator.epoch(number))
            number += 1
            # Five epochs a second.
            pace.wait(0.2)

    def serve_commands(self):
        rest = b""
        while True:
            *lines, rest = (rest + os.read(self.masters[2], 4096)).split(b"\r")
            for line in lines:
                command = line.decode(errors="replace").strip()
                self.commands.append(command)
                if self.is_silent:
                    continue
                reply = (command + "\r" if self.echo else "") + "\r\n+QIND: \"csq\",20,99\r\n" + (
                    "\r\nOK\r\n" if command == "AT" else self.answer(self, command))
                os.write(self.masters[2], reply.encode())

    def sent(self, *commands):
        return [command for command in self.commands if command in commands]


def quectel(modem, command):
    if command == "AT+QGPS?":
        return f"\r\n+QGPS: {int(modem.is_on)}\r\n\r\nOK\r\n"
    if command == 'AT+QGPSCFG="outport"':
        return f'\r\n+QGPSCFG: "outport","{modem.outport}"\r\n\r\nOK\r\n'
    if command.startswith('AT+QGPSCFG="outport","'):
        modem.outport = command.split('"')[3]
        return "\r\nOK\r\n"
    if command in ("AT+QGPS=1", "AT+QGPSEND"):
        wanted = command == "AT+QGPS=1"
        if modem.is_on == wanted:
            return f"\r\n+CME ERROR: {504 if wanted else 505}\r\n"
        modem.is_on = wanted
        return "\r\nOK\r\n"
    return "\r\nERROR\r\n"


def simcom(modem, command):
    if command == "AT+CGNSPWR?":
        return f"\r\n+CGNSPWR: {int(modem.is_on)}\r\n\r\nOK\r\n"
    if command in ("AT+CGNSPWR=1", "AT+CGNSPWR=0"):
        modem.is_on = command.endswith("1")
        return "\r\nOK\r\n"
    return "\r\nERROR\r\n"


class Manager(dbus.service.Object):
    """The part of ModemManager that switches the engine of the first modem."""

    PATH = "/org/freedesktop/ModemManager1/Modem/0"
    LOCATION = "org.freedesktop.ModemManager1.Modem.Location"

    def __init__(self, bus, modem):
        self.modem, self.enabled, self.calls = modem, 1, []
        self.name = dbus.service.BusName("org.freedesktop.ModemManager1", bus)
        super().__init__(bus, "/org/freedesktop/ModemManager1")
        self.location = Location(bus, self)

    @dbus.service.method("org.freedesktop.DBus.ObjectManager", out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        ports = dbus.Array([(os.path.basename(node), dbus.UInt32(kind)) for node, kind in zip(self.modem.nodes, (2, 5, 3, 3))],
                           signature="(su)")
        return {self.PATH: {
            "org.freedesktop.ModemManager1.Modem": {"Ports": ports, "Model": "EC25"},
            self.LOCATION: {"Enabled": dbus.UInt32(self.enabled), "Capabilities": dbus.UInt32(0x17), "SignalsLocation": dbus.Boolean(False)},
        }}


class Location(dbus.service.Object):
    def __init__(self, bus, manager):
        self.manager = manager
        super().__init__(bus, Manager.PATH)

    @dbus.service.method(Manager.LOCATION, in_signature="ub")
    def Setup(self, sources, signals):
        self.manager.calls.append(int(sources))
        self.manager.enabled = int(sources)
        self.manager.modem.is_on = bool(sources & 16)


def track(folder, modem, *options, **variables):
    variables = {"SEXTANT_AUTHORIZATION": "always", "SEXTANT_APP_STATE": "foreground", "SEXTANT_SERVICE": "none", **variables}
    return Program(program("sextant-track"), "--device", modem.nmea, "--json", *options, env=environment(folder, **variables))


def record(folder):
    path = f"{folder}/state/modem"
    return open(path).read() if os.path.exists(path) else None


def expect_restored(folder, modem, is_on=False):
    expect_equal(modem.is_on, is_on, "the engine at the end")
    expect_equal(modem.outport, "none", "the output port at the end")
    expect_equal(record(folder), None, "the record at the end")


def quectel_check(folder, modem):
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        expect_equal(modem.outport, "usbnmea", "the output port")
        expect("engine off outport none" in record(folder), "the record")
        client.interrupt()
    expect_equal(modem.sent("AT+QGPS=1", "AT+QGPSEND"), ["AT+QGPS=1", "AT+QGPSEND"], "the switches")
    expect_restored(folder, modem)
    return f"{len(modem.commands)} commands, restored"


def simcom_check(folder, modem):
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        client.interrupt()
    expect_equal(modem.sent("AT+CGNSPWR=1", "AT+CGNSPWR=0"), ["AT+CGNSPWR=1", "AT+CGNSPWR=0"], "the switches")
    expect_restored(folder, modem)
    return "AT+CGNSPWR after AT+CGPS was refused"


def found_on_check(folder, modem):
    modem.is_on = True
    modem.outport = "usbnmea"
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        wait_until(lambda: modem.sent("AT+QGPS?"), "the engine is not polled")
        client.interrupt()
    expect(modem.is_on and record(folder) is None, "the engine was on before")
    expect_equal(modem.sent("AT+QGPS=1", "AT+QGPSEND"), [], "the switches")
    return "never switched"


def killed_check(folder, modem):
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        client.kill()
    expect(modem.is_on and record(folder), "a killed program leaves the engine on, and its record")
    # A program that may not have positions only starts.
    with track(folder, modem, SEXTANT_AUTHORIZATION="denied") as client:
        wait_until(lambda: not modem.is_on, "the next program does not switch the engine off")
        wait_until(lambda: record(folder) is None, "the record stays")
    expect_restored(folder, modem)
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        client.kill()
    with track(folder, modem) as client:
        # The first location was found by the killed program.
        for _ in range(2):
            client.wait_for_event("didUpdateLocations")
        client.interrupt()
    expect_restored(folder, modem)
    return "off at the next start, and after the next use"


def asleep_check(folder, modem):
    with track(folder, modem, SEXTANT_PAUSE_SECONDS="2", SEXTANT_PAUSE_PROBE_SECONDS="6") as client:
        client.wait_for_event("didPauseLocationUpdates")
        wait_until(lambda: not modem.is_on, "the engine stays on while updates are paused")
        wait_until(lambda: modem.is_on, "the engine is not switched on for the movement check")
        client.interrupt()
    expect(len(modem.sent("AT+QGPSEND")) >= 1 and len(modem.sent("AT+QGPS=1")) >= 2, f"{modem.commands}")
    expect_restored(folder, modem)
    return "off while paused, on for the check"


def manager_check(folder, modem):
    configuration = f"{folder}/bus.conf"
    with open(configuration, "w") as file:
        file.write(BUS.format(folder=folder))
    with Program("dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"):
        wait_until(lambda: os.path.exists(f"{folder}/bus"), "the bus does not start")
        loop = GLib.MainLoop()
        bus = dbus.bus.BusConnection(f"unix:path={folder}/bus", mainloop=dbus.mainloop.glib.DBusGMainLoop())
        manager = Manager(bus, modem)
        threading.Thread(target=loop.run, daemon=True).start()
        with track(folder, modem, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={folder}/bus") as client:
            client.wait_for_event("didUpdateLocations")
            expect_equal(manager.enabled, 17, "the sources in use")
            client.interrupt()
        loop.quit()
    expect_equal(manager.calls, [17, 1], "the calls of Setup")
    expect_equal(modem.commands, [], "the AT commands")
    expect_restored(folder, modem)
    return "Setup 17, 1; no AT command"


def silent_check(folder, modem):
    modem.is_on = True
    modem.is_silent = True
    with track(folder, modem) as client:
        client.wait_for_event("didUpdateLocations")
        client.wait_for_message("does not answer AT commands")
        client.interrupt()
    expect(not modem.sent("AT+QGPS=1", "AT+QGPSEND"), "a port that does not answer is not switched")
    return "reported"


def main():
    options = arguments("modem.py FOLDER [CHECK]...")
    daemon = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    daemon.bind("/run/udev/control")
    daemon.listen()
    dbus.mainloop.glib.threads_init()
    bed = UMockdev.Testbed.new()
    # The programs get the environment of Python, which the testbed does not change.
    os.environ["UMOCKDEV_DIR"] = bed.get_root_dir()
    checks = {}
    for check in (quectel_check, simcom_check, found_on_check, killed_check, asleep_check, manager_check, silent_check):
        # Each check has a modem of its own.
        number = len(checks) + 1
        if check == simcom_check:
            modem = Modem(bed, number, "1e0e", "9001", simcom, echo=False)
        else:
            modem = Modem(bed, number, "2c7c", "0125", quectel)
        checks[check.__name__.removesuffix("_check")] = lambda folder, check=check, modem=modem: check(folder, modem)
    run_checks(checks, options.checks)


if __name__ == "__main__":
    main()
