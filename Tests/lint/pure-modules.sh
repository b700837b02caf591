#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Fails when a pure module or folder reads a clock of the computer or imports the C library: what decides is handed bytes and the time.
# A mathematical function may be imported by its name (`import func Glibc.cos`). `make lint` calls it.
set -euo pipefail
cd "$(dirname "$0")/../../Sources"
modules=(NMEA UBX RTCM3 WireBytes ReceiverStream Positioning Power Receiver ReceiverSimulator GPSD Messages/Varlink CoreLocation/Places
  ReceiverRuntime/NetworkSources ReceiverRuntime/Corrections sextant/{Tracks,Report,LivePage})
found=$(grep -rnE '\bSystemClock\b|^ *(@.* )?import +(Glibc|Musl|CLinux|Foundation)' --include='*.swift' "${modules[@]}" || true)
[ -z "$found" ] || { printf '%s\na pure module may not use this\n' "$found" >&2; exit 1; }
