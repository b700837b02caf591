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
echo done-guest
