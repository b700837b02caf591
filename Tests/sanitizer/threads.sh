#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The suites that start threads, or whose code several threads run, and the service with its programs, under the thread sanitizer. A
# data race ends the run with an error; the reports are in .build/sanitize-threads/reports. Suites in virtual time have one thread.
# usage: threads.sh
set -euo pipefail
filter='CoreLocationTests|SerialPortTests|ReceiverRuntimeTests|LocationDaemonTests|HotplugTests|TLSTests|LivePageTests|RecordingTests'
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
folder=$PWD/.build/sanitize-threads
make dependencies
swift build --build-tests --sanitize=thread --scratch-path "$folder" -Xswiftc -use-ld=lld
clang -O1 -shared -fPIC "$here/mutex.c" -o "$folder/mutex.so"
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
