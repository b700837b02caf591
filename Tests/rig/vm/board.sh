#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# board.sh - the parts of a board beside its UART, by the real kernel in a virtual machine: a receiver on I2C, a GPIO line as the
# switch of its supply, an accelerometer that reports a movement by its interrupt. All three are behind a USB bridge whose far
# end is a program (bridge.c). The drivers are the kernel's own; they are not in the machine's image, but taken from Debian's
# package of that kernel. A simulation without a bridge is not possible: linux-image 6.1 has no CONFIG_GPIO_SIM, GPIO_MOCKUP,
# GPIO_AGGREGATOR, IIO_SIMPLE_DUMMY, IIO_SW_DEVICE, IRQ_SIM, I2C_GPIO, I2C_SLAVE or ACPI_CONFIGFS. It has i2c-stub, the
# magnetometer of sensors.sh; but its registers keep the bytes that are written to them, where a receiver's 0xFF is a stream, and
# it does SMBus alone, where Sextant needs plain transfers.
# usage: Tests/rig/vm/board.sh BIN-FOLDER        root; BIN-FOLDER holds sextant and sextant-track
#   RIG=FOLDER, IMAGE=FOLDER   as in run.sh, which builds the image
set -euo pipefail
. "$(dirname "$0")/machine.sh"
need_image

package=$(sed -n 's/^kernel \([^ ]*\) .*/\1/p' "$image/versions")
version=$(sed -n 's/^kernel [^ ]* \([^;]*\);.*/\1/p' "$image/versions")
kernel=${package#linux-image-}
modules=$project/.build/rig/modules/$version
if [ ! -e "$modules/rig_motion.ko" ]; then
  echo "fetching $package for its drivers (70 MB), once" >&2
  unpacked=$(mktemp -d)
  (cd "$unpacked" && apt-get -o APT::Sandbox::User=root -qq download "$package=$version" && dpkg-deb -x ./*.deb .)
  depmod -b "$unpacked" "$kernel"
  rm -rf "$modules" && mkdir -p "$modules"
  # In the order in which they have to be loaded.
  for module in uhid hid_cp2112 i2c_dev bmc150_accel_i2c; do
    modprobe -d "$unpacked" -S "$kernel" --show-depends "$module"
  done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r file; do
    cp "$file" "$modules/"
    basename "$file" >> "$modules/order"
  done
  cp -r "$here/rig_motion" "$unpacked/build"
  make -s -C "/usr/src/linux-headers-$kernel" M="$unpacked/build" modules > "$modules/build.log" 2>&1 ||
    { cat "$modules/build.log" >&2; exit 1; }
  mv "$unpacked/build/rig_motion.ko" "$modules/"
  rm -rf "$unpacked"
fi

share_programs sextant sextant-track
gcc -O2 -Wall -Wextra -Werror -static -o "$share/bridge" "$here/bridge.c"
cp -r "$modules" "$share/modules"
run_guest guest-board.sh
