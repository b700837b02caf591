#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The apt repository in a bare chroot: installed by README's lines over HTTP on the loopback, upgraded, removed; what is damaged or signed
by another key is refused. As root.

usage: repository.py, as root; debian.py has the variables. OLD_VERSION names the version that is upgraded; its packages are this tree's, if
       there are none in .build/deb
"""
RIG = {"prepare": [["make", "deb"]], "packages": {"debootstrap": "debootstrap", "gnupg": "gpg"},
       "needs": ["root", "Debian's archive", "release build"], "arguments": [], "seconds": 120}

import functools
import http.server
import os
import pathlib
import re
import subprocess
import tempfile
import threading

import debian
from debian import ARCHITECTURE, DEBS, TOP, run

README = TOP / "README.md"
SCRIPT = TOP / "packaging" / "repository.sh"
OLD_VERSION = os.environ.get("OLD_VERSION") or "0.2.0~rig"
# Where apt and dpkg record what they did, and this rig its state.
RECORDS = ("/etc/apt/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/var/lib/dpkg/", "/tmp/")


class Rig:
    def __init__(self, old, new, suite, root, folder):
        self.old, self.new, self.suite, self.root = old, new, suite, root
        self.repository = folder / "repository"
        self.environment = dict(os.environ, GNUPGHOME=str(folder / "keys"), SUITES=suite)
        (folder / "keys").mkdir(mode=0o700)
        for name in ("first", "second"):
            run("gpg", "--batch", "--passphrase", "", "--quick-gen-key", f"Sextant rig, {name} key", "ed25519", "sign", "0",
                env=self.environment)
        listed = run("gpg", "--list-keys", "--with-colons", env=self.environment)
        self.keys = dict(zip(("first", "second"), re.findall(r"^fpr:+(\w+):", listed, re.M), strict=True))
        handler = functools.partial(QuietHandler, directory=str(self.repository))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_port}"

    def publish(self, version, key="first"):
        run(SCRIPT, DEBS, version, self.keys[key], self.repository, ARCHITECTURE, env=self.environment)

    def inside(self, line, check=True):
        done = subprocess.run(["chroot", self.root, "/bin/sh", "-c", line], capture_output=True, text=True, env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"})
        assert not check or done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done

    def version(self, package):
        return self.inside(f"dpkg-query -W -f '${{Version}}' {package}").stdout

    def files(self):
        """The files that have the packages' names, except what apt and dpkg record."""
        found = self.inside("find / -xdev -iname '*sextant*' -o -xdev -iname '*gnss*'").stdout
        return sorted(path for path in found.splitlines() if not path.startswith(RECORDS))

    def readme_lines(self, sudo=""):
        """README's block that names the repository's key, for root, or for a user with sudo."""
        block = next(block for block in re.findall(r"(?:^    \S.*\n)+", README.read_text(), re.M) if "sextant.asc" in block)
        lines = [line.strip().replace("sudo ", sudo).replace("SERVER", self.address) for line in block.splitlines()]
        assert len(lines) == 3, f"README installs in {len(lines)} lines, not three"
        # A person answers yes.
        return [line.replace("apt install", "apt install -y") for line in lines]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def check_install(rig):
    rig.publish(rig.old)
    assert not rig.files(), rig.files()
    for line in rig.readme_lines():
        rig.inside(line)
    assert rig.version("sextant") == rig.version("sextantd") == rig.old
    assert "/usr/lib/systemd/system/sextantd.service" in rig.files(), rig.files()
    assert rig.inside("sextant --version").stdout.startswith("sextant ")
    fixes = rig.inside("SEXTANT_STATE_DIR=/tmp/state sextant watch --device sim:walk --seconds 3 2>&1", check=False).stdout
    assert " 48." in fixes, fixes


def check_upgrade(rig):
    rig.inside("mkdir -p /etc/sextant && cp /usr/share/doc/sextantd/examples/policy /etc/sextant/")
    rig.publish(rig.new)
    rig.inside("apt update")
    assert f"sextant/{rig.suite}" in rig.inside("apt list --upgradable 2>/dev/null").stdout
    rig.inside("apt upgrade -y")
    assert rig.version("sextant") == rig.version("sextantd") == rig.new
    assert (rig.root / "etc/sextant/policy").exists()
    # The earlier release is still there.
    assert rig.old in rig.inside("apt-cache madison sextant").stdout


def check_refusals(rig):
    packages = next(rig.repository.glob("dists/*/main/binary-*/Packages"))
    whole = packages.read_bytes()
    for path in (packages, packages.with_suffix(".gz")):
        path.write_bytes(path.read_bytes()[:-1] + b"#")
    rig.inside("rm -rf /var/lib/apt/lists/*")
    refused = rig.inside("apt-get update -o Dir::Etc::sourceparts=- -o Dir::Etc::sourcelist=sources.list.d/sextant.list", check=False)
    assert refused.returncode != 0 and "Hash Sum mismatch" in refused.stderr, refused
    packages.write_bytes(whole)
    rig.publish(rig.new, "second")
    refused = rig.inside("apt-get update", check=False)
    # gpgv's words in bookworm, sqv's in trixie: both name the key.
    missing = rig.keys["second"][-16:]
    assert missing in refused.stderr, refused.stderr
    # The key is replaced: both sign, then the public keys of the repository are fetched again.
    rig.inside(rig.readme_lines()[0])
    assert missing not in rig.inside("apt-get update").stderr


def check_removal(rig):
    rig.inside("apt purge -y sextant sextantd")
    assert not (rig.root / "usr/bin/sextant").exists()
    assert not rig.files(), rig.files()


def check(suite, root):
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(OLD_VERSION, debian.version(), suite, root, pathlib.Path(folder))
        try:
            for one in (check_install, check_upgrade, check_refusals, check_removal):
                one(rig)
                print(f"repository: {suite}, {ARCHITECTURE}: {one.__name__.removeprefix('check_')}: ok", flush=True)
        finally:
            subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=rig.environment)


if __name__ == "__main__":
    if not (DEBS / f"sextant_{OLD_VERSION}_{ARCHITECTURE}.deb").exists():
        debian.make_packages(OLD_VERSION)
    debian.for_suites("-bare", check)
