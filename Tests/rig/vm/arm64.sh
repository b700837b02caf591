#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# A 64-bit ARM machine (QEMU's `virt`) with Debian's kernel and systemd: the packages are installed, a u-blox receiver is plugged in,
# unplugged and plugged in again.
# usage: arm64.sh DEBS VERSION CHROOT QEMU, as root      DEBS has the packages; the other two as in build-arm64.sh
#   RIG=FOLDER     as in run.sh
#   IMAGE=FOLDER   the image (default: .build/rig/image-arm64, built there when it is missing)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../../.." && pwd)
rig=${RIG:-$project/../shared/rig/vm}
image=${IMAGE:-$project/.build/rig/image-arm64}
port=${PORT:-3270}
[ -x "$rig/boot.py" ] || { echo "arm64.sh: no virtual machine: $rig has no boot.py; name the folder that has it with RIG=" >&2; exit 69; }
begin=$SECONDS
if [ ! -e "$image/versions" ]; then
  "$here/build-arm64.sh" "$3" "$4" "$image"
  echo "arm64: image: $((SECONDS - begin)) s"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/share" "$work/bin"
cp "$1/sextant_$2_arm64.deb" "$1/sextantd_$2_arm64.deb" "$here/guest-harness.sh" "$here/guest-arm64.sh" "$work/share/"
python3 "$here/../phrases.py" > "$work/share/phrases.sh"
# The rig starts an x86-64 machine. This program of the same name starts an ARM machine with the same devices.
cat > "$work/bin/qemu-system-x86_64" <<'MACHINE'
#!/usr/bin/env python3
import os, sys
replaced = {"pc,usb=off,vmport=off": "virt", "max": "cortex-a72"}
words = [replaced.get(word, word.replace("console=ttyS0", "console=ttyAMA0")) for word in sys.argv[1:]]
os.execvp("qemu-system-aarch64", ["qemu-system-aarch64", *words])
MACHINE
chmod 755 "$work/bin/qemu-system-x86_64"
command -v qemu-system-aarch64 >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends qemu-system-arm >/dev/null; }

begin=$SECONDS
# Seconds. It only ends a machine that would never end.
PATH="$work/bin:$PATH" "$rig/boot.py" --image "$image" --share "$work/share" --work "$work/machine" --times --timeout 1800 \
  --when start "host python3 $rig/usbip-gnss.py --port $port --wire \$RIG/acm.sock --control \$RIG/acm.ctl > $work/acm.log" \
  --when start "host python3 $here/emulate.py \$RIG/acm.sock" \
  --when want-unplug "host echo unplug | socat - UNIX:\$RIG/acm.ctl" \
  -- "bash guest-arm64.sh $port $2" | tee "$work/out"
grep -q done-guest "$work/out" || { echo "FAIL the guest did not reach its end"; exit 1; }
echo "--- $(grep -c PASS "$work/out") passed in the guest, $(grep -c FAIL "$work/out" || true) failed; $(cat "$image/versions"); $((SECONDS - begin)) s"
! grep -q FAIL "$work/out"
