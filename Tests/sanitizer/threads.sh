#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Runs tests, then the service with its programs, that were built with the thread sanitizer; `make sanitize-threads` calls it.
# usage: threads.sh FOLDER FILTER
#   FOLDER  the build's folder, with mutex.so; its folder `reports` gets the reports
#   FILTER  the names of the tests
set -euo pipefail
folder=$1 filter=$2
here=$(cd "$(dirname "$0")" && pwd)
reports=$folder/reports
rm -rf "$reports"
mkdir -p "$reports"
# Each report is in a file, so that programs end as without the sanitizer.
export TSAN_OPTIONS="log_path=$reports/race exitcode=0"
export LD_PRELOAD=$folder/mutex.so

failed=0
# Two tests of one thread take minutes: each access to memory is checked, and so is each process of the machine 1500 times.
"$folder/debug/sextantPackageTests.xctest" --testing-library swift-testing --filter "$filter" \
  --skip 'EventQueueTests/headings|OtherReadersTests/forking' || failed=1
python3 "$here/../rig/daemon.py" "$folder/debug" programs stopped hostile unplugged || failed=1

found=$(find "$reports" -type f -exec cat {} + | tee -a /dev/stderr | grep -c '^WARNING: ThreadSanitizer' || true)
echo "thread sanitizer: $found reports"
[ "$found$failed" = 00 ]
