#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Compiles layers 0 to 2 and the C interface as Embedded Swift, and prints their size.
# usage: compile.sh FOLDER [TARGET...]      FOLDER gets the objects. Default: a microcontroller, this machine, and ARM with 64 and 32 bits
# A target whose sources have not changed since its last build is not compiled again.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
out=$1
shift
if [ $# = 0 ]; then
  set -- armv7em-none-none-eabi aarch64-none-none-elf armv6-unknown-linux-gnueabihf
  [ "$(uname -m)" = aarch64 ] || set -- "$@" "$(uname -m)-unknown-linux-gnu"
fi
swift build --package-path "$top" --product UBXLayoutCompiler
compiler=$(swift build --package-path "$top" --show-bin-path)/UBXLayoutCompiler
# An earlier compiler may have made files that this one does not make.
rm -rf "$out/layouts"
mkdir -p "$out/layouts"
"$compiler" swift "$out/layouts" "$top"/Sources/UBX/Layouts/*.{ubx,keys}

# The one of the Swift compiler's LLVM.
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang

# Each function has a section, so that a linker can drop what a program does not use.
flags=(-wmo -swift-version 6 -package-name sextant -strict-memory-safety -parse-as-library -I "$top/CSupport/CByteMask"
  -I "$top/CSupport/CSextant" -I "$top/CSupport/CClientSocket/include" -enable-experimental-feature Embedded -enable-experimental-feature Lifetimes
  -Xfrontend -function-sections)
compile() {
  local target=$1 folder="$out/$1" module sources optimization=-Osize library=$1
  local -a more=()
  case $target in
    # The toolchain has a library of Swift for ARMv6 without an operating system, and none for Linux.
    armv6-*-linux-*) more=(-D SMALL_CODE) library=armv6-none-none-eabi ;;
    *-linux-*) optimization=-O ;;
    # The C library of the target has no stack protector, and its flash is small.
    *) more=(-Xfrontend -disable-stack-protector -D SMALL_CODE) ;;
  esac
  mkdir -p "$folder"
  [ ! -e "$folder/compiled" ] || [ -n "$(find "$top/Sources" "$top/CSupport" "$0" -newer "$folder/compiled" -type f -print -quit)" ] || return 0
  rm -f "$folder/compiled"
  for module in WireBytes NMEA UBX RTCM3 ReceiverStream CInterface; do
    mapfile -t sources < <(find "$top/Sources/$module" -name '*.swift' | sort)
    # The client of the location service is for Linux; the objects of aarch64-none-none-elf are linked for it too.
    case $target in
      *-linux-* | aarch64-*) ;;
      *) mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -v /ServiceClient/) ;;
    esac
    [ "$module" = UBX ] && sources+=("$out"/layouts/*.swift)
    local -a command=(swiftc "${flags[@]}" $optimization "${more[@]}" -target "$library" -module-name "$module" -I "$folder"
      -emit-module-path "$folder/$module.swiftmodule" "${sources[@]}")
    case $target in
      armv7em-*)
        # The Swift compiler puts the constants of a module into one section. The linker drops those that are not used if each has its
        # own, which clang can do.
        "${command[@]}" -emit-ir -o "$folder/$module.ll"
        "$clang" --target="$target" -Wno-override-module -Oz -ffunction-sections -fdata-sections -c "$folder/$module.ll" \
          -o "$folder/$module.o"
        rm "$folder/$module.ll"
        ;;
      armv6-*)
        # The calling convention of armhf, which passes numbers in registers of the floating-point unit, is clang's choice. It also knows
        # the processor of the first Raspberry Pi; the attributes of the functions name another.
        "${command[@]}" -emit-ir -o "$folder/$module.ll"
        sed -i 's/"target-cpu"="[^"]*"//; s/"target-features"="[^"]*"//' "$folder/$module.ll"
        "$clang" --target="$target" -march=armv6kz -mfpu=vfp -Wno-override-module -O2 -Xclang -disable-llvm-passes -fPIC \
          -ffunction-sections -fdata-sections -c "$folder/$module.ll" -o "$folder/$module.o"
        rm "$folder/$module.ll"
        ;;
      *) "${command[@]}" -emit-module -c -o "$folder/$module.o" ;;
    esac
  done
  touch "$folder/compiled"
}

# A compiler that sees a whole module at once works on one core, so the targets are compiled side by side.
targets=("$@")
compilers=()
for target in "${targets[@]}"; do
  compile "$target" &
  compilers+=($!)
done
for index in "${!targets[@]}"; do
  wait "${compilers[$index]}"
  printf '%s\n' "${targets[$index]}"
  size "$out/${targets[$index]}"/*.o 2>/dev/null || ls -l "$out/${targets[$index]}"/*.o
done
