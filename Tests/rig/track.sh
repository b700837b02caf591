#!/bin/sh
# track.sh FOLDER: `sextant track` from FOLDER against the built-in simulator and `sextant simulate`; says ok, or what is wrong.
set -eu
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
simulator=
trap '[ -z "$simulator" ] || kill "$simulator"; rm -rf "$work"' EXIT
export SEXTANT_STATE_DIR="$work/state" SEXTANT_RUN_DIR="$work/run" SEXTANT_APP_STATE=foreground

fail() { echo "track.sh: $1" >&2; cat "$work/out" >&2; exit 1; }
has() { grep -q "$1" "$work/out" || fail "there is no $1"; }
expects() { # CODE ARGUMENTS...
  wanted=$1; shift
  code=0; "$bin/sextant" track --json "$@" >"$work/out" || code=$?
  [ "$code" = "$wanted" ] || fail "track $* ended with $code, not $wanted"
}

mkfifo "$work/input"
"$bin/sextant" simulate --model m9 --link "$work/receiver" <"$work/input" >/dev/null & simulator=$!
exec 3>"$work/input"
while [ ! -e "$work/receiver" ]; do sleep 0.1; done

expects 0 --device "$work/receiver" --seconds 12
has '"event":"didChangeAuthorization".*"status":"authorizedAlways"'
has '"event":"didUpdateLocations".*"latitude":'

expects 0 --device "$work/receiver" --once
has '"event":"didUpdateLocations"'

expects 0 --device "$work/receiver" --seconds 10 --defer-timeout 600
has '"event":"didFinishDeferredUpdates".*"code":12'

expects 0 --device sim:walk --seconds 12 --region home,48.1646,11.607,5000
has '"event":"didDetermineState".*"region":"home"'

SEXTANT_AUTHORIZATION=denied expects 69 --device "$work/receiver" --once
has '"event":"didFailWithError".*"code":1'

expects 66 --device "$work/none" --once
echo ok
