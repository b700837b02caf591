#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Writes corpus.txt: inputs that reach the most of each target's code, from what `make fuzz` has found. The unit tests give them to the
# targets.
# usage: corpus.sh [FOLDER]      default: .build/fuzz
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../../.build/fuzz}
# For each target, in bytes: a small file takes a small part of the tests' time.
limit=6000
export ASAN_OPTIONS=detect_leaks=0
merged=$(mktemp -d)
trap 'rm -r "$merged"' EXIT
for folder in "$out"/corpus/*/; do
  target=$(basename "$folder")
  mkdir "$merged/$target"
  "$out/bin/$target" -set_cover_merge=1 -max_len=1024 "$merged/$target" "$folder" "$out/seeds/$target" > /dev/null 2>&1
  left=$limit
  # The names are hashes: the order is as good as random, and the same each time.
  for file in "$merged/$target"/*; do
    size=$(stat -c %s "$file")
    [ "$size" -gt 0 ] && [ "$size" -le "$left" ] || continue
    left=$((left - size))
    printf '%s %s\n' "$target" "$(od -An -v -tx1 "$file" | tr -d ' \n')"
  done
done > "$merged/corpus.txt"
mv "$merged/corpus.txt" "$here/corpus.txt"
