#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# sensors.sh - the computer's own sensors by the real kernel, in a virtual machine: a magnetometer's driver (industrial I/O
# over a stub of its I2C chip), its heading, turn, loss and return; ranging without a Bluetooth adapter, and with two virtual
# ones under BlueZ's own bluetoothd.
# usage: Tests/rig/vm/sensors.sh BIN-FOLDER        root; BIN-FOLDER holds sextant and sextant-track
#   RIG=FOLDER, IMAGE=FOLDER   as in run.sh, which builds the image
set -euo pipefail
. "$(dirname "$0")/machine.sh"
need_image

share_programs sextant sextant-track
run_guest guest-sensors.sh
