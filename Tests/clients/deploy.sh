#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# deploy.sh FOLDER: `swift package sextant-deploy` with a program of the package of clients, which run.sh has built in FOLDER.
# Prints ok, or what is missing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$(swift build --package-path "$here" --scratch-path "$build" --show-bin-path)

deploy() { swift package --package-path "$here" --scratch-path "$build" --disable-build-manifest-caching --allow-writing-to-package-directory sextant-deploy "$@"; }
fail() { echo "deploy.sh: $*" >&2; exit 1; }

deploy RunLoopMain --executable "$bin/RunLoopMain" --output "$work/board" --deb --version 2.1 --permission always >"$work/printed"
root=$work/board
[ -x "$root/usr/bin/RunLoopMain" ] || fail "the program is missing"
[ "$(stat -c %s "$root/usr/bin/RunLoopMain")" -lt "$(stat -c %s "$bin/RunLoopMain")" ] || fail "the program is not stripped"
grep -q NSLocationWhenInUseUsageDescription "$root/usr/share/RunLoopMain/Info.plist" || fail "the usage text is missing"
unit=$root/lib/systemd/system/RunLoopMain.service
grep -qx 'ExecStart=/usr/bin/RunLoopMain' "$unit" || fail "the unit starts another program"
grep -qx 'SupplementaryGroups=gnss' "$unit" || fail "the unit has no access to receivers"
grep -qx 'Environment=SEXTANT_AUTHORIZATION=always' "$unit" || fail "the unit has another permission"
package=$work/RunLoopMain_2.1.deb
[ "$(dpkg-deb --field "$package" Package)" = runloopmain ] || fail "the package has another name"
[ "$(dpkg-deb --field "$package" Version)" = 2.1 ] || fail "the package has another version"
dpkg-deb --contents "$package" >"$work/contents"
grep -q ' root/root .* ./usr/bin/RunLoopMain$' "$work/contents" || fail "the package has no program of root"
for wrong in "" "a b" "RunLoopMain --permission never" "../x"; do
  # Words of each case are separate arguments.
  ! deploy $wrong >"$work/printed" 2>&1 || fail "'$wrong' is accepted"
done
echo ok
