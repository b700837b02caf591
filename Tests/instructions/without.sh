#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Instructions per byte without one of the fast paths each (docs/reference/speed.md): copies of the sources in which the path is not
# taken, built and counted as by count.sh, whose downloads are used.
# usage: without.sh [FAST-PATH]...      .build/without gets the copies; FAST-PATH is scan, numbers, sums or carryless
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=$top/.build/without board=$top/.build/board recordings=$(cd "${RECORDINGS:-$top/../shared/corpus}" && pwd)
mkdir -p "$folder"
[ -e "$board/count" ] || "$top/Tests/instructions/count.sh"
[ $# -gt 0 ] || set -- scan numbers sums carryless

# Replaces the only line of a file that has this text.
replace() {
  [ "$(grep -cF "$2" "$1")" = 1 ] || { echo "without.sh: $1 does not have this line once: $2" >&2; exit 1; }
  awk -v text="$2" -v new="$3" 'index($0, text) { print new; next } { print }' "$1" > "$1.new"
  mv "$1.new" "$1"
}

for path in "$@"; do
  copy=$folder/$path
  rm -rf "$copy/Sources" "$copy/CSupport"
  mkdir -p "$copy/.build/board"
  (cd "$top" && git ls-files -z | xargs -0 cp --parents --update -t "$copy" --)
  for part in packages sysroot sdks state count; do
    [ -e "$copy/.build/board/$part" ] || cp -al "$board/$part" "$copy/.build/board/"
  done
  case $path in
    scan)
      replace "$copy/Sources/NMEA/Frames/FrameScan.swift" 'guard bytes.byteCount &- offset >= 88, isLetter(bytes.u1(offset &+ 1))' \
        '    guard bytes.byteCount < 0, isLetter(bytes.u1(offset &+ 1)) else { return nil }' ;;
    numbers)
      replace "$copy/Sources/NMEA/Fields/NumberRuns.swift" 'if let present = fastIntegers(' \
        '      if base < 0, let present = fastIntegers(&head, places: places, headRanges, &blocks, count, ranges) { return present }' ;;
    sums)
      replace "$copy/Sources/UBX/Frames/UBXFrame.swift" 'guard let sums = ColumnSums(' \
        '  guard count < 0, let sums = ColumnSums(of: bytes, from: offset, count: count) else {' ;;
    carryless)
      replace "$copy/CSupport/CByteMask/crc24q.h" 'if (count >= 16 && c_has_carryless())' \
        '  if (count > ~0ul - 1 && c_has_carryless()) return c_crc24q_carryless(bytes, count);' ;;
    *) echo "without.sh: $path is not a fast path; name scan, numbers, sums or carryless" >&2; exit 64 ;;
  esac
  echo "without.sh: without $path, built in $copy" >&2
  RECORDINGS=$recordings "$copy/Tests/instructions/count.sh" --no-limits > "$copy.log" 2>&1 ||
    { tail -20 "$copy.log" >&2; exit 1; }
  echo "Without $path:"
  grep '^|' "$copy.log"
done
