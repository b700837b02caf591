#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The lines that the unit tests execute, and those that the rigs execute too, in a build of its own. Renews docs/reference/coverage.md.
# A program that is killed has no counts. A rig measures its programs too, so that one that fails because counting takes time is reported,
# and its counts are taken.
# usage: all.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
build=.build/coverage
rigs=(authorize unplug kills shows first_hour emulators ends configure families service sensors batch power units python_client gpsd_clients
  geoclue modem umockdev/hotplug host_faults formats view screen daemon permissions commands_through_service clock network bridge base check)
make dependencies
LLVM_PROFILE_FILE=/dev/null swift test --enable-code-coverage --scratch-path $build

rm -rf $build/rigs
mkdir -m 1777 $build/rigs
# Not by the link `debug`, as in Tests/rig/run. A file for each process: those that processes share were damaged.
programs=$(readlink -f $build/debug)
LLVM_PROFILE_FILE="$PWD/$build/rigs/%m-%p.profraw" Tests/rig/run --rows 2 --programs "$programs" "${rigs[@]}" ||
  echo "all.sh: not all of the rigs passed" >&2

# Those of the compiler; another version does not read its counts.
tools=$(dirname "$(readlink -f "$(command -v swiftc)")")
find $build/rigs -name '*.profraw' > $build/counts
echo $build/debug/codecov/default.profdata >> $build/counts
# A program that is killed while it writes leaves a part of a file.
"$tools/llvm-profdata" merge -sparse --failure-mode=all -f $build/counts -o $build/all.profdata
objects=()
for program in sextantPackageTests.xctest sextant sextantd sextant-track; do objects+=(-object "$build/debug/$program"); done
"$tools/llvm-cov" export -instr-profile $build/all.profdata "${objects[@]}" > $build/all.json
Tests/coverage/report.py docs/reference/coverage.md $build/debug/codecov/sextant.json --write $build/all.json
