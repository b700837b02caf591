# guest-board.sh - the guest's half of board.sh.
export LD_LIBRARY_PATH=$PWD/lib SEXTANT_STATE_DIR=/tmp/state SEXTANT_APP_STATE=foreground
log=/tmp/out
errors=/tmp/errors

check() {
  local what=$1
  shift
  if "$@"; then echo "PASS $what"; else
    echo "FAIL $what"
    for file in "$log" "$errors" /tmp/bridge.log; do tail -n 4 "$file" | cut -c1-300 | sed 's/^/       /'; done
  fi
}
# Waits until a line of a file matches.
expect() {
  local n=0
  until grep -q -E "$2" "$1" 2>/dev/null; do
    n=$((n + 1))
    [ $n -le $(($3 * 5)) ] || return 1
    sleep 0.2
  done
}
run() { timeout 90 ./sextant "$@" > "$log" 2> "$errors"; }

while read -r module; do insmod "modules/$module" || exit 1; done < modules/order
# An I2C receiver is as quick as its bus: so is this one.
./sextant simulate --model m10 --baud 115200 --link /tmp/receiver > /tmp/simulator.log 2>&1 &
until [ -e /tmp/receiver ]; do sleep 0.1; done
stty -F /tmp/receiver 115200 raw -echo
mkfifo /tmp/orders
./bridge /tmp/receiver < /tmp/orders > /tmp/bridge.log 2>&1 &
exec 5> /tmp/orders
until grep -q CP2112 /sys/bus/i2c/devices/i2c-*/name 2> /dev/null; do sleep 0.1; done
bus=$(grep -l CP2112 /sys/bus/i2c/devices/i2c-*/name | sed 's,.*/i2c-\([0-9]*\)/.*,\1,')
until [ -e "/dev/i2c-$bus" ] && [ -e /dev/gpiochip0 ]; do sleep 0.1; done
receiver=i2c:/dev/i2c-$bus

echo "== a receiver on I2C"
check "probe" run probe --device "$receiver" --json
check "who it is" grep -q '"hardware":"000A0000"' "$log"
check "watch" run watch --device "$receiver" --read-only --json --count 3
check "a fix" grep -q '"class":"TPV".*"lat":' "$log"
check "it is never lost" eval '! grep -q gone $errors'
# The bridge writes 61 bytes at a time and reads 512, and says so by EINVAL alone.
check "a group of its settings" run configure show 'CFG-NAVSPG-*' --device "$receiver"
check "is read" eval '[ $(grep -c ^CFG-NAVSPG $log) -gt 20 ]'
names=$(sed -n 's/^\(CFG-[^ ]*\).*/\1/p' "$log" | head -20)
check "a question that is longer than the adapter writes" run configure get $names --device "$receiver"
check "has its answer" eval '[ $(grep -c ^CFG-NAVSPG $log) = 20 ]'
run watch --device "$receiver@0x43" --seconds 3
check "nobody at another address: 66" [ $? = 66 ]
check "which is said" grep -q 'nothing answers at address 0x43' "$errors"

echo "== a line of a GPIO chip"
: > /tmp/bridge.log
check "off and on" run power --device /tmp/receiver --supply gpio:gpiochip0/3 off 1
check "at the chip too" eval '[ "$(grep "^line 3" /tmp/bridge.log | tr "\n" " ")" = "line 3 1 line 3 0 line 3 1 " ]'
: > /tmp/bridge.log
check "active low" run power --device /tmp/receiver --supply gpio:/dev/gpiochip0/4,active-low off 1
check "is the other way round at the chip" grep -q '^line 4 1' /tmp/bridge.log
run power --device /tmp/receiver --supply gpio:gpiochip0/8 on
check "no such line: 66" [ $? = 66 ]
run power --device /tmp/receiver --supply gpio:gpiochip0/17 on
check "which is said" grep -q 'has no line 17' "$errors"
timeout 20 ./sextant power --device /tmp/receiver --supply gpio:gpiochip0/5 off 8 > /dev/null 2>&1 &
expect /tmp/bridge.log '^line 5 1' 8
run power --device /tmp/receiver --supply gpio:gpiochip0/5 on
check "a line that is held: 75" [ $? = 75 ]
check "with the cure" grep -q 'another program or driver holds the line' "$errors"
wait %?gpiochip0/5

echo "== an accelerometer with an interrupt"
base=$(sed -n 's/^gpiochip0: GPIOs \([0-9]*\)-.*/\1/p' /sys/kernel/debug/gpio)
insmod modules/rig_motion.ko bus="$bus" gpio="$base"
events=/sys/bus/iio/devices/iio:device0/events
expect /sys/bus/iio/devices/iio:device0/in_accel_z_raw 1024 5
check "the driver is bound, and has events" test -e $events/in_accel_x_roc_either_en
printf 'start 48.1642,11.6056 512m\nhot\nstay forever\n' > /tmp/parked.scenario
# Looks for movement are far away: what resumes it is the accelerometer's interrupt.
SEXTANT_PAUSE_SECONDS=5 SEXTANT_PAUSE_PROBE_SECONDS=600 \
  ./sextant track --json --device sim:/tmp/parked.scenario > "$log" 2> "$errors" &
check "a still client is paused" expect "$log" didPauseLocationUpdates 60
check "then the driver's event is armed" expect $events/in_accel_x_roc_either_en 1 120
check "with a threshold" eval '[ $(cat $events/in_accel_x_roc_either_value) -gt 0 ]'
asked=$(grep bmc150 /proc/interrupts)
sleep 8
check "nothing happens while nothing moves" eval '! grep -q didResumeLocationUpdates $log'
echo shake >&5
check "a knock is told by the interrupt" expect /tmp/bridge.log 'shaken interrupt=1' 3
check "and the client goes on" expect "$log" didResumeLocationUpdates 15
check "with interrupts of the driver's" [ "$asked" != "$(grep bmc150 /proc/interrupts)" ]
kill %?track
wait %?track 2> /dev/null
check "at the end it is disarmed" grep -qx 0 $events/in_accel_x_roc_either_en
echo unplug >&5
echo done-guest
