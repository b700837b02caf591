#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The service lets a simulated receiver sleep: `sextant track` at `sextant simulate`, on pseudo-terminals.

usage: service.py FOLDER [CHECK...] [--seed S]      FOLDER holds sextant and sextant-track

  deferral   a minute of deferral in the background: the line is silent to the last byte, then every fix once, oldest first
  killed     the same with a reader that is killed while it reads, and another one after it
  stopped    a deferral that is stopped delivers the fixes that the receiver kept, and leaves the receiver as it was
  halted     a program that SIGSTOP has halted for ten seconds reports no silent receiver when it goes on
  pause      a client at rest is paused, its receiver in backup and the host asleep; movement resumes it
  hot_start  a receiver that has its orbits sleeps within 15 s of the first fix; one without commands stays on
  idle       a receiver that no service needs sleeps, and is awake when the program has ended

The checks follow the receiver's states, as the simulator reports them.
"""
RIG = {"programs": ["sextant", "sextant-track"], "seconds": 130, "ci": True}

import os
import random
import re
import signal
import time

import harness
import phrases
from harness import Simulator, Track, expect, expect_deferral, expect_equal, expect_in_order, seconds_of, wait_until

WALK = "start 48.1642,11.6056 512m\nhot\nwalk by 400m,200m\nwalk home\nrepeat\n"
ASLEEP = "standby"


def track(receiver, *words, **variables):
    return Track(receiver.folder, "--device", receiver.link, *words, terminal=False,
                 **{"SEXTANT_APP_STATE": "background", **variables})


def times(program):
    return [seconds_of(location["timestamp"]) for location in program.locations()]


def waits(program):
    """How often the program's threads have waited so far."""
    count = 0
    for thread in os.listdir(f"/proc/{program.process.pid}/task"):
        with open(f"/proc/{program.process.pid}/task/{thread}/status") as file:
            count += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])
    return count


def stays(look, seconds, text):
    """Waits until what `look` returns has stayed the same for that long; returns it."""
    last, since = look(), time.monotonic()

    def has_stayed():
        nonlocal last, since
        if (found := look()) != last:
            last, since = found, time.monotonic()
        return time.monotonic() - since >= seconds

    wait_until(has_stayed, lambda: f"{text}: {last}")
    return last


def deferral(folder, model):
    with Simulator(folder, model, scenario=WALK) as receiver, track(receiver, "--defer-timeout", "60", "--seconds", "85") as client:
        client.wait_for_event("didUpdateLocations")
        # A receiver without configuration items gets one setting after the other: the silence begins when all are sent.
        count = stays(lambda: receiver.status()["bytes"], 30, "the line is not silent for 30 s of a deferral")
        expect_equal(client.events_named("didFinishDeferredUpdates"), [], "the end of the deferral before its silence")
        client.wait_for_event("didFinishDeferredUpdates", code=None)
        expect(receiver.status()["bytes"] > count, "the fixes came without a byte")
        client.wait_for_exit(0)
        most = expect_deferral(client, 55)
        expect(not client.fixes_lost(), client.errors)
        return f"30 s of a deferral without a byte, then {most} fixes at once, {len(times(client))} in all, each once"


def killed(folder, model):
    chance = random.Random(options.seed)
    with Simulator(folder, model, scenario=WALK) as receiver:
        with track(receiver, "--defer-timeout", "30") as first:
            first.wait_for_event("didUpdateLocations")
            silent = stays(lambda: receiver.status()["bytes"], 5, "no silence of a deferral")
            receiver.wait_for_status(lambda status: status["bytes"] > silent, "the batch is not read")
            # Anywhere in the reading, which takes some four seconds at 9600 baud: the instant is the check's input.
            time.sleep(chance.uniform(0, 3))
            first.kill()
        with track(receiver, "--seconds", "45") as second:
            second.wait_for_exit(0)
        # The cached fix comes first to the second, and is the only one that may come again.
        before, after = times(first), times(second)
        if after and after[0] in before:
            after = after[1:]
        missing = expect_in_order(before + after, lost=second.fixes_lost(), switched=5)
        expect(before and after, f"{len(before)} and {len(after)} fixes; {second.errors}")
        return f"killed while it read: {len(before)} and then {len(after)} fixes, each once, {missing} missing"


