# SPDX-License-Identifier: Apache-2.0
"""A magnetometer of the kernel's, as files in a folder."""
import math
import os

NORTH, DOWN, SCALE = 21.0, 44.0, 0.001  # microtesla, microtesla, gauss a count


class Magnetometer:
    """A folder that looks like the kernel's magnetometer, level, with a field of the device's own."""

    def __init__(self, root, own=(0, 0, 0)):
        self.root, self.own = root, own
        self.path = f"{root}/bus/iio/devices/iio:device0"
        os.makedirs(self.path)
        for name, text in dict(
                name="hmc5883\n", in_magn_scale=f"{SCALE}\n", in_magn_sampling_frequency="75\n",
                in_mount_matrix="0, 1, 0; -1, 0, 0; 0, 0, 1\n").items():
            with open(f"{self.path}/{name}", "w") as file:
                file.write(text)
        self.files = [
            os.open(f"{self.path}/in_magn_{axis}_raw", os.O_RDWR | os.O_CREAT, 0o600) for axis in "xyz"]
        self.turn(0)

    def turn(self, degrees):
        angle = math.radians(degrees)
        device = [-NORTH * math.sin(angle), NORTH * math.cos(angle), -DOWN]
        x, y, z = [a + b for a, b in zip(device, self.own)]
        # The part sits turned by a quarter: its x is the device's -y.
        for file, value in zip(self.files, [-y, x, z]):
            os.pwrite(file, f"{round(value / 100 / SCALE):7d}\n".encode(), 0)
