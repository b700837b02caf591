#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make install` writes into PREFIX alone, and needs no sudo for a folder of the user's: as an ordinary user, with a sudo that only
reports its call. `make install-units` writes into the system's folders.

usage: install.py, as root
"""
RIG = {"packages": {"make": "make"}, "needs": ["root"], "arguments": [], "seconds": 6, "ci": True}

import os
import pathlib
import re
import subprocess
import sys

import harness
from harness import expect

TOP = pathlib.Path(__file__).resolve().parents[2]
USER = 65534
FOLDERS = ("/etc", "/usr", "/opt")


def files_below(folder):
    return {path for path in folder.rglob("*") if path.is_file() or path.is_symlink()}


class Home:
    """The folder of an ordinary user, and files that stand for the programs, man pages and completions."""

    def __init__(self, work):
        self.work, self.home, self.calls = work, work / "home", work / "sudo.log"
        for folder in ("bin", "programs", "manual/man1", *(f"manual/completions/{shell}" for shell in ("bash", "zsh", "fish"))):
            (work / folder).mkdir(parents=True)
        (work / "bin/sudo").write_text(f'#!/bin/sh\necho "sudo $*" >> "{self.calls}"\nexit 1\n')
        (work / "bin/sudo").chmod(0o755)
        for program in ("sextant", "sextantd"):
            (work / "programs" / program).write_bytes(pathlib.Path("/bin/true").read_bytes())
            (work / "programs" / program).chmod(0o755)
        for name in ("man1/sextant.1", "completions/bash/sextant", "completions/zsh/_sextant", "completions/fish/sextant.fish"):
            (work / "manual" / name).touch()
        self.home.mkdir()
        os.chown(self.home, USER, USER)
        self.calls.touch()
        self.calls.chmod(0o666)

    def run(self, *words, **variables):
        """The exit code of a command as the user."""
        return subprocess.run(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *words], cwd=TOP, stderr=subprocess.DEVNULL,
                              env={**os.environ, "HOME": str(self.home), "PATH": f"{self.work}/bin:{os.environ['PATH']}", **variables}).returncode

    def install(self, prefix):
        return self.run("packaging/install.sh", "programs", PREFIX=str(prefix), PROGRAMS=f"{self.work}/programs", MANUAL=f"{self.work}/manual")


def in_home(folder):
    one = Home(pathlib.Path(folder))
    prefix = one.home / ".local"
    expect(one.install(prefix) == 0, "no installation into the user's folder")
    expect(not one.calls.read_text(), f"sudo is called: {one.calls.read_text()}")
    expect(os.access(prefix / "bin/sextant", os.X_OK), "the program is missing")
    expect((prefix / "share/man/man1/sextant.1").exists(), "the man page is missing")
    others = {path for path in files_below(one.home) if prefix not in path.parents}
    expect(not others, f"files outside of PREFIX: {others}")
    # Of this user alone: other rigs install files at the same time.
    others = subprocess.run(["find", *FOLDERS, "-user", str(USER), "-newer", one.calls], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True).stdout
    expect(not others, f"files of the system: {others}")
    # The pages that help and messages name are there.
    named = {page for path in (TOP / "Sources").rglob("*.swift") for page in re.findall(r"docs/(?:guides|reference)/[a-z-]+\.md", path.read_text())}
    missing = [page for page in sorted(named) if not (prefix / "share/doc/sextant" / page).exists()]
    expect(named and not missing, f"pages that are named and not installed: {missing}")
    expect(one.run("make", "-s", "uninstall", f"PREFIX={prefix}") == 0, "uninstall")
    expect(not files_below(prefix), f"after uninstall: {files_below(prefix)}")


def of_root(folder):
    """A folder of root's is changed by sudo alone."""
    one = Home(pathlib.Path(folder))
    expect(one.install(one.work / "system") != 0, "an installation without permission")
    expect("sudo" in one.calls.read_text(), "sudo is not called for a folder of root's")


def units(folder):
    """Units, polkit's rule and user have a target of their own, in the folders that are named."""
    image = pathlib.Path(folder) / "image"
    words = [f"DESTDIR={image}", "PREFIX=/usr", "LIB=/usr/lib", "USER_UNITS=/usr/lib/systemd/user", "POLKIT=/usr/share/polkit-1/rules.d"]
    subprocess.run(["make", "-s", "-C", TOP, "install-units", *words], check=True)
    for file in ("systemd/system/sextantd.service", "systemd/user/sextant-launcher.service", "sysusers.d/sextant.conf"):
        expect((image / "usr/lib" / file).exists(), f"{file} is not installed")
    expect("/usr/bin/sextantd" in (image / "usr/lib/systemd/system/sextantd.service").read_text(), "the unit starts another program")


if __name__ == "__main__":
    harness.run_checks((in_home, of_root, units), sys.argv[1:])
