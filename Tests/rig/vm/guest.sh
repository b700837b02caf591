# guest.sh - the guest's half of run.sh.   usage: guest.sh USBIP-PORT
port=$1
mkdir -p /tmp/rig && cp -r /mnt/share/HotplugProbe /mnt/share/sextant /mnt/share/lib /tmp/rig/
export LD_LIBRARY_PATH=/tmp/rig/lib
log=/tmp/probe.log
: > $log

check() {
  local what=$1
  shift
  if "$@" >/tmp/check.out 2>&1; then echo "PASS $what"; else
    echo "FAIL $what"
    tail -5 /tmp/check.out | sed 's/^/       /'
    tail -6 "$log" | sed 's/^/       probe: /'
  fi
}
has() { udevadm info -q property "$1" | grep -qx "$2"; }
attach() { usbip --tcp-port "$1" attach -r 10.0.2.2 -b 1-1 >/dev/null 2>&1; }
attach_acm() { attach "$port"; }
attach_ftdi() { attach $((port + 1)); }

# The probe's lines, each with the time since the start of the system; orders go to descriptor 5.
# AS=N runs it as that user, who is in no group.
probe() {
  local as=
  [ -z "${AS:-}" ] || as="setpriv --reuid=$AS --regid=$AS --clear-groups"
  rm -f /tmp/orders
  mkfifo /tmp/orders
  : > "$log"
  mark=0
  $as /tmp/rig/HotplugProbe "$@" < /tmp/orders | while read -r line; do
    read -r up _ < /proc/uptime
    echo "$up $line"
  done > "$log" &
  exec 5> /tmp/orders
  expect '^[0-9.]* ready' 10 || { echo "FAIL the probe does not start"; cat "$log"; exit 1; }
}
order() { echo "$*" >&5; }
quit() {
  order quit
  exec 5>&-
  wait %?HotplugProbe 2>/dev/null
  sleep 0.3
}
# A line that was not expected before; its time is then in $at.
expect() {
  local n=0 found
  until found=$(tail -n +$((mark + 1)) "$log" | grep -m1 -n -E "$1"); do
    n=$((n + 1))
    if [ $n -gt $(($2 * 10)) ]; then return 1; fi
    sleep 0.1
  done
  mark=$((mark + ${found%%:*}))
  found=${found#*:}
  at=${found%% *}
}
# From the kernel's message that the node is there to the first fix.
in_time() {
  local there
  there=$(sed -n "s/^KERNEL\[\([0-9.]*\)\] add .*\/$1 (tty)/\1/p" /tmp/kernel | tail -1)
  [ -n "$there" ] || return 1
  echo "      $1: $(awk "BEGIN { printf \"%.0f\", 1000 * ($at - $there) }") ms from the node's appearance to the first fix" >&3
  awk "BEGIN { exit !($at - $there <= 2) }"
}
exec 3>&1
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
# `udevadm test` reads all rules, and says what it makes of ours.
clean() {
  udevadm test "$(udevadm info -q path "$1")" > /tmp/test.out 2>&1 || return 1
  # A device on no bus that path_id knows has no path: that is no mistake of the rule's.
  ! grep 'sextant' /tmp/test.out | grep -v "builtin 'path_id'" | grep -i -E 'invalid|unknown|fail|error|ignor'
}

echo "== /dev/gnss0"
udevadm wait -t 5 /dev/gnss0
check "gnss group and mode" [ "$(stat -c '%G %a' /dev/gnss0)" = "gnss 660" ]
check "gnss link" eval "ls /dev/gnss/by-id/UBX-* "
check "gnss udevadm test" clean /dev/gnss0
probe
check "the first receiver is the kernel's" expect ' open /dev/gnss0' 5
check "gnss fix" expect ' fix /dev/gnss0' 8
driver=$(readlink -f /sys/class/gnss/gnss0/device/driver)
device=$(basename "$(readlink -f /sys/class/gnss/gnss0/device)")
echo "$device" > "$driver/unbind"
check "gnss gone is noticed" expect ' close /dev/gnss0' 5
echo "$device" > "$driver/bind"
check "gnss comes back" expect ' open /dev/gnss' 5
check "gnss fix again" expect ' fix /dev/gnss' 8
quit
echo "$device" > "$driver/unbind"
udevadm settle

echo "== CDC-ACM 1546:01a8"
modprobe vhci-hcd
probe
check "udevd is heard" grep -q 'ready udev' "$log"
attach_acm
check "acm open" expect ' open /dev/ttyACM0' 8
first=$(sed -n 's/.* open .*descriptors=//p' "$log")
check "acm fix" expect ' fix /dev/ttyACM0' 4
check "acm in time" in_time ttyACM0
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
check "and told who has it" grep -q 'HotplugProbe (pid ' /tmp/watch
echo want-acm-framing
check "acm framing error counted" expect ' errors /dev/ttyACM0 framing=1 ' 4
echo want-acm-overrun
check "acm overrun counted" expect ' errors /dev/ttyACM0 .*overrun=1 ' 4
echo want-acm-dcd
check "acm carrier" expect ' lines /dev/ttyACM0 .*dcd' 4
order rate 57600
check "acm rate" expect ' rate /dev/ttyACM0 57600' 4
order rate 123456
check "acm any rate" expect ' rate /dev/ttyACM0 123456' 4

echo want-acm-pull
check "acm gone" expect ' close /dev/ttyACM0' 4
check "acm loss is told" expect ' report /dev/ttyACM0: the receiver is gone' 2
sleep 1
attach_acm
check "acm back" expect ' open /dev/ttyACM' 5
check "acm fix again" expect ' fix /dev/ttyACM' 4
check "acm again in time" in_time ttyACM0

# Another program that does not care for its hang-up keeps the node: the receiver comes back under another name.
sleep 20 < /dev/ttyACM0 &
holder=$!
sleep 0.3
echo want-acm-pull
check "held: gone" expect ' close /dev/ttyACM0' 4
sleep 1
attach_acm
check "held: back as ttyACM1" expect ' open /dev/ttyACM1' 5
check "held: fix" expect ' fix /dev/ttyACM1' 4
check "held: in time" in_time ttyACM1
check "held: told under both names" grep -q 'report /dev/ttyACM1: the receiver is back (it was /dev/ttyACM0)' "$log"
kill $holder
echo want-acm-pull
check "pulled" expect ' close /dev/ttyACM1' 4
last=$(sed -n 's/.* open .*descriptors=//p' "$log" | sort -u)
check "no descriptor leaked" [ "$last" = "$first" ]
quit

# More messages than the socket holds, while the program does not look; the receiver comes at the end of them. Root has
# as large a socket as it likes.
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
check "the receiver is noticed all the same" expect ' added /dev/ttyACM' 5
echo want-acm-pull
check "and its end" expect ' removed /dev/ttyACM' 4
quit

echo "== FTDI"
probe --low-latency
attach_ftdi
check "ftdi open" expect ' open /dev/ttyUSB0' 8
check "ftdi rate is searched" expect ' found /dev/ttyUSB0 38400' 20
check "ftdi fix" expect ' fix /dev/ttyUSB0' 5
check "ftdi low latency is taken" grep -q 'low-latency /dev/ttyUSB0 true' "$log"
check "ftdi latency timer" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 1 ]
check "ftdi claimed by its serial number" [ "$(stat -c '%G %a' /dev/ttyUSB0)" = "gnss 660" ]
check "ftdi link" test -e /dev/gnss/by-id/usb-FTDI_FT232R_USB_UART_RIG2-if00
check "ftdi udevadm test" clean /dev/ttyUSB0
echo want-ftdi-framing
check "ftdi framing error counted" expect ' errors /dev/ttyUSB0 framing=[1-9]' 4
echo want-ftdi-parity
check "ftdi parity error counted" expect ' errors /dev/ttyUSB0 .*parity=[1-9]' 4
echo want-ftdi-dcd
check "ftdi carrier" expect ' lines /dev/ttyUSB0 .*dcd' 4
order break
check "ftdi break" expect ' break /dev/ttyUSB0' 4
order rate 250000
check "ftdi any rate" expect ' rate /dev/ttyUSB0 250000' 4
sleep 0.5
echo want-ftdi-pull
check "ftdi gone" expect ' close /dev/ttyUSB0' 7
sleep 1
attach_ftdi
check "ftdi back" expect ' open /dev/ttyUSB0' 6
check "ftdi fix again" expect ' fix /dev/ttyUSB0' 20
quit
check "ftdi settings are restored" [ "$(stty -F /dev/ttyUSB0 speed)" = 9600 ]
echo 16 > /sys/class/tty/ttyUSB0/device/latency_timer
probe --low-latency
expect ' open /dev/ttyUSB0' 5
check "ftdi low latency by the port alone" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 1 ]
quit
check "ftdi latency is restored" [ "$(cat /sys/class/tty/ttyUSB0/device/latency_timer)" = 16 ]

