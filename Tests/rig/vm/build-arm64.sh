#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The disk and the kernel of an arm64 machine with systemd: Debian 12 as debootstrap installs it, and Debian's kernel with all of its
# modules. The programs of the chroot run in qemu-user meanwhile.
# usage: build-arm64.sh CHROOT QEMU IMAGE, as root      CHROOT is the chroot that rig `packages` makes, QEMU is qemu-aarch64
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
image=$3
mkdir -p "$image"
root="$image/root"
rm -rf "$root"
cp -a "$1" "$root"
cp /etc/resolv.conf "$root/etc/"
cat > "$root/build.sh" <<'INSIDE'
mount -t proc none /proc
export DEBIAN_FRONTEND=noninteractive LC_ALL=C TMPDIR=/tmp
apt-get update -qq
apt-get install -y -qq --no-install-recommends systemd-sysv kmod usbip busybox-static iproute2
kernel=$(apt-cache depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
cd /tmp && apt-get -qq download "$kernel"
# Unpacked, not installed: the machine starts with an initrd of its own.
dpkg-deb -x /tmp/linux-image-*.deb /tmp/kernel
cp -a /tmp/kernel/boot/. /boot/
cp -a /tmp/kernel/lib/modules /usr/lib/
depmod "$(ls /usr/lib/modules)"
dpkg-deb -W --showformat '${Package} ${Version}\n' /tmp/linux-image-*.deb > /versions
INSIDE
"$here/../foreign.sh" "$2" chroot "$root" sh -e /build.sh > "$image/build.log" 2>&1 || { tail -20 "$image/build.log" >&2; exit 1; }
version=$(ls "$root/usr/lib/modules")
cp "$root/boot/vmlinuz-$version" "$image/vmlinux"

# The initrd reaches the disk, and starts systemd.
start="$image/start"
modules=(virtio_pci virtio_blk ext4 crc32c_generic)
rm -rf "$start"
mkdir -p "$start"/{bin,proc,sys,dev,root,usr/lib}
ln -s usr/lib "$start/lib"
cp "$root/bin/busybox" "$start/bin/"
for module in "${modules[@]}"; do modprobe -d "$root" -S "$version" --show-depends "$module"; done |
  sed -n "s,^insmod $root/*\([^ ]*\).*,\1,p" | sort -u | while read -r file; do
    install -D -m 644 "$root/$file" "$start/$file"
  done
cp "$root/usr/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$start/lib/modules/$version/"
depmod -b "$start" "$version"
cat > "$start/init" <<INIT
#!/bin/busybox sh
export PATH=/bin
for command in mount modprobe switch_root usleep; do /bin/busybox ln -s busybox /bin/\$command; done
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in ${modules[*]}; do modprobe \$module; done
until [ -b /dev/vda ]; do usleep 50000; done
mount -t ext4 -o noatime /dev/vda /root
for folder in dev proc sys; do mount --move /\$folder /root/\$folder; done
exec switch_root /root /sbin/init
INIT
chmod 755 "$start/init"
(cd "$start" && find . | cpio -o -H newc --quiet | gzip -1) > "$image/initrd.img"

# The command of the machine's one service mounts the host's folders, and runs the host's commands.
install -m 755 "$here/systemd-init.sh" "$root/usr/sbin/rig-init"
cat > "$root/etc/systemd/system/rig.service" <<'UNIT'
[Unit]
After=basic.target
[Service]
ExecStart=/usr/sbin/rig-init
TimeoutStopSec=5
[Install]
WantedBy=multi-user.target
UNIT
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -sf /etc/systemd/system/rig.service "$root/etc/systemd/system/multi-user.target.wants/"
echo board > "$root/etc/hostname"
rm -rf "$root"/{build.sh,tmp/*,var/cache/apt/archives/*.deb,var/lib/apt/lists/*}
mv "$root/versions" "$image/versions.new"
mke2fs -q -t ext4 -O ^has_journal -d "$root" "$image/rootfs.img" "$(($(du -sm "$root" | cut -f1) * 5 / 4 + 200))M"
rm -rf "$root" "$start"
mv "$image/versions.new" "$image/versions"
