# SPDX-License-Identifier: Apache-2.0

# guest-board.sh - the guest's half of board.py.
. ./guest-harness.sh
export LD_LIBRARY_PATH=$PWD/lib SEXTANT_STATE_DIR=/tmp/state SEXTANT_APP_STATE=foreground
log=/tmp/out
errors=/tmp/errors
logs=("$log" "$errors" /tmp/bridge.log)

run() { timeout $limit ./sextant "$@" > "$log" 2> "$errors"; }

while read -r module; do insmod "modules/$module" || exit 1; done < modules/order
# An I2C receiver sends as fast as its bus: so does this one.
./sextant simulate --model m10 --baud 115200 --link /tmp/receiver > /tmp/simulator.log 2>&1 &
wait_until [ -e /tmp/receiver ]
stty -F /tmp/receiver 115200 raw -echo
mkfifo /tmp/commands
./bridge /tmp/receiver < /tmp/commands >> /tmp/bridge.log 2>&1 &
exec 5> /tmp/commands
wait_until eval 'grep -qs CP2112 /sys/bus/i2c/devices/i2c-*/name'
bus=$(grep -l CP2112 /sys/bus/i2c/devices/i2c-*/name | sed 's,.*/i2c-\([0-9]*\)/.*,\1,')
wait_until [ -e "/dev/i2c-$bus" -a -e /dev/gpiochip0 ]
receiver=i2c:/dev/i2c-$bus

echo "== a receiver on I2C"
check "probe" run probe --device "$receiver" --json
check "its version" grep -q '"hardware":"000A0000"' "$log"
check "watch" run watch --device "$receiver" --read-only --json --count 3
check "a fix" grep -q '"class":"TPV".*"lat":' "$log"
check "it is never lost" eval '! says $errors "$RECEIVER_LOST"'
# The bridge writes 61 bytes at a time and reads 512; a longer transfer fails with EINVAL, without a reason.
check "a group of its settings" run configure show 'CFG-NAVSPG-*' --device "$receiver"
check "is read" eval '[ $(grep -c ^CFG-NAVSPG $log) -gt 20 ]'
names=$(sed -n 's/^\(CFG-[^ ]*\).*/\1/p' "$log" | head -20)
check "a request that is longer than the adapter writes" run configure get $names --device "$receiver"
check "has its reply" eval '[ $(grep -c ^CFG-NAVSPG $log) = 20 ]'
run watch --device "$receiver@0x43" --seconds 3
check "no receiver at another address: 66" [ $? = 66 ]
check "which is reported" says "$errors" "${NO_ANSWER_AT_ADDRESS/\{\}/0x43}"

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
check "which is reported" says "$errors" "$NO_GPIO_LINE"
./sextant power --device /tmp/receiver --supply gpio:gpiochip0/5 off 0 > /dev/null 2>&1 &
holder=$!
wait_line /tmp/bridge.log '^line 5 1' > /dev/null
run power --device /tmp/receiver --supply gpio:gpiochip0/5 on
check "a line that is held: 75" [ $? = 75 ]
check "with the cure" says "$errors" "$LINE_HELD"
kill $holder
wait $holder 2> /dev/null

echo "== an accelerometer with an interrupt"
base=$(sed -n 's/^gpiochip0: GPIOs \([0-9]*\)-.*/\1/p' /sys/kernel/debug/gpio)
insmod modules/rig_motion.ko bus="$bus" gpio="$base"
events=/sys/bus/iio/devices/iio:device0/events
wait_until grep -qs 1024 /sys/bus/iio/devices/iio:device0/in_accel_z_raw
check "the driver is bound, and has events" test -e $events/in_accel_x_roc_either_en
printf 'start 48.1642,11.6056 512m\nhot\nstay forever\n' > /tmp/parked.scenario
# The receiver itself is read for movement after ten minutes only: the accelerometer's interrupt is what resumes the client.
: > "$log"
SEXTANT_PAUSE_SECONDS=5 SEXTANT_PAUSE_PROBE_SECONDS=600 \
  ./sextant track --json --device sim:/tmp/parked.scenario > "$log" 2> "$errors" &
check "a client at rest is paused" wait_line "$log" didPauseLocationUpdates
check "then the driver's event is armed" wait_until grep -q 1 $events/in_accel_x_roc_either_en
check "with a threshold" eval '[ $(cat $events/in_accel_x_roc_either_value) -gt 0 ]'
interrupts=$(grep bmc150 /proc/interrupts)
# The length of the silence is the check.
sleep 8
check "nothing happens while nothing moves" eval '! grep -q didResumeLocationUpdates $log'
echo shake >&5
check "a knock raises the interrupt" wait_line /tmp/bridge.log 'shaken interrupt=1'
check "and the client is resumed" wait_line "$log" didResumeLocationUpdates
check "with interrupts of the driver's" [ "$interrupts" != "$(grep bmc150 /proc/interrupts)" ]
kill %?track
wait %?track 2> /dev/null
check "at the end it is disarmed" grep -qx 0 $events/in_accel_x_roc_either_en
echo unplug >&5
echo done-guest
