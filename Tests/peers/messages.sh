#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The interface descriptions by varlink, and every field of every frame of the recordings against pyubx2 and pynmeagps (all fetched from
# PyPI into .build).
# usage: messages.sh [SEXTANT]      default: the program of a release build, which is built; RECORDINGS names the folder of the recordings
set -euo pipefail
cd "$(dirname "$0")/../.."
recordings=${RECORDINGS:-../shared/corpus}
python3 Tests/peers/varlink_interfaces.py
compgen -G "$recordings/*/*.log" > /dev/null || { echo "no recordings in $recordings; name a folder with RECORDINGS=" >&2; exit 66; }
[ $# -gt 0 ] || { make build && set -- .build/release/sextant; }
python3 Tests/peers/compare_messages.py "$1" "$recordings"/*/*.log
