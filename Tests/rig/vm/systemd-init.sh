#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# systemd-init.sh - /sbin/rig-init of the image with systemd. As process 1 it becomes systemd. As the command of rig.service it
# does what the rig's own rig-init does after its start: it mounts the host's folders, and runs the commands of the host.
if [ $$ = 1 ]; then exec /lib/systemd/systemd; fi
for word in $(cat /proc/cmdline); do
  case $word in
    rig.mount=*)
      word=${word#rig.mount=}
      mkdir -p "${word#*:}"
      mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none "${word%%:*}" "${word#*:}"
      ;;
  esac
done
ip link set lo up
# The host is 10.0.2.2 of QEMU's network.
ip link set eth0 up && ip address add 10.0.2.15/24 dev eth0
cd /mnt/share
until [ -e /dev/virtio-ports/rig.ctl ]; do sleep 0.1; done
exec 3<> /dev/virtio-ports/rig.ctl 4> /dev/virtio-ports/rig.out
echo ready >&3
while read -r verb id text <&3; do
  [ "$verb" = run ] || continue
  echo "$text" | base64 -d > "/run/rig-$id.sh"
  if [ "$id" = main ]; then
    (bash "/run/rig-$id.sh" < /dev/null >&4 2>&1 3<&-; echo "exit $id $?" >&3) &
  else
    (bash "/run/rig-$id.sh" < /dev/null > /dev/null 2>&1 3<&- 4<&-; echo "exit $id $?" >&3) &
  fi
done
