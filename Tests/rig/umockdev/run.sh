#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# run.sh - hot plugs through the real libudev, on a mocked /sys and /dev.
# usage: Tests/rig/umockdev/run.sh BIN-FOLDER [CYCLES]       root; BIN-FOLDER holds HotplugProbe, sextant and sextant-track
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
cycles=${2:-100}
if [ "$(id -u)" != 0 ]; then
  echo "run.sh: a hang-up of a terminal (TIOCVHANGUP) needs root; run it with sudo" >&2
  exit 77
fi

# The testbed gets a /run of its own, because libudev takes udevd for running when its control socket has a listener, and
# pseudo-terminals of its own: a program elsewhere that waits for its /dev/pts/N would otherwise open ours under that number.
bed() {
  unshare --mount sh -c '
    mount -t tmpfs none /run && mkdir /run/udev &&
    mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx &&
    exec "$@"' sh \
    umockdev-wrapper /usr/bin/python3 "$here/testbed.py" "$@"
}

echo "== the first receiver, under changing names"
bed --cycles "$cycles" --descriptors --devices "$bin/sextant devices --json" -- "$bin/HotplugProbe"
echo "== a receiver named by its link"
bed --cycles 12 --descriptors -- "$bin/HotplugProbe" --device /dev/serial/by-id/usb-u-blox_GNSS_receiver-if00
echo "== without udevd: the list of devices is read once a second"
bed --cycles 6 --descriptors --ready polling -- "$bin/HotplugProbe" --source polling
echo "== sextant watch"
bed --cycles 12 --one-name --served '"TPV".*"lat"' -- "$bin/sextant" watch --device /dev/ttyACM0 --json
echo "== sextant track with two receivers, none of them named"
SEXTANT_STATE_DIR=$(mktemp -d) SEXTANT_APP_STATE=foreground XDG_CONFIG_HOME=/nonexistent \
  bed --standby -- "$bin/sextant-track" --json --no-pause
