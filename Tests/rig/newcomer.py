#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hour of a newcomer in a bare chroot, by README's words: its commands and programs are read from README, so that a changed page is what
is tested. The packages from a repository, the first fix, the page in a browser, the two packages of Swift, and `make deb`. As root.

usage: newcomer.py [STEP...], as root; debian.py has the variables

The newcomer's home is beside the chroot while the rig runs: gigabytes of builds. Without a STEP all are made: packages, fix, page, clone,
deb, programs. The chroot sees the toolchain of this machine read-only, and its caches of packages.
"""
RIG = {"prepare": [["make", "deb"]],
       "packages": {"debootstrap": "debootstrap", "gnupg": "gpg", "chromium": "chromium", "fonts-inter": "/usr/share/fonts/opentype/inter"},
       "needs": ["root", "Debian's archive", "release build"], "arguments": [], "seconds": 3000}

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import debian
from browser import Browser
from debian import TOP, run
from repository import README, Rig

# The packages of Debian that swift.org's toolchain needs (https://www.swift.org/install/linux), without the debugger's libraries.
TOOLCHAIN = "ca-certificates binutils gcc git libc6-dev g++ libcurl4-openssl-dev libsqlite3-0 libncurses6 libxml2-dev zlib1g-dev tzdata"
# Seconds; it only ends a wait that would never end. A build of the whole package takes a quarter of an hour on two cores.
LIMIT = 3600
# README's commands for the simulator, and what they print.
PRINTED = {"sextant watch --demo": r"^[0-9-]+T[0-9:.]+Z  48\.[0-9]+ 11\.[0-9]+ ", "sextant view --demo": r"the page is at (http://127\.0\.0\.1:\d+/)"}
STEPS = ("packages", "fix", "page", "clone", "deb", "programs")


def readme_blocks():
    """The blocks of README that are commands: a list of lines each."""
    return [[line.strip() for line in block.splitlines()] for block in re.findall(r"(?:^    \S.*\n)+", README.read_text(), re.M)]


def block_with(word):
    """README's only block with this word."""
    found = [block for block in readme_blocks() if any(word in line for line in block)]
    assert len(found) == 1, f"{len(found)} blocks of README have '{word}'"
    return found[0]


class Command:
    """A command of the newcomer that runs until it prints what is wanted."""

    def __init__(self, newcomer, line):
        self.line, self.text = line, ""
        self.process = subprocess.Popen(newcomer.command(line), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self.changed:
                self.text += line
                self.changed.notify_all()
        with self.changed:
            self.process.wait()
            self.changed.notify_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, 15)
        self.process.wait()

    def wait_for(self, pattern):
        with self.changed:
            self.changed.wait_for(lambda: re.search(pattern, self.text, re.M) or self.process.returncode is not None, LIMIT)
            found = re.search(pattern, self.text, re.M)
        assert found, f"'{self.line}' does not print {pattern}:\n{self.text[-3000:]}"
        return found


class Newcomer(Rig):
    """The rig of the repository with a user, who may use sudo, and whose home is on the disk of this machine."""

    def prepare(self, home):
        self.home, self.checkout = home, home / "sextant"
        self.inside("apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo")
        self.inside("useradd --create-home --shell /bin/bash ada")
        (self.root / "etc/sudoers.d/ada").write_text("ada ALL=(ALL) NOPASSWD: ALL\n")
        home.mkdir()
        run("chown", run("stat", "-c", "%u:%g", self.root / "home/ada").strip(), home)
        run("mount", "--bind", home, self.root / "home/ada")

    def command(self, line):
        """The command line that runs a line as the user, with the answer of a person at a terminal to the question for permission."""
        path = f"{toolchain() / 'usr/bin'}:/usr/local/bin:/usr/bin:/bin"
        return ["chroot", self.root, "setpriv", "--reuid=ada", "--regid=ada", "--init-groups", "env", "-i", f"PATH={path}", "HOME=/home/ada",
                "USER=ada", "LC_ALL=C.UTF-8", "SEXTANT_AUTHORIZATION=always", *proxies(), "bash", "-ec", f"cd; {line}"]

    def do(self, line):
        """Runs a line to its end."""
        done = subprocess.run(self.command(line), stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{(done.stdout + done.stderr)[-3000:]}"
        return done.stdout


def proxies():
    return [f"{name}={value}" for name, value in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "no_proxy")]


def toolchain():
    """The folder whose usr/bin has the compiler."""
    return pathlib.Path(shutil.which("swift")).resolve().parents[2]


def packages(newcomer):
    """README's three lines; its first block has the same packages, which step `deb` builds."""
    newcomer.publish(newcomer.new)
    for line in newcomer.readme_lines("sudo "):
        newcomer.do(line)
    assert newcomer.do("sextant --version").split() == ["sextant", newcomer.new]


