#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Prints inputs that reach the most of each target's code, as lines of corpus.txt, from what `make fuzz` has found.
# usage: corpus.sh FOLDER; `make fuzz-corpus` calls it.
set -euo pipefail
out=$1
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
done
