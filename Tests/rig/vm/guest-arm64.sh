# SPDX-License-Identifier: Apache-2.0

# guest-arm64.sh - the guest's half of arm64.py.   usage: guest-arm64.sh USBIP-PORT VERSION
. ./guest-harness.sh
port=$1 version=$2
# An emulated ARM machine on a busy host.
limit=600
logs=(/tmp/dpkg /tmp/watch /tmp/watch.err)
modprobe vhci-hcd
# The receiver at the other end accepts a connection when it has noticed the end of the last one.
plug() { wait_until usbip --tcp-port "$port" attach -r 10.0.2.2 -b 1-1 > /dev/null 2>&1; }
has() { udevadm info -q property "$1" | grep -qx "$2"; }
as_user=(setpriv --reuid=ada --regid=ada --init-groups env HOME=/home/ada)
user() { "${as_user[@]}" "$@"; }
shown() { echo "\$ $*"; user "$@" 2>&1; }

echo "== $(uname -srm), systemd $(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'), $(tr -d '\0' < /proc/device-tree/model 2>/dev/null)"
check "systemd is process 1" [ "$(cat /proc/1/comm)" = systemd ]
useradd --create-home ada

echo "== the packages"
check "dpkg installs them" eval "dpkg -i sextant_${version}_arm64.deb sextantd_${version}_arm64.deb > /tmp/dpkg 2>&1"
usermod -aG gnss ada
check "the units are there, and disabled" [ "$(systemctl is-enabled sextantd.service)" = disabled ]
shown sextant --version

echo "== a receiver is plugged in"
plug
check "udev names it" udevadm wait -t $limit /dev/ttyACM0
udevadm settle
check "the rules mark it" has /dev/ttyACM0 SEXTANT_GNSS=1
check "ModemManager leaves it alone" has /dev/ttyACM0 ID_MM_DEVICE_IGNORE=1
check "it belongs to group gnss" [ "$(stat -c '%G %a' /dev/ttyACM0)" = "gnss 660" ]
check "it has a link" eval "ls /dev/gnss/by-id/*"
shown sextant devices
check "a user sees it" eval "user sextant devices | grep -q /dev/ttyACM0"

echo "== watch, unplug, plug in again"
"${as_user[@]}" sextant watch --read-only --json > /tmp/watch 2> /tmp/watch.err &
watch=$!
check "fixes" wait_line /tmp/watch '"TPV".*"lat"'
grep -m1 '"TPV".*"lat"' /tmp/watch
echo "memory of sextant watch: $(awk '/^(Rss|Pss|Private_Dirty):/ { printf "%s %s kB  ", $1, $2 }' /proc/$watch/smaps_rollup)"
echo want-unplug
check "the loss is reported" wait_line /tmp/watch.err "$RECEIVER_LOST"
plug
check "the return is reported" wait_line /tmp/watch.err "$RECEIVER_BACK"
lines=$(wc -l < /tmp/watch)
check "fixes again" wait_line /tmp/watch '"TPV".*"lat"' $((lines + 1))
cat /tmp/watch.err
kill $watch
wait $watch
check "watch ends in order at SIGTERM" [ $? -eq 0 ]

echo "== the service"
mkdir -p /etc/sextant
cp /usr/share/doc/sextantd/examples/policy /etc/sextant/
check "it starts" systemctl enable --quiet --now sextantd.socket sextantd.service
check "it is active" [ "$(systemctl is-active sextantd.service)" = active ]
shown sextant status
check "a user sees its receiver" wait_until eval "user sextant status | grep -q ttyACM0"

echo "== purge"
check "dpkg purges them" eval "dpkg -P sextantd sextant > /tmp/dpkg 2>&1"
check "no process stays" eval "! pgrep -x sextantd"
echo done-guest