echo "== another user"
setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/rig/sextant devices --json > /tmp/devices
check "devices: not permitted" grep -q '"permitted":false,"group":"gnss"' /tmp/devices
check "devices: the cure" grep -q 'usermod -aG gnss' /tmp/devices
setpriv --reuid=65534 --regid=65534 --clear-groups /tmp/rig/sextant watch --device /dev/ttyUSB0 --seconds 1 2> /tmp/watch
check "watch: 77" [ $? = 77 ]
AS=65534 probe
check "no permission is told once" expect ' report /dev/ttyUSB0: no permission .*usermod -aG gnss' 6
chmod 666 /dev/ttyUSB0
check "served when permission is given" expect ' open /dev/ttyUSB0' 3
setpriv --reuid=65533 --regid=65533 --clear-groups /tmp/rig/sextant watch --device /dev/ttyUSB0 --seconds 1 2> /tmp/watch
check "a third user is refused with 75" [ $? = 75 ]
check "and told who has it, by the lock" grep -q 'HotplugProbe (pid ' /tmp/watch
check "the missing permission was told once" [ "$(grep -c ' report .*no permission' "$log")" = 1 ]
quit
check "watch on ftdi" eval "timeout 40 /tmp/rig/sextant watch --device /dev/ttyUSB0 --json --count 3 | grep -q '\"TPV\".*\"lat\"'"
echo want-ftdi-pull
sleep 1

echo "== without udevd"
# It ends when it is done with its events, which on a busy host takes seconds; told to in the middle of them it may stay.
udevadm settle --timeout=30
udevadm control --exit
for _ in $(seq 100); do grep -qsx systemd-udevd /proc/[0-9]*/comm || break; sleep 0.1; done
probe
check "the kernel is heard" grep -q 'ready kernel' "$log"
attach_acm
check "kernel: open" expect ' open /dev/ttyACM0' 8
check "kernel: fix" expect ' fix /dev/ttyACM0' 4
check "kernel: in time" in_time ttyACM0
quit
echo done-guest
