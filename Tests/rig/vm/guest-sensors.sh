# guest-sensors.sh - the guest's half of sensors.sh.
export LD_LIBRARY_PATH=$PWD/lib SEXTANT_STATE_DIR=/tmp/state SEXTANT_APP_STATE=foreground
log=/tmp/track.log
errors=/tmp/track.errors

check() {
  local what=$1
  shift
  if "$@"; then echo "PASS $what"; else
    echo "FAIL $what"
    tail -n 4 "$log" | sed 's/^/       /'
    tail -n 4 "$errors" | sed 's/^/       /'
  fi
}
track() { ./sextant track --json --device sim:walk "$@" > "$log" 2> "$errors" & }
quit() {
  kill %?track 2>/dev/null
  wait %?track 2>/dev/null
}
# Waits until a line of the log matches.
expect() {
  local n=0
  until grep -q -E "$1" "$log" 2>/dev/null; do
    n=$((n + 1))
    [ $n -le $(($2 * 5)) ] || return 1
    sleep 0.2
  done
}
# A heading between two whole degrees.
heading() { expect "\"magneticHeading\":($1|$2)(\\.|,)" "$3"; }
said() { grep -q -E "$1" "$errors"; }

echo "== a magnetometer of the kernel"
track --heading
check "no compass yet" expect didUpdateLocations 40
check "which is said" said "no compass"
quit
# Counts of 0.0917 microtesla: 21 along the ground, 44 downwards; the top to the east, then to the south.
magnetometer up -229 0 -480
check "the driver is bound" test -e /sys/bus/iio/devices/iio:device0/in_magn_x_raw
track --heading
check "the heading" heading 89 90 40
check "true north" expect '"trueHeading":9[0-9]' 20
magnetometer set 0 -229 -480
check "a turn" heading 179 180 20
magnetometer down
check "its end is a headingFailure" expect '"didFailWithError".*"code":3' 20
check "and is said" said "there is no heading"
magnetometer up 0 229 -480
check "a magnetometer that comes back" expect '"magneticHeading":(0|359)(\.|,)' 20
quit

echo "== beacons, without an adapter"
track --beacon e2c56db5-dffb-48d2-b060-d0f5a71096e0
check "without an adapter: 16" expect '"didFailRanging".*"code":16' 40
quit

echo "== beacons, through a real bluetoothd"
# Two controllers without antennas, which hear each other: the programs' is hci0, hci1 is the beacon.
modprobe bluetooth
modprobe hci_vhci
mkdir -p /run/dbus
dbus-daemon --system --fork
adapters() { dbus-send --system --dest=org.bluez --print-reply / org.freedesktop.DBus.ObjectManager.GetManagedObjects; }
both() { [ "$(adapters 2> /dev/null | grep -c '"/org/bluez/hci[01]"$')" = 2 ]; }
# On a slow machine a controller may miss the kernel's time for its setup; then both are made anew.
for _ in 1 2 3 4; do
  btvirt -l2 > /tmp/btvirt.log 2>&1 &
  virtual=$!
  sleep 3
  pgrep bluetoothd > /dev/null || /usr/libexec/bluetooth/bluetoothd > /tmp/bluetoothd.log 2>&1 &
  for _ in $(seq 10); do both && break 2; sleep 1; done
  kill $virtual
  sleep 1
done
check "bluetoothd has both adapters" both
hci() { hcitool -i hci1 cmd 0x08 "$@" > /dev/null; }
# What Apple's makers' data says: the UUID, major 7, minor 2, -59 dBm at a metre. The virtual controllers hear an
# advertisement once, when it is switched on, and only while they search.
hci 0x0006 a0 00 a0 00 03 00 00 00 00 00 00 00 00 07 00
hci 0x0008 1e 02 01 06 1a ff 4c 00 02 15 e2 c5 6d b5 df fb 48 d2 b0 60 d0 f5 a7 10 96 e0 00 07 00 02 c5 00
beacons() {
  for _ in $(seq 60); do
    hci 0x000a 01
    sleep 0.3
    hci 0x000a 00
    grep -q '"major":7,"minor":2' "$log" && return
  done
}
track --beacon e2c56db5-dffb-48d2-b060-d0f5a71096e0
check "nothing is heard of no beacon" expect '"didRange","at":"[^"]*","beacons":\[\]' 40
beacons
check "a beacon is heard" expect '"didRange".*"major":7,"minor":2' 5
: > "$log"
check "and is gone when it is silent" expect '"beacons":\[\]' 60
beacons
check "heard again" expect '"didRange".*"major":7,"minor":2' 5
for adapter in hci0 hci1; do
  dbus-send --system --dest=org.bluez --print-reply /org/bluez/$adapter org.freedesktop.DBus.Properties.Set \
    string:org.bluez.Adapter1 string:Powered variant:boolean:false > /dev/null
done
check "the adapters off: 16" expect '"didFailRanging".*"code":16' 40
quit
echo done-guest
