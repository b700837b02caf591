#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of `sextant` while `sextantd` has the receiver and a program uses it.

usage: commands_through_service.py FOLDER [CHECK...]      FOLDER holds sextant, sextant-track and sextantd; as root another
                                                          user is played too

  reading     watch, record and probe see the bytes of the receiver, all at once
  changing    configure, poll, send, power, batch and reset are lent the line one after the other, and print what they print alone
  lent        the line in the hands of a command: the status, a second command, watch, the end by kill -9
  killed      commands that are killed while they have changed the receiver: it has its own settings again
  choice      which commands use the service
  another     a user who may not open the device
  typed       `track` needs no permission for root and for the members of group gnss; for another user it asks, and prints how to grant it
  in_use      a unit with the grant whenInUse has locations without a terminal
  regions     `track --region` alone lets the receiver sleep
"""
RIG = {"programs": ["sextant", "sextant-track", "sextantd"], "seconds": 52, "ci": True}

import contextlib
import json
import os
import re
import socket
import subprocess
import sys

import harness
from daemon import LOCATION, NOBODY, WALK, Client, Daemon, times
from harness import Program, Simulator, environment, expect, expect_equal, matches, wait_until
from ublox import MODELS, Quirks, Receiver

RECEIVERS = "org.sextant.Receivers"


class Commands:
    """Commands in the service of a daemon, or alone."""

    def __init__(self, folder, socket=None, device=None):
        self.variables = environment(f"{folder}/user", SEXTANT_SERVICE=socket or "none")
        self.device = ["--device", device] if device else []

    def start(self, command, *words, user=None, **options):
        return Program(harness.program(), command, *self.device, *words, user=user, env=self.variables, **options)

    def run(self, command, *words, code=0, **options):
        with self.start(command, *words, **options) as one:
            one.wait_for_exit(code)
            return one


@contextlib.contextmanager
def served(folder, model="m10"):
    """A daemon at a simulated receiver, and a program that it serves; both have to be in order at the end."""
    with Simulator(folder, model, scenario=WALK) as receiver, \
            Daemon(folder, receiver, SEXTANT_APP_STATE="background") as daemon, daemon.track() as track:
        track.wait_for_event("didUpdateLocations")
        yield receiver, daemon, track
        expect_served(daemon, track)
        track.terminate()
        found = times(track)
        expect(found == sorted(found), f"the program's locations are out of order: {found}")
        daemon.terminate()


def expect_served(daemon, track):
    """The program gets locations, which were not there before, and no command has the line."""
    wait_until(lambda: daemon.status()["receivers"][0]["state"] not in ("ending", "lent", "returning"),
               lambda: f"the line is not back: {daemon.status()['receivers']}")
    with track.changed:
        track.event_mark = len(track.events)
    track.wait_for_event("didUpdateLocations")


def expect_no_descriptor_left(daemon, before):
    """A connection that has ended shortly before is among those at the start."""
    wait_until(lambda: daemon.descriptors() <= before, lambda: f"{daemon.descriptors() - before} descriptors are left")


def without_times(text):
    """A command's output without the parts that differ at each run: times and positions."""
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    text = re.sub(r"^TIME [\d.]+", "TIME SECONDS", text, flags=re.M)
    text = re.sub(r"reply after .*", "reply after …", text)
    return re.sub(r"(running for) .*", r"\1 …", text)


# MARK: Reading

def reading(folder):
    with Simulator(f"{folder}/alone", scenario=WALK) as receiver:
        alone = json.loads(Commands(folder, device=receiver.link).run("probe", "--json").output)
    with served(folder) as (receiver, daemon, track):
        daemon.wait_for_settings(track)
        before = daemon.descriptors()
        through = Commands(folder, daemon.socket)
        with through.start("watch", "--json", "--count", "3") as watch, \
                through.start("record", "--seconds", "4", f"{folder}/bytes") as record, \
                through.start("watch", "--raw", "--seconds", "4", "--device", receiver.link, stdout=open(f"{folder}/raw", "wb")) as raw:
            for one in watch, record, raw:
                one.wait_for_exit(0)
        fixes = [json.loads(line) for line in watch.lines if '"TPV"' in line]
        expect(len([fix for fix in fixes if fix["mode"] == 3]) >= 3, f"watch shows {fixes}")
        expect_equal({fix["device"] for fix in fixes}, {receiver.link}, "the device")
        expect(matches("SAM-M10Q", watch.errors), f"watch does not name the receiver: {watch.errors}")
        decoded = harness.run(harness.program(), "decode", f"{folder}/bytes").lines
        expect(any('"mode":3' in line for line in decoded), f"the recording has no fix: {decoded[-3:]}")
        with open(f"{folder}/raw", "rb") as file:
            expect(b"\xb5\x62\x01\x07" in file.read(), "the raw bytes have no UBX-NAV-PVT")
        found = json.loads(through.run("probe", "--json", "--device", receiver.link).output)
        expect_no_descriptor_left(daemon, before)
        # The service may have switched sentences off, and raised the rate.
        for one in alone, found:
            one.pop("protocols")
            one.pop("baud")
            one.pop("device")
        expect_equal(found, alone, "what probe finds through the service")
        return f"{len(fixes)} epochs, {os.path.getsize(f'{folder}/bytes')} bytes recorded"


