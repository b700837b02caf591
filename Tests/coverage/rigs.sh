#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: rigs.sh BUILD COMMAND ...
#
# Runs COMMAND, whose programs are those of BUILD/debug, which count the lines that they execute; writes the counts together with those
# of the unit tests to BUILD/all.json. A program that is killed has no counts. A rig measures its programs too, so that one that fails
# because counting takes time is reported, and its counts are taken.
set -euo pipefail
build=$1
shift

rm -rf "$build/rigs"
mkdir -m 1777 "$build/rigs"
# A file for each process: those that processes share were damaged.
LLVM_PROFILE_FILE="$PWD/$build/rigs/%m-%p.profraw" "$@" || echo "rigs.sh: not all of the rigs passed" >&2

# Those of the compiler; another version does not read its counts.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
find "$build/rigs" -name '*.profraw' > "$build/counts"
echo "$build/debug/codecov/default.profdata" >> "$build/counts"
# A program that is killed while it writes leaves a part of a file.
"$tools/llvm-profdata" merge -sparse --failure-mode=all -f "$build/counts" -o "$build/all.profdata"
objects=()
for program in sextantPackageTests.xctest sextant sextantd sextant-track; do objects+=(-object "$build/debug/$program"); done
"$tools/llvm-cov" export -instr-profile "$build/all.profdata" "${objects[@]}" > "$build/all.json"
