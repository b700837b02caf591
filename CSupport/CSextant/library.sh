#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Links libsextant from the objects of Tests/embedded/compile.sh: libsextant.a, and for Linux libsextant.so too. On Linux both define
# the symbols of sextant.h alone. They need libc and libm.
# usage: library.sh OBJECTS FOLDER TARGET (the folder receives the libraries)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
objects=$1
out=$2
target=$3
mkdir -p "$out"
version=$(sed -n 's/^#define SEXTANT_ABI_VERSION //p' "$here/sextant.h")

case $target in
  armv7em-*)
    rm -f "$out/libsextant.a"
    arm-none-eabi-ar rcsD "$out/libsextant.a" "$objects/$target"/*.o
    exit
    ;;
esac

# One object, whose other symbols are local. Its functions keep their sections, so that a program contains only those that it uses.
prefix=${CROSS_COMPILE-}
processor=() unique=--unique
case $target in
  # Debian's compiler, for the processor of the first Raspberry Pi. Its own start files and libgcc, which the shared library gets, are for ARMv7.
  # The linker joins the attributes of the objects only in one section.
  armv6-*) prefix=arm-linux-gnueabihf- processor=(-march=armv6kz -mfpu=vfp -marm) unique='--unique=.[!A]*' ;;
esac
# With the socket of the service's client, the only part in C.
case $target in
  *-linux-* | aarch64-*)
    "${CC:-${prefix}gcc}" "${processor[@]}" -std=c11 -O2 -fPIC -ffunction-sections -Wall -Wextra -Werror -I "$here" -I "$here/../CClientSocket/include" \
      -c "$here/../CClientSocket/client_socket.c" -o "$objects/$target/client_socket.o"
    ;;
esac
"${prefix}ld" -r "$unique" -o "$out/sextant.o" "$objects/$target"/*.o
"${prefix}objcopy" --wildcard --keep-global-symbol='sextant_*' --strip-unneeded "$out/sextant.o"
rm -f "$out/libsextant.a"
"${prefix}ar" rcsD "$out/libsextant.a" "$out/sextant.o"
rm "$out/sextant.o"

# The objects of aarch64-none-none-elf are position-independent, and Linux has the same calling convention.
case $target in
  *-linux-* | aarch64-*)
    "${CC:-${prefix}gcc}" -shared -o "$out/libsextant.so.$version" -Wl,-soname,"libsextant.so.$version" \
      -Wl,--whole-archive "$out/libsextant.a" -Wl,--no-whole-archive \
      -Wl,--version-script,"$here/sextant.map" -Wl,--gc-sections -Wl,-z,defs,-z,relro,-z,now -lm
    ln -sf "libsextant.so.$version" "$out/libsextant.so"
    ;;
esac
