#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of the package Examples at the built-in simulator, all at once: they print what the documents with these programs show. Then
the documents' listings, where the documents are.

usage: examples.py FOLDER [CHECK...]; FOLDER has the programs of Examples and sextant, sextant-track and sextantd. DOCUMENTS names the
       folder of the documents (default: ../shared/seeds beside the project)
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd", "Examples/"], "seconds": 54, "ci": True}

import os
import pathlib
import re
import subprocess
import sys

import harness
from harness import Failure, Program, Simulator, copy_program, environment, expect, expect_equal, program, run_checks, wait_until

TOP = pathlib.Path(__file__).resolve().parents[2]
NUMBER = r"[+-]?[0-9]+\.[0-9]+"
HOME = ("48.1646", "11.607", "5000")
WHEN_IN_USE = {"NSLocationWhenInUseUsageDescription": "shops"}
BACKGROUND = {"SEXTANT_APP_STATE": "background", "UIBackgroundModes": "location"}
DENIED = {"SEXTANT_AUTHORIZATION": "denied"}
# Without an answer from the start.
UNANSWERED = {"SEXTANT_AUTHORIZATION": ""}
LISTS = {"WhereYouAt.plist": "<key>NSLocationWhenInUseUsageDescription</key><string>shops</string>", "Info.plist": ""}


class Example(Program):
    """A program whose lines are read, also from standard error. `folder` has its state, which programs with the same folder share."""

    def __init__(self, folder, name, *words, path=None, **variables):
        settings = {"GNSS_DEVICE": "sim:walk", "SEXTANT_AUTHORIZATION": "always", "SEXTANT_APP_STATE": "foreground", **variables}
        super().__init__("stdbuf", "-oL", path or program(name), *words, stderr=subprocess.STDOUT, env=environment(folder, **settings))
        self.name = name

    def has(self, *patterns):
        """Waits for a line with each pattern, from the first line on. Returns the last one found."""
        for pattern in patterns:
            found = self.wait_for("output", lambda: next((found for line in self.lines if (found := re.search(pattern, line))), None),
                                  f"line {pattern!r}")
        return found

    def count(self, pattern):
        with self.changed:
            return sum(bool(re.search(pattern, line)) for line in self.lines)

    def run_printed(self, change=lambda command: command):
        """Runs the command that grants permission, which the program has printed, as a person would."""
        command = self.has(r"`(.*authorize grant.*)`")[1]
        done = subprocess.run(["sh", "-c", change(command)], env={**os.environ, "PATH": f"{os.path.dirname(program())}:{os.environ['PATH']}"},
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"{command}: {done.stderr}")


# A program with its arguments, its variables, and what it prints.
ALONE = {
    "query": (["MyCLQuery"], {}, [
        "Core Location updates started", f"Old Coordinates: {NUMBER}, {NUMBER}", f"New Coordinates: {NUMBER}, {NUMBER}",
        f"Altitude: {NUMBER}", f"Notification age: -{NUMBER}", "Core Location updates stopped"]),
    "significant": (["LocationGuide", "significant"], {}, [f"^latitude {NUMBER}, longitude {NUMBER}$"]),
    "region": (["LocationGuide", "region", *HOME], {}, ["^monitoring home, one of 1$", "^inside home$"]),
    "hike": (["Hike", "5000", "6"], {}, [r"^locations 1, walked [0-9]+ m of 5000 m$", "^deferral ended as planned$"]),
    "locateme": (["LocateMe"], {}, [f"^<{NUMBER},{NUMBER}>"]),
    "oneshot": (["CurrentLocation"], {"SEXTANT_AUTHORIZATION": "whenInUse"}, [
        "^location manager authorization status changed$", "^allowed in the foreground$", f"^latitude {NUMBER}$"]),
    "denied": (["LocateMe"], DENIED, ["^Location services are off for this program", "^error 1$"]),
    "refused": (["CurrentLocation"], DENIED, ["^allow location data for this program, please$"]),
    # Without a request for permission, or a text for the question, there is a message; iOS 8 was silent.
    "silent": (["WhereYouAt"], UNANSWERED, ["add NSLocationWhenInUseUsageDescription to Info.plist"]),
    "unasked": (["WhereYouAt"], {**UNANSWERED, **WHEN_IN_USE}, [r"call requestWhenInUseAuthorization\(\)"]),
    "geofence denied": (["Geofence", *HOME], DENIED, ["^no monitoring of home: error 4$"]),
    "monitor": (["ConditionMonitor", *HOME], {}, ["^entered home$"]),
    "monitor denied": (["ConditionMonitor", *HOME], DENIED, ["^unmonitored home, denied: true$"]),
    # A refusal while the question is open, to a request for one location; and those with an answer from the start, or without a request.
    "one asked": (["OneLocation"], {**UNANSWERED, **WHEN_IN_USE, "SEXTANT_APP_STATE": "background"}, [
        "sextant authorize grant OneLocation", "^failed: denied$"]),
    "one unasked": (["OneLocation", "unasked"], {**UNANSWERED, **WHEN_IN_USE}, [r"call requestWhenInUseAuthorization\(\)"]),
    "one denied": (["OneLocation"], DENIED, ["^failed: denied$"]),
    "live denied": (["LiveUpdates"], DENIED, ["^session: denied$", "^update: denied$"]),
    "live": (["LiveUpdates"], {"SEXTANT_AUTHORIZATION": "whenInUse"}, [f"^latitude {NUMBER}$", "^session: over$"]),
}


