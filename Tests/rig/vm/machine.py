# SPDX-License-Identifier: Apache-2.0
"""The virtual machine of the rigs: its image, the folder that it shares with this machine, its start, and the checks of its guest.

The environment names other folders:
  RIG    the folder that builds and boots the machine, with boot.py and build-image.sh (default: ../shared/rig/vm beside the project)
  IMAGE  the image (default: below .build/rig, built there when it is missing, which needs root)
"""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[2]
BOOT = pathlib.Path(os.environ.get("RIG") or TOP.parent / "shared" / "rig" / "vm").resolve()
BUILT = TOP / ".build" / "rig"
# Seconds. It only ends a machine that would never end.
LIMIT = 1200
SYSTEMD = ["systemd", "systemd-sysv", "dbus-user-session", "libpam-systemd", "polkitd"]

sys.path.insert(0, str(HERE.parent))
import phrases  # noqa: E402

UNIT = """[Unit]
After=basic.target dbus.service
[Service]
ExecStart=/sbin/rig-init
StandardOutput=journal+console
TimeoutStopSec=5
[Install]
WantedBy=multi-user.target
"""
COMMANDS = """cd /usr/sbin
rm rig-init
write {here}/systemd-init.sh rig-init
set_inode_field rig-init mode 0100755
cd /etc/systemd/system
write {work}/rig.service rig.service
cd /etc/systemd/system/multi-user.target.wants
symlink rig.service /etc/systemd/system/rig.service
"""


def run(*command, **options):
    """The output of a command, which has to succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, **options)
    if done.returncode:
        sys.exit(f"{command[0]}: failed with {done.returncode}")
    return done.stdout


def must_have_boot():
    if not os.access(BOOT / "boot.py", os.X_OK):
        print(f"no virtual machine: {BOOT} has no boot.py; name the folder that has it with RIG=", file=sys.stderr)
        sys.exit(69)


def make_image(name, packages=()):
    """The folder of an image, which is built if it is missing. systemd is in it for the machines that have it as process 1."""
    must_have_boot()
    image = pathlib.Path(os.environ.get("IMAGE") or BUILT / name)
    image.mkdir(parents=True, exist_ok=True)
    # Rigs that run in parallel need the same image.
    with open(BUILT / "lock" if BUILT in image.parents else image / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (image / "versions").exists() and shutil.which("qemu-system-x86_64") and shutil.which("socat"):
            return image
        if os.geteuid() != 0:
            print("building the machine's image needs root; run it with sudo", file=sys.stderr)
            sys.exit(77)
        print(f"building the virtual machine's image in {image} (two minutes)", file=sys.stderr, flush=True)
        run("apt-get", "update", "-qq")
        with open(image / "build.log", "w") as log:
            done = subprocess.run([BOOT / "build-image.sh", image], stdout=log, stderr=log,
                                  env={**os.environ, "GUEST_PKGS": ",".join([*SYSTEMD, *packages])})
        if done.returncode:
            sys.exit("".join((image / "build.log").read_text().splitlines(keepends=True)[-20:]))
    return image


def version_of(image):
    """The package of the image's kernel, and its version."""
    return re.search(r"^kernel (\S+) ([^;\n]*);", (image / "versions").read_text(), re.M).groups()


