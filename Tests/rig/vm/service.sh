#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# service.sh - the location service on a machine with systemd as process 1, udev, polkit and the units as they ship: socket
# activation, the sandbox and attacks from inside it (attacks.c), plug and unplug, permission of two users, and a program that is
# started at a region's border after a reboot; so is sextant-uplink, whose region came from a broker of the computer that runs this
# script. The disk of the machine is a throw-away snapshot, so the state of the first boot is carried to the second one.
# usage: Tests/rig/vm/service.sh BIN-FOLDER        root; BIN-FOLDER holds sextant, sextant-track, sextantd and sextant-uplink
#   RIG=FOLDER, IMAGE=FOLDER   as in run.sh
set -euo pipefail
. "$(dirname "$0")/machine.sh"
port=${PORT:-3260}

build_image
share_programs sextant sextant-track sextantd sextant-uplink
cp -r "$project/hw-rules" "$share/"
cp "$here"/guest-{service,install}.sh "$share/"
gcc -O2 -Wall -Wextra -Werror -static -o "$share/attacks" "$here/attacks.c"
prepare_systemd

# The guest has no package of libmosquitto: its files are those of this machine. The broker is here, too.
mosquitto=$(ldconfig -p | sed -n 's/.*libmosquitto\.so\.1 .* => //p' | head -n 1)
cp -L "$mosquitto" $(ldd "$mosquitto" | sed -n 's/.*=> \(\/.*\/lib\(ssl\|crypto\|cares\)[^ ]*\) .*/\1/p') "$share/lib/"
broker=$((port + 1))
printf 'listener %s 127.0.0.1\nallow_anonymous true\npersistence false\n' $broker > "$work/mosquitto.conf"
/usr/sbin/mosquitto -c "$work/mosquitto.conf" 2> /dev/null &
broker_process=$!
until mosquitto_pub -p $broker -t ready -n 2> /dev/null; do kill -0 $broker_process; sleep 0.2; done
stdbuf -oL mosquitto_sub -p $broker -t 'owntracks/#' -q 1 > "$work/messages" &
subscriber=$!
trap 'kill $subscriber $broker_process 2> /dev/null; rm -rf "$work"' EXIT
cat > "$work/waypoints" << 'JSON'
{"_type":"cmd","action":"setWaypoints","waypoints":{"_type":"waypoints","waypoints":[{"_type":"waypoint","desc":"yard","lat":48.16465,"lon":11.60702,"rad":150,"tst":1700000000}]}}
JSON

boot() {
  echo outside > "$work/place"
  "$rig/boot.py" --image "$work" --share "$share" --work "$work/machine" --times --timeout $limit \
    --when start "host python3 $rig/usbip-gnss.py --port $port --wire \$RIG/acm.sock --control \$RIG/acm.ctl > $work/acm.log" \
    --when start "host python3 $here/emulate.py \$RIG/acm.sock $work/place" \
    "${@:2}" -- "bash guest-service.sh $1 $port $broker" | tee -a "$work/out"
}
# The texts are awaited in this order.
boot first --when want-unplug "host echo unplug | socat - UNIX:\$RIG/acm.ctl" \
  --when want-waypoints "host mosquitto_pub -p $broker -t owntracks/ann/van/cmd -q 1 -f $work/waypoints"
# The emulator reads the file five times a second, and must not find it empty.
place() { echo "host echo $1 > $work/place.new && mv $work/place.new $work/place"; }
boot second --when want-inside "$(place inside)" --when want-outside "$(place outside)"
[ "$(grep -c done-guest "$work/out")" = 2 ] || { echo "FAIL the guest did not reach its end"; exit 1; }
wait_for_message() { local until=$((SECONDS + 60)); until grep -q "$1" "$work/messages"; do [ $SECONDS -lt $until ] || return 1; sleep 0.2; done; }
{
  if wait_for_message '"_type":"transition".*"event":"enter","desc":"yard"'; then
    echo "PASS the broker has the transition"
  else
    echo "FAIL the broker has the transition" && tail "$work/messages"
  fi
} | tee -a "$work/out"
print_count
! grep -q FAIL "$work/out"
