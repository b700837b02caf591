# SPDX-License-Identifier: Apache-2.0

# guest-sensors.sh - the guest's half of sensors.py.
. ./guest-harness.sh
export LD_LIBRARY_PATH=$PWD/lib SEXTANT_STATE_DIR=/tmp/state SEXTANT_APP_STATE=foreground
log=/tmp/track.log
errors=/tmp/track.errors
logs=("$log" "$errors")

track() {
  : > "$log"
  : > "$errors"
  ./sextant track --json --device sim:walk "$@" > "$log" 2> "$errors" &
}
quit() {
  kill %?track 2>/dev/null
  wait %?track 2>/dev/null
}
expect() { wait_line "$log" "$1"; }
# A heading between two whole degrees.
heading() { expect "\"magneticHeading\":($1|$2)(\.|,)"; }

echo "== a magnetometer of the kernel"
track --heading --accuracy best
check "no compass yet" expect didUpdateLocations
check "which is reported" wait_line "$errors" "$NO_COMPASS"
quit
# Counts of 0.0917 microtesla: 21 along the ground, 44 downwards; the top to the east, then to the south.
magnetometer up -229 0 -480
check "the driver is bound" test -e /sys/bus/iio/devices/iio:device0/in_magn_x_raw
track --heading --accuracy best
check "the heading" heading 89 90
check "true north" expect '"trueHeading":9[0-9]'
magnetometer set 0 -229 -480
check "a turn" heading 179 180
magnetometer down
check "its end is a headingFailure" expect '"didFailWithError".*"code":3'
check "and is reported" wait_line "$errors" "$NO_HEADING"
magnetometer up 0 229 -480
check "a magnetometer that comes back" expect '"magneticHeading":(0|359)(\.|,)'
quit

echo "== beacons, without an adapter"
track --beacon e2c56db5-dffb-48d2-b060-d0f5a71096e0
check "without an adapter: 16" expect '"didFailRanging".*"code":16'
quit

echo "== beacons, through a real bluetoothd"
# Two controllers without antennas, which receive each other: the programs' is hci0, hci1 is the beacon.
modprobe bluetooth
modprobe hci_vhci
mkdir -p /run/dbus
dbus-daemon --system --fork
adapters() { dbus-send --system --dest=org.bluez --print-reply / org.freedesktop.DBus.ObjectManager.GetManagedObjects; }
both() { [ "$(adapters 2> /dev/null | grep -c '"/org/bluez/hci[01]"$')" = 2 ]; }
# The kernel gives a controller two seconds for each step of its setup. On a slow machine the virtual one may miss them, and
# has to be made anew.
for _ in $(seq 10); do
  btvirt -l2 > /tmp/btvirt.log 2>&1 &
  virtual=$!
  wait_until [ -e /sys/class/bluetooth/hci1 ]
  pgrep bluetoothd > /dev/null || /usr/libexec/bluetooth/bluetoothd > /tmp/bluetoothd.log 2>&1 &
  limit=20 wait_until both && break
  kill $virtual
  wait $virtual 2> /dev/null
done
check "bluetoothd has both adapters" both
hci() { hcitool -i hci1 cmd 0x08 "$@" > /dev/null; }
# The advertisement of an iBeacon: the UUID, major 7, minor 2, -59 dBm at a metre. The virtual controllers receive it once, when
# it is switched on, and only while they scan.
hci 0x0006 a0 00 a0 00 03 00 00 00 00 00 00 00 00 07 00
hci 0x0008 1e 02 01 06 1a ff 4c 00 02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10 96 e0 00 07 00 02 c5 00
advertise() {
  hci 0x000a 01
  sleep 0.3
  hci 0x000a 00
  tail -n +$mark "$log" | grep -q '"major":7,"minor":2'
}
mark=1
track --beacon e2c56db5-dffb-48d2-b060-d0f5a71096e0
check "without a beacon nothing is ranged" expect '"didRange","at":"[^"]*","beacons":\[\]'
check "a beacon is ranged" wait_until advertise
mark=$(($(wc -l < "$log") + 1))
check "and is gone when it stops" wait_line "$log" '"beacons":\[\]' $mark
mark=$(($(wc -l < "$log") + 1))
check "ranged again" wait_until advertise
for adapter in hci0 hci1; do
  dbus-send --system --dest=org.bluez --print-reply /org/bluez/$adapter org.freedesktop.DBus.Properties.Set \
    string:org.bluez.Adapter1 string:Powered variant:boolean:false > /dev/null
done
check "the adapters off: 16" expect '"didFailRanging".*"code":16'
quit
echo done-guest
