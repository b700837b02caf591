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
dpkg-deb --control "$package" "$work/control"
[ -x "$work/control/postinst" ] || fail "the package has no script that makes its group"
# The group of the unit is made by the script, with a program that the package depends on.
mkdir "$work/stub"
printf '#!/bin/sh\necho "$*" >>"%s/made"\n' "$work" >"$work/stub/addgroup"
chmod +x "$work/stub/addgroup"
PATH="$work/stub:$PATH" "$work/control/postinst" configure
grep -qx -- "--system --quiet $(sed -n 's/^SupplementaryGroups=//p' "$unit")" "$work/made" || fail "the package does not make the group of its unit"
# With systemd, a program that runs is restarted by an upgrade and stopped by a removal. The scripts look for a folder of the tests.
printf '#!/bin/sh\necho "$*" >>"%s/called"\n' "$work" >"$work/stub/systemctl"
chmod +x "$work/stub/systemctl"
scripted() { : >"$work/called" && sed "s|/run/systemd/system|$work|" "$work/control/$1" | PATH="$work/stub:$PATH" sh -s -- "${@:2}" && paste -sd, "$work/called"; }
[ "$(scripted postinst configure)" = "--system daemon-reload" ] || fail "an installation does not load the unit"
[ "$(scripted postinst configure 2.0)" = "--system daemon-reload,--system try-restart RunLoopMain.service" ] || fail "an upgrade leaves the old program running"
[ "$(scripted prerm remove)" = "--system stop RunLoopMain.service" ] || fail "a removal leaves the program running"
[ -z "$(scripted prerm upgrade 2.2)" ] || fail "an upgrade stops the program before the new one is there"
dpkg-deb --field "$package" Depends | grep -qw adduser || fail "the package does not depend on addgroup's package"
[ "$(dpkg-deb --field "$package" Architecture)" = "$(dpkg --print-architecture)" ] || fail "the package has another architecture"

# The package is installed in a folder, and its program is started as the unit says, without a terminal, at a simulated receiver.
for permission in whenInUse always; do
  deploy RunLoopMain --executable "$bin/RunLoopMain" --output "$work/$permission/RunLoopMain" --deb --permission "$permission" >"$work/printed"
  grep -q "grant RunLoopMain.service $permission" "$work/printed" || fail "the line of the policy is not printed"
  root=$work/$permission/root
  dpkg-deb --extract "$work/$permission/RunLoopMain_1.0.deb" "$root"
  unit=$root/lib/systemd/system/RunLoopMain.service
  mapfile -t environment < <(sed -n 's/^Environment=//p' "$unit")
  env -i PATH="$PATH" "${environment[@]}" SEXTANT_STATE_DIR="$work/$permission/state" SEXTANT_SERVICE=none GNSS_DEVICE=sim:walk \
    timeout 120 setsid --wait "$root$(sed -n 's/^ExecStart=//p' "$unit")" </dev/null >"$work/ran" 2>&1 || { cat "$work/ran" >&2; fail "$permission: the program fails"; }
  grep -q '^found 48' "$work/ran" || { cat "$work/ran" >&2; fail "$permission: the program has no location"; }
done

# With a Swift SDK, which here is of this machine: its triple, and a sysroot of links to its files and to the toolchain's library.
# The program is a small one, because it is built anew.
mkdir -p "$work/small/Sources/small" "$work/sdks/here.artifactbundle/sdk"
cat >"$work/small/Package.swift" <<PACKAGE
// swift-tools-version: 6.2
import PackageDescription
let package = Package(
  name: "small", dependencies: [.package(name: "sextant", path: "$(cd "$here/../.." && pwd)")],
  targets: [.executableTarget(name: "small")])
PACKAGE
echo 'print("small")' >"$work/small/Sources/small/main.swift"
cp "$here/../../Package.resolved" "$work/small"
library=$(dirname "$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')")
mkdir -p "$work/root/usr/lib"
for path in /* /usr/* /usr/lib/*; do [ -e "$work/root$path" ] || ln -s "$path" "$work/root$path"; done
ln -sfn "$library/swift" "$work/root/usr/lib/swift"
ln -sfn "$library/swift_static" "$work/root/usr/lib/swift_static"
triple=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -n 1)
cat >"$work/sdks/here.artifactbundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"here": {"type": "swiftSDK", "version": "1", "variants": [{"path": "sdk"}]}}}
JSON
cat >"$work/sdks/here.artifactbundle/sdk/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"$triple": {"sdkRootPath": "$work/root", "swiftResourcesPath": "$library/swift",
 "swiftStaticResourcesPath": "$library/swift_static"}}}
JSON
swift package --package-path "$work/small" --scratch-path "$work/build" --allow-writing-to-package-directory sextant-deploy small \
  --swift-sdk here --swift-sdks-path "$work/sdks" --deb >"$work/printed" 2>&1 || { cat "$work/printed" >&2; fail "no build with an SDK"; }
[ "$("$work/small/deploy/small/usr/bin/small")" = small ] || fail "the program of the SDK does not run"
dpkg-deb --contents "$work/small/deploy/small_1.0.deb" >"$work/contents"
grep -q ' ./usr/bin/small$' "$work/contents" || fail "the package of the SDK has no program"

# ICU's data of chosen languages: German is there, and French is English.
cat >"$work/dates.swift" <<'SWIFT'
import Foundation
for code in ["de", "fr"] {
  let formatter = DateFormatter()
  formatter.locale = Locale(identifier: code)
  formatter.timeZone = TimeZone(identifier: "Europe/Zurich")
  formatter.dateFormat = "EEEE HH:mm"
  print(formatter.string(from: Date(timeIntervalSince1970: 0)))
}
SWIFT
"$here/../../packaging/icu-data.py" "$work/icu-data" de >/dev/null
swiftc -static-stdlib -use-ld=lld -Xlinker "$work/icu-data.ld" "$work/dates.swift" -o "$work/dates"
[ "$("$work/dates" | tr '\n' ' ')" = "Donnerstag 01:00 Thursday 01:00 " ] || fail "ICU's data are not in the chosen languages"

# A folder with other files stays as it is; one with an earlier deployment is written again.
deploy RunLoopMain --executable "$bin/RunLoopMain" --output "$work/board" >"$work/printed" || fail "the same folder is refused"
[ ! -e "$root/DEBIAN/control" ] || fail "a file of the earlier deployment is left"
for name in notes usr/bin/other usr/link; do
  rm -rf "$work/home" && mkdir -p "$work/home/usr/bin"
  echo keep >"$work/home/usr/bin/RunLoopMain"
  if [ $name = usr/link ]; then ln -s /etc "$work/home/$name"; else echo keep >"$work/home/$name"; fi
  ! deploy RunLoopMain --executable "$bin/RunLoopMain" --output "$work/home" >"$work/printed" 2>&1 || fail "$name is replaced"
  grep -q "not of this program" "$work/printed" || fail "the reason is missing"
  [ -e "$work/home/$name" ] && [ "$(cat "$work/home/usr/bin/RunLoopMain")" = keep ] || fail "files beside $name are removed"
done

# A line feed would add a line to the unit and to the control file.
line=$'RunLoopMain\nExecStartPre=+/bin/true'
! deploy "$line" --executable "$bin/RunLoopMain" >"$work/printed" 2>&1 || fail "a name of two lines is accepted"
for version in $'1.0\nPre-Depends: x' "1.0/x" "v1" " 1"; do
  ! deploy RunLoopMain --executable "$bin/RunLoopMain" --output "$work/other" --version "$version" >"$work/printed" 2>&1 ||
    fail "the version '$version' is accepted"
done
[ ! -e "$work/other" ] || fail "files of a refused version are written"

for wrong in "" "a b" "RunLoopMain --permission never" "../x" "-x" "x%n"; do
  # Words of each case are separate arguments.
  ! deploy $wrong >"$work/printed" 2>&1 || fail "'$wrong' is accepted"
done
echo ok