def alone(words, variables, patterns):
    def check(folder):
        with Example(folder, *words, **variables) as one:
            one.has(*patterns)
    return check


def distance_filter(folder):
    """The walk does not get half a kilometre far in this time; the locations that come are more exact (SU-9)."""
    with Example(f"{folder}/all", "WhereYouAt") as every, Example(f"{folder}/few", "LocationGuide", "standard") as filtered:
        every.has(r"^Where you at\? \.\.\.$", r"^You now at\.\.\.$",
                  rf"^Description: <{NUMBER},{NUMBER}> \+/- {NUMBER}m \(speed {NUMBER} mps / course {NUMBER}\) @ ",
                  f"^Coordinates: {NUMBER}, {NUMBER}$", f"^Altitude: {NUMBER}$")
        filtered.has(f"^latitude {NUMBER}, longitude {NUMBER}$")
        wait_until(lambda: every.count("^You now at") >= 15, "no fifteen locations without a filter")
        expect(filtered.count("latitude") < every.count("^You now at"), "the filter of 500 m lets all through")


def expect_deferrals(one):
    """A deferral of six seconds collects the locations of its epochs. Those at the start may be late, when all programs start at once."""
    def two_whole():
        with one.changed:
            last = [line for line in one.lines if line.startswith("locations")][-2:]
        return len(last) == 2 and all(re.match("locations [5-7],", line) for line in last)
    one.has("^deferral ended as planned$")
    wait_until(two_whole, lambda: f"{one.name} does not collect six locations in its deferrals: {one.lines[-10:]}")


def background(folder):
    with Example(folder, "Hike", "5000", "6", **BACKGROUND) as one:
        one.has("^locations ([3-9]|[1-9][0-9]), walked")
        expect_deferrals(one)


def expect_no_failure(one):
    expect(not one.count("error|refused"), f"{one.name} fails: {one.lines}")


def geofence(folder):
    """The order of a geofencing program without a terminal: the region is started before the answer, which the printed command gives."""
    texts = {"NSLocationWhenInUseUsageDescription": "w", "NSLocationAlwaysAndWhenInUseUsageDescription": "a"}
    with Example(folder, "Geofence", *HOME, **UNANSWERED, **texts, SEXTANT_APP_STATE="background") as one:
        one.has("sextant authorize grant Geofence always")
        one.run_printed()
        one.has("^always$", "^monitoring home$", "^home: inside$")
        expect_no_failure(one)


def monitor_crash(folder):
    """The program ends while it handles the event, which comes again."""
    with Example(folder, "ConditionMonitor", *HOME, "crash") as one:
        one.has("^entered home$")
        one.process.wait(harness.LIMIT)
    with Example(folder, "ConditionMonitor", *HOME) as again:
        again.has("^entered home$")


def deny(command):
    return re.sub(r"grant (\S*).*", r"deny \1", command)


