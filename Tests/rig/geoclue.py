#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GeoClue of Debian gets the position of a simulated receiver from sextantd: where-am-i prints it.

usage: geoclue.py FOLDER [CHECK]..., as root; FOLDER has sextant and sextantd

  announced    sextantd announces its NMEA by Avahi; GeoClue finds it there, and its demo prints the simulated place
  unix_socket  the same by a Unix socket that geoclue.conf names, without Avahi; sextantd makes it, or a service manager
  withdrawn    the announcement goes with the service, and comes again with Avahi

Each check has a network, a machine bus and a folder /run of its own.
"""
RIG = {"programs": ["sextant", "sextantd"],
       "packages": {"dbus": "dbus-daemon", "avahi-daemon": "avahi-daemon", "geoclue-2.0": "/usr/libexec/geoclue",
           "geoclue-2-demo": "/usr/libexec/geoclue-2.0/demos/where-am-i", "iproute2": "ip"},
       "needs": ["root", "network namespaces"], "seconds": 10, "ci": True}

import contextlib
import os
import subprocess
import sys

from harness import Failure, Program, Simulator, arguments, environment, expect, matches, program, run_checks, wait_until

STILL = "start 48.1642,11.6056 512m\nhot\nstay forever\n"
GEOCLUE = "/usr/libexec/geoclue"
WHERE_AM_I = "/usr/libexec/geoclue-2.0/demos/where-am-i"
AGENT = "/usr/libexec/geoclue-2.0/demos/agent"
PORT = 10110

# Everybody may own and call everything: the bus has no other user.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=/run/dbus/system_bus_socket</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/>
<allow send_type="method_return"/><allow send_type="error"/><allow receive_type="method_call"/><allow receive_type="signal"/><allow receive_type="method_return"/><allow receive_type="error"/></policy></busconfig>
"""
# Only the source of NMEA: the others would ask servers of the internet.
CONFIGURATION = """[agent]
whitelist=geoclue-demo-agent
[network-nmea]
enable=true
{nmea}
[3g]
enable=false
[cdma]
enable=false
[modem-gps]
enable=false
[wifi]
enable=false
[compass]
enable=false
[geoclue-where-am-i]
allowed=true
system=true
users=
"""
AVAHI = "[server]\nhost-name=rig\nuse-ipv6=no\nallow-interfaces=lo,rig0\n[publish]\npublish-workstation=no\n"


