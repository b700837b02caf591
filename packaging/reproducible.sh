#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds the programs that are installed twice, in different folders, with another time zone, locale and file mode mask, and
# compares them byte for byte, stripped as `make install` does it. Prints the SHA-256 of equal programs, and the sections
# (elf(5)) that differ.
# usage: reproducible.sh [PROGRAM...]      default: all. .build/reproducible keeps both builds; remove it for builds from nothing
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$PWD/.build/reproducible
mkdir -p "$folder"
[ $# -gt 0 ] || set -- sextant sextant-track sextantd sextant-uplink
programs=("$@")
first=$folder/first
second=$folder/a-second-folder/with-a-longer-name

# The files of the repository as they are now, and a build of them.   usage: build FOLDER VARIABLE=VALUE...
build() {
  local to=$1
  shift
  mkdir -p "$to"
  git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --update -t "$to" --
  echo "building in $to" >&2
  env "$@" make -C "$to" static INSTALLED="${programs[*]}" > "$to.log" 2>&1 || { tail -20 "$to.log" >&2; exit 1; }
}
build "$first" TZ=UTC LC_ALL=C
# The same revisions of the packages.
cp "$first/Package.resolved" "$(mkdir -p "$second" && echo "$second")"
(umask 077 && build "$second" TZ=Asia/Kathmandu LC_ALL=C.UTF-8)

sections() { readelf --section-headers --wide "$1" | sed -n 's/^ *\[ *[0-9]*\] \(\.[^ ]*\).*/\1/p'; }
section() { objcopy --dump-section "$2=/dev/stdout" "$1" /dev/null 2> /dev/null || true; }

failed=0
for program in "${programs[@]}"; do
  for place in "$first" "$second"; do strip -s -o "$place.$program" "$place/.build/static/release/$program"; done
  if cmp -s "$first.$program" "$second.$program"; then
    echo "$program: equal, SHA-256 $(sha256sum < "$first.$program" | cut -d' ' -f1)"
    continue
  fi
  failed=1
  echo "$program: differs" >&2
  for name in $(sections "$first.$program"); do
    cmp -s <(section "$first.$program" "$name") <(section "$second.$program" "$name") || echo "  section $name differs" >&2
  done
done
exit $failed
