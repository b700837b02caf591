# SPDX-License-Identifier: Apache-2.0

# guest-harness.sh - the functions that the guest's scripts share. They source it, and name in `logs` the files whose ends are
# printed with a failed check.
. ./phrases.sh
# Seconds. It only ends a wait that would never end: no check depends on how fast the emulated machine is.
limit=300
logs=()
# The guest's init makes no such link; process substitution needs it.
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd

check() {
  local what=$1 file
  shift
  if "$@" > /tmp/check.out 2>&1; then echo "PASS $what"; else
    echo "FAIL $what"
    for file in /tmp/check.out "${logs[@]}"; do tail -n 6 "$file" | cut -c1-300 | sed "s,^,       ${file##*/}: ,"; done
  fi
}

# Waits for a line of a file, from a line number on (standard: 1), and prints it after its number. The file is followed by
# inotify.
wait_line() {
  local found follower
  touch "$1"
  exec 9< <(exec timeout $limit tail -n "+${3:-1}" -f "$1")
  follower=$!
  found=$(grep -m1 -n -i -E "$2" <&9)
  exec 9<&-
  kill "$follower" 2> /dev/null
  echo "$found"
  [ -n "$found" ]
}

# Waits for a state that is not announced: the command is repeated until it succeeds.
wait_until() {
  local end=$((SECONDS + limit))
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}

says() { grep -q -i -E "$2" "$1"; }
