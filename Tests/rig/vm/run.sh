#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# run.sh - the real kernel, udevd and drivers, in a virtual machine: CDC-ACM, FTDI and /dev/gnss0.
# usage: Tests/rig/vm/run.sh BIN-FOLDER        root; BIN-FOLDER holds HotplugProbe and sextant
#   RIG=FOLDER     the rig that builds and boots the machine (default: ../shared/rig/vm beside the project)
#   IMAGE=FOLDER   its image (default: .build/rig/image, built there when it is missing)
set -euo pipefail
. "$(dirname "$0")/machine.sh"
port=${PORT:-3250}

build_image
share_programs HotplugProbe sextant
cp "$here/guest.sh" "$project"/hw-rules/60-sextant-gnss.* "$share/"

usb="python3 $rig/usbip-gnss.py"
emulate="python3 $here/emulate.py"
control() { echo "host echo $2 | socat - UNIX:\$RIG/$1.ctl"; }
"$rig/boot.py" --image "$image" --share "$share" --work "$work/machine" --com2 sock --gnss --times --timeout $limit \
  --when start "host $emulate \$RIG/com2.sock" \
  --when start "host $usb --port $port --wire \$RIG/acm.sock --control \$RIG/acm.ctl > $work/acm.log" \
  --when start "host $emulate \$RIG/acm.sock" \
  --when start "host $usb --port $((port + 1)) --model ftdi --serial RIG2 --baud 38400 --wire \$RIG/ftdi.sock --control \$RIG/ftdi.ctl > $work/ftdi.log" \
  --when start "host $emulate \$RIG/ftdi.sock" \
  --when want-acm-framing "$(control acm 'error framing')" \
  --when want-acm-overrun "$(control acm 'error overrun')" \
  --when want-acm-dcd "$(control acm 'dcd 1')" \
  --when want-acm-pull "$(control acm unplug)" \
  --when want-acm-pull "$(control acm unplug)" \
  --when want-acm-pull "$(control acm unplug)" \
  --when want-acm-pull "$(control acm unplug)" \
  --when want-ftdi-framing "$(control ftdi 'error framing')" \
  --when want-ftdi-parity "$(control ftdi 'error parity')" \
  --when want-ftdi-dcd "$(control ftdi 'dcd 1')" \
  --when want-ftdi-pull "$(control ftdi unplug)" \
  --when want-ftdi-pull "$(control ftdi unplug)" \
  -- "bash guest.sh $port" | tee "$work/out"

# The requests that the devices received.
failed=0
received() {
  if grep -q "$2" "$work/$1.log"; then echo "PASS the $1 device received: $2"; else
    echo "FAIL the $1 device never received: $2"
    failed=1
  fi
}
received acm 'line 57600 8N1'
received acm 'line 123456 8N1'
received acm 'dtr 1 rts 1'
received ftdi 'line 38400'
received ftdi 'line 250000'
received ftdi 'break'
grep -q done-guest "$work/out" || { echo "FAIL the guest did not reach its end"; failed=1; }
if grep -q FAIL "$work/out"; then failed=1; fi
[ "$failed" = 0 ] || { echo "--- the log of the devices"; cat "$work/acm.log" "$work/ftdi.log"; }
print_count
exit $failed
