#!/usr/bin/python3
"""All that `sextant track` tells, at a simulated M10 on a pseudo-terminal.

usage: shows.py FOLDER [SHOW...]      FOLDER holds sextant and sextant-track

  cached         the first run begins with a fresh fix, the next one with the cached one and then a fresh one (SU-1 to SU-3)
  filter         50 m of distance filter: a location each 50 m, or where one is more exact (SU-7 to SU-10)
  once           one location and the end (RQ-1, RQ-3, RQ-5)
  deferral       60 s in the background: silence, the end, then every fix at once, oldest first (DF-8, DF-11, DF-13, DF-14)
  pause          a client that rests is paused, and goes on when it moves (PA-7, PA-8)
  region         a circle is entered and left, each told within 30 s (RG-10, RG-11, RG-13, RG-14)
  authorization  denied and granted while it runs (AU-3, AU-15, AU-16)
  unplugged      one locationUnknown for an outage, and fixes again (SU-17, GE-6)
  heading        a magnetometer's headings, magnetic and true (HD-2 to HD-4, HD-8)
  beacons        two beacons heard through BlueZ, which goes away (BE-3, BE-4, BE-7)

All at once; it takes a minute and a half, and says ok, or what is wrong.
"""
import concurrent.futures
import datetime
import math
import os
import subprocess
import sys
import tempfile
import time

import bluez
from magnetometer import Magnetometer
from simulator import Simulator
from terminal import Failure, Track, expect

SEXTANT = os.path.join(os.path.abspath(sys.argv[1]), "sextant")
WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"
METRES_PER_DEGREE = 111_200


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def places(track):
    return [place for event in track.told("didUpdateLocations") for place in event["locations"]]


def metres(a, b):
    """Between two places that are near each other."""
    north = (b["latitude"] - a["latitude"]) * METRES_PER_DEGREE
    east = (b["longitude"] - a["longitude"]) * METRES_PER_DEGREE * math.cos(math.radians(a["latitude"]))
    return math.hypot(north, east)


def wanted(holds, what):
    if not holds:
        raise Failure(what)


class Scene:
    """A receiver, and the programs that use it one after the other; nothing of it is left behind."""

    def __init__(self, folder, scenario=WALK, **environment):
        self.folder, self.tracks = folder, []
        self.receiver = Simulator(SEXTANT, folder, scenario=scenario)
        self.environment = {
            "SEXTANT_STATE_DIR": folder + "/state", "SEXTANT_SYSFS": folder + "/sysfs",
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **environment}

    def track(self, *arguments, **environment):
        track = Track(SEXTANT, "--device", self.receiver.link, *arguments, environment={**self.environment, **environment})
        self.tracks.append(track)
        return track

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for track in self.tracks:
            track.kill()
        self.receiver.end()


def cached(folder):
    with Scene(folder) as scene:
        began = time.time()
        first = scene.track()
        event = first.wait_for("didUpdateLocations", 40)
        fresh = moment(event["locations"][0]["timestamp"])
        wanted(fresh >= began - 1, f"the first location of all is {began - fresh:.1f} s old")
        for _ in range(3):
            first.wait_for("didUpdateLocations")
        expect(first.interrupt(), 0, "the first run's exit code")
        last = places(first)[-1]
        began = time.time()
        second = scene.track()
        event = second.wait_for("didUpdateLocations")
        delay = moment(event["at"]) - began
        expect(event["locations"][0]["timestamp"], last["timestamp"], "the time of the cached location")
        event = second.wait_for("didUpdateLocations", 40)
        # The line may hold an epoch that came just before the start.
        wanted(moment(event["locations"][0]["timestamp"]) >= began - 2, f"the second location is no fresh one: {event}")
        expect(second.interrupt(), 0, "the second run's exit code")
        times = [place["timestamp"] for place in places(second)]
        wanted(times == sorted(set(times)), f"told twice, or out of order: {times}")
        return f"the last run's location {delay:.1f} s after the start, then fresh ones"