def asked(folder):
    """A refusal while the question is open, to a program that has started a service."""
    texts = {"NSLocationWhenInUseUsageDescription": "w", "NSLocationAlwaysAndWhenInUseUsageDescription": "a"}
    with Example(folder, "LocateMe", **UNANSWERED, **texts) as one:
        one.run_printed(deny)
        one.has("^error 1$")
        expect_equal(one.count("^error"), 1, "the number of reported refusals")


def live_asked(folder):
    with Example(folder, "LiveUpdates", **UNANSWERED, **WHEN_IN_USE) as one:
        one.run_printed(deny)
        one.has("^session: denied$", "^update: denied$")


def quiet(folder):
    with Example(folder, "WhereYouAt", **UNANSWERED, SEXTANT_QUIET="1") as one:
        one.has("^Where you at")
        expect(not one.count("^sextant:"), "SEXTANT_QUIET=1 prints lines")


def listed(folder):
    """The text comes from a list of the program's own name, and not from the one that it shares with others in its folder."""
    copied = f"{folder}/bin/WhereYouAt"
    os.mkdir(f"{folder}/bin")
    copy_program(program("WhereYouAt"), copied)
    for name, content in LISTS.items():
        with open(f"{folder}/bin/{name}", "w") as file:
            file.write(f'<plist version="1.0"><dict>{content}</dict></plist>\n')
    with Example(folder, "WhereYouAt", path=copied, **UNANSWERED) as one:
        one.has(r"call requestWhenInUseAuthorization\(\)")


def two_at_one_receiver(folder):
    """The second program gets the locations that the first one publishes."""
    with Simulator(folder) as receiver, Example(folder, "Hike", "5000", "6", GNSS_DEVICE=receiver.link) as holder:
        holder.has("^locations")
        with Example(folder, "WhereYouAt", GNSS_DEVICE=receiver.link) as second:
            second.has("held by Hike")
            # The first location is the last known one; more come from the program that has the receiver.
            wait_until(lambda: second.count("^You now at") >= 3, lambda: f"no third location: {second.lines[-10:]}")


def served(folder):
    """The hike through the daemon, beside programs that watch a region, `track --json` and `watch`."""
    socket = f"{folder}/location"
    with Simulator(folder) as receiver, Program(
            program("sextantd"), "--device", receiver.link, "--socket", socket,
            env=environment(f"{folder}/daemon", SEXTANT_APP_STATE="background", SEXTANT_AUTHORIZATION="always")) as daemon:
        wait_until(lambda: os.path.exists(socket), lambda: f"the service makes no socket: {daemon.errors}")

        def start(name, *words, **variables):
            return Example(f"{folder}/{'-'.join([name, *words[:1]])}", name, *words, SEXTANT_SERVICE=socket, **variables)
        with start("Hike", "5000", "6", **BACKGROUND) as hike, start("LocationGuide", "region", *HOME) as region, \
                start("Geofence", *HOME) as fence, start("ConditionMonitor", *HOME) as monitor, \
                start("sextant-track", "--json", "--no-pause") as track, start("sextant", "watch", "--json") as watch:
            fence.has("^home: inside$")
            expect_no_failure(fence)
            monitor.has("^entered home$")
            region.has("^inside home$")
            track.has("didUpdateLocations")
            watch.has('"lat":')
            expect_deferrals(hike)


def listings(_):
    """Each name in the listings of a document is in its example. CI has to have the documents."""
    folder = os.environ.get("DOCUMENTS") or str(TOP.parent / "shared" / "seeds")
    if not os.path.isdir(folder):
        expect(not os.environ.get("CI"), f"no documents in {folder}; name a folder with DOCUMENTS=")
        return f"not compared: no documents in {folder} (DOCUMENTS= names a folder)"
    done = subprocess.run([sys.executable, TOP / "Tests/documentation/listings.py", folder], capture_output=True, text=True)
    if done.returncode:
        raise Failure(done.stdout + done.stderr)
    return done.stdout.strip()


if __name__ == "__main__":
    run_checks({**{name: alone(*one) for name, one in ALONE.items()},
                **{check.__name__: check for check in (distance_filter, background, geofence, monitor_crash, asked, live_asked, quiet, listed,
                                                       two_at_one_receiver, served, listings)}},
               harness.arguments(__doc__).checks)
