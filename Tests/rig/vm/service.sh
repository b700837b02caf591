#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# service.sh - the location service on a machine with systemd as process 1, udev, polkit and the units as they ship: socket
# activation, the sandbox, plug and unplug, permission of two users, and a program that is started at a region's border after a
# reboot. The disk of the machine is a throw-away snapshot, so the state of the first boot is carried to the second one.
# usage: Tests/rig/vm/service.sh BIN-FOLDER        root; BIN-FOLDER holds sextant, sextant-track and sextantd
#   RIG=FOLDER     as in run.sh
#   IMAGE=FOLDER   the image with systemd (default: .build/rig/image-systemd, built there when it is missing)
set -euo pipefail
IMAGE=${IMAGE:-$(cd "$(dirname "$0")/../../.." && pwd)/.build/rig/image-systemd}
. "$(dirname "$0")/machine.sh"
port=${PORT:-3260}

if ! has_image; then
  [ "$(id -u)" = 0 ] || { echo "service.sh: building the machine's image needs root; run it with sudo" >&2; exit 77; }
  echo "building the virtual machine's image with systemd in $image (two minutes)" >&2
  mkdir -p "$image"
  GUEST_PKGS=systemd,systemd-sysv,dbus-user-session,libpam-systemd,polkitd \
    "$rig/build-image.sh" "$image" > "$image/build.log" 2>&1 || { tail -20 "$image/build.log" >&2; exit 1; }
fi

share_programs sextant sextant-track sextantd
cp -r "$project/hw-rules" "$share/"
cp "$here/guest-service.sh" "$share/"
# The rig's own init is replaced by systemd.
cp --sparse=always "$image/rootfs.img" "$work/rootfs.img"
# The programs of a debug build need space.
truncate -s +400M "$work/rootfs.img"
e2fsck -f -p "$work/rootfs.img" > "$work/debugfs.log" || [ $? -le 1 ]
resize2fs "$work/rootfs.img" >> "$work/debugfs.log" 2>&1
cp "$image"/{vmlinux,initrd.img} "$work/"
cat > "$work/rig.service" << 'UNIT'
[Unit]
After=basic.target dbus.service
[Service]
ExecStart=/sbin/rig-init
StandardOutput=journal+console
TimeoutStopSec=5
[Install]
WantedBy=multi-user.target
UNIT
debugfs -w -f /dev/stdin "$work/rootfs.img" >> "$work/debugfs.log" 2>&1 << COMMANDS
cd /usr/sbin
rm rig-init
write $here/systemd-init.sh rig-init
set_inode_field rig-init mode 0100755
cd /etc/systemd/system
write $work/rig.service rig.service
cd /etc/systemd/system/multi-user.target.wants
symlink rig.service /etc/systemd/system/rig.service
COMMANDS

boot() {
  echo outside > "$work/place"
  "$rig/boot.py" --image "$work" --share "$share" --work "$work/machine" --times --timeout $limit \
    --when start "host python3 $rig/usbip-gnss.py --port $port --wire \$RIG/acm.sock --control \$RIG/acm.ctl > $work/acm.log" \
    --when start "host python3 $here/emulate.py \$RIG/acm.sock $work/place" \
    "${@:2}" -- "bash guest-service.sh $1 $port" | tee -a "$work/out"
}
boot first --when want-unplug "host echo unplug | socat - UNIX:\$RIG/acm.ctl"
boot second --when want-inside "host echo inside > $work/place" \
  --when want-outside "host echo outside > $work/place"
[ "$(grep -c done-guest "$work/out")" = 2 ] || { echo "FAIL the guest did not reach its end"; exit 1; }
print_count
! grep -q FAIL "$work/out"
