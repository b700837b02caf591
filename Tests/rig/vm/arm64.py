#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A 64-bit ARM machine (QEMU's `virt`) with Debian's kernel and systemd: the packages are installed, a u-blox receiver is plugged in, unplugged
and plugged in again.

usage: arm64.py, as root. `make deb ARCH=arm64` builds the packages; the image is made of the chroot of bookworm for arm64, which rig
       `packages` makes with ARCH=arm64. PORT names another TCP port for the receiver; machine.py has the other variables
"""
RIG = {"packages": {"qemu-system-arm": "qemu-system-aarch64", "busybox-static": "busybox", "socat": "socat", "cpio": "cpio", "kmod": "depmod"},
       "needs": ["root", "virtual machine", "packages for arm64"], "arguments": [], "seconds": 600}

import os
import pathlib
import subprocess
import sys
import time

import machine
from machine import BUILT, HERE, Machine, control, receiver

sys.path.append(str(HERE.parent))
import debian  # noqa: E402

PORT = int(os.environ.get("PORT", 3270))
# The rig starts an x86-64 machine. This program of the same name starts an ARM machine with the same devices.
QEMU = """#!/usr/bin/env python3
import os, sys
replaced = {"pc,usb=off,vmport=off": "virt", "max": "cortex-a72"}
words = [replaced.get(word, word.replace("console=ttyS0", "console=ttyAMA0")) for word in sys.argv[1:]]
os.execvp("qemu-system-aarch64", ["qemu-system-aarch64", *words])
"""


def make_image():
    machine.must_have_boot()
    image = pathlib.Path(os.environ.get("IMAGE") or BUILT / "image-arm64")
    if not (image / "versions").exists():
        chroot = debian.WORK / "bookworm-arm64"
        if not chroot.with_suffix(".complete").exists():
            sys.exit(f"no chroot in {chroot}; ARCH=arm64 Tests/rig/run packages makes it")
        begin = time.monotonic()
        subprocess.run([HERE / "build-arm64.sh", chroot, debian.QEMU, image], check=True)
        print(f"arm64: image: {time.monotonic() - begin:.0f} s", flush=True)
    return image


def main():
    version = debian.version()
    with Machine(make_image(), limit=1800) as one:
        one.share_programs(None)
        one.share_files(*(debian.DEBS / f"{name}_{version}_arm64.deb" for name in ("sextant", "sextantd")), HERE / "guest-arm64.sh")
        (one.work / "bin").mkdir()
        qemu = one.work / "bin/qemu-system-x86_64"
        qemu.write_text(QEMU)
        qemu.chmod(0o755)
        os.environ["PATH"] = f"{qemu.parent}:{os.environ['PATH']}"
        begin = time.monotonic()
        one.boot(f"bash guest-arm64.sh {PORT} {version}", whens=[
            *receiver(PORT, one.work), ("want-unplug", control("acm", "unplug"))])
        print(f"arm64: {(one.image / 'versions').read_text().strip()}; {time.monotonic() - begin:.0f} s")
        one.end()


main()