def filtered(folder):
    with Scene(folder, "start 48.1642,11.6056 512m\nhot\nstay 5s\nride by 1000m,0m\nride home\nrepeat\n") as scene:
        track = scene.track("--distance-filter", "50")
        end = time.monotonic() + 90
        steps = []
        while len(steps) < 4 and time.monotonic() < end:
            track.wait_for("didUpdateLocations", 40)
            told = places(track)
            steps = [metres(a, b) for a, b in zip(told, told[1:]) if metres(a, b) >= 49.9]
        expect(track.interrupt(), 0, "the exit code")
        for a, b in zip(told, told[1:]):
            moved = metres(a, b)
            wanted(moved >= 49.9 or b["horizontalAccuracy"] < a["horizontalAccuracy"],
                   f"told after {moved:.1f} m at ± {b['horizontalAccuracy']} m, before at ± {a['horizontalAccuracy']} m")
            # A second on a bicycle, and what the fixes are wrong by.
            wanted(moved < 65, f"told after {moved:.1f} m only")
        wanted(len(steps) == 4, f"{len(steps)} steps of 50 m: {told}")
        return f"steps of {', '.join(f'{step:.0f}' for step in steps)} m"


def once(folder):
    with Scene(folder) as scene:
        seconds = []
        for accuracy in ("best", "100"):
            began = time.time()
            track = scene.track("--once", "--accuracy", accuracy)
            expect(track.end(40), 0, "the exit code of --once")
            expect([len(event["locations"]) for event in track.told("didUpdateLocations")], [1], "the locations")
            expect(track.told("didFailWithError"), [], "the errors")
            taken = track.told("didUpdateLocations")[0]
            seconds.append(moment(taken["at"]) - began)
            wanted(moment(taken["locations"][0]["timestamp"]) >= began - 6, f"an old location: {taken}")
        wanted(seconds[0] < 16 and seconds[1] < seconds[0], f"answers after {seconds} s")
        return f"the best of ten seconds after {seconds[0]:.1f} s, 100 m after {seconds[1]:.1f} s"


def deferral(folder):
    with Scene(folder) as scene:
        track = scene.track("--defer-timeout", "60", SEXTANT_APP_STATE="background")
        first = moment(track.wait_for("didUpdateLocations", 40)["at"])
        finished = track.wait_for("didFinishDeferredUpdates", 75, without="didUpdateLocations")
        expect(finished["code"], None, "the code of the deferral's end")
        late = moment(finished["at"]) - first - 60
        wanted(-1 < late < 8, f"the deferral ends {late:.1f} s after its minute")
        batch = track.wait_for("didUpdateLocations", 10)["locations"]
        track.wait_for("didUpdateLocations", 30)
        expect(track.interrupt(), 0, "the exit code")
        times = [round(moment(place["timestamp"]), 1) for place in places(track)]
        wanted(len(batch) >= 58, f"{len(batch)} locations of a minute")
        steps = [round(b - a, 1) for a, b in zip(times, times[1:])]
        wanted(all(step == 1 for step in steps), f"fixes are missing, twice or out of order: {steps}")
        return f"the end {late:.1f} s after the minute, then {len(batch)} locations at once, none missing"


def pause(folder):
    scenario = "start 48.1642,11.6056 512m\nhot\nstay 60s\ndrive by 3000m,0m at 12m/s\nstay forever\n"
    with Scene(folder, scenario, SEXTANT_PAUSE_SECONDS="20", SEXTANT_PAUSE_PROBE_SECONDS="6") as scene:
        track = scene.track()
        paused = track.wait_for("didPauseLocationUpdates", 50)
        resumed = track.wait_for("didResumeLocationUpdates", 80, without="didUpdateLocations")
        late = moment(resumed["at"]) - (scene.receiver.began + 60)
        wanted(0 < late < 30, f"movement is noticed after {late:.1f} s")
        for _ in range(3):
            track.wait_for("didUpdateLocations", 15)
        expect(track.interrupt(), 0, "the exit code")
        expect(len(track.told("didPauseLocationUpdates")), 1, "the number of pauses")
        expect(len(track.told("didResumeLocationUpdates")), 1, "the number of resumptions")
        rest = moment(resumed["at"]) - moment(paused["at"])
        return f"silent for {rest:.0f} s, resumed {late:.0f} s after the first movement"


