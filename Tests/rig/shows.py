#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The events of `sextant track`, at a simulated M10 on a pseudo-terminal.

usage: shows.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track

  cached         the first run begins with a fresh fix, the next one with the cached one and then a fresh one (SU-1 to SU-3)
  filtered       50 m of distance filter: a location each 50 m, or where one is more exact (SU-7 to SU-10)
  once           one location and the end (RQ-1, RQ-3, RQ-5)
  deferral       60 s in the background: silence, the end, then every fix at once, oldest first (DF-8, DF-11, DF-13, DF-14)
  pause          a client at rest is paused, and resumed when it moves (PA-7, PA-8)
  region         a circle is entered and left, each within 30 s of the receiver's time (RG-10, RG-11, RG-13, RG-14)
  authorization  denied and granted while it runs (AU-3, AU-15, AU-16)
  unplugged      one locationUnknown for an outage, and fixes again (SU-17, GE-6)
  heading        a magnetometer's headings, magnetic and true (HD-2 to HD-4, HD-8)
  beacons        two beacons through BlueZ, whose adapter is then switched off (BE-3, BE-4, BE-7)

Durations are taken from the receiver's times in the fixes. How soon an event must come is checked in virtual time, by the
tests that bear the ids above (docs/reference/rules.md).
"""
RIG = {"programs": ["sextant", "sextant-track"],
       "packages": {"dbus": "dbus-daemon", "python3-dbus": "python: dbus", "python3-gi": "python: gi"}, "seconds": 92,
       "ci": True}

import math
import os
import time

import bluez
import harness
from harness import Simulator, Track, environment, expect, expect_deferral, expect_equal, seconds_of
from magnetometer import Magnetometer

WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"
METRES_PER_DEGREE = 111_200


def metres(a, b):
    """Between two places that are near each other."""
    north = (b["latitude"] - a["latitude"]) * METRES_PER_DEGREE
    east = (b["longitude"] - a["longitude"]) * METRES_PER_DEGREE * math.cos(math.radians(a["latitude"]))
    return math.hypot(north, east)


def times(locations):
    return [seconds_of(location["timestamp"]) for location in locations]


class Scene:
    """A receiver, and the programs that use it one after the other; they end with the scene."""

    def __init__(self, folder, scenario=WALK, **variables):
        self.folder, self.tracks = folder, []
        self.variables = {"SEXTANT_SYSFS": f"{folder}/sysfs", "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **variables}
        self.receiver = Simulator(folder, scenario=scenario)

    def track(self, *words, **variables):
        self.tracks.append(Track(self.folder, "--device", self.receiver.link, *words, **{**self.variables, **variables}))
        return self.tracks[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in [*self.tracks, self.receiver]:
            one.kill()


def cached(folder):
    with Scene(folder) as scene:
        began = time.time()
        first = scene.track()
        fresh = times(first.wait_for_event("didUpdateLocations")["locations"])[0]
        expect(fresh >= began - 1, f"the first location of all is {began - fresh:.1f} s old")
        for _ in range(3):
            first.wait_for_event("didUpdateLocations")
        first.interrupt()
        began = time.time()
        second = scene.track()
        event = second.wait_for_event("didUpdateLocations")
        expect_equal(event["locations"][0]["timestamp"], first.locations()[-1]["timestamp"], "the time of the cached location")
        event = second.wait_for_event("didUpdateLocations")
        # The line may hold an epoch that came just before the start.
        expect(times(event["locations"])[0] >= began - 2, f"the second location is not a fresh one: {event}")
        second.interrupt()
        found = times(second.locations())
        expect(found == sorted(set(found)), f"delivered twice, or out of order: {found}")
        return "the last run's location, then fresh ones"


def filtered(folder):
    with Scene(folder, "start 48.1642,11.6056 512m\nhot\nstay 5s\nride by 1000m,0m\nride home\nrepeat\n") as scene:
        track = scene.track("--distance-filter", "50")
        steps = []
        while len(steps) < 4:
            track.wait_for_event("didUpdateLocations")
            places = track.locations()
            steps = [metres(a, b) for a, b in zip(places, places[1:]) if metres(a, b) >= 49.9]
        track.interrupt()
        for a, b in zip(places, places[1:]):
            moved = metres(a, b)
            expect(moved >= 49.9 or b["horizontalAccuracy"] < a["horizontalAccuracy"],
                   f"delivered after {moved:.1f} m at ± {b['horizontalAccuracy']} m, before at ± {a['horizontalAccuracy']} m")
            # A second on a bicycle, and the error of the fixes.
            expect(moved < 65, f"delivered after {moved:.1f} m only")
        return f"steps of {', '.join(f'{step:.0f}' for step in steps)} m"


def once(folder):
    with Scene(folder) as scene:
        for accuracy in ("best", "100"):
            began = time.time()
            track = scene.track("--once", "--accuracy", accuracy)
            track.wait_for_exit(0)
            expect_equal(track.events_named("didFailWithError"), [], "the errors")
            locations = track.locations()
            expect_equal(len(locations), 1, "the number of locations")
            expect(times(locations)[0] >= began - 6, f"an old location: {locations}")
        expect(locations[0]["horizontalAccuracy"] <= 100, f"not within 100 m: {locations}")
        return f"one location each, ± {locations[0]['horizontalAccuracy']} m where 100 m are enough"


def deferral(folder):
    with Scene(folder) as scene:
        track = scene.track("--defer-timeout", "60", SEXTANT_APP_STATE="background")
        track.wait_for_event("didUpdateLocations")
        track.wait_for_event("didFinishDeferredUpdates", without="didUpdateLocations", code=None)
        batch = track.wait_for_event("didUpdateLocations")["locations"]
        track.wait_for_event("didUpdateLocations")
        track.interrupt()
        expect_equal(expect_deferral(track, 55), len(batch), "the size of the longest delivery")
        return f"a minute of silence, then {len(batch)} locations at once, none missing"


def pause(folder):
    scenario = "start 48.1642,11.6056 512m\nhot\nstay 60s\ndrive by 3000m,0m at 12m/s\nstay forever\n"
    with Scene(folder, scenario, SEXTANT_PAUSE_SECONDS="20", SEXTANT_PAUSE_PROBE_SECONDS="6") as scene:
        track = scene.track()
        track.wait_for_event("didPauseLocationUpdates")
        parked = track.locations()[-1]
        track.wait_for_event("didResumeLocationUpdates", without="didUpdateLocations")
        moved = metres(parked, track.wait_for_event("didUpdateLocations")["locations"][-1])
        expect(moved > 10, f"resumed {moved:.1f} m from where it was paused: nothing had moved")
        for _ in range(3):
            track.wait_for_event("didUpdateLocations")
        track.interrupt()
        expect_equal(len(track.events_named("didPauseLocationUpdates")), 1, "the number of pauses")
        expect_equal(len(track.events_named("didResumeLocationUpdates")), 1, "the number of resumptions")
        return f"silent while it rested, resumed {moved:.0f} m from there"


def region(folder):
    centre = {"latitude": 48.1642 + 500 / METRES_PER_DEGREE, "longitude": 11.6056}
    scenario = ("start 48.1642,11.6056 512m\nhot\nstay 15s\ndrive by 500m,0m at 20m/s\nstay 20s\n"
                "drive by 600m,0m at 20m/s\nstay forever\n")
    with Scene(folder, scenario) as scene:
        # With updates, whose times show how late the events are.
        track = scene.track("--region", f"shop,{centre['latitude']},{centre['longitude']},200", "--accuracy", "best")
        track.wait_for_event("didStartMonitoring", region="shop")
        track.wait_for_event("didEnterRegion", without="didExitRegion", region="shop")
        track.wait_for_event("didExitRegion", without="didEnterRegion", region="shop")
        track.interrupt()
        for name in ("didEnterRegion", "didExitRegion"):
            expect_equal(len(track.events_named(name)), 1, f"the number of {name}")
        # The state that was requested before there was a fix comes with the first one.
        expect_equal([event["state"] for event in track.events_named("didDetermineState")], ["outside", "inside", "outside"], "the states")

        def receiver_time(name):
            """The receiver's time when the event came: the time of the last fix before it."""
            before = track.events[:track.events.index(track.events_named(name)[0])]
            return times([place for event in before if event["event"] == "didUpdateLocations" for place in event["locations"]])[-1]

        inside = times([place for place in track.locations() if metres(place, centre) <= 200])
        entered, left = receiver_time("didEnterRegion") - inside[0], receiver_time("didExitRegion") - inside[-1]
        # The event may stand before its own fix.
        expect(-1 <= entered <= 30 and -1 <= left <= 30, f"entered and left {entered:.1f} and {left:.1f} s after the crossings")
        return f"entry {entered:.0f} s after the border, exit {left:.0f} s"


