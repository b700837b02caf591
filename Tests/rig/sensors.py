#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The computer's own sensors, without them: a compass in a folder, a receiver with a compass on a pseudo-terminal, BlueZ and
logind on a private bus.

usage: sensors.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track
"""
RIG = {"programs": ["sextant", "sextant-track"],
       "packages": {"dbus": "dbus-daemon", "python3-dbus": "python: dbus", "python3-gi": "python: gi"}, "seconds": 21, "ci": True}

import os
import pty
import threading
import time
import tty

import bluez
import emulator
import harness
import phrases
from bluez import UUID
from harness import Track, expect, expect_equal, matches, wait_until
from magnetometer import Magnetometer


def track(folder, *words, sysfs="/nonexistent", **variables):
    return Track(folder, *words, terminal=False, **{
        "SEXTANT_APP_STATE": "foreground", "SEXTANT_SYSFS": sysfs, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
        **variables})


def near(name, degrees, by):
    return lambda event: abs((event[name] - degrees + 180) % 360 - 180) <= by


def compass(folder):
    """A magnetometer of the kernel's."""
    sensor = Magnetometer(f"{folder}/sysfs")
    sensor.turn(90)
    with track(folder, "--heading", "--accuracy", "best", "--device", "sim:walk", sysfs=sensor.root) as client:
        first = client.wait_for_event("didUpdateHeading")
        expect(near("magneticHeading", 90, 0.5)(first), f"the first heading is {first}")
        # True north by the declination where the walk is.
        true = first if first["trueHeading"] >= 0 else client.wait_for_event("didUpdateHeading", lambda event: event["trueHeading"] >= 0)
        expect(near("trueHeading", 94.4, 1.5)(true), f"true north is {true}")
        sensor.turn(180)
        client.wait_for_event("didUpdateHeading", near("magneticHeading", 180, 0.5))
        # A sensor at rest delivers nothing, but for the last degree.
        count = len(client.events_named("didUpdateHeading"))
        time.sleep(2)
        expect(len(client.events_named("didUpdateHeading")) <= count + 1, "headings at rest")
        client.terminate()


def calibration(folder):
    """The device's own field is found while the device is turned, and kept."""
    sensor = Magnetometer(f"{folder}/sysfs", own=(60, -35, 20))
    with track(folder, "--heading", "--accuracy", "best", "--device", "sim:walk", sysfs=sensor.root) as client:
        first = client.wait_for_event("didUpdateHeading")
        expect(first["headingAccuracy"] < 0 or first["headingAccuracy"] >= 45, f"uncalibrated it is sure: {first}")
        # Turned around repeatedly, 90 degrees a second, until its calibration is complete.
        for step in range(int(10 * harness.LIMIT)):
            sensor.turn(step * 9)
            time.sleep(0.1)
            if step >= 40 and 0 < client.events_named("didUpdateHeading")[-1]["headingAccuracy"] < 20:
                break
        sensor.turn(123)
        found = client.wait_for_event("didUpdateHeading", near("magneticHeading", 123, 2))
        expect(0 < found["headingAccuracy"] < 20, f"the accuracy is {found}")
        client.terminate()
    with open(f"{folder}/state/compass") as file:
        expect("hmc5883" in file.read(), "the calibration is not kept")
    with track(folder, "--heading", "--accuracy", "best", "--device", "sim:walk", sysfs=sensor.root) as client:
        again = client.wait_for_event("didUpdateHeading")
        expect(near("magneticHeading", 123, 2)(again), f"the next run begins with {again}")


def no_compass(folder):
    """Without a compass there are locations, no heading, and a message."""
    with track(folder, "--heading", "--accuracy", "best", "--device", "sim:walk") as client:
        client.wait_for_event("didUpdateLocations")
        client.terminate()
        expect_equal(client.events_named("didUpdateHeading"), [], "the headings")
        expect(matches(phrases.NO_COMPASS, client.errors), f"it says {client.errors!r}")


def movement(folder):
    """An accelerometer notices movement."""
    root = f"{folder}/sysfs"
    path = f"{root}/bus/iio/devices/iio:device0"
    os.makedirs(path)
    with open(f"{path}/in_accel_scale", "w") as file:
        file.write("0.00981\n")
    files = [os.open(f"{path}/in_accel_{axis}_raw", os.O_RDWR | os.O_CREAT, 0o600) for axis in "xyz"]

    def tilt(*values):
        for file, value in zip(files, values):
            os.pwrite(file, f"{value:6d}\n".encode(), 0)

    tilt(0, 0, 1000)
    with open(f"{folder}/parked.scenario", "w") as file:
        file.write("start 48.1642,11.6056 512m\nhot\nstay forever\n")
    # The receiver itself is read for movement after ten minutes only: the accelerometer is what resumes the client.
    with track(folder, "--device", f"sim:{folder}/parked.scenario", sysfs=root, SEXTANT_PAUSE_SECONDS="5",
               SEXTANT_PAUSE_PROBE_SECONDS="600") as client:
        client.wait_for_event("didPauseLocationUpdates")
        # The receiver sleeps when its orbits are fresh, half a minute later; only then is the accelerometer read.
        wait_until(lambda: client.has_open(f"{path}/in_accel_x_raw"), "the accelerometer is not read")
        client.expect_none("didResumeLocationUpdates", 5)
        tilt(300, 0, 950)
        client.wait_for_event("didResumeLocationUpdates")
        client.wait_for_event("didUpdateLocations")


