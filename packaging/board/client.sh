#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# A client of Core Location for 64-bit ARM boards: a product of the package in FOLDER, in its .build/board/release or in CLIENT_BUILD.
# Its Foundation belongs to another compiler, which inside.sh runs. Foundation's data cover English and the given languages.
# usage: client.sh FOLDER PRODUCT [LANGUAGE...]
set -euo pipefail
folder=$(cd "$1" && pwd) product=$2
shift 2
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
. packaging/flags.sh
build=${CLIENT_BUILD:-$folder/.build/board}
packaging/board/setup.sh "$board"
packaging/board/compiler.sh "$board"
LIBRARY=$board/foundation/lib/swift_static/linux/lib_FoundationICU.a CC="clang --target=aarch64-linux-gnu" AR=llvm-ar \
  OBJCOPY=llvm-objcopy packaging/icu-data.py "$board/icu-data" "$@"
"${SWIFT:-swift}" package resolve --package-path "$folder" --scratch-path "$build"
rm -f "$build/release/$product"
packaging/board/inside.sh "$board" swift build "${for_board[@]}" --swift-sdk arm64-foundation --package-path "$folder" \
  --scratch-path "$build" --disable-automatic-resolution --product "$product"