def authorization(folder):
    with Scene(folder) as scene:
        def authorize(*words):
            harness.run(harness.program(), "authorize", *words, env=environment(folder))

        track = scene.track()
        track.wait_for_event("didChangeAuthorization", status="authorizedAlways")
        track.wait_for_event("didUpdateLocations")
        authorize("deny", "sextant-track")
        track.wait_for_event("didChangeAuthorization", without="didFailWithError", status="denied")
        track.wait_for_event("didFailWithError", without="didUpdateLocations", code=1)
        track.expect_none("didUpdateLocations", 3)
        authorize("grant", "sextant-track", "whenInUse")
        track.wait_for_event("didChangeAuthorization", status="authorizedWhenInUse")
        granted = time.time()
        track.wait_for_event("didUpdateLocations", lambda event: times(event["locations"])[-1] >= granted,
                             without="didFailWithError")
        track.interrupt()
        expect_equal(len(track.events_named("didFailWithError")), 1, "the number of errors")
        return "silent while denied, a fresh fix after the grant"


def unplugged(folder):
    with Scene(folder) as scene:
        track = scene.track()
        track.wait_for_event("didUpdateLocations")
        began = time.time()
        scene.receiver.command("fault unplug 1000s")
        failed = seconds_of(track.wait_for_event("didFailWithError", code=0)["at"]) - began
        expect(failed > 29, f"locationUnknown comes {failed:.1f} s after the unplugging, before its 30 s are over")
        # A second unplugging ends the first: the receiver is back a second from now.
        scene.receiver.command("fault unplug 1s")
        for _ in range(6):
            track.wait_for_event("didUpdateLocations")
        track.interrupt()
        expect_equal(len(track.events_named("didFailWithError")), 1, "the number of errors")
        return "locationUnknown once, fixes after the return"


