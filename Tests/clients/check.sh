#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The public API of module CoreLocation: every name is compared with api.txt and with Apple's names, and a client package compiles without a
# warning and runs; its deployment; and README's packages and commands.
# usage: check.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
make dependencies
swift build --target CoreLocation
swift build --product sextant
python3 Tests/clients/api.py "$(swift build --show-bin-path)"
python3 Tests/clients/names.py
for check in run deploy readme; do "Tests/clients/$check.sh" "$PWD/.build"; done
