#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages in a chroot of each suite: installed, enabled, upgraded, used by an ordinary user, removed and purged. Nothing may
stay but the accounts. Then lintian, an error of which is one of the rig.

usage: packages.py, as root; debian.py has the variables
"""
RIG = {"prepare": [["make", "deb"]], "packages": {"debootstrap": "debootstrap", "lintian": "lintian"},
       "needs": ["root", "Debian's archive", "release build"], "arguments": [], "seconds": 240}

import difflib
import os
import re
import subprocess
import sys
import time

import debian
from debian import ARCHITECTURE, DEBS, TOP, Chroot, run

INCLUDE = ("systemd", "udev", "adduser", "libudev1", "libstdc++6", "procps", "libc6-dev")
NAMES = ("sextant", "sextantd", "sextant-track", "libsextant1", "libsextant-dev")
UNITS = ("sextantd.socket", "sextantd.service", "sextantd-gpsd.socket", "sextantd-nmea.socket")
# /run/adduser is the lock of Debian 13's adduser.
UNLISTED = ("./proc", "./rig", "./tmp", "./dev", "./run/systemd", "./run/adduser", "./var/lib/dpkg", "./var/log", "./var/cache")
# Keys of the unit that systemd before 254 ignores.
NEWER = re.compile("Unknown key '(RestartSteps|RestartMaxDelaySec)'")
# Their numbers may own files elsewhere.
ACCOUNTS = re.compile(r"> (group (gnss|sextant):|passwd sextant:)")


def listed(chroot):
    """Files with type, mode and owner, accounts, and the state of units."""
    unlisted = [word for path in UNLISTED for word in ("-path", path, "-o")][:-1]
    files = run("find", ".", "-xdev", "(", *unlisted, ")", "-prune", "-o", "-printf", "file %p %y %m %U:%G %l\n", cwd=chroot.root)
    accounts = [f"{name} {line}" for name in ("passwd", "group") for line in (chroot.root / "etc" / name).read_text().splitlines()]
    units = [f"unit {' '.join(line.split())}" for line in chroot.run("systemctl", "list-unit-files", "--no-legend").splitlines()]
    return [*sorted(files.splitlines()), *accounts, *units]


def added(before, after):
    """The lines that differ, with `<` or `>`."""
    return [f"{'>' if line[0] == '+' else '<'} {line[1:]}" for line in difflib.unified_diff(before, after, n=0, lineterm="")
            if line[0] in "+-" and not line.startswith(("+++", "---"))]


class Rig:
    def __init__(self, suite, root):
        self.suite, self.chroot, self.root, self.version = suite, Chroot(root), root, debian.version()
        self.begin = time.monotonic()
        # Those that are built for this architecture (packaging/deb.sh).
        self.names = [name for name in NAMES if (DEBS / f"{name}_{self.version}_{ARCHITECTURE}.deb").exists()]

    def step(self, text):
        print(f"packages: {self.suite}: {text}: {time.monotonic() - self.begin:.0f} s", flush=True)
        self.begin = time.monotonic()

    def install(self, version):
        self.chroot.run("dpkg", "-i", *(f"{name}_{version}_{ARCHITECTURE}.deb" for name in self.names))

    def kept(self):
        return (self.root / "etc/sextant/policy").exists() and (self.root / "var/lib/sextantd/users").is_dir()

    def check_installed(self, before):
        self.install(self.version)
        installed = listed(self.chroot)
        self.step("installed")
        difference = added(before, installed)
        print("\n".join(line for line in difference if re.match(". (passwd|group|unit)", line)))
        print(f"{sum(line.startswith('> file') for line in difference)} files and folders; KiB installed:")
        print(self.chroot.run("dpkg-query", "-W", "-f", "${Package} ${Version} ${Installed-Size}\\n", *self.names), end="", flush=True)
        assert any(line.startswith("unit sextantd.service disabled") for line in installed), "sextantd.service is not disabled"
        done = self.chroot.command("systemd-analyze", "verify", "--man=no", *(f"/usr/lib/systemd/system/{unit}" for unit in UNITS))
        found = [line for line in (done.stdout + done.stderr).splitlines() if "sextant" in line.lower() and not NEWER.search(line)]
        assert not found, f"systemd-analyze verify: {found}"

    def check_used(self):
        """As an ordinary user, with the output of the program that was packaged."""
        built = TOP / ".build/static/release/sextant"
        recording = self.root / "tmp/recording"
        done = subprocess.run([built, "record", "--device", "sim:walk", "--seconds", "3", recording], capture_output=True, text=True,
                              env={**os.environ, "SEXTANT_STATE_DIR": os.environ["LAYER"]})
        assert done.returncode == 0, done.stderr
        # A recording is readable by its user alone.
        recording.chmod(0o644)
        number = re.split(r"[+~]", self.version)[0]
        for program in ("sextant", "sextantd"):
            assert self.chroot.run(program, "--version", user="ada").strip() == f"{program} {number}", f"{program} --version"
        decoded = self.chroot.run("sextant", "decode", "/tmp/recording", user="ada")
        assert decoded == run(built, "decode", recording), "sextant decode"
        print(f"sextant decode: {decoded.count(chr(10))} lines, equal to those of the build")
        # The administrator's files, units that are enabled, and state.
        self.chroot.run("mkdir", "-p", "/etc/sextant", "/var/lib/sextant")
        for example in ("sextant/examples/config", "sextant/examples/devices", "sextantd/examples/policy"):
            self.chroot.run("cp", f"/usr/share/doc/{example}", "/etc/sextant/")
        self.chroot.run("sextant", "devices", user="ada")
        self.chroot.run("systemctl", "enable", *UNITS)
        self.chroot.run("install", "-d", "-o", "sextant", "-g", "sextant", "-m", "700", "/var/lib/sextantd/users")
        self.step("used")

    def check_upgraded(self):
        self.install(f"{self.version}+1")
        assert self.chroot.run("dpkg-query", "-W", "-f", "${Version}", "sextantd") == f"{self.version}+1", "upgrade"
        assert self.chroot.run("systemctl", "is-enabled", "sextantd.service").strip() == "enabled", "the upgrade has disabled sextantd.service"
        assert self.kept(), "the upgrade has removed configuration or state"
        self.step("upgraded")

    def check_purged(self, before):
        self.chroot.run("dpkg", "-r", *self.names)
        assert self.kept(), "the removal is not a purge: configuration and state"
        self.chroot.run("dpkg", "-P", *self.names)
        left = added(before, listed(self.chroot))
        self.step("purged")
        print("left: " + "\n".join([re.sub(r":\d+(?=:)", ":N", line) for line in left] or ["nothing"]), flush=True)
        more = [line for line in left if not ACCOUNTS.match(line)]
        assert not more, f"the purge leaves more than the accounts: {more}"


def check(suite, root):
    one = Rig(suite, root)
    one.chroot.run("useradd", "--create-home", "ada")
    before = listed(one.chroot)
    one.check_installed(before)
    one.check_used()
    one.check_upgraded()
    one.check_purged(before)


if __name__ == "__main__":
    if "LAYER" not in os.environ:
        debian.make_packages(f"{debian.version()}+1")
    debian.for_suites("", check, INCLUDE)
    if "LAYER" not in os.environ:
        begin = time.monotonic()
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *DEBS.glob(f"*_{debian.version()}_{ARCHITECTURE}.deb")])
        print(f"packages: lintian: {time.monotonic() - begin:.0f} s")
        sys.exit(done.returncode)