def heading(folder):
    sensor = Magnetometer(f"{folder}/sysfs")
    sensor.turn(90)
    with Scene(folder) as scene:
        def near(event, degrees, by):
            return abs((event["magneticHeading"] - degrees + 180) % 360 - 180) <= by

        track = scene.track("--heading", "--accuracy", "best")
        first = track.wait_for_event("didUpdateHeading")
        expect(near(first, 90, 0.5), f"the first heading is {first}")
        event = first if first["trueHeading"] >= 0 else track.wait_for_event(
            "didUpdateHeading", lambda event: event["trueHeading"] >= 0)
        declination = (event["trueHeading"] - event["magneticHeading"]) % 360
        expect(3 < declination < 6, f"a declination of {declination:.1f}° near Munich")
        track.expect_none("didUpdateHeading", 2)
        # The needle comes to rest slowly, and its last degree is not delivered: the filter is one degree (HD-4).
        for degrees in (350, 5):
            sensor.turn(degrees)
            track.wait_for_event("didUpdateHeading", lambda event: near(event, degrees, 1.1))
        track.interrupt()
        return f"declination {declination:.1f}°, turns across north"


def beacons(folder, bus):
    os.makedirs(f"{folder}/sysfs/class/bluetooth/hci0")
    adapter, (near, far) = bluez.start(bus)
    with Scene(folder, DBUS_SYSTEM_BUS_ADDRESS=bus.address) as scene:
        track = scene.track("--beacon", bluez.UUID)
        track.wait_for_event("didRange", beacons=[])

        def has_both(event):
            return len(event["beacons"]) == 2

        def advertise():
            """Beacons advertise several times a second."""
            bus.call(lambda: (near.advertise(2, -50), far.advertise(1, -75)))
            return any(map(has_both, track.events_named("didRange")))

        harness.wait_until(advertise, "two beacons are not ranged")
        both = track.wait_for_event("didRange", has_both)["beacons"]
        expect_equal([beacon["minor"] for beacon in both], [2, 1], "the beacons, the nearer first,")
        expect_equal([beacon["proximity"] for beacon in both], ["immediate", "far"], "their proximities")
        # They do not advertise any more.
        track.wait_for_event("didRange", beacons=[])
        bus.call(lambda: adapter.switch(False))
        track.wait_for_event("didFailRanging", code=16)
        track.interrupt()
        return f"the nearer first, at {both[0]['accuracy']:.1f} and {both[1]['accuracy']:.1f} m"


if __name__ == "__main__":
    with bluez.Bus() as bus:
        checks = {check.__name__: check for check in (
            cached, filtered, once, deferral, pause, region, authorization, unplugged, heading)}
        harness.run_checks({**checks, "beacons": lambda folder: beacons(folder, bus)}, harness.arguments(__doc__).checks)
