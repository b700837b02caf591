#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds the documentation of the library products with the toolchain's DocC, and compiles its examples of UBX messages; a warning is an
# error.
# usage: build.sh [FOLDER]      FOLDER gets the archives; default: .build/documentation
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$top/.build/documentation}
swift build --package-path "$top"
built=$(swift build --package-path "$top" --show-bin-path)
checkouts=$(cd "$built/../../checkouts" && pwd)
target=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -n 1)

for module in MonotonicTime WireBytes NMEA UBX RTCM3 ReceiverStream LinuxIO SerialPort Receiver ReceiverSimulator Positioning; do
  # Beginning anew, so that no symbol of an earlier tree is documented.
  rm -rf "$out/symbols/$module"
  mkdir -p "$out/symbols/$module"
  swift symbolgraph-extract -module-name "$module" -target "$target" -minimum-access-level public \
    -skip-inherited-docs -I "$built/Modules" -I "$top/CSupport/CUdev" -I "$top/CSupport/CByteMask" \
    -I "$top/CSupport/CLinux/include" -I "$checkouts/swift-system/Sources/CSystem/include" -output-dir "$out/symbols/$module"
  docc convert --fallback-display-name "$module" --fallback-bundle-identifier "sextant.$module" \
    --additional-symbol-graph-dir "$out/symbols/$module" --warnings-as-errors --output-path "$out/$module.doccarchive"
done

# The example of each UBX message compiles.
"$built/UBXLayoutCompiler" examples "$out/examples.swift" "$top"/Sources/UBX/Layouts/*.ubx
swiftc -typecheck -warnings-as-errors -swift-version 6 -I "$built/Modules" -I "$top/CSupport/CByteMask" "$out/examples.swift"
