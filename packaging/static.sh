#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Programs for machines without Swift, which need only libudev and libstdc++, in .build/static/release: build here, run on the board.
# usage: static.sh [PROGRAM...]      default: all that are installed; also their man pages and completions, from their own descriptions of
#        their commands, in .build/manual, and the software bill of materials (SPDX) of the programs as they are installed, without symbols
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
. packaging/flags.sh
swift=${SWIFT:-swift}
built=.build/static
all=
[ $# -gt 0 ] || { all=yes; set -- sextant sextant-track sextantd sextant-uplink; }
command -v python3 >/dev/null && command -v strip >/dev/null || packaging/debian-packages.sh python3 binutils

# Equal programs from any folder: paths of sources begin at the checkout, and the two hashes of debugging information are not in the
# programs (docs/reference/security.md).
flags=(-c release --static-swift-stdlib --scratch-path $built "${link[@]}" -Xswiftc -file-prefix-map -Xswiftc "$top=."
  -Xcc "-ffile-prefix-map=$top=." -Xlinker --build-id=none -Xlinker "$top/packaging/reproducible.ld")

$swift package resolve --scratch-path $built
packaging/argument-parser/replace.sh $built
packaging/icu-data.py $built/icu-data
clang -O2 -c packaging/scalar-names.c -o $built/scalar-names.o
small+=(-Xlinker "$top/$built/scalar-names.o")
for program; do
  case $program in
    # It writes English: its Foundation gets no data of other languages. The other programs have no Foundation.
    sextant-track) more=(-Xlinker "$top/$built/icu-data.ld") ;;
    sextantd) more=("${ordered[@]}" "${small[@]}") ;;
    *) more=("${small[@]}") ;;
  esac
  $swift build "${flags[@]}" "${more[@]}" --product "$program"
done

[ -n "$all" ] || exit 0
rm -rf .build/manual
python3 docs/man/pages.py $built/release .build/manual

mkdir -p $built/stripped
stripped=()
for program; do
  strip -o "$built/stripped/$program" "$built/release/$program"
  stripped+=("$built/stripped/$program")
done
python3 packaging/sbom.py Package.resolved "${stripped[@]}" > $built/release/sextant.spdx.json
