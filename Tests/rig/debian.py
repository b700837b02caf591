# SPDX-License-Identifier: Apache-2.0
"""Chroots of Debian's suites, for rigs that install the packages of `make deb`.

The environment names the suites (SUITES, default bookworm) and the architecture (ARCH, default this machine's). .build/rig-deb keeps the
chroots.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
DEBS = TOP / ".build" / "deb"
WORK = TOP / ".build" / "rig-deb"
QEMU = TOP / ".build" / "board" / "qemu" / "qemu-aarch64"
FOREIGN = TOP / "Tests" / "rig" / "foreign.sh"


def run(*command, **options):
    """The output of a command, which has to succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


HOST = run("dpkg", "--print-architecture").strip()
ARCHITECTURE = os.environ.get("ARCH") or HOST
# The command before one that runs programs of another architecture.
EMULATION = [] if ARCHITECTURE == HOST else [FOREIGN, QEMU]


def version():
    """The version of the packages of `make deb`."""
    return run(TOP / "packaging/version.sh").strip()


def make_packages(number):
    """Packages with another version, of the files that `make deb` has collected."""
    sysroot = {} if ARCHITECTURE == HOST else {"SYSROOT": str(TOP / ".build/board/sysroot")}
    run(TOP / "packaging/deb.sh", DEBS / f"tree-{ARCHITECTURE}", ARCHITECTURE, number, DEBS, env={**os.environ, **sysroot})


def make_base(name, suite, include=()):
    """A chroot as `debootstrap --variant=minbase` makes it, with this machine's way to Debian's archive. It is made once."""
    WORK.mkdir(parents=True, exist_ok=True)
    base = WORK / name
    if base.with_suffix(".complete").exists():
        return base
    shutil.rmtree(base, ignore_errors=True)
    run("debootstrap", f"--arch={ARCHITECTURE}", *(["--foreign"] if EMULATION else []), "--variant=minbase",
        *([f"--include={','.join(include)}"] if include else []), suite, base)
    if EMULATION:
        # The devices are there since the first stage; as in a container of this kind, the second one makes none.
        run(*EMULATION, "chroot", base, "/debootstrap/debootstrap", "--second-stage", env={**os.environ, "container": "lxc"})
    for configuration in pathlib.Path("/etc/apt/apt.conf.d").glob("*"):
        if "Acquire::" in configuration.read_text():
            shutil.copy(configuration, base / "etc/apt/apt.conf.d/")
    shutil.copy("/etc/resolv.conf", base / "etc/resolv.conf")
    base.with_suffix(".complete").touch()
    return base


def for_suites(suffix, check, include=(), most=None):
    """Runs `check` with each suite, or the first `most`, and the root folder of a layer above its chroot, which stays as it is. This program runs again for it, in
    namespaces that end with it; the packages are in its folder /rig."""
    if "LAYER" in os.environ:
        return check(os.environ["SUITE"], pathlib.Path(os.environ["LAYER"]) / "root")
    if os.geteuid() != 0:
        sys.exit("a chroot needs root; run it with sudo")
    for suite in os.environ.get("SUITES", "bookworm").split()[:most]:
        base = make_base(f"{suite}-{ARCHITECTURE}{suffix}", suite, include)
        with tempfile.TemporaryDirectory() as layer:
            script = '''mount -t tmpfs none "$LAYER"; mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
                mount -t overlay -o "lowerdir=$0,upperdir=$LAYER/upper,workdir=$LAYER/work" none "$LAYER/root"
                mount --rbind /dev "$LAYER/root/dev"; mkdir "$LAYER/root/rig"; mount --bind "$1" "$LAYER/root/rig"; shift; exec "$@"'''
            inside = 'mount -t proc none "$LAYER/root/proc"; exec "$0" "$@"'
            # The processes of another architecture get their namespace from foreign.sh.
            processes = EMULATION or ["unshare", "--pid", "--fork", "--kill-child"]
            done = subprocess.run(["unshare", "--mount", "sh", "-ec", script, base, DEBS, *processes, "sh", "-ec", inside, sys.executable,
                                   *sys.argv], env={**os.environ, "LAYER": layer, "SUITE": suite})
        if done.returncode:
            sys.exit(done.returncode)


class Chroot:
    """Commands in a chroot, as root or as user ada."""

    def __init__(self, root):
        self.root = root

    def command(self, *words, user=None):
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
        # In the folder of the packages: dpkg takes names relative to it.
        return subprocess.run(["chroot", self.root, "/bin/sh", "-c", 'cd /rig && exec "$@"', "sh", *as_user, *map(str, words)],
                              capture_output=True, text=True, env=environment)

    def run(self, *words, user=None):
        done = self.command(*words, user=user)
        assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout
