#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# examples.sh FOLDER: the programs of the package Examples and of the project from FOLDER at the built-in simulator, all at once.
# Prints ok, or the difference from the output that the documents with these programs show.
set -eu
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
programs=
trap 'kill $programs 2>/dev/null || true; wait; rm -rf "$work"' EXIT
export GNSS_DEVICE=sim:walk

start() { # NAME PROGRAM ARGUMENTS...; the environment is the caller's
  name=$1; program=$2; shift 2
  SEXTANT_STATE_DIR="$work/${shared:-$name}.state" stdbuf -oL "$bin/$program" "$@" >"$work/$name" 2>&1 </dev/null &
  programs="$programs $!"
}
has() { # NAME PATTERN; waits for it, two minutes at most
  tries=600
  until grep -Eq "$2" "$work/$1"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || break
    sleep 0.2
  done
  [ $tries -eq 0 ] || return 0
  { echo "examples.sh: $1 does not print $2:"; tail -n 40 "$work/$1" | cut -c1-300; } >&2
  exit 1
}

export SEXTANT_AUTHORIZATION=always SEXTANT_APP_STATE=foreground
start whereyouat WhereYouAt
start query MyCLQuery
start standard LocationGuide standard
start significant LocationGuide significant
start region LocationGuide region 48.1646 11.607 5000
start hike Hike 5000 6
start locateme LocateMe
SEXTANT_APP_STATE=background UIBackgroundModes=location start background Hike 5000 6
SEXTANT_AUTHORIZATION=whenInUse start oneshot CurrentLocation
SEXTANT_AUTHORIZATION=denied start denied LocateMe
SEXTANT_AUTHORIZATION=denied start refused CurrentLocation
# Without a request for permission, or a text for the question, there is a message; iOS 8 was silent.
SEXTANT_AUTHORIZATION= start silent WhereYouAt
SEXTANT_AUTHORIZATION= NSLocationWhenInUseUsageDescription=shops start unasked WhereYouAt
# The order of a geofencing program without a terminal: the region is started before the answer, which the printed command gives.
SEXTANT_AUTHORIZATION= SEXTANT_APP_STATE=background NSLocationWhenInUseUsageDescription=w \
  NSLocationAlwaysAndWhenInUseUsageDescription=a start geofence Geofence 48.1646 11.607 5000
SEXTANT_AUTHORIZATION=denied start geofence-denied Geofence 48.1646 11.607 5000
start monitor ConditionMonitor 48.1646 11.607 5000
SEXTANT_AUTHORIZATION=denied start monitor-denied ConditionMonitor 48.1646 11.607 5000
shared=crash start monitor-crash ConditionMonitor 48.1646 11.607 5000 crash
SEXTANT_QUIET=1 SEXTANT_AUTHORIZATION= start quiet WhereYouAt
# A refusal while the question is open, to a program that has started a service, a request for one location and a stream; and those
# with an answer from the start, or without a request.
SEXTANT_AUTHORIZATION= NSLocationWhenInUseUsageDescription=w NSLocationAlwaysAndWhenInUseUsageDescription=a start asked LocateMe
SEXTANT_AUTHORIZATION= SEXTANT_APP_STATE=background NSLocationWhenInUseUsageDescription=w start one-asked OneLocation
SEXTANT_AUTHORIZATION= NSLocationWhenInUseUsageDescription=w start one-unasked OneLocation unasked
SEXTANT_AUTHORIZATION=denied start one-denied OneLocation
SEXTANT_AUTHORIZATION= NSLocationWhenInUseUsageDescription=w start live-asked LiveUpdates
SEXTANT_AUTHORIZATION=denied start live-denied LiveUpdates
SEXTANT_AUTHORIZATION=whenInUse start live LiveUpdates
# The text comes from a list of the program's own name, and not from the one that it shares with others in its folder.
mkdir "$work/bin"
cp "$bin/WhereYouAt" "$work/bin"
echo '<plist version="1.0"><dict><key>NSLocationWhenInUseUsageDescription</key><string>shops</string></dict></plist>' \
  >"$work/bin/WhereYouAt.plist"
echo '<plist version="1.0"><dict/></plist>' >"$work/bin/Info.plist"
everywhere=$bin
bin=$work/bin
SEXTANT_AUTHORIZATION= start listed WhereYouAt
bin=$everywhere
# Two programs at one receiver on a line: the second one gets the locations that the first one publishes.
: >"$work/simulate"
"$bin/sextant" simulate --model m10 --link "$work/receiver" >"$work/simulate" 2>&1 </dev/null &
programs="$programs $!"
has simulate '^/dev/'
shared=both SEXTANT_RUN_DIR="$work/run" GNSS_DEVICE="$work/receiver" start holder Hike 5000 6
has holder '^locations'
shared=both SEXTANT_RUN_DIR="$work/run" GNSS_DEVICE="$work/receiver" start second WhereYouAt

# The hike through the daemon, beside a program that watches a region, `track --json` and `watch`.
: >"$work/served-simulate"
"$bin/sextant" simulate --model m10 --link "$work/served-receiver" >"$work/served-simulate" 2>&1 </dev/null &
programs="$programs $!"
has served-simulate '^/dev/'
SEXTANT_STATE_DIR="$work/daemon.state" SEXTANT_APP_STATE=background "$bin/sextantd" --device "$work/served-receiver" \
  --socket "$work/location" >"$work/daemon" 2>&1 </dev/null &
