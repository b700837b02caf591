#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sextant track` on a terminal while its receiver goes, comes back, hands over, may not be opened, or is another program's.

usage: unplug.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track; as root another user is played too
"""
RIG = {"programs": ["sextant", "sextant-track"], "seconds": 38, "ci": True}

import os
import time

import harness
import phrases
from harness import Simulator, Track, expect

NOBODY = 65534


def unplugged(folder):
    """locationUnknown comes once, before the receiver is back, and the return is the first fix (SU-17, GE-6)."""
    with Simulator(folder) as receiver, Track(folder, "--device", receiver.link) as track:
        track.wait_for_event("didUpdateLocations")
        receiver.command("fault unplug 1000s")
        track.wait_for_message(phrases.RECEIVER_LOST)
        lost = time.time()
        track.wait_for_event("didFailWithError", code=0)
        # An epoch that was sent in the same moment is delivered beside the message.
        times = [harness.seconds_of(location["timestamp"]) for location in track.locations()]
        harness.expect_in_order(times, switched=5)
        expect(times[-1] <= lost, f"a location of {times[-1] - lost:.3f} s after the receiver was lost")
        # A second unplugging ends the first: it is back a second from now.
        receiver.command("fault unplug 1s")
        event = track.wait_for_event("didUpdateLocations", without="didFailWithError")
        expect(harness.seconds_of(event["locations"][0]["timestamp"]) > lost, f"a location from before the loss came after it: {event}")
        track.interrupt()


def handover(folder, is_named=False):
    """With two receivers in the configuration file the second one serves when the first is pulled out (SU-19)."""
    with Simulator(f"{folder}/first") as first, Simulator(f"{folder}/second") as second:
        variables = {}
        if is_named:
            variables["GNSS_DEVICE"] = f"{first.link},{second.link}"
        else:
            os.makedirs(f"{folder}/config/sextant")
            with open(f"{folder}/config/sextant/config", "w") as file:
                file.write(f"# two of them\ndevice {first.link}\ndevice {second.link}\n")
        with Track(folder, **variables) as track:
            # A receiver stands by when it has been there for three seconds: four fixes, a second apart.
            for _ in range(5):
                track.wait_for_event("didUpdateLocations", without="didFailWithError")
            first.command("fault unplug 1000s")
            track.wait_for_message(f"first/receiver.*{phrases.RECEIVER_LOST}")
            for _ in range(5):
                track.wait_for_event("didUpdateLocations", without="didFailWithError")
            track.interrupt()


def named(folder):
    """The same with two receivers that GNSS_DEVICE names."""
    handover(folder, is_named=True)


def forbidden(folder):
    """A receiver that may not be opened reads as denied, with a line that names the cure, until it may be opened."""
    # Sticky, as /tmp is: a state folder is refused where others can replace it.
    os.chmod(folder, 0o1777)
    with Simulator(folder) as receiver:
        node = os.path.realpath(receiver.link)
        os.chown(node, 0, 0)
        os.chmod(node, 0o600)
        with Track(folder, "--device", receiver.link, user=NOBODY, HOME=folder) as track:
            track.wait_for_event("didChangeAuthorization", status="denied")
            track.wait_for_event("didFailWithError", code=1)
            track.wait_for_message(phrases.NO_PERMISSION)
            track.interrupt(77)
        with Track(folder, "--device", receiver.link, user=NOBODY, HOME=folder) as track:
            track.wait_for_event("didChangeAuthorization", status="denied")
            os.chmod(node, 0o666)
            track.wait_for_event("didChangeAuthorization", status="authorizedAlways")
            track.wait_for_event("didUpdateLocations")
            track.interrupt()


def held(folder):
    """A receiver that another program has is refused with that program's id, and ends with 75."""
    with Simulator(folder) as receiver, Track(folder, "--device", receiver.link) as holder:
        holder.wait_for_event("didUpdateLocations")
        with Track(folder, "--device", receiver.link) as track:
            track.wait_for_message(phrases.HELD_BY.format(holder.process.pid))
            track.wait_for_exit(75)
        with Track(folder, "--device", f"{folder}/none") as track:
            track.wait_for_exit(66)
        holder.interrupt()


def misnamed(folder):
    """A name that cannot be a receiver, and a configuration file with a mistake, end it with the reason's code."""
    for device in (folder, "sim:nowhere", "i2c:", "replay:"):
        with Track(folder, "--device", device) as track:
            track.wait_for_exit(66)
    with open(f"{folder}/walk.scenario", "w") as file:
        file.write("walk\n")
    with Track(folder, "--device", f"sim:{folder}/walk.scenario") as track:
        track.wait_for_exit(65)
    os.makedirs(f"{folder}/config/sextant")
    with open(f"{folder}/config/sextant/config", "w") as file:
        file.write("baud fast\n")
    with Track(folder) as track:
        track.wait_for_message(phrases.CONFIGURATION_ERROR)
        track.wait_for_exit(78)


def silent(folder):
    """Without a fix a run of some seconds ends with 69."""
    os.mkfifo(f"{folder}/receiver")
    # A FIFO without a writer would be at its end.
    writer = os.open(f"{folder}/receiver", os.O_RDWR)
    with Track(folder, "--device", f"{folder}/receiver", "--seconds", "2") as track:
        track.wait_for_exit(69)
        expect(not track.locations(), "there are locations")
    os.close(writer)


if __name__ == "__main__":
    checks = [unplugged, handover, named, held, misnamed, silent]
    harness.run_checks(checks + [forbidden] * (os.geteuid() == 0), harness.arguments(__doc__).checks)
