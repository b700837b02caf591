#!/usr/bin/env bash
# run.sh FOLDER: builds the package of a client beside the project, in FOLDER, and runs its programs on the built-in
# simulator; says ok, or what is wrong.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
swift build --package-path "$here" --scratch-path "$build" ${LOCK:-}
bin=$(swift build --package-path "$here" --scratch-path "$build" ${LOCK:-} --show-bin-path)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GNSS_DEVICE=sim:walk SEXTANT_APP_STATE=foreground SEXTANT_AUTHORIZATION=always

declare -A wanted=(
  [RunLoopMain]='^found .*, equal to itself: true' [DispatchMain]='^at 4[0-9.]* 1[0-9.]*' [TopLevelTask]='^place 2: '
  [AsyncMain]='^left: \[\]' [OldListings]='^from 4[0-9.]* to 4'
)
for program in "${!wanted[@]}"; do
  SEXTANT_STATE_DIR="$work/$program.state" timeout 60 "$bin/$program" >"$work/$program" 2>&1 &
done
wait
for program in "${!wanted[@]}"; do
  grep -q "${wanted[$program]}" "$work/$program" || {
    echo "run.sh: $program does not print ${wanted[$program]}:" >&2
    cat "$work/$program" >&2
    exit 1
  }
done
grep -q '^inside here' "$work/AsyncMain" || { echo "run.sh: AsyncMain's monitor is silent" >&2; exit 1; }
echo ok
