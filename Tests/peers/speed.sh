#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The speed of other projects' decoders on the same recordings (docs/reference/speed.md).
# usage: speed.sh PEERS      PEERS is a folder with checkouts of minmea, nmea, ublox, RTKLIB, gpsd, pynmeagps, pyubx2 and pyrtcm; those that are
#        missing are skipped. RECORDINGS names the folder of the recordings
set -euo pipefail
[ -d "${1:-}" ] || { echo "usage: speed.sh PEERS (a folder with checkouts of the peers)" >&2; exit 64; }
peers=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
for tool in valgrind scons cc taskset; do
  command -v $tool >/dev/null || { packaging/debian-packages.sh valgrind scons gcc libc6-dev util-linux binutils; break; }
done
make dependencies
swift build -c release --package-path Tests/peers/adapters/sextant --scratch-path "$PWD/.build" --disable-build-manifest-caching --product decoder
python3 Tests/peers/compare_speed.py "$peers" "${RECORDINGS:-../shared/corpus}" .build/compare .build/release/decoder
