#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands at simulated receivers of other makers, at their default rates.

usage: families.py FOLDER [CHECK...]      FOLDER holds sextant and sextant-track

  commands MODEL  probe, configure, send and reset; what a receiver lacks is refused; the settings are as found, or as set
  power MODEL     sleep and wake, where the family sleeps over the line
  ends MODEL      a watch that ends by ^C leaves the receiver as found
  killed MODEL    a client that puts it to sleep is killed with SIGKILL: the next command wakes it and restores its settings
  paused MODEL    a client at rest is paused, the receiver sleeps, and the client is resumed when it moves
  region MODEL    a circle is entered
  full_line at6558  twice the fixes on its full line
  kept_baud MODEL  a baud rate that the receiver keeps leaves all settings as found
  quirk MODEL NAME  probe and configure with a deviation from the documents
  batch MODEL     fixes in the receiver's logger: silence, then each fix once; records of a person are neither printed nor erased
  raw MODEL       a recording of raw measurements becomes a RINEX file, also after ^C; the settings are as found
  silent_raw lg290p  a receiver that accepts them and sends none is reported
  refused_raw MODEL  a receiver without raw measurements is refused with what it lacks
  deferral MODEL  a client in the background: the line is silent, then all fixes at once; the logger is as found, also after SIGKILL