def receiver(folder):
    """A receiver with a compass of its own."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    heading, ended = 30, threading.Event()

    def write():
        while not ended.is_set():
            now = time.gmtime()
            clock, date = time.strftime("%H%M%S.00", now), time.strftime("%d%m%y", now)
            epoch = (emulator.sentence(f"GPRMC,{clock},A,4808.000,N,01134.000,E,0.0,,{date},,,A")
                     + emulator.sentence(f"GPGGA,{clock},4808.000,N,01134.000,E,1,08,0.9,520.0,M,47.0,M,,"))
            if heading is not None:
                epoch += emulator.sentence(f"HEHDT,{heading}.0,T")
            try:
                os.write(master, epoch)
            except BlockingIOError:
                pass
            # An epoch a second.
            ended.wait(1)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        with track(folder, "--heading", "--accuracy", "best", "--device", os.ttyname(slave), "--read-only") as client:
            first = client.wait_for_event("didUpdateHeading", lambda event: event["trueHeading"] >= 0)
            expect(near("trueHeading", 30, 0.1)(first) and near("magneticHeading", 25.6, 1)(first), f"the first heading is {first}")
            heading = 120
            client.wait_for_event("didUpdateHeading", near("trueHeading", 120, 0.1))
            heading = None
            client.wait_for_event("didFailWithError", code=3)
    finally:
        ended.set()
        thread.join()


def beacons(folder, bus):
    """Beacons through BlueZ; code 16 where there is no adapter, no BlueZ, or no power."""
    root = f"{folder}/sysfs"
    words = ["--device", "sim:walk", "--beacon", UUID]
    with track(folder, *words, DBUS_SYSTEM_BUS_ADDRESS=bus.address) as client:
        client.wait_for_event("didFailRanging", code=16)
    os.makedirs(f"{root}/class/bluetooth/hci0")
    with track(folder, *words, sysfs=root, DBUS_SYSTEM_BUS_ADDRESS=bus.address) as client:
        client.wait_for_event("didFailRanging", code=16)
        client.wait_for_message(phrases.BLUEZ_ADVICE)
    adapter, (far, close) = bluez.start(bus)
    with track(folder, *words, sysfs=root, DBUS_SYSTEM_BUS_ADDRESS=bus.address) as client:
        wait_until(lambda: ("start",) in adapter.calls, "no search")
        # It searches for Bluetooth LE.
        expect_equal(adapter.calls[:2], [("filter", "le", True), ("start",)], "the calls")

        def is_measured(event):
            return len(event["beacons"]) == 2 and event["beacons"][0]["rssi"] != 0

        def advertise():
            bus.call(lambda: (far.advertise(1, -75), close.advertise(2, -50)))
            return any(map(is_measured, client.events_named("didRange")))

        wait_until(advertise, "two beacons are not ranged")
        both = client.wait_for_event("didRange", is_measured)["beacons"]
        expect_equal([(beacon["minor"], beacon["proximity"]) for beacon in both], [(2, "immediate"), (1, "far")], "the beacons")
        expect(both[0]["accuracy"] < 0.5, f"the nearer is {both[0]}")
        bus.call(lambda: adapter.switch(False))
        client.wait_for_event("didFailRanging", code=16)
        bus.call(lambda: adapter.switch(True))
        wait_until(lambda: adapter.calls.count(("start",)) == 2, lambda: f"no second search: {adapter.calls}")
        client.wait_for_event("didUpdateLocations")
        client.terminate()
    wait_until(lambda: ("stop",) in adapter.calls, "the search does not end with the program")


def suspends(folder, bus):
    """A delay lock of logind's is released for a suspend and taken again afterwards. It is released within two
    seconds, which SuspendTests check in virtual time."""
    logind = bluez.start_logind(bus)
    with track(folder, "--device", "sim:walk", DBUS_SYSTEM_BUS_ADDRESS=bus.address) as client:
        wait_until(lambda: logind.requests, "no lock")
        expect_equal(logind.requests, [("sleep", "sextant", "delay")], "the lock")
        expect(not logind.is_released(0, seconds=0.5), "the lock is not kept")
        bus.call(lambda: logind.PrepareForSleep(True))
        expect(logind.is_released(0), "the lock is not released for the suspend")
        bus.call(lambda: logind.PrepareForSleep(False))
        wait_until(lambda: len(logind.locks) == 2, "the lock is not taken again")
        client.wait_for_event("didUpdateLocations")
        client.terminate()
    expect(logind.is_released(1), "the lock outlives the program")


if __name__ == "__main__":
    # Each has a bus of its own: the programs of the one would take locks from the logind of the other.
    with bluez.Bus() as first, bluez.Bus() as second:
        checks = {check.__name__: check for check in (compass, calibration, no_compass, movement, receiver)}
        harness.run_checks({**checks, "beacons": lambda folder: beacons(folder, first),
                            "suspends": lambda folder: suspends(folder, second)}, harness.arguments(__doc__).checks)