def region(folder):
    middle = {"latitude": 48.1642 + 500 / METRES_PER_DEGREE, "longitude": 11.6056}
    scenario = ("start 48.1642,11.6056 512m\nhot\nstay 15s\ndrive by 500m,0m at 20m/s\nstay 20s\n"
                "drive by 600m,0m at 20m/s\nstay forever\n")
    with Scene(folder, scenario) as scene:
        track = scene.track("--region", f"shop,{middle['latitude']},{middle['longitude']},200")
        track.wait_for("didStartMonitoring", region="shop")
        track.wait_for("didEnterRegion", 90, without="didExitRegion", region="shop")
        track.wait_for("didExitRegion", 90, without="didEnterRegion", region="shop")
        expect(track.interrupt(), 0, "the exit code")
        for name in ("didEnterRegion", "didExitRegion"):
            expect(len(track.told(name)), 1, f"the number of {name}")
        # What was asked for before there was a fix is not known.
        states = [event["state"] for event in track.told("didDetermineState")]
        expect(states, ["unknown", "inside", "outside"], "the states")
        inside = [moment(place["timestamp"]) for place in places(track) if metres(place, middle) <= 200]
        entered = moment(track.told("didEnterRegion")[0]["at"]) - inside[0]
        left = moment(track.told("didExitRegion")[0]["at"]) - inside[-1]
        wanted(0 <= entered <= 30 and 0 <= left <= 30, f"told {entered:.1f} and {left:.1f} s after the crossings")
        return f"entry told {entered:.0f} s after the border, exit {left:.0f} s"


def authorization(folder):
    with Scene(folder) as scene:
        def authorize(*words):
            subprocess.run([SEXTANT, "authorize", *words], env={**os.environ, **scene.environment}, check=True,
                           stdout=subprocess.DEVNULL)

        track = scene.track()
        track.wait_for("didChangeAuthorization", status="authorizedAlways")
        track.wait_for("didUpdateLocations", 40)
        authorize("deny", "sextant-track")
        track.wait_for("didChangeAuthorization", 5, without="didFailWithError", status="denied")
        track.wait_for("didFailWithError", 5, without="didUpdateLocations", code=1)
        track.silence("didUpdateLocations", 3)
        authorize("grant", "sextant-track", "whenInUse")
        track.wait_for("didChangeAuthorization", 5, status="authorizedWhenInUse")
        began, event = time.time(), None
        while event is None or moment(event["locations"][-1]["timestamp"]) < began:
            event = track.wait_for("didUpdateLocations", 30, without="didFailWithError")
        expect(track.interrupt(), 0, "the exit code")
        expect(len(track.told("didFailWithError")), 1, "the number of errors")
        return f"silent while denied; a fresh fix {moment(event['at']) - began:.1f} s after the grant"


def unplugged(folder):
    with Scene(folder) as scene:
        track = scene.track()
        track.wait_for("didUpdateLocations", 40)
        scene.receiver.order("fault unplug 40s")
        began = time.time()
        failed = moment(track.wait_for("didFailWithError", 45, code=0)["at"]) - began
        wanted(28 < failed < 34, f"locationUnknown comes after {failed:.1f} s")
        returned = moment(track.wait_for("didUpdateLocations", 60)["at"]) - began - 40
        for _ in range(5):
            track.wait_for("didUpdateLocations", 10)
        expect(track.interrupt(), 0, "the exit code")
        expect(len(track.told("didFailWithError")), 1, "the number of errors")
        return f"locationUnknown once, after {failed:.0f} s; the first fix {returned:.1f} s after the return"