# MARK: Changing

CHANGES = {
    "m9": [("configure", "get", "CFG-NAVSPG-DYNMODEL"), ("configure", "set", "CFG-NAVSPG-DYNMODEL=4"), ("configure", "save"),
           ("configure", "get", "CFG-NAVSPG-DYNMODEL"), ("poll", "MON-VER"),
           ("send", "CFG-VALSET", "layers=1", "CFG-NAVSPG-FIXMODE=2"), ("reset", "hot")],
    "m10": [("power", "status"), ("power", "sleep", "5"), ("batch", "status")],
}


def changing(folder):
    count = 0
    for model, commands in CHANGES.items():
        own = f"{folder}/{model}"
        with Simulator(f"{own}/alone", model, scenario=WALK) as receiver:
            alone = Commands(f"{own}/alone", device=receiver.link)
            wanted = [alone.run(*words) for words in commands]
        with served(own, model) as (receiver, daemon, track):
            before = daemon.descriptors()
            through = Commands(own, daemon.socket, receiver.link)
            for words, expected in zip(commands, wanted):
                found = through.run(*words)
                expect_equal(without_times(found.output), without_times(expected.output.replace(f"{own}/alone", own)),
                             f"the output of {' '.join(words)}")
                count += 1
            expect_served(daemon, track)
            expect_no_descriptor_left(daemon, before)
            expect(not matches("held|cannot", daemon.errors), f"the daemon has {daemon.errors}")
    return f"{count} commands"


# MARK: Lent

def lent(folder):
    with served(folder) as (receiver, daemon, track), daemon.client() as idle:
        through = Commands(folder, daemon.socket)
        idle.call(f"{LOCATION}.GetStatus")
        before = daemon.descriptors()
        with through.start("power", "mode", "cyclic:2") as holder:
            holder.wait_for_line("cyclic tracking")
            text = f"sextant (pid {holder.process.pid})"
            state = daemon.status()["receivers"][0]
            expect_equal((state["state"], state["reason"]), ("lent", f"lent to {text}"), "the receiver's state")
            expect(f"lent to {text}" in through.run("status").output, "sextant status does not name the holder")
            second = through.run("poll", "MON-VER", code=75)
            expect(text in second.errors and "sextantd" not in second.errors, f"the second command says {second.errors}")
            for call, name in [({"device": "/dev/none"}, "NoReceiver"), ({}, "Lent")]:
                expect_equal(idle.error(f"{RECEIVERS}.Lease", call), f"{RECEIVERS}.{name}", "the answer")
            expect_equal(idle.error(f"{RECEIVERS}.KeepRecovery", {"recovery": None}), f"{RECEIVERS}.NotLent", "the answer")
            # A command that reads waits with the service.
            with through.start("watch", "--json", "--count", "1") as watch:
                wait_until(lambda: any(one["name"].startswith("sextant@") for one in daemon.programs()), "watch is not served")
                holder.kill()
                watch.wait_for_exit(0)
        expect_served(daemon, track)
        # A command that ends while it waits for the line.
        for _ in range(5):
            with Client(daemon.socket) as client:
                client.send({"method": f"{RECEIVERS}.Lease"})
        expect_served(daemon, track)
        # Descriptors that nobody asked for.
        with Client(daemon.socket) as client:
            message = json.dumps({"method": f"{LOCATION}.GetStatus"}).encode() + b"\0"
            for _ in range(20):
                socket.send_fds(client.socket, [message], [0, 1, 2])
                expect("parameters" in client.receive(), "no answer to a call with descriptors")
            wait_until(lambda: daemon.descriptors() <= before + 1, lambda: f"{daemon.descriptors()} descriptors, not {before + 1}")
        expect_no_descriptor_left(daemon, before)
        return "lent to one, and taken back"


