#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The programs for 64-bit ARM boards, in .build/board/build/release (docs/guides/cross-build.md).
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
. packaging/flags.sh
swift=${SWIFT:-swift}
packaging/board/setup.sh "$board"
$swift package resolve --scratch-path "$board/build"
packaging/argument-parser/replace.sh "$board/build"
$swift build "${cross[@]}" --scratch-path "$board/build" --product sextant
$swift build "${cross[@]}" "${ordered[@]}" --scratch-path "$board/build" --product sextantd
$swift build "${cross[@]}" --scratch-path "$board/build" --product sextant-uplink
CLIENT_BUILD=$board/client packaging/board/client.sh "$top" sextant-track
cp -f "$board/client/release/sextant-track" "$board/build/release/"