def fix(newcomer):
    """README's first command; then a receiver on a line, whose path is the argument, as README says of /dev/ttyACM0."""
    assert "sextant watch --demo" in block_with("sextant watch")
    with Command(newcomer, "sextant watch --demo") as watch:
        watch.wait_for(PRINTED["sextant watch --demo"])
    assert "The argument `/dev/ttyACM0` of either selects one receiver" in README.read_text()
    with Command(newcomer, "sextant simulate --model m10 --link ~/receiver") as simulator:
        simulator.wait_for("^/dev/pts/")
        with Command(newcomer, "sextant watch ~/receiver") as watch:
            watch.wait_for(PRINTED["sextant watch --demo"])


def page(newcomer):
    """README's second command: the page shows a fix, at the second visit too, without an error in the console."""
    assert "sextant view --demo" in block_with("sextant view")
    with Command(newcomer, "sextant view --demo") as view:
        address = view.wait_for(PRINTED["sextant view --demo"])[1]
        assert "text/html" in urllib.request.urlopen(address, timeout=LIMIT).headers["Content-Type"]
        if not shutil.which("chromium"):
            print("newcomer: no chromium here: the page is fetched, not shown", flush=True)
            return
        with Browser() as browser:
            for visit in range(2):
                tab = browser.open(address)
                tab.wait("state.fix.mode === 3 && document.querySelector('[data-field=status]').textContent !== 'no fix'")
                assert not tab.errors, tab.errors
                tab.close()


def clone(newcomer):
    """The checkout, as a clone has it, and what swift.org's toolchain needs. The caches come from this machine."""
    newcomer.inside(f"apt-get install -y -qq --no-install-recommends {TOOLCHAIN}")
    os.makedirs(newcomer.root / toolchain().relative_to("/"), exist_ok=True)
    mount_read_only(toolchain(), newcomer.root / toolchain().relative_to("/"))
    run("git", "clone", "-q", "--no-hardlinks", TOP, newcomer.checkout)
    # The versions that are tested here.
    if (TOP / "Package.resolved").exists():
        shutil.copy(TOP / "Package.resolved", newcomer.checkout)
    take_packages(newcomer)
    run("chown", "-R", "--reference", newcomer.home, newcomer.home)
    newcomer.do("swift --version")


def take_packages(newcomer):
    """This machine's way to the packages that Package.swift names: its cache, and the folders of it that git takes for their addresses."""
    caches = pathlib.Path.home() / ".cache/org.swift.swiftpm"
    if caches.exists():
        shutil.copytree(caches, newcomer.home / ".cache/org.swift.swiftpm", symlinks=True)
    listed = subprocess.run(["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], capture_output=True, text=True).stdout
    with open(newcomer.root / "etc/gitconfig", "a") as configuration:
        for name, address in (line.split(maxsplit=1) for line in listed.splitlines()):
            folder = name.removeprefix("url.").removesuffix(".insteadof")
            configuration.write(f'[url "{folder}"]\n\tinsteadOf = {address}\n')
            place = newcomer.root / folder.lstrip("/")
            if os.path.isdir(folder) and not place.exists():
                os.makedirs(place)
                mount_read_only(folder, place)
        # They belong to another user.
        configuration.write("[safe]\n\tdirectory = *\n")


def mount_read_only(folder, place):
    run("mount", "--rbind", folder, place)
    run("mount", "-o", "remount,bind,ro", place)


def programs(newcomer):
    """The packages of README, which a script of the checkout makes of its text, compiles, and runs; and README's other commands. The library
    that the simulator's product needs is installed as `make` does."""
    newcomer.do(" && ".join(line.replace("apt install", "apt install -y") for line in block_with("make deb")[:1]))
    newcomer.do("cd sextant && make dependencies")
    # The script that reads README is this rig's, not the newcomer's: what it needs is installed after step `deb`, which has to install what
    # it needs by itself.
    newcomer.inside("apt-get install -y -qq --no-install-recommends python3")
    newcomer.do("cd sextant && Tests/clients/readme.sh ~/sextant/.build")


def deb(newcomer):
    """README's first block."""
    block = block_with("make deb")
    assert block[1] == "make deb", block
    for line in block:
        newcomer.do("cd sextant && " + line.replace("apt install", "apt install -y --reinstall --allow-downgrades"))
    assert newcomer.do("sextant --version").split() == ["sextant", newcomer.new]
    with Command(newcomer, "sextant watch --demo") as watch:
        watch.wait_for(PRINTED["sextant watch --demo"])


def check(suite, root):
    steps = sys.argv[1:]
    assert set(steps) <= set(STEPS), f"the steps are {STEPS}"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir=debian.WORK, ignore_cleanup_errors=True) as home:
        newcomer = Newcomer(debian.version(), debian.version(), suite, root, pathlib.Path(folder))
        try:
            newcomer.prepare(pathlib.Path(home) / "ada")
            for step in steps or STEPS:
                begin = time.monotonic()
                globals()[step](newcomer)
                print(f"newcomer: {suite}: {step}: ok, {time.monotonic() - begin:.0f} s", flush=True)
        finally:
            subprocess.run(["gpgconf", "--kill", "gpg-agent"], env=newcomer.environment)
            subprocess.run(["umount", "-l", root / "home/ada"])


debian.for_suites("-bare", check, most=1)
