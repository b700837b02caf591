#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Feeds the decoders arbitrary inputs, by libFuzzer and under the address sanitizer.
# usage: run.sh FOLDER SECONDS [TARGET...]; `make fuzz` calls it.
#
# Programs, corpora and artifacts are stored in FOLDER: a run starts with the inputs that earlier ones found. A crash, a hang of
# 5 s or more than 1 GiB of memory ends the run with an error; the input is in FOLDER/artifacts.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
seconds=$2
shift 2
here="$top/Tests/fuzz"
# Swift stores the case of an enum in spare bits of its pointer, and the leak checker takes the memory of such a pointer for
# lost. Growth is limited by -rss_limit_mb.
export ASAN_OPTIONS=detect_leaks=0
# Swift's own crash report would stand before libFuzzer's.
export SWIFT_BACKTRACE=enable=no
# The modules in the order of their layers, and the folders of each that are pure.
folders=(WireBytes MonotonicTime NMEA UBX RTCM3 ReceiverStream Receiver Positioning Messages/Varlink,Messages/Service ReceiverSimulator GPSD
  ReceiverRuntime/NetworkSources,ReceiverRuntime/Corrections CoreLocation/Places sextant/Tracks,sextant/Report,sextant/LivePage sextant-uplink/Delivery)
mapfile -t all < <(for file in "$here"/targets/*.swift; do basename "$file" .swift; done)
[ $# -gt 0 ] && targets=("$@") || targets=("${all[@]}")

# Optimised, and with all of Swift's own checks: a trap of a release build is a trap here.
# Declarations of the modules are visible in their package.
flags=(-O -g -wmo -swift-version 6 -parse-as-library -package-name sextant -use-ld=lld -enable-experimental-feature Lifetimes -I "$out"
  -I "$top/CSupport/CByteMask" -I "$top/CSupport/CLinux/include")

# All modules are compiled again when a source has changed: each may have inlined code of another.
compile_modules() {
  local compiler module part sources parts
  [ -e "$out/modules" ] && [ -z "$(find "$top/Sources" "$top/CSupport/CByteMask" -newer "$out/modules" -type f)" ] && return
  swift build --package-path "$top" --product UBXLayoutCompiler
  compiler=$(swift build --package-path "$top" --show-bin-path)/UBXLayoutCompiler
  mkdir -p "$out/layouts"
  "$compiler" swift "$out/layouts" "$top"/Sources/UBX/Layouts/*.{ubx,keys}
  for part in "${folders[@]}"; do
    IFS=, read -ra parts <<<"$part"
    module=${part%%/*}
    module=${module//-/_}
    # The simulator's terminal and the client's socket are not decoders, and need other modules; SwiftPM generates the embedded page.
    mapfile -t sources < <(find "${parts[@]/#/$top/Sources/}" -name '*.swift' -not -path '*/Terminal/*' -not -path '*/Embedded/*' \
      -not -path '*/Service/Client/*' | sort)
    case $module in
      UBX) sources+=("$out"/layouts/*.swift) ;;
      # The replies of a broker, read without the uplink's program.
      sextant_uplink) sources=("$top/Sources/sextant-uplink/Delivery/RegionTable.swift") ;;
    esac
    swiftc "${flags[@]}" -sanitize=fuzzer,address -module-name "$module" -enable-testing \
      -emit-module -emit-module-path "$out/$module.swiftmodule" -c "${sources[@]}" -o "$out/$module.o"
  done
  touch "$out/modules"
}

# One program has all targets, and runs the target of its name.
compile_programs() {
  local target sources=("$here"/{FuzzTarget,Support}.swift "$here"/targets/*.swift)
  mkdir -p "$out/bin"
  # With debug information the compiler leaves the programs' modules in its folder.
  (cd "$out/bin" && swiftc "${flags[@]}" -sanitize=fuzzer,address -module-name Fuzzer "${sources[@]}" "$here/Fuzzer.swift" "$out"/*.o \
    -o fuzzer)
  for target in "${all[@]}"; do ln -f "$out/bin/fuzzer" "$out/bin/$target"; done
  (cd "$out/bin" && swiftc "${flags[@]}" -sanitize=address -module-name Seeds "${sources[@]}" "$here/seeds.swift" "$out"/*.o -o seeds)
}

# The beginnings of recordings, where there are any: SEXTANT_CORPUS, or shared/corpus beside the checkout.
recordings() {
  local corpus=${SEXTANT_CORPUS:-$top/../shared/corpus} file name
  for file in "$corpus"/gpsd/*.log "$corpus"/ubx/*; do
    [ -f "$file" ] || continue
    name=$(basename "$file")
    head -c 8192 "$file" > "$out/seeds/fixes/recording-$name"
    { printf '\020\001'; head -c 8192 "$file"; } > "$out/seeds/stream/recording-$name"
  done
}

compile_modules
compile_programs
rm -rf "$out/seeds"
mkdir -p "$out/seeds" "$out/artifacts"
"$out/bin/seeds" "$out/seeds" < "$here/corpus.txt"
recordings

# Runs a target for the time, and again after a false hang: libFuzzer measures a hang in real time, in which a busy machine may
# not run the program. The hang was false if a hundred runs with that input end in time.
fuzz() {
  local target=$1 log=$out/$1.log hung
  local options=(-max_len=16384 -timeout=5 -rss_limit_mb=1024 -artifact_prefix="$out/artifacts/$target-")
  mkdir -p "$out/corpus/$target"
  for _ in 1 2 3; do
    "$out/bin/$target" "${options[@]}" -max_total_time="$seconds" "$out/corpus/$target" "$out/seeds/$target" \
      > "$log" 2>&1 && return
    hung=$(grep -aoE "$out/artifacts/$target-timeout-[0-9a-f]+" "$log" | tail -n 1) || return 1
    "$out/bin/$target" "${options[@]}" -runs=100 "$hung" > /dev/null 2>&1 || return 1
    echo "fuzz: $target: the machine was busy, the program does not hang; run again" >&2
    rm "$hung"
  done
  return 1
}

failed=()
for target in "${targets[@]}"; do
  if fuzz "$target"; then
    printf '%-14s %s\n' "$target" "$(grep -aE '^Done ' "$out/$target.log"), $(
      grep -aoE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$out/$target.log" | tail -n 1)"
  else
    failed+=("$target")
    tail -n 40 "$out/$target.log" >&2
    echo "fuzz: $target FAILED; the input: $(grep -aoE "$out/artifacts/[^ ]+" "$out/$target.log" | tail -n 1)" >&2
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzz: failed: ${failed[*]}" >&2; exit 1; }
