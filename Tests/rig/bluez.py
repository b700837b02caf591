# SPDX-License-Identifier: Apache-2.0
"""A message bus without a computer behind it, and on it BlueZ with an adapter and two beacons, or logind."""
import os
import select
import subprocess
import threading

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

from harness import LIMIT, Failure

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"


dbus.mainloop.glib.threads_init()
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
threading.Thread(target=GLib.MainLoop().run, daemon=True).start()


class Bus:
    """A bus daemon; one thread serves the objects on it and on other buses."""

    def __init__(self):
        self.daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.address = self.daemon.stdout.readline().strip()
        self.kept = []
        self.connection = dbus.bus.BusConnection(self.address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # A name is released by a call.
        self.call(self.kept.clear)
        self.daemon.terminate()
        self.daemon.wait(LIMIT)

    def call(self, body):
        """Runs a function in the objects' thread and returns its result."""
        done, results = threading.Event(), []

        def run():
            results.append(body())
            done.set()
            return False

        GLib.idle_add(run)
        if not done.wait(LIMIT):
            raise Failure("the bus's thread does not run the function")
        return results[0]


MANAGER = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"
ADAPTER = "/org/bluez/hci0"


class BlueZ(dbus.service.Object):
    """The root object."""

    @dbus.service.method(MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return {dbus.ObjectPath(ADAPTER): {"org.bluez.Adapter1": {"Powered": dbus.Boolean(True)}}}


class Adapter(dbus.service.Object):
    """An adapter: the calls that it received."""

    calls = []

    @dbus.service.method("org.bluez.Adapter1", in_signature="a{sv}")
    def SetDiscoveryFilter(self, filter):
        self.calls.append(("filter", str(filter.get("Transport")), bool(filter.get("DuplicateData"))))

    @dbus.service.method("org.bluez.Adapter1")
    def StartDiscovery(self):
        self.calls.append(("start",))

    @dbus.service.method("org.bluez.Adapter1")
    def StopDiscovery(self):
        self.calls.append(("stop",))

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    def switch(self, is_on):
        self.PropertiesChanged("org.bluez.Adapter1", {"Powered": dbus.Boolean(is_on)}, [])


class Device(dbus.service.Object):
    """A beacon."""

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    def advertise(self, minor, strength):
        data = bytes([0x02, 0x15]) + bytes.fromhex(UUID.replace("-", "")) + bytes([0, 7]) + minor.to_bytes(2, "big") + bytes([0xC5])
        self.PropertiesChanged("org.bluez.Device1", {
            "RSSI": dbus.Int16(strength),
            "ManufacturerData": dbus.Dictionary(
                {dbus.UInt16(0x4C): dbus.Array([dbus.Byte(byte) for byte in data], signature="y", variant_level=1)},
                signature="qv")}, [])


def start(bus):
    """BlueZ appears on the bus: its adapter and two beacons."""
    def appear():
        bus.kept.append(dbus.service.BusName("org.bluez", bus.connection))
        bus.kept.append(BlueZ(bus.connection, "/"))
        return Adapter(bus.connection, ADAPTER), [Device(bus.connection, f"{ADAPTER}/dev_0{number}") for number in (1, 2)]

    return bus.call(appear)


class Logind(dbus.service.Object):
    """The manager of sessions, as far as suspends go."""

    locks = []
    requests = []

    @dbus.service.method("org.freedesktop.login1.Manager", in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        mine, theirs = os.pipe()
        self.locks.append(mine)
        self.requests.append((str(what), str(who), str(mode)))
        descriptor = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return descriptor

    @dbus.service.signal("org.freedesktop.login1.Manager", signature="b")
    def PrepareForSleep(self, begins):
        pass

    def is_released(self, number, seconds=LIMIT):
        """Whether the program has closed that lock, or does within the time."""
        return bool(select.select([self.locks[number]], [], [], seconds)[0])


def start_logind(bus):
    def appear():
        bus.kept.append(dbus.service.BusName("org.freedesktop.login1", bus.connection))
        return Logind(bus.connection, "/org/freedesktop/login1")

    return bus.call(appear)