# MARK: Killed

def killed(folder):
    for number, (model, words) in enumerate([("m10", ("power", "mode", "cyclic:2")), ("f9p", ("watch", "--corrections", "fifo:")),
                                             ("m8", ("record", "--configure"))]):
        own = f"{folder}/{number}"
        os.makedirs(own)
        receiver = Receiver(MODELS[model], Quirks(), f"{own}/receiver")
        found = receiver.snapshot()
        receiver.start()
        if words[0] == "watch":
            os.mkfifo(f"{own}/fifo")
            words = ("watch", "--corrections", f"fifo:{own}/fifo")
        elif words[0] == "record":
            words = ("record", "--configure", f"{own}/bytes")
        with Daemon(own, receiver, SEXTANT_APP_STATE="background") as daemon:
            # Nobody needs the receiver, which is as it was found.
            through = Commands(own, daemon.socket)
            with through.start(*words) as command:
                receiver.wait_for(lambda: receiver.snapshot() != found, f"{words} changes nothing: {command.errors}")
                command.kill()
            count = receiver.commands
            with daemon.track() as track:
                try:
                    track.wait_for_event("didUpdateLocations")
                except harness.Failure as failure:
                    state = through.run("status", "--json").lines
                    raise harness.Failure(f"{words}: {failure}; the service: {state}; the receiver: {receiver.rate} baud, "
                                          f"port {receiver.port}; {daemon.errors}") from None
                # The service has found the receiver and sends nothing more.
                receiver.wait_for(lambda: receiver.commands > count, "the service sends nothing")
                while count != (count := receiver.commands):
                    receiver.wait_for_epochs(3)
                track.terminate()
            daemon.terminate()
        try:
            receiver.wait_for(lambda: receiver.snapshot() == found, "")
        except harness.Failure:
            now = receiver.snapshot()
            raise harness.Failure(f"{words}: {[(key, found[key], now[key]) for key in now if now[key] != found.get(key)][:5]}; "
                                  f"{daemon.errors}") from None
        receiver.stop()
    return "restored"


# MARK: The choice

def choice(folder):
    with served(folder) as (receiver, daemon, track):
        alone = Commands(folder, device=receiver.link).run("probe", code=75)
        expect(matches(r"\(pid \d+\)", alone.errors), f"without the service: {alone.errors}")
        through = Commands(folder, daemon.socket)
        found = json.loads(through.run("watch", "--json", "--count", "1", "--device", "sim:walk").lines[-1])
        expect(receiver.link not in json.dumps(found), f"sim: goes to the service: {found}")
        with Simulator(f"{folder}/other", scenario=WALK) as other:
            expect_equal(json.loads(through.run("probe", "--json", "--device", other.link).output)["device"], other.link, "the device")
        os.symlink(os.path.realpath(receiver.link), f"{folder}/name")
        expect_equal(json.loads(through.run("probe", "--json", "--device", f"{folder}/name").output)["device"], f"{folder}/name",
                     "the device by another name")
        missing = Commands(folder, f"{folder}/none").run("power", "status", code=69)
        expect(matches("not running", missing.errors), f"without its service a command says {missing.errors}")
        return "ok"


# MARK: Another user

