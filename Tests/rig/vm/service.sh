#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# service.sh - the location service on a machine with systemd as process 1, udev, polkit and the units as they ship: socket
# activation, the sandbox and attacks from inside it (attacks.c), plug and unplug, permission of two users, and a program that is
# started at a region's border after a reboot. The disk of the machine is a throw-away snapshot, so the state of the first boot is
# carried to the second one.
# usage: Tests/rig/vm/service.sh BIN-FOLDER        root; BIN-FOLDER holds sextant, sextant-track and sextantd
#   RIG=FOLDER, IMAGE=FOLDER   as in run.sh
set -euo pipefail
. "$(dirname "$0")/machine.sh"
port=${PORT:-3260}

build_image
share_programs sextant sextant-track sextantd
cp -r "$project/hw-rules" "$share/"
cp "$here"/guest-{service,install}.sh "$share/"
gcc -O2 -Wall -Wextra -Werror -static -o "$share/attacks" "$here/attacks.c"
prepare_systemd

boot() {
  echo outside > "$work/place"
  "$rig/boot.py" --image "$work" --share "$share" --work "$work/machine" --times --timeout $limit \
    --when start "host python3 $rig/usbip-gnss.py --port $port --wire \$RIG/acm.sock --control \$RIG/acm.ctl > $work/acm.log" \
    --when start "host python3 $here/emulate.py \$RIG/acm.sock $work/place" \
    "${@:2}" -- "bash guest-service.sh $1 $port" | tee -a "$work/out"
}
boot first --when want-unplug "host echo unplug | socat - UNIX:\$RIG/acm.ctl"
# The emulator reads the file five times a second, and must not find it empty.
place() { echo "host echo $1 > $work/place.new && mv $work/place.new $work/place"; }
boot second --when want-inside "$(place inside)" --when want-outside "$(place outside)"
[ "$(grep -c done-guest "$work/out")" = 2 ] || { echo "FAIL the guest did not reach its end"; exit 1; }
print_count
! grep -q FAIL "$work/out"
