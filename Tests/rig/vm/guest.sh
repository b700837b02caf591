# SPDX-License-Identifier: Apache-2.0

# guest.sh - the guest's half of hotplug.py.   usage: guest.sh USBIP-PORT
. ./guest-harness.sh
port=$1
mkdir -p /tmp/rig && cp -r HotplugProbe sextant lib /tmp/rig/
export LD_LIBRARY_PATH=/tmp/rig/lib
log=/tmp/probe.log
: > $log
logs=("$log")

has() { udevadm info -q property "$1" | grep -qx "$2"; }
# The device at the other end accepts a connection when it has noticed the end of the last one.
attach() { wait_until usbip --tcp-port "$1" attach -r 10.0.2.2 -b 1-1 > /dev/null 2>&1; }
attach_acm() { attach "$port"; }
attach_ftdi() { attach $((port + 1)); }

# The probe's lines, each with the time since the start of the system; commands go to descriptor 5.
# AS=N runs it as that user, without groups.
probe() {
  local as=
  [ -z "${AS:-}" ] || as="setpriv --reuid=$AS --regid=$AS --clear-groups"
  rm -f /tmp/commands
  mkfifo /tmp/commands
  : > "$log"
  mark=0
  $as /tmp/rig/HotplugProbe "$@" < /tmp/commands | while read -r line; do
    read -r up _ < /proc/uptime
    echo "$up $line"
  done > "$log" &
  exec 5> /tmp/commands
  expect '^[0-9.]* ready' || { echo "FAIL the probe does not start"; cat "$log"; exit 1; }
}
command_probe() { echo "$*" >&5; }
quit() {
  command_probe quit
  exec 5>&-
  wait %?HotplugProbe 2>/dev/null
}
# Waits for a line after the last expected one; its time is then in $at.
expect() {
  local found
  found=$(wait_line "$log" "$1" $((mark + 1))) || return 1
  mark=$((mark + ${found%%:*}))
  found=${found#*:}
  at=${found%% *}
}
# The time from the kernel's message that the node is there to the first fix. ReconnectPolicyTests check in virtual time that the receiver
# is opened as soon as it is plugged in.
print_time() {
  local there
  there=$(sed -n "s/^KERNEL\[\([0-9.]*\)\] add .*\/$1 (tty)/\1/p" /tmp/kernel | tail -1)
  echo "      $1: $(awk "BEGIN { printf \"%.0f\", 1000 * ($at - $there) }") ms from the node's appearance to the first fix"
}
stdbuf -oL udevadm monitor --kernel --subsystem-match=tty > /tmp/kernel &

echo "== rules"
check "group" groupadd --system --force gnss
cp 60-sextant-gnss.rules /etc/udev/rules.d/
mkdir -p /etc/udev/hwdb.d && cp 60-sextant-gnss.hwdb /etc/udev/hwdb.d/
echo 'SUBSYSTEM=="tty", SUBSYSTEMS=="usb", ATTRS{serial}=="RIG2", ENV{SEXTANT_GNSS}="1"' > /etc/udev/rules.d/59-my-receiver.rules
check "hwdb" systemd-hwdb update --strict
check "hwdb knows a u-blox 8" eval "systemd-hwdb query usb:v1546p01A8d0301 | grep -qx SEXTANT_GNSS=1"
check "reload" udevadm control --reload
udevadm trigger --settle --subsystem-match=usb --subsystem-match=tty --subsystem-match=gnss
if udevadm verify --help >/dev/null 2>&1; then check "udevadm verify" udevadm verify /etc/udev/rules.d/60-sextant-gnss.rules; fi
# `udevadm test` reads all rules, and reports errors in ours.
clean() {
  udevadm test "$(udevadm info -q path "$1")" > /tmp/test.out 2>&1 || return 1
  # A device on a bus without a path_id has no path, which is not an error in the rule.
  ! grep 'sextant' /tmp/test.out | grep -v "builtin 'path_id'" | grep -i -E 'invalid|unknown|fail|error|ignor'
}

echo "== /dev/gnss0"
udevadm wait -t $limit /dev/gnss0
check "gnss group and mode" [ "$(stat -c '%G %a' /dev/gnss0)" = "gnss 660" ]
check "gnss link" eval "ls /dev/gnss/by-id/UBX-* "
check "gnss udevadm test" clean /dev/gnss0
probe
check "the first receiver is the kernel's" expect ' open /dev/gnss0'
check "gnss fix" expect ' fix /dev/gnss0'
driver=$(readlink -f /sys/class/gnss/gnss0/device/driver)
device=$(basename "$(readlink -f /sys/class/gnss/gnss0/device)")
echo "$device" > "$driver/unbind"
check "gnss gone is noticed" expect ' close /dev/gnss0'
echo "$device" > "$driver/bind"
check "gnss comes back" expect ' open /dev/gnss'
check "gnss fix again" expect ' fix /dev/gnss'
quit
echo "$device" > "$driver/unbind"
udevadm settle

echo "== CDC-ACM 1546:01a8"
modprobe vhci-hcd
probe
check "the source is udevd" grep -q 'ready udev' "$log"
attach_acm
check "acm open" expect ' open /dev/ttyACM0'
first=$(sed -n 's/.* open .*descriptors=//p' "$log")
check "acm fix" expect ' fix /dev/ttyACM0'
print_time ttyACM0
check "acm group and mode" [ "$(stat -c '%G %a' /dev/ttyACM0)" = "gnss 660" ]
check "acm property for ModemManager" has /dev/ttyACM0 ID_MM_PORT_IGNORE=1
check "acm device property" has "$(udevadm info -q path /dev/ttyACM0 | sed 's,^,/sys,; s,/[^/]*/tty/.*,,')" ID_MM_DEVICE_IGNORE=1
check "acm link" eval "readlink -f /dev/gnss/by-id/usb-u-blox* | grep -qx /dev/ttyACM0"
check "acm udevadm test" clean /dev/ttyACM0
/tmp/rig/sextant devices --json > /tmp/devices
check "devices: a receiver" grep -q '"node":"/dev/ttyACM0","kind":"tty","likelihood":"receiver"' /tmp/devices
check "devices: link" grep -q '"links":\[[^]]*"/dev/gnss/by-id/usb-u-blox' /tmp/devices
check "devices: holder" grep -q '"program":"HotplugProbe"' /tmp/devices
check "devices: group" grep -q '"group":"gnss"' /tmp/devices
check "devices: driver" grep -q '"driver":"cdc_acm"' /tmp/devices
/tmp/rig/sextant watch --device /dev/ttyACM0 --seconds 1 2> /tmp/watch
check "a second program is refused with 75" [ $? = 75 ]
check "and the message names the holder" says /tmp/watch "HotplugProbe ${HELD_BY/\{\}/[0-9]+}"
echo want-acm-framing
check "acm framing error counted" expect ' errors /dev/ttyACM0 framing=1 '
echo want-acm-overrun
check "acm overrun counted" expect ' errors /dev/ttyACM0 .*overrun=1 '
echo want-acm-dcd
check "acm carrier" expect ' lines /dev/ttyACM0 .*dcd'
command_probe rate 57600
check "acm rate" expect ' rate /dev/ttyACM0 57600'
command_probe rate 123456
check "acm any rate" expect ' rate /dev/ttyACM0 123456'

echo want-acm-pull
check "acm gone" expect ' close /dev/ttyACM0'
check "acm loss is reported" expect " report /dev/ttyACM0: .*$RECEIVER_LOST"
attach_acm
check "acm back" expect ' open /dev/ttyACM'
check "acm fix again" expect ' fix /dev/ttyACM'
print_time ttyACM0

# Another program that ignores the hang-up keeps the node: the receiver comes back under another name.
sleep 1000 < /dev/ttyACM0 &
holder=$!
wait_until [ /proc/$holder/fd/0 -ef /dev/ttyACM0 ]
echo want-acm-pull
check "held: gone" expect ' close /dev/ttyACM0'
attach_acm
check "held: back as ttyACM1" expect ' open /dev/ttyACM1'
check "held: fix" expect ' fix /dev/ttyACM1'
print_time ttyACM1
check "held: reported under both names" says "$log" "report /dev/ttyACM1: .*$RECEIVER_RENAMED"
kill $holder
echo want-acm-pull
check "pulled" expect ' close /dev/ttyACM1'
last=$(sed -n 's/.* open .*descriptors=//p' "$log" | sort -u)
check "no descriptor leaked" [ "$last" = "$first" ]
quit

# More messages than the socket holds, while the program does not read; the receiver comes after them. Root's sockets have no
# limit.
room=$(cat /proc/sys/net/core/rmem_max)
echo 8192 > /proc/sys/net/core/rmem_max
AS=65534 probe
echo "$room" > /proc/sys/net/core/rmem_max
kill -STOP "$(pidof HotplugProbe)"
udevadm trigger --settle --subsystem-match=tty
attach_acm
udevadm settle
check "messages were dropped" awk '$2 == 15 && $9 > 0 { found = 1 } END { exit !found }' /proc/net/netlink
kill -CONT "$(pidof HotplugProbe)"
check "the receiver is found all the same" expect ' added /dev/ttyACM'
echo want-acm-pull
check "and its end" expect ' removed /dev/ttyACM'
quit

echo "== FTDI"
probe --low-latency
attach_ftdi
check "ftdi open" expect ' open /dev/ttyUSB0'
check "ftdi rate is searched" expect ' found /dev/ttyUSB0 38400'
check "ftdi fix" expect ' fix /dev/ttyUSB0'
check "ftdi low latency is taken" grep -q 'low-latency /dev/ttyUSB0 true' "$log"
check "ftdi latency timer" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 1 ]
check "ftdi claimed by its serial number" [ "$(stat -c '%G %a' /dev/ttyUSB0)" = "gnss 660" ]
check "ftdi link" test -e /dev/gnss/by-id/usb-FTDI_FT232R_USB_UART_RIG2-if00
check "ftdi udevadm test" clean /dev/ttyUSB0
echo want-ftdi-framing
check "ftdi framing error counted" expect ' errors /dev/ttyUSB0 framing=[1-9]'
echo want-ftdi-parity
check "ftdi parity error counted" expect ' errors /dev/ttyUSB0 .*parity=[1-9]'
echo want-ftdi-dcd
check "ftdi carrier" expect ' lines /dev/ttyUSB0 .*dcd'
command_probe break
check "ftdi break" expect ' break /dev/ttyUSB0'
command_probe rate 250000
check "ftdi any rate" expect ' rate /dev/ttyUSB0 250000'
echo want-ftdi-pull
check "ftdi gone" expect ' close /dev/ttyUSB0'
attach_ftdi
check "ftdi back" expect ' open /dev/ttyUSB0'
check "ftdi fix again" expect ' fix /dev/ttyUSB0'
quit
check "ftdi settings are restored" [ "$(stty -F /dev/ttyUSB0 speed)" = 9600 ]
echo 16 > /sys/class/tty/ttyUSB0/device/latency_timer
probe --low-latency
expect ' open /dev/ttyUSB0'
check "ftdi low latency by the port alone" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 1 ]
quit
check "ftdi latency is restored" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 16 ]