def stopped(folder, model):
    with Simulator(folder, model, scenario=WALK) as receiver:
        found = receiver.status()
        with track(receiver, "--defer-timeout", "200", "--seconds", "35") as client:
            client.wait_for_exit(0)
        expect_equal(client.events_named("didFinishDeferredUpdates")[-1]["code"], 12, "the code of the deferral's end")
        most = expect_deferral(client, 2)
        count = receiver.status()["bytes"]
        receiver.wait_for_status(lambda status: status["bytes"] > count and status["rate"] == found["rate"]
                                 and status["state"] == "tracking", f"the receiver is not as it was: {found}")
        return f"stopped in a deferral: {most} kept fixes, and the receiver as it was"


def halted(folder, model):
    with Simulator(folder, model, scenario=WALK) as receiver, track(receiver) as client:
        # The receiver is identified and configured: the thread waits for the next epoch, and SIGCONT interrupts the wait.
        wait_until(lambda: len(times(client)) > 5, "no locations")
        client.process.send_signal(signal.SIGSTOP)
        since, count = time.monotonic(), receiver.status()["bytes"]
        receiver.wait_for_status(lambda status: time.monotonic() - since > 10, "the receiver sends nothing")
        expect(receiver.status()["bytes"] > count, "the receiver sends nothing")
        client.process.send_signal(signal.SIGCONT)
        halt = len(times(client))
        wait_until(lambda: len(times(client)) > halt + 5, "no locations after the halt")
        client.interrupt()
        expect(not harness.matches(phrases.SILENT, client.errors), client.errors)
        return "halted for ten seconds, and no line about silence"


def pause(folder, model):
    scenario = "start 48.1642,11.6056 512m\nhot\nstay 70s\ndrive by 3000m,0m at 12m/s\nstay forever\n"
    with Simulator(folder, model, scenario=scenario) as receiver, \
            track(receiver, SEXTANT_PAUSE_SECONDS="20", SEXTANT_PAUSE_PROBE_SECONDS="6") as client:
        client.wait_for_event("didPauseLocationUpdates")
        # It sleeps until the next look for movement; between falling asleep and that the host does not wake.
        quiet = 0
        while quiet < 3:
            receiver.wait_for_state(ASLEEP)
            before, since = waits(client), time.monotonic()
            receiver.wait_for_status(lambda status: status["state"] != ASLEEP or waits(client) != before
                                     or time.monotonic() - since > 2, "")
            quiet += time.monotonic() - since > 2
            expect(quiet or not client.events_named("didResumeLocationUpdates"), "the host wakes while the receiver sleeps")
        client.wait_for_event("didResumeLocationUpdates")
        for _ in range(2):
            client.wait_for_event("didUpdateLocations")
        client.interrupt()
        expect(receiver.status()["state"] != ASLEEP, "the receiver sleeps after the program's end")
        return "paused, the receiver in backup and the host idle; resumed by movement"


def hot_start(folder, model):
    with Simulator(folder, model, scenario="start 48.1642,11.6056 512m\nhot\nstay forever\n") as receiver, \
            track(receiver, "--significant") as client:
        client.wait_for_event("didUpdateLocations")
        since, charge = time.monotonic(), receiver.status()["charge"]
        receiver.wait_for_status(lambda status: status["state"] == ASLEEP or time.monotonic() - since > 15, "")
        seconds, after = time.monotonic() - since, receiver.status()
        client.interrupt()
        expect_equal(after["state"] == ASLEEP, model != "nmea", f"sleep {seconds:.0f} s after the first fix")
        return f"{after['state']} {seconds:.1f} s after the first fix, {(after['charge'] - charge) * 3600:.0f} mAs"


def idle(folder, model):
    with Simulator(folder, model, scenario=WALK) as receiver, track(receiver, "--significant") as client:
        client.wait_for_event("didUpdateLocations")
        # The orbits are received first.
        receiver.wait_for_state(ASLEEP)
        count, _ = stays(lambda: (receiver.status()["bytes"], waits(client)), 10, "no ten seconds without a byte or a wait of the host")
        client.interrupt()
        receiver.wait_for_status(lambda status: status["bytes"] > count and status["state"] != ASLEEP,
                                 "the receiver is not awake after the end")
        return "significant changes: asleep, not a byte and not a wait of the host in ten seconds; awake at the end"


if __name__ == "__main__":
    options = harness.arguments(__doc__, seed=1)
    models = {deferral: ["m10", "m8-batching"], killed: ["m10", "m8-batching"], stopped: ["m10"], halted: ["m10"], pause: ["m10", "f9p"],
              hot_start: ["m6", "m8", "m10", "f9p", "nmea"], idle: ["m10", "m8"]}
    harness.run_checks({f"{check.__name__} {model}": lambda folder, check=check, model=model: check(folder, model)
                        for check, names in models.items() for model in names}, options.checks)