Without a name the checks of DEFAULT run. Every check has a receiver of its own, and all run side by side. How soon things happen is
checked in virtual time (FamilyTests, FamilySessionTests, FamilyFaultTests).
"""
RIG = {"programs": ["sextant", "sextant-track"], "seconds": 67, "ci": True}

import dataclasses
import json
import signal
import time

import harness
import phrases
from harness import (Simulator, Track, environment, expect, expect_deferral, expect_equal, expect_in_order, matches, program,
                     seconds_of)

STAY = "start 48.1642,11.6056 512m\nhot\nstay forever\n"


@dataclasses.dataclass
class Kind:
    vendor: str
    model: str | None
    firmware: str | None
    baud: int
    capabilities: set
    # The setting, and the field of the simulator's settings that shows it.
    words: dict = dataclasses.field(default_factory=dict)
    # A sentence with its acknowledgement, and one that is refused.
    sentence: tuple | None = None
    refused: str | None = None
    restarts: bool = True
    asleep: tuple = ("standby", "stopped")


SENTENCES = "messages=GGA,RMC,GSV@2,VTG@0"
KINDS = {
    "mt3339": Kind("MediaTek", "PA6H", "AXN_2.31_3339_13101700", 9600, {"configure", "standby", "restart"},
                   {"rate=500ms": ("period", "500"), SENTENCES: ("VTG", None)},
                   ("$PMTK220,1000", "PMTK001,220,3"), "$PMTK220,50"),
    "mt3333": Kind("MediaTek", "PA1010D", "AXN_5.1.7_3333_19020118", 9600, {"configure", "standby", "restart"},
                   {"rate=500ms": ("period", "500"), SENTENCES: ("VTG", None), "constellations=GPS": ("systems", "1")},
                   ("$PMTK220,1000", "PMTK001,220,3"), "$PMTK220,50"),
    "ag3352": Kind("Airoha", "LC76G", "LC76GABNR02A01S", 115200, {"configure", "standby", "timedSleep", "restart"},
                   {"rate=500ms": ("period", "500"), SENTENCES: ("VTG", None)},
                   ("$PAIR050,1000", "PAIR001,050,0"), "$PAIR050,50"),
    "at6558": Kind("CASIC", None, "URANUS5,V5.3.0.0", 9600, {"configure", "restart"},
                   {SENTENCES: ("VTG", None)}),
    "at6668": Kind("CASIC", "AT362-AT6668-6T-30", "URANUS6,V6.3.0.0", 9600, {"configure", "restart"}, {SENTENCES: ("VTG", None)}),
    "lg290p": Kind("Quectel", "LG290P", "LG290P03AANR02A01S", 460800, {"configure", "restart"}, {"messages=VTG@0": ("VTG", None)},
                   ("$PQTMCFGELETHD,W,10.0", "PQTMCFGELETHD,OK"), "$PQTMCFGMSGRATE,W,XYZ,1", restarts=False),
    "um980": Kind("Unicore", "UM980", None, 115200, {"restart"}, {"messages=GGA": ("GGA", "1")}, restarts=False),
    "tau1201": Kind("Allystar", "HD8040D", "3.018.aab95e7", 115200, {"configure", "restart"}, {"messages=ZDA@0": ("ZDA", None)}),
    "teseo": Kind("STMicroelectronics", "STA8041", None, 9600, {"timedSleep", "restart"}, {"messages=VTG@0": ("VTG", None)},
                  ("$PSTMSETPAR,1500,1", "PSTMSETPAROK"), "$PSTMFORCESTANDBY,0"),
    "mosaic": Kind("Septentrio", None, None, 115200, {"restart"}, restarts=False),
}
MAIN = ("mt3339", "mt3333", "ag3352", "at6558")
SLEEPERS = ("mt3339", "mt3333", "ag3352")
# The checks that run if none is named: a minute. All receivers, the deviations, pauses and regions run by name.
DEFAULT = ("commands mt3339", "commands ag3352", "commands at6558", "commands lg290p", "commands um980", "power mt3339", "power ag3352",
           "killed mt3339", "killed ag3352", "significant ag3352", "ends mt3339", "ends at6558", "refused_sleep at6558", "full_line at6558",
           "kept_baud mt3339", "kept_baud tau1201",
           "raw lg290p", "raw um980", "raw ag3352", "silent_raw lg290p", "refused_raw ag3352", "refused_raw mosaic",
           *(f"batch {model}" for model in SLEEPERS), *(f"deferral {model}" for model in SLEEPERS))


class Scene:
    """A receiver, and commands on it."""

    def __init__(self, folder, model, *options, scenario=STAY):
        self.folder, self.kind, self.model = folder, KINDS[model], model
        self.receiver = Simulator(folder, model, *options, scenario=scenario)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.receiver.kill()

    def settings(self):
        """Baud rate, period, systems, the interval of each sentence and RTCM 3 message, and the logger."""
        self.receiver.command("settings")
        found = self.receiver.wait_for_line(phrases.SETTINGS)
        sentences = dict(pair.split("=") for pair in found["sentences"].split(",") if pair)
        return {**sentences, "baud": int(found["baud"]), "period": found["period"], "systems": found["systems"], "logger": found["logger"]}

    def wait_for_logger(self):
        limit = time.monotonic() + harness.LIMIT
        while self.settings()["logger"] != "on":
            expect(time.monotonic() < limit, "no logger that runs")
            time.sleep(0.3)

    def records(self):
        """The number of records in the logger's memory."""
        self.receiver.command("settings")
        return int(self.receiver.wait_for_line(phrases.SETTINGS)["records"])

    def run(self, command, *words, code=0):
        return harness.run(program(), command, *words, "--device", self.receiver.link, code=code, env=environment(self.folder))

    def expect_settings(self, before, subject):
        after = self.settings()
        other = {key: (before.get(key), after.get(key)) for key in {**before, **after} if before.get(key) != after.get(key)}
        expect(not other, f"{subject} left other settings: {other}")

    def expect_probe(self):
        found = json.loads(self.run("probe", "--json").output)
        wanted = {"vendor": self.kind.vendor, "baud": self.kind.baud, "generation": None}
        # A model may have several names: PAIR021 reports the chip, PQTMVERNO the module.
        if self.model != "ag3352":
            wanted.update({key: value for key, value in (("model", self.kind.model), ("firmware", self.kind.firmware)) if value})
        for key, value in wanted.items():
            expect_equal(found.get(key), value, f"probe: {key}")
        expect(self.kind.capabilities <= set(found["capabilities"]), f"probe: capabilities {found['capabilities']}")
        return found

    def track(self, *words, **variables):
        return Track(self.folder, "--device", self.receiver.link, *words, terminal=False,
                     **{"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "SEXTANT_SYSFS": f"{self.folder}/sysfs", **variables})


def commands(folder, model):
    with Scene(folder, model) as scene:
        kind, before = scene.kind, scene.settings()
        scene.expect_probe()
        scene.expect_settings(before, "probe")
        # Not u-blox's: refused by name, and nothing changes.
        done = scene.run("configure", "set", "model=automotive", code=69)
        expect("model" in done.errors, f"a refusal without the name: {done.errors!r}")
        scene.expect_settings(before, "a refused command")
        if kind.words:
            scene.run("configure", "set", *kind.words)
            after = scene.settings()
            for word, (key, value) in kind.words.items():
                expect_equal(after.get(key), value, f"{key} after {word}")
            scene.run("configure", "get", *(word.split("=")[0] for word in kind.words), "--json")
            scene.expect_settings(after, "configure get")
        if kind.sentence:
            sent, reply = kind.sentence
            done = scene.run("send", sent)
            expect(reply in done.output, f"send prints {done.output!r}, not {reply}")
            scene.run("send", kind.refused, code=69)
        if kind.restarts:
            rate = scene.settings()["baud"]
            text = scene.run("reset", "hot").output
            expect("hot start" in text, f"reset prints {text!r}")
            expect_equal(scene.settings()["baud"], rate, "the rate after a restart")


def power(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        text = scene.run("power", "status").output
        expect(matches(phrases.STATE_AWAKE, text), f"power status prints {text!r}")
        scene.run("power", "sleep", "0")
        scene.receiver.wait_for_state(*scene.kind.asleep)
        scene.run("power", "wake")
        scene.receiver.wait_for_state("acquisition", "tracking")
        # The host wakes it after the time.
        text = scene.run("power", "sleep", "6").output
        expect(matches(phrases.ASLEEP.format(6), text) and matches(phrases.AWAKE, text), f"power sleep 6 prints {text!r}")
        scene.receiver.wait_for_state("acquisition", "tracking")
        scene.expect_settings(before, "power")


def refused_sleep(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        scene.run("power", "sleep", "60", code=69)
        scene.receiver.wait_for_state("acquisition", "tracking")
        scene.expect_settings(before, "power")


def full_line(folder, model):
    """More fixes than the line carries are refused, unless the line gets faster in the same command."""
    with Scene(folder, model) as scene:
        before = scene.settings()
        done = scene.run("configure", "set", "rate=500ms", code=64)
        expect("baud=" in done.errors, f"a refusal without the next step: {done.errors!r}")
        scene.expect_settings(before, "a refused rate")
        scene.run("configure", "set", "rate=500ms", "baud=115200")
        after = scene.settings()
        expect_equal((after["period"], after["baud"]), ("500", 115200), "period and baud")


def kept_baud(folder, model):
    """A receiver that keeps its baud rate keeps its other settings, whether the rate is changed before or after them."""
    with Scene(folder, model, "--quirk", "baud-kept") as scene:
        before = scene.settings()
        for wanted in {"mt3339": (38400,), "tau1201": (230400, 57600)}[model]:
            done = scene.run("configure", "set", *scene.kind.words, f"baud={wanted}", code=69)
            expect(matches(phrases.BAUD_KEPT.format(wanted), done.errors), f"a kept rate says {done.errors!r}")
            scene.expect_settings(before, f"a refused change to {wanted} baud")


def ends(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        with harness.Program(program(), "watch", "--json", "--device", scene.receiver.link, env=environment(folder)) as watch:
            watch.wait_for_line('"mode":3')
            watch.interrupt()
            expect(not matches(phrases.NOT_RESTORED, watch.errors), watch.errors)
        scene.expect_settings(before, "watch")


def killed(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        with scene.track("--significant", SEXTANT_APP_STATE="background") as client:
            client.wait_for_event("didUpdateLocations")
            scene.receiver.wait_for_state(*scene.kind.asleep)
            client.process.send_signal(signal.SIGKILL)
            client.wait_for_exit(-signal.SIGKILL)
        scene.receiver.wait_for_state(*scene.kind.asleep)
        scene.expect_probe()
        scene.receiver.wait_for_state("acquisition", "tracking")
        scene.expect_settings(before, "the next command")


def significant(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        with scene.track("--significant", SEXTANT_APP_STATE="background") as client:
            client.wait_for_event("didUpdateLocations")
            scene.receiver.wait_for_state(*scene.kind.asleep)
            client.interrupt()
            expect(not matches(phrases.NOT_RESTORED, client.errors), client.errors)
        scene.receiver.wait_for_state("acquisition", "tracking")
        scene.expect_settings(before, "a client of significant changes")


def paused(folder, model):
    scenario = "start 48.1642,11.6056 512m\nhot\nstay 40s\ndrive by 3000m,0m at 12m/s\nstay forever\n"
    with Scene(folder, model, scenario=scenario) as scene:
        before = scene.settings()
        with scene.track(SEXTANT_PAUSE_SECONDS="10", SEXTANT_PAUSE_PROBE_SECONDS="6") as client:
            client.wait_for_event("didPauseLocationUpdates")
            scene.receiver.wait_for_state(*scene.kind.asleep)
            client.wait_for_event("didResumeLocationUpdates", without="didUpdateLocations")
            client.wait_for_event("didUpdateLocations")
            client.interrupt()
            expect_equal(len(client.events_named("didPauseLocationUpdates")), 1, "the number of pauses")
        scene.expect_settings(before, "a paused client")


def region(folder, model):
    scenario = "start 48.1642,11.6056 512m\nhot\nstay 10s\ndrive by 500m,0m at 25m/s\nstay forever\n"
    with Scene(folder, model, scenario=scenario) as scene:
        before = scene.settings()
        with scene.track("--region", "shop,48.16870,11.6056,200", "--accuracy", "best") as client:
            client.wait_for_event("didEnterRegion", without="didExitRegion", region="shop")
            client.interrupt()
        scene.expect_settings(before, "a client of regions")


def quirk(folder, model, name):
    with Scene(folder, model, "--quirk", name) as scene:
        before = scene.settings()
        scene.expect_probe()
        scene.expect_settings(before, "probe")
        word = "messages=VTG@0"
        scene.run("configure", "set", word)
        expect_equal(scene.settings().get("VTG"), None, f"VTG after {word}")


def quirks_of(model):
    """An LC76G has a logger in newer firmware alone."""
    return ("--quirk", "locus") if model == "ag3352" else ()


def log_by_hand(scene):
    """A person logs a few records, and stops."""
    for sentence in {"ag3352": ("$PAIR904,0,1", "$PAIR900,1")}.get(scene.model, ("$PMTK187,1,1", "$PMTK185,0")):
        scene.run("send", sentence)
    # The person's records are the check's input.
    time.sleep(5)
    for sentence in {"ag3352": ("$PAIR900,0", "$PAIR904,0,15")}.get(scene.model, ("$PMTK185,1", "$PMTK187,1,15")):
        scene.run("send", sentence)
    found = scene.settings()
    expect(found["logger"] == "off" and scene.records() >= 3, f"a person's log: {found}, {scene.records()} records")
    return scene.records()


def batch(folder, model):
    with Scene(folder, model, *quirks_of(model)) as scene:
        expect({"logger", "batching"} <= set(scene.expect_probe()["capabilities"]), "probe: no logger, or no batching")
        scene.receiver.wait_for_state("tracking")
        before = log_by_hand(scene)
        expect(matches(phrases.BATCHING, scene.run("batch", "start").output), "batch start prints no batch")
        # The acknowledgement of the last query follows its reply, with which the command ends.
        time.sleep(0.5)
        sent = scene.receiver.status()["bytes"]
        # The fixes of this time are the check's input.
        time.sleep(15)
        expect_equal(scene.receiver.status()["bytes"], sent, "the bytes that it sent while it kept fixes")
        waiting = json.loads(scene.run("batch", "status", "--json").output)["waiting"]
        expect(waiting >= 12, f"{waiting} fixes are waiting")
        done = scene.run("batch", "retrieve")
        more = scene.run("batch", "retrieve")
        fixes = [json.loads(line) for line in (done.output + more.output).splitlines()]
        expect(len(done.output.splitlines()) >= waiting, f"{len(done.output.splitlines())} fixes of {waiting}")
        lost = done.errors + more.errors
        expect_in_order([seconds_of(fix["time"]) for fix in fixes], lost=sum(int(n) for n in harness.re.findall(phrases.FIXES_LOST, lost)))
        expect(scene.records() >= before + waiting, "earlier records are gone")
        return f"{before} earlier records stay; {len(fixes)} fixes, each once; {lost.count('lost')} pauses reported"


def deferral(folder, model):
    with Scene(folder, model, *quirks_of(model)) as scene:
        before = scene.settings()
        scene.receiver.wait_for_state("tracking")
        with scene.track("--defer-timeout", "50", SEXTANT_APP_STATE="background") as client:
            client.wait_for_event("didUpdateLocations")
            client.wait_for_event("didFinishDeferredUpdates", without="didUpdateLocations", code=None)
            client.wait_for_event("didUpdateLocations")
            client.interrupt()
            expect(not matches(phrases.NOT_RESTORED, client.errors), client.errors)
            most = expect_deferral(client, 45)
        scene.expect_settings(before, "a deferral")
        return f"{most} locations at once"


def killed_deferral(folder, model):
    with Scene(folder, model, *quirks_of(model)) as scene:
        before = scene.settings()
        scene.receiver.wait_for_state("tracking")
        with scene.track("--defer-timeout", "300", SEXTANT_APP_STATE="background") as client:
            client.wait_for_event("didUpdateLocations")
            scene.wait_for_logger()
            client.process.send_signal(signal.SIGKILL)
            client.wait_for_exit(-signal.SIGKILL)
        scene.run("probe", "--json")
        scene.expect_settings(before, "the command after a killed deferral")


def raw(folder, model):
    path = f"{folder}/rover.rec"
    with Scene(folder, model, *(("--quirk", "rtcm") if model == "ag3352" else ())) as scene:
        # A UM980 sends nothing as found: polls during its start would be lost.
        scene.receiver.wait_for_state("tracking")
        before = scene.settings()
        with harness.Program(program(), "record", "--raw-measurements", "--device", scene.receiver.link, path,
                             env=environment(folder)) as recording:
            limit = time.monotonic() + harness.LIMIT
            while epochs(folder, path) < 4:
                expect(time.monotonic() < limit, f"no epochs: {recording.errors}")
                time.sleep(1)
            recording.interrupt()
            expect(not matches(phrases.NOT_RESTORED, recording.errors), recording.errors)
        scene.expect_settings(before, "record --raw-measurements")
        text = harness.run(program(), "decode", "--format", "messages", path, env=environment(folder)).output
        numbers = set(harness.re.findall(r'"name":"(1\d\d[47])"', text))
        return f"{epochs(folder, path)} epochs of {', '.join(sorted(numbers))}"


def epochs(folder, path):
    """The number of epochs in the RINEX file of a recording that may be going on; each has satellites."""
    done = harness.run(program(), "decode", "--format", "rinex", path, code=(0, 65, 66), env=environment(folder))
    heads = [line for line in done.output.splitlines() if line.startswith(">")]
    expect(all(int(line[32:35]) > 3 for line in heads), f"epochs without satellites: {heads}")
    return len(heads)


def silent_raw(folder, model):
    with Scene(folder, model, "--quirk", "msm-base-only") as scene:
        before = scene.settings()
        with harness.Program(program(), "record", "--raw-measurements", "--device", scene.receiver.link, f"{folder}/rover.rec",
                             env=environment(folder)) as recording:
            recording.wait_for_message("no raw measurements for 30 s")
            recording.interrupt()
        scene.expect_settings(before, "record --raw-measurements")


def refused_raw(folder, model):
    with Scene(folder, model) as scene:
        before = scene.settings()
        done = scene.run("record", "--raw-measurements", f"{folder}/rover.rec", code=69)
        expect(matches("(sextant knows|no raw|does not decode|static)", done.errors), f"a refusal without what it lacks: {done.errors!r}")
        scene.expect_settings(before, "a refused recording")


QUIRKS = [("mt3339", "short-release"), ("mt3339", "lost-acks"), ("mt3339", "late-replies"), ("mt3339", "wrong-replies"),
          ("mt3333", "old-rate-ack"), ("ag3352", "busy-after-boot"), ("ag3352", "late-replies"), ("ag3352", "wrong-replies"),
          ("at6558", "mon-ver-short"), ("at6558", "mon-ver-cut"), ("at6558", "mon-ver-ack"), ("at6668", "no-acks")]


def main():
    checks = {f"commands {model}": lambda folder, model=model: commands(folder, model) for model in KINDS}
    for model in MAIN:
        for check in (ends, region):
            checks[f"{check.__name__} {model}"] = lambda folder, check=check, model=model: check(folder, model)
    for model in SLEEPERS:
        for check in (power, killed, significant, paused, batch, deferral, killed_deferral):
            checks[f"{check.__name__} {model}"] = lambda folder, check=check, model=model: check(folder, model)
    for model in ("lg290p", "um980", "ag3352"):
        checks[f"raw {model}"] = lambda folder, model=model: raw(folder, model)
    checks["silent_raw lg290p"] = lambda folder: silent_raw(folder, "lg290p")
    for model in KINDS:
        if model not in ("lg290p", "um980"):
            checks[f"refused_raw {model}"] = lambda folder, model=model: refused_raw(folder, model)
    checks["full_line at6558"] = lambda folder: full_line(folder, "at6558")
    for model in ("mt3339", "tau1201"):
        checks[f"kept_baud {model}"] = lambda folder, model=model: kept_baud(folder, model)
    checks["refused_sleep at6558"] = lambda folder: refused_sleep(folder, "at6558")
    for model, name in QUIRKS:
        checks[f"quirk {model} {name}"] = lambda folder, model=model, name=name: quirk(folder, model, name)
    names = harness.arguments(__doc__).checks
    harness.run_checks(checks, names or DEFAULT)


if __name__ == "__main__":
    main()
