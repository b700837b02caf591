#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The man pages and shell completions of the programs in a folder: every page is formatted without a warning, each command
# has a page with its options, and the shells that are installed accept their completions.
#
# usage: manual.sh PROGRAMS OUTPUT
set -euo pipefail
programs=$1
out=$2
here=$(cd "$(dirname "$0")/../.." && pwd)

rm -rf "$out"
python3 "$here/docs/man/pages.py" "$programs" "$out"

failures=0
fail() {
  echo "manual: $*" >&2
  failures=$((failures + 1))
}

formatter=()
if command -v groff >/dev/null; then
  formatter=(groff -man -Tutf8 -Kutf8 -ww -z)
elif command -v mandoc >/dev/null; then
  formatter=(mandoc -Tlint -Wwarning)
else
  echo "manual: neither groff nor mandoc is installed; the pages are not formatted" >&2
fi
if [ ${#formatter[@]} -gt 0 ]; then
  for page in "$out"/man1/*.1; do
    warnings=$("${formatter[@]}" "$page" 2>&1) || true
    [ -z "$warnings" ] || fail "$page: $warnings"
  done
fi

# Each command of the program has a page; a page names the options of its command.
for command in $("$programs/sextant" --help | sed -n '/SUBCOMMANDS:$/,$s/^  \([a-z]*\) .*/\1/p'); do
  [ "$command" != bench ] || continue
  page="$out/man1/sextant-$command.1"
  [ -s "$page" ] || { fail "sextant $command has no man page"; continue; }
  grep -q "sextant.-$command" "$page" || fail "$page does not name its command"
done
for option in device baud json count seconds raw corrections; do
  grep -q -- "\\\\-\\\\-$option" "$out/man1/sextant-watch.1" || fail "sextant-watch.1 lacks --$option"
done
for word in GNSS_DEVICE SEXTANT_STATE_DIR; do
  grep -q "$word" "$out/man1/sextant.1" || fail "sextant.1 lacks $word"
done
for code in 64 69 77; do
  grep -q "^.fB$code" "$out/man1/sextant-probe.1" || fail "sextant-probe.1 lacks exit code $code"
done

for shell in bash zsh fish; do
  command -v "$shell" >/dev/null || continue
  for script in "$out/completions/$shell"/*; do "$shell" -n "$script" || fail "$script is not a script of $shell"; done
done
for script in "$out"/completions/*/*; do
  for option in device distance-filter; do
    grep -q -- "$option" "$script" || fail "$script lacks --$option"
  done
  if grep -q "sextant track_" "$script"; then fail "$script has names of another script"; fi
done
offered=$(bash -c 'source "$0"; COMP_WORDS=(sextant track --dist); COMP_CWORD=2; COMP_LINE=${COMP_WORDS[*]}
  COMP_POINT=${#COMP_LINE}; _sextant sextant --dist track; echo "${COMPREPLY[*]}"' "$out/completions/bash/sextant")
[ "$offered" = --distance-filter ] || fail "bash completes sextant track --dist to '$offered'"

offered=$(PATH="$programs:$PATH" bash -c 'source "$0"; COMP_WORDS=(sextant watch --device ""); COMP_CWORD=3; COMP_LINE="sextant watch --device "
  COMP_POINT=${#COMP_LINE}; _sextant sextant "" --device; echo "${COMPREPLY[*]}"' "$out/completions/bash/sextant")
case " $offered " in *" sim:walk "*) ;; *) fail "bash completes sextant watch --device to '$offered'" ;; esac

[ "$failures" = 0 ] || exit 1
echo "manual: $(ls "$out/man1" | wc -l) pages, and completions for bash, zsh and fish"
