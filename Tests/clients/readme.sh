#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# readme.sh FOLDER: makes README's package with Core Location from README's text alone, builds it in FOLDER, and runs README's commands
# until a location is printed. Prints ok, or what is missing. CHECKOUT names another copy of the project, such as one without a build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
checkout=${CHECKOUT:-$here/../..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/hike/Sources"
ln -s "$(cd "$checkout" && pwd)" "$work/sextant"
if [ -e "$checkout/Package.resolved" ]; then cp "$checkout/Package.resolved" "$work/hike"; fi

# The blocks of Swift after the heading sentence are Package.swift and main.swift; the indented lines after them are the commands.
python3 - "$here/../../README.md" "$work/hike" <<'PYTHON'
import re, sys
text = open(sys.argv[1]).read().split("A program with Core Location, in a folder `hike`", 1)[1]
package, source = re.findall(r"```swift\n(.*?)```", text, re.S)[:2]
commands = re.findall(r"((?:^    .+\n)+)", text.split("```", 4)[4], re.M)[0]
for name, content in (("Package.swift", package), ("Sources/main.swift", source), ("commands", commands)):
    with open(f"{sys.argv[2]}/{name}", "w") as file:
        file.write(content)
PYTHON

# README's commands, with the build's folder, and the answer of a person at a terminal.
swift() { command swift "$1" --scratch-path "$build" "${@:2}"; }
export -f swift
export build SEXTANT_AUTHORIZATION=always SEXTANT_SERVICE=none SEXTANT_STATE_DIR="$work/state"
cd "$work/hike"
setsid bash commands >"$work/printed" 2>&1 &
run=$!
while ! grep -q '^CLLocationCoordinate2D(latitude: 48' "$work/printed" && kill -0 $run 2>/dev/null; do sleep 1; done
kill -- -$run 2>/dev/null || true
wait $run || true
grep -q '^CLLocationCoordinate2D(latitude: 48' "$work/printed" || {
  echo "readme.sh: README's example prints no location:" >&2
  tail -n 30 "$work/printed" >&2
  exit 1
}
echo ok
