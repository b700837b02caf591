#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds what is installed, and makes Debian packages of it in .build/deb (docs/guides/install-on-a-board.md). Man pages and completions
# come from this machine's programs.
# usage: debian.sh [ARCHITECTURE]      default: this machine's; arm64 is cross-built elsewhere
set -euo pipefail
cd "$(dirname "$0")/.."
command -v dpkg-shlibdeps >/dev/null && command -v dpkg-architecture >/dev/null || packaging/debian-packages.sh dpkg-dev
host=$(dpkg --print-architecture)
architecture=${1:-$host}
tree=$PWD/.build/deb/tree-$architecture

packaging/static.sh
target=host
if [ "$architecture" != "$host" ]; then
  packaging/board/programs.sh
  export PROGRAMS=$PWD/.build/board/build/release STRIP=true
  # The compiler of C and its libraries are Debian's packages for cross-building.
  export CROSS_COMPILE=aarch64-linux-gnu- SYSROOT=$PWD/.build/board/sysroot
  target=aarch64-none-none-elf
  command -v ${CROSS_COMPILE}gcc >/dev/null || packaging/debian-packages.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi
CSupport/CSextant/build.sh $target

rm -rf "$tree"
export DESTDIR=$tree PREFIX=/usr LIB=/usr/lib USER_UNITS=/usr/lib/systemd/user POLKIT=/usr/share/polkit-1/rules.d UDEV=/usr/lib/udev
export LIBDIR=/usr/lib/$(dpkg-architecture -A"$architecture" -qDEB_TARGET_MULTIARCH) CLIB=.build/clib/$target
for part in programs units hw-rules clib; do packaging/install.sh $part; done
"${CROSS_COMPILE:-}strip" --strip-unneeded "$tree"/usr/lib/*/libsextant.so.*
packaging/deb.sh "$tree" "$architecture" "$(packaging/version.sh)" .build/deb
