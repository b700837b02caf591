#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# libsextant for C: the decoder as Embedded Swift, without a Swift runtime (docs/guides/from-c.md), in .build/clib/TARGET.
# usage: build.sh [TARGET...]      default: `host`, which is this machine. Several targets are compiled side by side.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || set -- host
host=$(uname -m | sed 's/aarch64/aarch64-none-none-elf/; s/x86_64/x86_64-unknown-linux-gnu/')
targets=("${@/#host/$host}")
"$top/Tests/embedded/compile.sh" "$top/.build/embedded" "${targets[@]}"
for target in "${targets[@]}"; do "$here/library.sh" "$top/.build/embedded" "$top/.build/clib/$target" "$target"; done
ln -sfn "$host" "$top/.build/clib/host"
