#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of a board beside its UART, by the real kernel in a virtual machine: a receiver on I2C, a GPIO line as the switch of its
supply, an accelerometer that reports a movement by its interrupt.

usage: board.py FOLDER, as root; FOLDER has sextant and sextant-track; machine.py has the variables

All three are behind a USB bridge whose far end is a program (bridge.c). The drivers are the kernel's own; they are not in the machine's
image, but taken from Debian's package of that kernel. A simulation without a bridge is not possible: linux-image 6.1 has no
CONFIG_GPIO_SIM, GPIO_MOCKUP, GPIO_AGGREGATOR, IIO_SIMPLE_DUMMY, IIO_SW_DEVICE, IRQ_SIM, I2C_GPIO, I2C_SLAVE or ACPI_CONFIGFS. It has
i2c-stub, the magnetometer of sensors.py; but its registers keep the bytes that are written to them, where a receiver's 0xFF is a stream,
and it does SMBus alone, where Sextant needs plain transfers.
"""
RIG = {"programs": ["sextant", "sextant-track"], "packages": {"binutils": "strip", "gcc": "gcc", "libc6-dev": "/usr/include/stdio.h"},
       "needs": ["root", "virtual machine"], "seconds": 104, "ci": True}

import pathlib
import re
import shutil
import sys
import tempfile

import machine
from machine import BUILT, HERE, Machine, run

MODULES = ("uhid", "hid_cp2112", "i2c_dev", "bmc150_accel_i2c")


def drivers(one):
    """The folder with the drivers, and their order in file `order`. The package of 70 MB is fetched once."""
    package, version = machine.version_of(one.image)
    kernel = package.removeprefix("linux-image-")
    folder = BUILT / "modules" / version
    if (folder / "rig_motion.ko").exists():
        return folder
    print(f"fetching {package} for its drivers (70 MB), once", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as unpacked:
        run("apt-get", "-o", "APT::Sandbox::User=root", "-qq", "download", f"{package}={version}", cwd=unpacked)
        run("dpkg-deb", "-x", *pathlib.Path(unpacked).glob("*.deb"), unpacked)
        run("depmod", "-b", unpacked, kernel)
        # In the order in which they have to be loaded.
        listed = "".join(run("modprobe", "-d", unpacked, "-S", kernel, "--show-depends", module) for module in MODULES)
        files = list(dict.fromkeys(re.findall(r"^insmod (\S+)", listed, re.M)))
        for file in files:
            shutil.copy(file, folder)
        (folder / "order").write_text("".join(f"{pathlib.Path(file).name}\n" for file in files))
    # Last: it shows that the folder is complete.
    shutil.move(one.build_module(HERE / "rig_motion", folder / "build.log"), folder)
    return folder


with Machine(machine.make_image("image")) as one:
    one.share_programs(sys.argv[1], "sextant", "sextant-track")
    one.build(HERE / "bridge.c")
    shutil.copytree(drivers(one), one.share / "modules")
    one.share_files(HERE / "guest-board.sh")
    one.boot("bash guest-board.sh")
    one.end()
