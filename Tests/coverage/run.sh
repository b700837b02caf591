#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The lines that the unit tests and the rigs execute: both run programs with counters, whose profiles are joined.
# usage: run.sh FOLDER PAGE [--write]      FOLDER is the scratch folder of the build with counters (`swift test --enable-code-coverage`)
#
# A program that is killed, as many of the rigs' are, leaves no counters: the result is a lower bound.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1 page=$2
shift 2
programs=$folder/debug
tools=$(dirname "$(readlink -f "$(command -v "${SWIFT:-swift}")")")
profiles=$(cd "$folder" && pwd)/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
# Programs that run at the same time share four files.
export LLVM_PROFILE_FILE="$profiles/%4m.profraw"

rig() {
  local begin=$SECONDS
  python3 "Tests/rig/$1.py" "$programs" "${@:2}" > "$profiles/$1.log" 2>&1 || { tail -n 20 "$profiles/$1.log" >&2; echo "coverage: rig $1 FAILED" >&2; exit 1; }
  echo "coverage: rig $1: $((SECONDS - begin)) s"
}
for name in host_faults daemon commands_through_service batch power configure ends emulators service; do rig "$name" & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job"; done

"$tools/llvm-profdata" merge -sparse -o "$profiles/all.profdata" "$programs/codecov/default.profdata" "$profiles"/*.profraw
"$tools/llvm-cov" export -summary-only -instr-profile "$profiles/all.profdata" "$programs/sextantPackageTests.xctest" \
  -object "$programs/sextant" -object "$programs/sextantd" -object "$programs/sextant-track" \
  -ignore-filename-regex '\.build/|/Tests/' > "$profiles/summary.json"
Tests/coverage/report.py "$profiles/summary.json" "$page" "$@"
