# SPDX-License-Identifier: Apache-2.0

# machine.sh - the functions that the scripts which boot the virtual machine share. They source it, with the folder of the
# programs as their first argument; RIG and IMAGE are explained in run.sh.
script=$(basename "$0")
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../../.." && pwd)
bin=$(cd "$1" && pwd)
rig=${RIG:-$project/../shared/rig/vm}
image=${IMAGE:-$project/.build/rig/image}
# Seconds. It only ends a machine that would never end.
limit=1200

if [ ! -x "$rig/boot.py" ]; then
  echo "$script: no virtual machine: $rig has no boot.py; name the folder that has it with RIG=" >&2
  exit 69
fi

has_image() { [ -e "$image/versions" ] && command -v qemu-system-x86_64 >/dev/null && command -v socat >/dev/null; }

# For the scripts that do not build it.
need_image() {
  has_image || { echo "$script: there is no image in $image; run.sh builds it" >&2; exit 69; }
}

# Builds the image if it is missing; systemd is in it for the machines that have it as process 1.   usage: build_image [PACKAGE]...
build_image() {
  local packages=systemd,systemd-sysv,dbus-user-session,libpam-systemd,polkitd package
  has_image && return
  [ "$(id -u)" = 0 ] || { echo "$script: building the machine's image needs root; run it with sudo" >&2; exit 77; }
  echo "building the virtual machine's image in $image (two minutes)" >&2
  for package in "$@"; do packages+=,$package; done
  mkdir -p "$image"
  apt-get update -qq
  GUEST_PKGS=$packages "$rig/build-image.sh" "$image" > "$image/build.log" 2>&1 || { tail -20 "$image/build.log" >&2; exit 1; }
}

# A copy of the image in $work whose process 1 is systemd, not the rig's own init.
prepare_systemd() {
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
}

# The folder that the guest mounts, with these programs, the Swift runtime of the toolchain, and what the guest's scripts source.
share_programs() {
  local program library
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  share=$work/share
  mkdir -p "$share/lib"
  cp "$here/guest-harness.sh" "$share/"
  python3 "$here/../phrases.py" > "$share/phrases.sh"
  for program in "$@"; do strip -o "$share/$program" "$bin/$program"; done
  for library in $(ldd "${@/#/$bin/}" |
    sed -n 's/.*=> \(\/.*\/lib\(swift\|dispatch\|Blocks\|_\?Foundation\)[^ ]*\) .*/\1/p' | sort -u); do
    strip -o "$share/lib/$(basename "$library")" "$library"
  done
}

# Boots, lets the guest run a script of this folder, and fails if a check failed or the script did not reach its end.
run_guest() {
  local guest=$1
  cp "$here/$guest" "$share/"
  "$rig/boot.py" --image "$image" --share "$share" --work "$work/machine" --times --timeout $limit \
    -- "bash $guest" | tee "$work/out"
  grep -q done-guest "$work/out" || { echo "FAIL the guest did not reach its end"; exit 1; }
  print_count
  ! grep -q FAIL "$work/out"
}

# The failed checks again, as the end of a long log is what CI shows, and the count.
print_count() {
  grep FAIL "$work/out" || true
  echo "--- $(grep -c PASS "$work/out") passed in the guest, $(grep -c FAIL "$work/out" || true) failed"
}