class Machine:
    """A virtual machine with the programs of a folder. It is used in a `with` statement, which removes its files."""

    def __init__(self, image, limit=LIMIT):
        self.image, self.limit, self.output = image, limit, ""
        self.folder = tempfile.TemporaryDirectory()

    def __enter__(self):
        self.work = pathlib.Path(self.folder.name)
        self.share = self.work / "share"
        (self.share / "lib").mkdir(parents=True)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def share_files(self, *paths):
        for path in paths:
            if path.is_dir():
                shutil.copytree(path, self.share / path.name)
            else:
                shutil.copy(path, self.share)

    def share_programs(self, folder, *names):
        """The folder that the guest mounts gets these programs, the Swift runtime of the toolchain, and what the guest's scripts source."""
        self.share_files(HERE / "guest-harness.sh")
        (self.share / "phrases.sh").write_text(phrases.shell_variables())
        programs = [pathlib.Path(folder, name) for name in names]
        for one in programs:
            run("strip", "-o", self.share / one.name, one)
        libraries = re.findall(r"=> (/\S*/lib(?:swift|dispatch|Blocks|_?Foundation)\S*) ", run("ldd", *programs)) if programs else []
        for library in sorted(set(libraries)):
            run("strip", "-o", self.share / "lib" / pathlib.Path(library).name, library)

    def build(self, source):
        """Compiles a C program of this folder for the guest."""
        run("gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", self.share / source.stem, source)

    def build_module(self, source, log):
        """Compiles a module of the guest's kernel in a copy of its folder, and returns its file."""
        kernel = version_of(self.image)[0].removeprefix("linux-image-")
        copied = shutil.copytree(source, self.work / source.name)
        with open(log, "w") as output:
            done = subprocess.run(["make", "-s", "-C", f"/usr/src/linux-headers-{kernel}", f"M={copied}", "modules"],
                                  stdout=output, stderr=output)
        if done.returncode:
            sys.exit(pathlib.Path(log).read_text())
        return copied / f"{source.name}.ko"

    def prepare_systemd(self):
        """From now on the image is a copy whose process 1 is systemd, not the rig's own init."""
        log = open(self.work / "debugfs.log", "w")
        disk = self.work / "rootfs.img"
        run("cp", "--sparse=always", self.image / "rootfs.img", disk)
        # The programs of a debug build need space.
        os.truncate(disk, disk.stat().st_size + 400 * 1024 * 1024)
        # 1: errors were corrected.
        assert subprocess.run(["e2fsck", "-f", "-p", disk], stdout=log).returncode <= 1, "e2fsck"
        run("resize2fs", disk, stderr=log)
        for name in ("vmlinux", "initrd.img"):
            shutil.copy(self.image / name, self.work)
        (self.work / "rig.service").write_text(UNIT)
        subprocess.run(["debugfs", "-w", "-f", "/dev/stdin", disk], stdout=log, stderr=log, text=True, check=True,
                       input=COMMANDS.format(here=HERE, work=self.work))
        self.image = self.work

    def boot(self, command, *options, whens=()):
        """Runs a command in the guest, and returns and prints its output. `whens` are texts of the guest with actions, in this order."""
        words = [BOOT / "boot.py", "--image", self.image, "--share", self.share, "--work", self.work / "machine", "--times",
                 "--timeout", self.limit, *options]
        for text, action in whens:
            words += ["--when", text, action]
        process = subprocess.Popen([str(word) for word in [*words, "--", command]], stdout=subprocess.PIPE, text=True, errors="replace")
        lines = []
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
        found = "".join(lines)
        self.output += found
        code = process.wait()
        if code:
            self.end(f"the machine ended with {code}")
        if "done-guest" not in found:
            self.end("the guest did not reach its end")
        return found

    def check(self, holds, text, more=""):
        """A check of this machine, printed and counted like the guest's checks."""
        line = f"{'PASS' if holds else 'FAIL'} {text}\n" + ("" if holds else more)
        print(line, end="", flush=True)
        self.output += line

    def end(self, failure=None):
        """Prints the failed checks again, as the end of a long log is what CI shows, and the count. A failure ends this program."""
        failed = [line for line in self.output.splitlines() if "FAIL" in line] + ([f"FAIL {failure}"] if failure else [])
        passed = sum("PASS" in line for line in self.output.splitlines())
        print("\n".join([*failed, f"--- {passed} passed in the guest, {len(failed)} failed"]), flush=True)
        if failed:
            sys.exit(1)


def receiver(port, work, *options, name="acm", place=""):
    """The actions that plug a receiver in: a USB device on this machine, whose log is in `work`, and the receiver at its wire, at the
    place that the file `place` has."""
    wire = f"$RIG/{name}.sock"
    return [("start", f"host python3 {BOOT}/usbip-gnss.py --port {port} {' '.join(options)} --wire {wire} --control $RIG/{name}.ctl "
                      f"> {work}/{name}.log"),
            ("start", f"host python3 {HERE}/emulate.py {wire} {place}")]


def control(name, text):
    """The action that sends a command to a USB device."""
    return f"host echo {text} | socat - UNIX:$RIG/{name}.ctl"
