#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# run.sh FOLDER: builds the package of a client beside the project, in FOLDER, and runs its programs on the built-in simulator.
# Prints ok, or the difference.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1

swift build --package-path "$here" --scratch-path "$build" --disable-build-manifest-caching
bin=$(swift build --package-path "$here" --scratch-path "$build" --show-bin-path)

# The same sources in language mode 5, which clients may still use.
modules=(-I "$bin/Modules" -I "$build/checkouts/swift-system/Sources/CSystem/include" -I "$here/../../CSupport/CLinux/include")
for map in "$here"/../../CSupport/*/module.modulemap; do modules+=(-I "$(dirname "$map")"); done
for map in "$bin"/*.build/module.modulemap; do modules+=(-Xcc "-fmodule-map-file=$map"); done
for folder in "$here"/Sources/*; do
  library=$([ -e "$folder/main.swift" ] || echo -parse-as-library)
  swiftc -typecheck -swift-version 5 -warnings-as-errors "${modules[@]}" $library "$folder"/*.swift
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The programs of the page about the libraries.
awk -v folder="$work" '/^```swift$/ { file = folder "/" ++count ".swift"; next } /^```$/ { file = "" } file { print > file }' \
  "$here/../../docs/reference/libraries.md"
[ -e "$work/4.swift" ] || { echo "run.sh: libraries.md has fewer than four programs" >&2; exit 1; }
for program in "$work"/*.swift; do swiftc -typecheck -warnings-as-errors "${modules[@]}" "$program"; done

# A package that names no traits resolves no other package.
mkdir -p "$work/alone/Sources"
cat > "$work/alone/Package.swift" <<PACKAGE
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "alone", dependencies: [.package(name: "sextant", path: "$(cd "$here/../.." && pwd)", traits: [])],
  targets: [.executableTarget(name: "alone", dependencies: [.product(name: "ReceiverStream", package: "sextant")], path: "Sources")])
PACKAGE
echo 'import ReceiverStream' > "$work/alone/Sources/main.swift"
swift package --package-path "$work/alone" resolve
[ ! -e "$work/alone/Package.resolved" ] || { echo "run.sh: the decoders alone resolve other packages:" >&2; cat "$work/alone/Package.resolved" >&2; exit 1; }

export GNSS_DEVICE=sim:walk SEXTANT_APP_STATE=foreground SEXTANT_AUTHORIZATION=always

declare -A wanted=(
  [RunLoopMain]='^found .*, equal to itself: true' [DispatchMain]='^at 4[0-9.]* 1[0-9.]*' [TopLevelTask]='^place 2: '
  [AsyncMain]='^left: \[\]' [OldListings]='^from 4[0-9.]* to 4' [Logger]='^<trkpt lat="48.*Z</time>'
  [RegionWatcher]='^failed too large kCLErrorDomain 5' [BackgroundThread]='^told on its own thread: true'
  [ContinuationFetcher]='^fetched 48.16 11.6' [DeferredRunner]='^deferral refused: distance filter'
  [HeaderImports]='^by its headers 4.*, valid: true CLVisit' [LoopOfC]='^the loop ended with 1'
  [DelegateProxy]='^heard ."1 location, its own manager: true", "error", "authorization"., calibrates: Optional(false)'
  [ErrorCodes]='^ranging: ranging' [LiveFilter]='^cancelled after some' [MainActorDefault]='^both are told, status 3'
  [MockedManager]='^received \[-1.0, 7.0\], errors 1, at 1.0' [MonitorActor]='^work true recorded false'
  [ObservableModel]='^observed true, updating false' [SignificantVisits]='^significant true, same as location'
  [StreamWrapper]='^streamed 3, as far as one walks' [TurnedLoop]='^place 2 of 2, turned'
  [SentencesAlone]='^rounded 48117$' [MessagesAlone]='^key 807469057$'
  [Values]='^values are as they should be'
)
for program in "${!wanted[@]}"; do
  SEXTANT_STATE_DIR="$work/$program.state" timeout 300 "$bin/$program" >"$work/$program" 2>&1 &
done
wait
for program in "${!wanted[@]}"; do
  grep -q "${wanted[$program]}" "$work/$program" || {
    echo "run.sh: $program does not print ${wanted[$program]}:" >&2
    cat "$work/$program" >&2
    exit 1
  }
done
grep -q '^inside here' "$work/AsyncMain" || { echo "run.sh: AsyncMain's monitor delivers no event" >&2; exit 1; }
echo ok