programs="$programs $!"
export SEXTANT_SERVICE="$work/location"
tries=600
until [ -S "$SEXTANT_SERVICE" ] || [ $tries -eq 0 ]; do tries=$((tries - 1)); sleep 0.2; done
SEXTANT_APP_STATE=background UIBackgroundModes=location start served-hike Hike 5000 6
start served-region LocationGuide region 48.1646 11.607 5000
start served-geofence Geofence 48.1646 11.607 5000
start served-monitor ConditionMonitor 48.1646 11.607 5000
start served-track sextant-track --json --no-pause
start served-watch sextant watch --json
unset SEXTANT_SERVICE

number='[+-]?[0-9]+\.[0-9]+'
has whereyouat '^Where you at\? \.\.\.$'
has whereyouat '^You now at\.\.\.$'
has whereyouat "^Description: <$number,$number> \+/- ${number}m \(speed $number mps / course $number\) @ "
has whereyouat "^Coordinates: $number, $number$"
has whereyouat "^Altitude: $number$"
has query 'Core Location updates started'
has query "Old Coordinates: $number, $number"
has query "New Coordinates: $number, $number"
has query "Altitude: $number"
has query "Notification age: -$number"
has query 'Core Location updates stopped'
has standard "^latitude $number, longitude $number$"
has significant "^latitude $number, longitude $number$"
has region '^monitoring home, one of 1$'
has region '^inside home$'
has geofence 'sextant authorize grant Geofence always'
grant='s/.*`\(.*authorize grant.*\)`.*/\1/p'
sed -n "$grant" "$work/geofence" >"$work/grant"
PATH="$bin:$PATH" sh "$work/grant"
has geofence '^always$'
has geofence '^monitoring home$'
has geofence '^home: inside$'
has served-geofence '^home: inside$'
has geofence-denied '^no monitoring of home: error 4$'
for one in geofence served-geofence; do
  ! grep -E 'error|refused' "$work/$one" >&2 || { echo "examples.sh: $one fails" >&2; exit 1; }
done
has monitor '^entered home$'
has served-monitor '^entered home$'
has monitor-denied '^unmonitored home, denied: true$'
# The program has ended while it handled the event, which comes again.
has monitor-crash '^entered home$'
shared=crash start monitor-again ConditionMonitor 48.1646 11.607 5000
has monitor-again '^entered home$'
for one in asked live-asked; do
  has $one 'sextant authorize grant'
  sed -n "$grant" "$work/$one" | sed 's/grant \([^ ]*\).*/deny \1/' >"$work/deny"
  PATH="$bin:$PATH" sh "$work/deny"
done
has asked '^error 1$'
has one-asked 'sextant authorize grant OneLocation'
has one-asked '^failed: denied$'
has one-unasked 'call requestWhenInUseAuthorization\(\)'
has one-denied '^failed: denied$'
has live-asked '^session: denied$'
has live-asked '^update: denied$'
has live-denied '^session: denied$'
has live-denied '^update: denied$'
has live "^latitude $number$"
has live '^session: over$'
[ "$(grep -c '^error' "$work/asked")" = 1 ] || { echo "examples.sh: a refusal is reported more than once" >&2; exit 1; }
has quiet '^Where you at'
! grep -q '^sextant:' "$work/quiet" || { echo "examples.sh: SEXTANT_QUIET=1 prints lines" >&2; exit 1; }
has hike '^locations 1, walked [0-9]+ m of 5000 m$'
has hike '^deferral ended as planned$'
has background '^locations ([3-9]|[1-9][0-9]), walked'
has background '^deferral ended as planned$'
has served-hike '^deferral ended as planned$'
has served-region '^inside home$'
has served-track 'didUpdateLocations'
has served-watch '"lat":'
# Alone and served, a deferral of six seconds collects the locations of its epochs. Those at the start may be late, when all programs
# of this rig start at once.
for one in background served-hike; do
  tries=600
  until grep '^locations' "$work/$one" | tail -n 2 | grep -c '^locations [5-7],' | grep -q 2; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "examples.sh: $one does not collect six locations in its deferrals:" >&2; tail "$work/$one" >&2; exit 1; }
    sleep 0.2
  done
done
has locateme "^<$number,$number>"
has oneshot '^location manager authorization status changed$'
has oneshot '^allowed in the foreground$'
has oneshot "^latitude $number$"
has second 'held by Hike'
# The first location is the last known one; more come from the program that has the receiver.
until [ "$(grep -c '^You now at' "$work/second")" -ge 3 ]; do sleep 0.2; done
has denied '^Location services are off for this program'
has denied '^error 1$'
has refused '^allow location data for this program, please$'
has silent 'add NSLocationWhenInUseUsageDescription to Info.plist'
has unasked 'call requestWhenInUseAuthorization\(\)'
has listed 'call requestWhenInUseAuthorization\(\)'
# The walk does not get half a kilometre far in this time; the locations that come are more exact (SU-9).
until all=$(grep -c '^You now at' "$work/whereyouat") && [ "$all" -ge 15 ]; do sleep 0.2; done
[ "$(grep -c latitude "$work/standard")" -lt "$all" ] || {
  echo "examples.sh: the filter of 500 m lets all through" >&2
  exit 1
}
echo ok
