#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The programs for a 64-bit ARM board. Of their objects: no copies of tables in the decoder, and no reference to a library that adds
# a megabyte. In qemu-user: their version; the output of `decode` for each recording, byte for byte that of this machine's program; and
# positions and locations on a pseudo-terminal, with this machine's simulated receiver.
# usage: board.sh BOARD RECORDINGS     BOARD is the folder of packaging/board/setup.sh
set -euo pipefail
board=$1 recordings=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
host="$top/.build/static/release/sextant"
[ -x "$host" ] || host="$top/.build/release/sextant"
emulated() { "$board/qemu/qemu-aarch64" -L "$board/sysroot" "$board/build/release/$1" "${@:2}"; }

for program in sextant sextantd sextant-track; do
  echo "board: $program: $(stat -L -c %s "$board/build/release/$program") bytes," \
    "glibc $(readelf -V "$board/build/release/$program" | grep -o 'GLIBC_2[.0-9]*' | sort -Vu | tail -1)"
done
echo "board: $(emulated sextant --version), $(emulated sextantd --version)"

objects="$board/build/release"
"$top/Tests/instructions/copies.py" "$objects"/{WireBytes,NMEA,UBX,RTCM3,ReceiverStream}.build/*.o
"$top/Tests/lint/large-libraries.sh" "$objects" sextant sextantd

compared=0 different=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for recording in "$recordings"/*/*.log; do
  [ -e "$recording" ] || { echo "board: no recordings in $recordings; name a folder with RECORDINGS=" >&2; exit 66; }
  for format in tpv messages summary; do
    # A recording without a frame ends with 65 on both.
    code=0; "$host" decode --format $format "$recording" > "$work/host" 2> "$work/host.error" || code=$?
    codeThere=0; emulated sextant decode --format $format "$recording" > "$work/board" 2> "$work/board.error" || codeThere=$?
    compared=$((compared + 1))
    cmp -s "$work/host" "$work/board" && cmp -s "$work/host.error" "$work/board.error" && [ $code = $codeThere ] || {
      different=$((different + 1)); echo "board: $recording, $format: exit codes $code and $codeThere, outputs differ" >&2; }
  done
done
echo "board: $compared outputs of decode, $different different"
[ $different = 0 ]

"$host" simulate --model m10 --link "$work/receiver" > "$work/simulator" < /dev/null &
trap 'kill %1 2>/dev/null || true; rm -rf "$work"' EXIT
# It prints the path of the line, when that can be opened.
until grep -q '^/dev/' "$work/simulator"; do kill -0 %1; sleep 0.1; done
# A location is the simulated walk's, which begins at 48.164 north and 11.606 east.
export SEXTANT_STATE_DIR=$work/state SEXTANT_RUN_DIR=$work/run SEXTANT_AUTHORIZATION=always SEXTANT_SERVICE=none
emulated sextant watch --device "$work/receiver" --json --count 3 > "$work/watch"
[ "$(grep -c '"class":"TPV".*"lat":48[.]16' "$work/watch")" -ge 3 ] || { echo "board: no three positions:" >&2; cat "$work/watch" >&2; exit 1; }
emulated sextant-track --device "$work/receiver" --json --once > "$work/track"
grep -q '"event":"didUpdateLocations".*"latitude":48[.]16' "$work/track" || { echo "board: no location:" >&2; cat "$work/track" >&2; exit 1; }
echo "board: three positions by watch and a location by sextant-track on a pseudo-terminal"
