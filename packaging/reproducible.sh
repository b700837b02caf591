#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds the programs of the last commit in two folders whose paths differ in length, and compares what would be installed
# (stripped) byte by byte (reproducible-builds.org). `make check-reproducible` calls it.
# usage: reproducible.sh FOLDER [PRODUCT...]
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
products=("${@:-sextant sextant-track sextantd}")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct)}

for place in a another/folder; do
  rm -rf "${folder:?}/$place"
  mkdir -p "$folder/$place"
  git -C "$top" archive HEAD | tar -x -C "$folder/$place"
  # The versions of the packages are those of this folder.
  [ ! -e "$top/Package.resolved" ] || cp "$top/Package.resolved" "$folder/$place/"
  # shellcheck disable=SC2086
  make -C "$folder/$place" static PRODUCTS="${products[*]}"
done

differ=0
for product in ${products[*]}; do
  for place in a another/folder; do
    strip -o "$folder/$place/$product.stripped" "$folder/$place/.build/static/release/$product"
  done
  if cmp "$folder/a/$product.stripped" "$folder/another/folder/$product.stripped"; then
    echo "$product: equal, SHA-256 $(sha256sum < "$folder/a/$product.stripped" | cut -c1-64)"
  else
    differ=1
    # Where they differ, by section: bytes of it that are not equal.
    for section in $(readelf --sections --wide "$folder/a/$product.stripped" | sed -nE 's/^ +\[ *[0-9]+\] (\.[^ ]+).*/\1/p'); do
      for place in a another/folder; do
        objcopy -O binary --only-section="$section" "$folder/$place/$product.stripped" "$folder/$place/section" 2>/dev/null || : > "$folder/$place/section"
      done
      count=$(cmp -l "$folder/a/section" "$folder/another/folder/section" 2>/dev/null | wc -l)
      [ "$count" = 0 ] || echo "$product: $section: $count bytes differ"
    done
  fi
done
exit $differ
