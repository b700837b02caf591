#!/usr/bin/python3
"""The computer's own sensors, without them: a compass in a folder, a receiver with a compass on a pseudo-terminal, BlueZ
and logind on a private bus. usage: sensors.py BIN-FOLDER (holds sextant and sextant-track). Prints a line for each check."""

import glob
import json
import os
import pty
import select
import subprocess
import sys
import tempfile
import threading
import time
import tty

import dbus
import dbus.service

import bluez
from bluez import ADAPTER, UUID
from magnetometer import Magnetometer

BIN = os.path.abspath(sys.argv[1])
WORK = tempfile.mkdtemp(prefix="sensors-")
failed = 0


def check(what, holds, shown=""):
    global failed
    print(("PASS " if holds else "FAIL ") + what + ("" if holds else f": {shown}"), flush=True)
    failed += 0 if holds else 1


class Track:
    """`sextant track` and what it prints."""

    def __init__(self, *arguments, sysfs="/nonexistent", **environment):
        surroundings = dict(os.environ)
        surroundings.update(
            SEXTANT_STATE_DIR=f"{WORK}/state", SEXTANT_APP_STATE="foreground", SEXTANT_SYSFS=sysfs,
            DBUS_SYSTEM_BUS_ADDRESS="unix:path=/nonexistent")
        surroundings.update(environment)
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [f"{BIN}/sextant", "track", "--json", *arguments], stdout=subprocess.PIPE, stderr=self.errors, env=surroundings)
        self.events = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.events.append(json.loads(line))

    def wait(self, name, holds=lambda event: True, seconds=15, start=0):
        """The first such event behind `start`; None when it does not come."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for event in self.events[start:]:
                if event["event"] == name and holds(event):
                    return event
            time.sleep(0.05)
        return None

    def end(self):
        self.process.terminate()
        code = self.process.wait(10)
        self.thread.join(5)
        self.errors.seek(0)
        return code, self.errors.read()


def near(event, name, degrees, by):
    return event is not None and abs((event[name] - degrees + 180) % 360 - 180) <= by


def compass():
    print("== a magnetometer of the kernel", flush=True)
    sensor = Magnetometer(f"{WORK}/sysfs")
    sensor.turn(90)
    track = Track("--heading", "--device", "sim:walk", sysfs=sensor.root)
    first = track.wait("didUpdateHeading")
    check("the first heading", near(first, "magneticHeading", 90, 0.5), first)
    true = track.wait("didUpdateHeading", lambda event: event["trueHeading"] >= 0)
    check("true north by the declination where the walk is", near(true, "trueHeading", 94.4, 1.5), true)
    start = len(track.events)
    sensor.turn(180)
    turned = track.wait("didUpdateHeading", lambda event: near(event, "magneticHeading", 180, 0.5), start=start)
    check("a turn is told", turned is not None, track.events[start:])
    count = sum(event["event"] == "didUpdateHeading" for event in track.events)
    time.sleep(2)
    check("and stillness is not", sum(event["event"] == "didUpdateHeading" for event in track.events) <= count + 1)
    code, errors = track.end()
    check("an orderly end", code == 0, (code, errors))


def calibration():
    print("== its calibration", flush=True)
    sensor = Magnetometer(f"{WORK}/own", own=(60, -35, 20))
    track = Track("--heading", "--device", "sim:walk", sysfs=sensor.root)
    first = track.wait("didUpdateHeading")
    check("uncalibrated it is not sure", first and (first["headingAccuracy"] < 0 or first["headingAccuracy"] >= 45), first)
    for step in range(100):
        sensor.turn(step * 9)
        time.sleep(0.1)
    start = len(track.events)
    sensor.turn(123)
    found = track.wait("didUpdateHeading", lambda event: near(event, "magneticHeading", 123, 2), start=start)
    check("turned around it finds the device's own field", found is not None, track.events[-1])
    check("and says how sure it is", found and 0 < found["headingAccuracy"] < 20, found)
    track.end()
    with open(f"{WORK}/state/compass") as file:
        check("it is kept", "hmc5883" in file.read())
    track = Track("--heading", "--device", "sim:walk", sysfs=sensor.root)
    again = track.wait("didUpdateHeading")
    check("and serves the next run at once", near(again, "magneticHeading", 123, 2), again)
    track.end()


def none():
    print("== no compass", flush=True)
    track = Track("--heading", "--device", "sim:walk")
    check("there is a fix", track.wait("didUpdateLocations") is not None)
    _, errors = track.end()
    check("and no heading", not any(event["event"] == "didUpdateHeading" for event in track.events))
    check("which is said", "no compass" in errors, errors)


def is_open(path):
    """Whether another program has it."""
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if not link.startswith(f"/proc/{os.getpid()}/") and os.readlink(link) == path:
                return True
        except OSError:
            pass
    return False


def movement():
    print("== an accelerometer notices movement", flush=True)
    root = f"{WORK}/moved"
    path = f"{root}/bus/iio/devices/iio:device0"
    os.makedirs(path)
    with open(f"{path}/in_accel_scale", "w") as file:
        file.write("0.00981\n")
    files = [os.open(f"{path}/in_accel_{axis}_raw", os.O_RDWR | os.O_CREAT, 0o600) for axis in "xyz"]

    def lie(*values):
        for file, value in zip(files, values):
            os.pwrite(file, f"{value:6d}\n".encode(), 0)

    lie(0, 0, 1000)
    with open(f"{WORK}/parked.scenario", "w") as file:
        file.write("start 48.1642,11.6056 512m\nhot\nstay forever\n")
    # Looks for movement are far away: what resumes it is the accelerometer.
    track = Track("--device", f"sim:{WORK}/parked.scenario", sysfs=root, SEXTANT_STATE_DIR=f"{WORK}/parked",
                  SEXTANT_PAUSE_SECONDS="5", SEXTANT_PAUSE_PROBE_SECONDS="600")
    check("a still client is paused", track.wait("didPauseLocationUpdates", seconds=40) is not None, track.events[-1:])
    # The receiver rests when its orbits are fresh, half a minute later; only then is the accelerometer asked.
    end = time.monotonic() + 90
    while not is_open(f"{path}/in_accel_x_raw") and time.monotonic() < end:
        time.sleep(0.2)
    time.sleep(5)
    check("and stays so", track.wait("didResumeLocationUpdates", seconds=0.1) is None)
    start = len(track.events)
    lie(300, 0, 950)
    begin = time.monotonic()
    resumed = track.wait("didResumeLocationUpdates", seconds=20, start=start)
    check("until it is tilted", resumed and time.monotonic() - begin < 10, track.events[start:])
    check("and is told where it is", track.wait("didUpdateLocations", seconds=30, start=start) is not None)
    track.end()


def sentence(text):
    total = 0
    for letter in text.encode():
        total ^= letter
    return f"${text}*{total:02X}\r\n".encode()


def receiver():
    print("== a receiver with a compass", flush=True)
    master, slave = pty.openpty()
    tty.setraw(slave)
    running = True

    def write():
        second = 0
        while running:
            now = time.gmtime()
            clock, date = time.strftime("%H%M%S.00", now), time.strftime("%d%m%y", now)
            heading = 30 if second < 8 else 120
            os.write(master, sentence(f"GPRMC,{clock},A,4808.000,N,01134.000,E,0.0,,{date},,,A")
                     + sentence(f"GPGGA,{clock},4808.000,N,01134.000,E,1,08,0.9,520.0,M,47.0,M,,")
                     + (sentence(f"HEHDT,{heading}.0,T") if second < 14 else b""))
            select.select([master], [], [], 0)
            second += 1
            time.sleep(1)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    track = Track("--heading", "--device", os.ttyname(slave), "--read-only")
    first = track.wait("didUpdateHeading", lambda event: event["trueHeading"] >= 0)
    check("its heading, though it stands", near(first, "trueHeading", 30, 0.1), first)
    check("magnetic north by the declination", near(first, "magneticHeading", 25.6, 1), first)
    check("a turn", track.wait("didUpdateHeading", lambda event: near(event, "trueHeading", 120, 0.1)) is not None)
    failure = track.wait("didFailWithError", lambda event: event["code"] == 3)
    check("its end is a headingFailure", failure is not None, track.events[-1])
    track.end()
    running = False
    thread.join()


class Logind(dbus.service.Object):
    """The manager of sessions, as far as suspends go."""

    locks = []
    wants = []

    @dbus.service.method("org.freedesktop.login1.Manager", in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        mine, theirs = os.pipe()
        self.locks.append(mine)
        self.wants.append((str(what), str(who), str(mode)))
        descriptor = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return descriptor

    @dbus.service.signal("org.freedesktop.login1.Manager", signature="b")
    def PrepareForSleep(self, begins):
        pass




def beacons(bus):
    print("== beacons through BlueZ", flush=True)
    root = f"{WORK}/bluetooth"
    track = Track("--device", "sim:walk", "--beacon", UUID, DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    refused = track.wait("didFailRanging")
    check("without an adapter: 16", refused and refused["code"] == 16, refused)
    track.end()

    os.makedirs(f"{root}/class/bluetooth/hci0")
    track = Track("--device", "sim:walk", "--beacon", UUID, sysfs=root, DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    refused = track.wait("didFailRanging")
    check("without BlueZ: 16", refused and refused["code"] == 16, refused)
    _, errors = track.end()
    check("and its cure", "install bluez" in errors, errors)

    held = []

    def appear():
        held.append(dbus.service.BusName("org.bluez", bus.connection))
        held.append(bluez.BlueZ(bus.connection, "/"))
        held.append(bluez.Adapter(bus.connection, ADAPTER))
        for number in (1, 2):
            held.append(bluez.Device(bus.connection, f"{ADAPTER}/dev_0{number}"))

    bus.later(appear)
    track = Track("--device", "sim:walk", "--beacon", UUID, sysfs=root, DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    end = time.monotonic() + 10
    while ("start",) not in bluez.Adapter.calls and time.monotonic() < end:
        time.sleep(0.05)
    check("it searches for Bluetooth LE", bluez.Adapter.calls[:2] == [("filter", "le", True), ("start",)], bluez.Adapter.calls)
    for _ in range(30):
        bus.later(lambda: (held[3].advertise(1, -75), held[4].advertise(2, -50)))
        time.sleep(0.1)
    both = track.wait("didRange", lambda event: len(event["beacons"]) == 2 and event["beacons"][0]["rssi"] != 0)
    check("both beacons, the nearer first", both and [b["minor"] for b in both["beacons"]] == [2, 1], both)
    check("with their distances", both and both["beacons"][0]["proximity"] == "immediate"
          and both["beacons"][1]["proximity"] == "far" and both["beacons"][0]["accuracy"] < 0.5, both)
    bus.later(lambda: held[2].PropertiesChanged("org.bluez.Adapter1", {"Powered": dbus.Boolean(False)}, []))
    off = track.wait("didFailRanging")
    check("switched off: 16", off and off["code"] == 16, off)
    bus.later(lambda: held[2].PropertiesChanged("org.bluez.Adapter1", {"Powered": dbus.Boolean(True)}, []))
    time.sleep(0.5)
    check("switched on it searches again", bluez.Adapter.calls.count(("start",)) == 2, bluez.Adapter.calls)
    track.end()
    check("and ends the search with the program", ("stop",) in bluez.Adapter.calls, bluez.Adapter.calls)


def suspends(bus):
    print("== suspends by logind", flush=True)
    held = []

    def appear():
        held.append(dbus.service.BusName("org.freedesktop.login1", bus.connection))
        held.append(Logind(bus.connection, "/org/freedesktop/login1"))

    bus.later(appear)
    track = Track("--device", "sim:walk", DBUS_SYSTEM_BUS_ADDRESS=bus.address)
    end = time.monotonic() + 10
    while not Logind.wants and time.monotonic() < end:
        time.sleep(0.05)
    check("a delay lock is held", Logind.wants == [("sleep", "sextant", "delay")], Logind.wants)
    check("and kept", Logind.locks and not select.select(Logind.locks[:1], [], [], 0.5)[0])
    bus.later(lambda: held[1].PrepareForSleep(True))
    begin = time.monotonic()
    let = Logind.locks and select.select(Logind.locks[:1], [], [], 5)[0]
    check("the suspend is held up for 2.5 s at most", let and time.monotonic() - begin < 2.5)
    bus.later(lambda: held[1].PrepareForSleep(False))
    time.sleep(0.5)
    check("and the lock is taken anew", len(Logind.locks) == 2, Logind.wants)
    track.end()
    check("it is gone with the program", len(Logind.locks) == 2 and bool(select.select(Logind.locks[1:], [], [], 5)[0]))


compass()
calibration()
none()
movement()
receiver()
bus = bluez.Bus()
try:
    beacons(bus)
    suspends(bus)
finally:
    bus.end()
subprocess.run(["rm", "-rf", WORK], check=True)
print(f"--- {failed} failed" if failed else "--- all passed")
sys.exit(1 if failed else 0)