def another(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    with Simulator(folder, scenario=WALK) as receiver, Daemon(folder, receiver, authorization=None) as daemon:
        through = Commands(folder, daemon.socket)
        for words in ("watch", "--json"), ("probe",), ("record", "-"), ("configure", "get", "CFG-NAVSPG-DYNMODEL"), ("power", "status"):
            refused = through.run(*words, user=NOBODY, code=77)
            expect(matches("no permission", refused.errors), f"{words} says {refused.errors}")
        through.run("probe")
        daemon.terminate()
        return "refused"


# MARK: Permission of commands

def in_private_etc(folder, **files):
    """The beginning of a command that sees these files in /etc."""
    for name, text in files.items():
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    binds = "; ".join(f'mount --bind "$0/{name}" /etc/{name}' for name in files)
    return ["unshare", "--mount", "sh", "-c", f'{binds}; exec "$@"', folder]


def typed(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    os.chmod(folder, 0o755)
    gnss, member = 4242, 65533
    with open("/etc/group") as file:
        groups = "".join(line for line in file if not line.startswith("gnss:"))
    under = in_private_etc(folder, group=f"{groups}gnss:x:{gnss}:\n")

    def become_member():
        os.setgroups([gnss])
        os.setgid(member)
        os.setuid(member)

    with Simulator(folder, scenario=WALK) as receiver, Daemon(folder, receiver, authorization=None, under=under) as daemon:
        variables = environment(folder, SEXTANT_SERVICE=daemon.socket)
        for prepare in None, become_member:
            for words in ("track", "--json", "--once"), ("watch", "--json", "--count", "1"):
                with Program(harness.program(), *words, env=variables, prepare=prepare, cwd="/") as command:
                    command.wait_for_exit(0)
                expect(any('"latitude"' in line or '"lat"' in line for line in command.lines), f"{words} has no position")
        # Another program of that user is none that was typed.
        harness.copy_program(harness.program("sextant-track"), f"{folder}/hike")
        with Program(f"{folder}/hike", "--json", env=variables, prepare=become_member, cwd="/") as hike:
            hike.wait_for_event("didChangeAuthorization", status="notDetermined")
            hike.wait_for_message("sextant authorize")
            hike.terminate((0, 69))
            expect_equal(hike.locations(), [], "the locations of another program")
        # The command of another user is a program like any other.
        with daemon.track(user=NOBODY) as asking:
            asking.wait_for_event("didChangeAuthorization", status="notDetermined")
            asking.wait_for_message("sextant authorize")
            harness.run(harness.program(), "authorize", "allow", "sextant-track", user=NOBODY, env=variables, cwd="/")
            asking.wait_for_event("didUpdateLocations")
            asking.terminate()
        # A decision that is stored has precedence.
        with daemon.track() as track:
            track.wait_for_event("didUpdateLocations")
            name = next(one["name"] for one in daemon.programs() if one["name"].startswith("sextant-track@"))
            harness.run(harness.program(), "authorize", "deny", name, env=variables)
            track.wait_for_event("didChangeAuthorization", status="denied")
            track.terminate((0, 69))
        with daemon.track("--once") as refused:
            refused.wait_for_exit(69)
            expect_equal(refused.locations(), [], "the locations of a denied command")
        daemon.terminate()
        return "root and members"


def in_use(folder):
    if os.getuid() != 0:
        return "skipped: not root"
    groups = f"{folder}/cgroup"
    os.mkdir(groups)
    if subprocess.run(["mount", "-t", "cgroup2", "none", groups], stderr=subprocess.DEVNULL).returncode:
        return "skipped: no permission to mount"
    os.chmod(folder, 0o755)
    units = {name: f"{groups}/rig-{os.getpid()}.slice/{name}.service" for name in ("hike", "yard")}
    os.makedirs(f"{folder}/etc/sextant")
    with open(f"{folder}/etc/sextant/policy", "w") as file:
        file.write("grant hike.service whenInUse\ngrant yard.service always\n")
    under = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0/etc" /etc; exec "$@"', folder]
    try:
        for path in units.values():
            os.makedirs(path)
        with Simulator(folder, scenario=WALK) as receiver, Daemon(folder, receiver, authorization=None, under=under) as daemon:
            for name, status in ("hike", "authorizedWhenInUse"), ("yard", "authorizedAlways"):
                def become_unit(path=units[name]):
                    with open(f"{path}/cgroup.procs", "w") as file:
                        file.write(str(os.getpid()))
                    os.setsid()
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                with Program(harness.program("sextant-track"), "--json", prepare=become_unit, cwd="/",
                             env=environment(folder, SEXTANT_SERVICE=daemon.socket)) as program:
                    program.wait_for_event("didChangeAuthorization", status=status)
                    program.wait_for_event("didUpdateLocations")
                    # The location that is known at the start is none that it had itself.
                    program.terminate((0, 69))
            daemon.terminate()
    finally:
        for path in *units.values(), f"{groups}/rig-{os.getpid()}.slice":
            with contextlib.suppress(OSError):
                os.rmdir(path)
        subprocess.run(["umount", groups], check=False)
    return "whenInUse and always"


def regions(folder):
    still = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
    with Simulator(folder, scenario=still) as receiver, Daemon(folder, receiver, SEXTANT_APP_STATE="background") as daemon, \
            daemon.track("--region", "far,48.3,11.6,100") as track:
        track.wait_for_event("didDetermineState", region="far", state="outside")
        receiver.wait_for_state("backup", "standby")
        expect_equal([one["demands"] for one in daemon.programs()], [["regions"]], "the demands")
        expect_equal(track.locations(), [], "the locations of regions alone")
        track.terminate()
        daemon.terminate()
        return "asleep"


if __name__ == "__main__":
    options = harness.arguments(__doc__)
    harness.run_checks([reading, changing, lent, killed, choice, another, typed, in_use, regions], options.checks)
