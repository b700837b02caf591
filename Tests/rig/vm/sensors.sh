#!/usr/bin/env bash
# sensors.sh - the computer's own sensors by the real kernel, in a virtual machine: a magnetometer's driver (industrial I/O
# over a stub of its I2C chip), its heading, turn, loss and return; ranging without a Bluetooth adapter, and with two virtual
# ones under BlueZ's own bluetoothd.
# usage: Tests/rig/vm/sensors.sh BIN-FOLDER        root; BIN-FOLDER holds sextant and sextant-track
#   RIG=FOLDER, IMAGE=FOLDER   as in run.sh, which builds the image
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../../.." && pwd)
bin=$(cd "$1" && pwd)
rig=${RIG:-$project/../shared/rig/vm}
image=${IMAGE:-$project/.build/rig/image}

if [ ! -x "$rig/boot.py" ]; then
  echo "sensors.sh: no virtual machine: $rig has no boot.py; name the folder that has it with RIG=" >&2
  exit 69
fi
if [ ! -e "$image/versions" ] || ! command -v qemu-system-x86_64 >/dev/null; then
  echo "sensors.sh: there is no image in $image; run.sh builds it" >&2
  exit 69
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
share=$work/share
mkdir -p "$share/lib"
for program in sextant sextant-track; do strip -o "$share/$program" "$bin/$program"; done
# The Swift runtime, from wherever the toolchain has it.
for library in $(ldd "$bin/sextant" "$bin/sextant-track" |
  sed -n 's/.*=> \(\/.*\/lib\(swift\|dispatch\|Blocks\|_\?Foundation\)[^ ]*\) .*/\1/p' | sort -u); do
  strip -o "$share/lib/$(basename "$library")" "$library"
done
cp "$here/guest-sensors.sh" "$share/"
"$rig/boot.py" --image "$image" --share "$share" --work "$work/machine" --times --timeout 300 \
  -- "bash guest-sensors.sh" | tee "$work/out"
grep -q done-guest "$work/out" || { echo "FAIL the guest did not come to its end"; exit 1; }
echo "--- $(grep -c PASS "$work/out") passed in the guest, $(grep -c FAIL "$work/out" || true) failed"
! grep -q FAIL "$work/out"
