"""BlueZ on a bus of our own: an adapter, and beacons that it hears."""
import subprocess
import threading

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

UUID = "e2c56db5-dffb-48d2-b060-d0f5a71096e0"


class Bus:
    """A bus of our own with a BlueZ and a logind on it."""

    def __init__(self):
        self.daemon = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address=1"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.address = self.daemon.stdout.readline().strip()
        dbus.mainloop.glib.threads_init()
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        self.connection = dbus.bus.BusConnection(self.address)
        self.loop = GLib.MainLoop()
        threading.Thread(target=self.loop.run, daemon=True).start()

    def later(self, body):
        """Does something in the loop's thread and waits for it."""
        done = threading.Event()

        def run():
            body()
            done.set()
            return False

        GLib.idle_add(run)
        done.wait(5)

    def end(self):
        self.loop.quit()
        self.daemon.terminate()
        self.daemon.wait(5)


MANAGER = "org.freedesktop.DBus.ObjectManager"
PROPERTIES = "org.freedesktop.DBus.Properties"
ADAPTER = "/org/bluez/hci0"


class BlueZ(dbus.service.Object):
    """The root object."""

    @dbus.service.method(MANAGER, out_signature="a{oa{sa{sv}}}")
    def GetManagedObjects(self):
        return {dbus.ObjectPath(ADAPTER): {"org.bluez.Adapter1": {"Powered": dbus.Boolean(True)}}}


class Adapter(dbus.service.Object):
    """An adapter, and what devices advertise while it searches."""

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