def heading(folder):
    sensor = Magnetometer(f"{folder}/sysfs")
    sensor.turn(90)
    with Scene(folder) as scene:
        def near(event, name, degrees, by):
            return abs((event[name] - degrees + 180) % 360 - 180) <= by

        track = scene.track("--heading")
        first = track.wait_for("didUpdateHeading")
        wanted(near(first, "magneticHeading", 90, 0.5), f"the first heading is {first}")
        event = first
        while event["trueHeading"] < 0:
            event = track.wait_for("didUpdateHeading", 40)
        declination = (event["trueHeading"] - event["magneticHeading"]) % 360
        wanted(3 < declination < 6, f"a declination of {declination:.1f}° near Munich")
        count = len(track.told("didUpdateHeading"))
        track.silence("didUpdateHeading", 2)
        # The needle comes to rest slowly, and its last degree is not told: the filter is one degree (HD-4).
        sensor.turn(350)
        while not near(event, "magneticHeading", 350, 1.1):
            event = track.wait_for("didUpdateHeading", 5)
        sensor.turn(5)
        while not near(event, "magneticHeading", 5, 1.1):
            event = track.wait_for("didUpdateHeading", 5)
        expect(track.interrupt(), 0, "the exit code")
        return f"{count} headings until true north was known, declination {declination:.1f}°, turns told across north"


def beacons(folder, bus):
    os.makedirs(f"{folder}/sysfs/class/bluetooth/hci0")
    names = []

    def appear():
        names.append(bluez.dbus.service.BusName("org.bluez", bus.connection))
        names.append(bluez.BlueZ(bus.connection, "/"))
        names.append(bluez.Adapter(bus.connection, bluez.ADAPTER))
        for number in (1, 2):
            names.append(bluez.Device(bus.connection, f"{bluez.ADAPTER}/dev_0{number}"))

    bus.later(appear)
    _, _, adapter, near, far = names
    with Scene(folder, DBUS_SYSTEM_BUS_ADDRESS=bus.address) as scene:
        track = scene.track("--beacon", bluez.UUID)
        track.wait_for("didRange", beacons=[])
        end = time.monotonic() + 15
        heard = None
        while time.monotonic() < end and heard is None:
            bus.later(lambda: (near.advertise(2, -50), far.advertise(1, -75)))
            track.pump(time.monotonic() + 0.2)
            heard = next((event for event in track.told("didRange") if len(event["beacons"]) == 2), None)
        wanted(heard, f"two beacons are not told: {track.told('didRange')}")
        expect([beacon["minor"] for beacon in heard["beacons"]], [2, 1], "the beacons, the nearer first,")
        expect([beacon["proximity"] for beacon in heard["beacons"]], ["immediate", "far"], "their proximities")
        # Nothing is heard of them any more.
        track.wait_for("didRange", 30, beacons=[])
        bus.later(lambda: adapter.PropertiesChanged("org.bluez.Adapter1", {"Powered": bluez.dbus.Boolean(False)}, []))
        track.wait_for("didFailRanging", code=16)
        expect(track.interrupt(), 0, "the exit code")
        return f"the nearer first, at {heard['beacons'][0]['accuracy']:.1f} and {heard['beacons'][1]['accuracy']:.1f} m"


def main():
    bus = bluez.Bus()
    shows = {
        "cached": cached, "filter": filtered, "once": once, "deferral": deferral, "pause": pause, "region": region,
        "authorization": authorization, "unplugged": unplugged, "heading": heading,
        "beacons": lambda folder: beacons(folder, bus)}
    began = time.monotonic()
    faults = 0
    try:
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(len(shows)) as pool:
            jobs = {}
            for name in sys.argv[2:] or shows:
                os.mkdir(f"{folder}/{name}")
                jobs[name] = pool.submit(shows[name], f"{folder}/{name}")
            for name, job in jobs.items():
                try:
                    print(f"{name}: {job.result()}", flush=True)
                except Failure as failure:
                    faults += 1
                    print(f"shows.py: {name}: {failure}", file=sys.stderr, flush=True)
    finally:
        bus.end()
    if faults:
        sys.exit(1)
    print(f"ok, in {time.monotonic() - began:.0f} s")


main()
