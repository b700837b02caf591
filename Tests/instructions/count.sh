#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Instructions per byte of the decoder on aarch64 and x86-64 (docs/reference/speed.md, count.py), with the qemu-user of Debian 12, which
# loads plugins; the qemu-user of packaging/board/setup.sh is static. RECORDINGS names the folder of the recordings.
# usage: count.sh [--no-limits]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top"
. packaging/flags.sh
swift=${SWIFT:-swift}
make dependencies
$swift build -c release --package-path Benchmarks --scratch-path "$top/.build" --disable-build-manifest-caching --product sextant-bench
packaging/board/setup.sh "$board"
$swift package resolve --package-path Benchmarks --scratch-path "$board/bench"
packaging/argument-parser/replace.sh "$board/bench"
$swift build "${cross[@]}" --package-path Benchmarks --scratch-path "$board/bench" --product sextant-bench
set -- "$board/count" "$board/sysroot" "$board/bench/release/sextant-bench" "$top/.build/release/sextant-bench" \
  "${RECORDINGS:-$top/../shared/corpus}" "$@"
checksum=02a7d6a2675a12dd7fdd474924295552470c0c933e0b543975887f493a84219f
path=pool/main/q/qemu/qemu-user_7.2%2bdfsg-7%2bdeb12u18%2bb3_amd64.deb
mkdir -p "$1"
if [ ! -e "$1/bin/qemu-aarch64" ]; then
  for source in http://deb.debian.org/debian https://snapshot.debian.org/archive/debian/20261124T000000Z; do
    ! curl -sSfL --retry 2 -o "$1/qemu-user.deb" "$source/$path" || break
  done
  echo "$checksum  $1/qemu-user.deb" | sha256sum --check --quiet
  dpkg-deb --fsys-tarfile "$1/qemu-user.deb" | tar -x -C "$1" --strip-components=2 ./usr/bin/qemu-aarch64 ./usr/bin/qemu-x86_64
fi
clang -O2 -shared -fPIC "$here/plugin.c" -o "$1/count.so"
python3 "$here/count.py" "$1/bin" "$1/count.so" "${@:2}"
