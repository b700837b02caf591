#!/usr/bin/env python3
"""`sextant track` on a terminal while its receiver goes, comes back, hands over, may not be opened, or is another program's.

usage: unplug.py FOLDER

FOLDER has the programs. It says ok, or what is wrong; it takes less than a minute. Root: other users are played.
"""
import os
import sys
import tempfile
import threading
import time

from simulator import Simulator
from terminal import Failure, Track, expect

SEXTANT = os.path.join(os.path.abspath(sys.argv[1]), "sextant")
NOBODY = 65534


def unplugged(folder):
    """locationUnknown comes once, 30 s after the loss, and the return by the first fix (SU-17, GE-6)."""
    simulator = Simulator(SEXTANT, folder)
    track = Track(SEXTANT, "--device", simulator.link, environment={"SEXTANT_STATE_DIR": folder + "/state"})
    try:
        track.wait_for("didUpdateLocations", 30)
        simulator.order("fault unplug 31s")
        track.wait_for("didFailWithError", 45, code=0)
        track.wait_for("didUpdateLocations", 60, without="didFailWithError")
        expect(track.interrupt(), 0, "the exit code after a return")
    finally:
        track.kill()
        simulator.end()


def handover(folder, is_named=False):
    """With two receivers in the configuration file the second goes on when the first is pulled out (SU-19)."""
    simulators = []
    for name in ("first", "second"):
        os.mkdir(f"{folder}/{name}")
        simulators.append(Simulator(SEXTANT, f"{folder}/{name}"))
    links = [simulator.link for simulator in simulators]
    variables = {"SEXTANT_STATE_DIR": folder + "/state", "XDG_CONFIG_HOME": folder + "/config"}
    if is_named:
        variables["GNSS_DEVICE"] = ",".join(links)
    else:
        os.makedirs(folder + "/config/sextant")
        with open(folder + "/config/sextant/config", "w") as file:
            file.write("# two of them\n" + "".join(f"device {link}\n" for link in links))
    track = Track(SEXTANT, environment=variables)
    try:
        track.wait_for("didUpdateLocations", 30)
        time.sleep(3)
        simulators[0].order("fault unplug 60s")
        track.wait_for_screen("first/receiver: the receiver is gone")
        for _ in range(5):
            track.wait_for("didUpdateLocations", 8, without="didFailWithError")
        expect(track.interrupt(), 0, "the exit code after a handover")
    finally:
        track.kill()
        for simulator in simulators:
            simulator.end()


def named(folder):
    """The same with two that GNSS_DEVICE names."""
    handover(folder, is_named=True)


def forbidden(folder):
    """What may not be opened reads as denied, with a line that names the cure, until it may be opened."""
    # Sticky, as /tmp is: the state folder is not kept where others can replace it.
    os.chmod(folder, 0o1777)
    simulator = Simulator(SEXTANT, folder)
    node = os.path.realpath(simulator.link)
    os.chown(node, 0, 0)
    os.chmod(node, 0o600)
    environment = {"SEXTANT_STATE_DIR": folder + "/state", "HOME": folder}
    try:
        track = Track(SEXTANT, "--device", simulator.link, environment=environment, user=NOBODY)
        track.wait_for("didChangeAuthorization", status="denied")
        track.wait_for("didFailWithError", code=1)
        track.wait_for_screen("no permission")
        expect(track.interrupt(), 77, "the exit code without permission")
        track = Track(SEXTANT, "--device", simulator.link, environment=environment, user=NOBODY)
        track.wait_for("didChangeAuthorization", status="denied")
        os.chmod(node, 0o666)
        track.wait_for("didChangeAuthorization", status="authorizedAlways")
        track.wait_for("didUpdateLocations", 30)
        expect(track.interrupt(), 0, "the exit code when permission came")
    finally:
        simulator.end()


def held(folder):
    """What another program has is told with its name, and ends with 75."""
    simulator = Simulator(SEXTANT, folder)
    environment = {"SEXTANT_STATE_DIR": folder + "/state"}
    holder = Track(SEXTANT, "--device", simulator.link, environment=environment)
    try:
        holder.wait_for("didUpdateLocations", 30)
        track = Track(SEXTANT, "--device", simulator.link, environment=environment)
        track.wait_for_screen(f"(pid {holder.process.pid})")
        expect(track.end(), 75, "the exit code at a receiver that is held")
        track = Track(SEXTANT, "--device", folder + "/none", environment=environment)
        expect(track.end(), 66, "the exit code at a device that does not exist")
        expect(holder.interrupt(), 0, "the holder's exit code")
    finally:
        holder.kill()
        simulator.end()


def misnamed(folder):
    """What can never be a receiver, and a configuration file with a mistake, end it with the reason's code."""
    environment = {"SEXTANT_STATE_DIR": folder + "/state"}
    for device in (folder, "sim:nowhere", "i2c:", "replay:"):
        track = Track(SEXTANT, "--device", device, environment=environment)
        expect(track.end(), 66, f"the exit code at --device {device}")
    with open(folder + "/walk.scenario", "w") as file:
        file.write("walk\n")
    track = Track(SEXTANT, "--device", f"sim:{folder}/walk.scenario", environment=environment)
    expect(track.end(), 65, "the exit code at a scenario with a mistake")
    os.makedirs(folder + "/configuration/sextant")
    with open(folder + "/configuration/sextant/config", "w") as file:
        file.write("baud fast\n")
    track = Track(SEXTANT, environment=environment | {"XDG_CONFIG_HOME": folder + "/configuration"})
    track.wait_for_screen("config:1: `fast`")
    expect(track.end(), 78, "the exit code at a configuration file with a mistake")


def silent(folder):
    """Without a fix a run of some seconds ends with 69."""
    os.mkfifo(folder + "/receiver")
    keeper = os.open(folder + "/receiver", os.O_RDWR)
    track = Track(SEXTANT, "--device", folder + "/receiver", "--seconds", "2",
                  environment={"SEXTANT_STATE_DIR": folder + "/state"})
    expect(track.end(), 69, "the exit code without a fix")
    os.close(keeper)


def main():
    faults = []

    def run(check, folder):
        try:
            check(folder)
        except Failure as failure:
            faults.append(f"unplug.py: {check.__name__}: {failure}")

    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        threads = []
        for check in (unplugged, handover, named, held, misnamed, silent) + ((forbidden,) if os.geteuid() == 0 else ()):
            own = os.path.join(folder, check.__name__)
            os.mkdir(own)
            threads.append(threading.Thread(target=run, args=(check, own)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if faults:
        sys.exit("\n".join(faults))
    print("ok")


main()