class Machine:
    """Namespaces with a network (loopback, and an interface that no machine is behind), a bus, and the configuration of GeoClue."""

    def __init__(self, folder, nmea=""):
        self.folder = folder
        for name, text in (("bus.conf", BUS), ("geoclue.conf", CONFIGURATION.format(nmea=nmea)), ("avahi.conf", AVAHI)):
            with open(f"{folder}/{name}", "w") as file:
                file.write(text)
        # GeoClue connects to the name that Avahi gives it.
        with open(f"{folder}/hosts", "w") as file:
            file.write("127.0.0.1 localhost\n198.18.0.1 rig.local rig\n")
        script = (
            "mount --make-rprivate / && mount -t tmpfs run /run && mkdir -p /run/dbus /run/avahi-daemon /run/sextant && "
            "chown avahi:avahi /run/avahi-daemon && "
            f"mount --bind {folder}/geoclue.conf /etc/geoclue/geoclue.conf && mount --bind {folder}/hosts /etc/hosts && "
            "ip link set lo up && ip link add rig0 type veth peer name rig1 && ip addr add 198.18.0.1/24 dev rig0 && "
            "ip link set rig0 up && ip link set rig1 up && echo up && exec sleep infinity")
        self.root = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        expect(self.root.stdout.readline().strip() == "up", "the namespaces cannot be made")
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.start("dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile")
        wait_until(lambda: self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"), "the bus does not start")
        return self

    def __exit__(self, *_):
        self.stack.close()
        self.root.kill()
        self.root.wait()

    def inside(self, *command):
        return ("nsenter", f"--net=/proc/{self.root.pid}/ns/net", f"--mount=/proc/{self.root.pid}/ns/mnt", *command)

    def start(self, *command, **options):
        variables = {**environment(self.folder), "G_MESSAGES_DEBUG": "all", **options.pop("variables", {})}
        return self.stack.enter_context(Program(*self.inside(*command), env=variables, **options))

    def call(self, destination, path, method, *values):
        done = subprocess.run(
            self.inside("dbus-send", "--system", "--print-reply", f"--dest={destination}", path, method, *values),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout if done.returncode == 0 else None

    def avahi(self):
        daemon = self.start("avahi-daemon", "--file", f"{self.folder}/avahi.conf", "--no-rlimits", "--no-chroot", "--no-drop-root")
        daemon.wait_for_message("Server startup complete")
        return daemon

    def services(self):
        """The names of the announced services, as Avahi resolves them."""
        name = "Sextant on " + os.uname().nodename
        return self.call(
            "org.freedesktop.Avahi", "/", "org.freedesktop.Avahi.Server.ResolveService", "int32:-1", "int32:-1", f"string:{name}",
            "string:_nmea-0183._tcp", "string:local", "int32:-1", "uint32:0")


def daemon(machine, receiver, nmea):
    return machine.start(program("sextantd"), "--device", receiver, "--socket", f"{machine.folder}/location", "--nmea", nmea)


def expect_simulated_place(machine):
    """GeoClue's demo prints the place of the simulated receiver."""
    geoclue = machine.start(GEOCLUE)
    wait_until(lambda: machine.call("org.freedesktop.GeoClue2", "/org/freedesktop/GeoClue2/Manager",
                                    "org.freedesktop.DBus.Peer.Ping"), "GeoClue does not start")
    machine.start(AGENT)
    demo = machine.start(WHERE_AM_I, "--timeout", "100")
    try:
        latitude = float(demo.wait_for_line(r"Latitude:\s+(-?[\d.]+)")[1])
        longitude = float(demo.wait_for_line(r"Longitude:\s+(-?[\d.]+)")[1])
    except Failure as failure:
        raise Failure(f"{failure}; GeoClue: {geoclue.errors[-1500:]}") from None
    expect(abs(latitude - 48.1642) < 1e-3 and abs(longitude - 11.6056) < 1e-3, f"the place is {latitude}, {longitude}")
    return f"{latitude}°, {longitude}°"


def announced(folder):
    with Simulator(f"{folder}/receiver", scenario=STILL) as receiver, Machine(folder) as machine:
        machine.avahi()
        daemon(machine, receiver.link, f"198.18.0.1:{PORT}")
        found = wait_until(machine.services, "Avahi does not have the service")
        expect(f"uint16 {PORT}" in found, f"the service has another port: {found}")
        expect("accuracy=exact" in found, f"the service has another text: {found}")
        return expect_simulated_place(machine)


def unix_socket(folder):
    path = "/run/sextant/nmea"
    with Simulator(f"{folder}/receiver", scenario=STILL) as receiver, Machine(folder, f"nmea-socket={path}") as machine:
        service = daemon(machine, receiver.link, path)
        expect_simulated_place(machine)
        service.terminate()
    # The same with the socket of sextantd-nmea.socket: the service starts when GeoClue connects.
    with Simulator(f"{folder}/receiver", scenario=STILL) as receiver, Machine(folder, f"nmea-socket={path}") as machine:
        machine.start("systemd-socket-activate", f"--listen={path}", "--fdname=nmea", program("sextantd"), "--device", receiver.link,
                      "--socket", f"{folder}/location")
        return expect_simulated_place(machine)


def withdrawn(folder):
    with Simulator(f"{folder}/receiver", scenario=STILL) as receiver, Machine(folder) as machine:
        service = daemon(machine, receiver.link, f"198.18.0.1:{PORT}")
        first = machine.avahi()
        wait_until(machine.services, "Avahi that starts after the service does not have it")
        first.terminate()
        machine.avahi()
        wait_until(machine.services, "Avahi that starts again does not have the service")
        service.terminate()
        wait_until(lambda: not machine.services(), "the service is announced after its end")
        expect(not matches("announce", service.errors), service.errors)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("geoclue.py: run as root, for namespaces")
    options = arguments("geoclue.py FOLDER [CHECK]...")
    run_checks([announced, unix_socket, withdrawn], options.checks)