echo "== another user"
setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/rig/sextant devices --json > /tmp/devices
check "devices: not permitted" grep -q '"permitted":false,"group":"gnss"' /tmp/devices
check "devices: the cure" says /tmp/devices "$GROUP_ADVICE"
setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/rig/sextant watch --device /dev/ttyUSB0 --seconds 1 2> /tmp/watch
check "watch: 77" [ $? = 77 ]
AS=65534 probe
check "no permission is reported once" expect " report /dev/ttyUSB0: .*$NO_PERMISSION .*$GROUP_ADVICE"
chmod 666 /dev/ttyUSB0
check "served when permission is given" expect ' open /dev/ttyUSB0'
setpriv --reuid=65533 --regid=65533 --clear-groups /tmp/rig/sextant watch --device /dev/ttyUSB0 --seconds 1 2> /tmp/watch
check "a third user is refused with 75" [ $? = 75 ]
check "and the message names the holder, by the lock" says /tmp/watch "HotplugProbe ${HELD_BY/\{\}/[0-9]+}"
check "the missing permission was reported once" [ "$(grep -c -i -E " report .*$NO_PERMISSION" "$log")" = 1 ]
quit
check "watch on ftdi" eval "timeout $limit /tmp/rig/sextant watch --device /dev/ttyUSB0 --json --count 3 | grep -q '\"TPV\".*\"lat\"'"
echo want-ftdi-pull
wait_until [ ! -e /dev/ttyUSB0 ]

echo "== without udevd"
# udevd and its workers are killed: a request to end in the middle of an event may be lost. Programs see its control socket.
end_udevd() {
  local process ended=true
  for process in $(grep -lsx systemd-udevd /proc/[0-9]*/comm); do
    process=${process//[!0-9]/}
    # The machine's init does not wait for a process that has ended.
    ! grep -qs '^State:.Z' "/proc/$process/status" || continue
    kill -KILL "$process" 2> /dev/null
    ended=false
  done
  rm -f /run/udev/control
  $ended
}
wait_until end_udevd
probe
check "the source is the kernel" grep -q 'ready kernel' "$log"
attach_acm
check "kernel: open" expect ' open /dev/ttyACM0'
check "kernel: fix" expect ' fix /dev/ttyACM0'
print_time ttyACM0
quit
echo done-guest
