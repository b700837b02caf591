# SPDX-License-Identifier: Apache-2.0

# flags.sh - the flags of the programs that are installed, for the scripts that source it; docs/reference/size.md has what each flag
# saves. `top` is the project's folder.

# Each function has a section of its own, so that the linker drops those that are not called, and merges equal ones. The toolchain exports
# every symbol of the Swift library, which no program needs. Addresses of functions are resolved at the start and read-only then (full
# RELRO); no folder (RUNPATH) is searched for libraries.
link=(-Xswiftc -Xfrontend -Xswiftc -function-sections -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic
  -Xlinker --icf=all -Xlinker -z -Xlinker pack-relative-relocs -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
  --disable-local-rpath)
# sextantd's functions in the order of packaging/order.py: less of the file is mapped (docs/reference/size.md). Versions that lack one of
# the names link without a warning.
ordered=(-Xlinker "--symbol-ordering-file=$top/packaging/sextantd.order" -Xlinker --no-warn-symbol-ordering)
# A program without a handler of C++ exceptions, hence without tables for unwinding, that asks for no name of a Unicode character.
small=(-Xlinker --no-eh-frame-hdr -Xlinker "$top/packaging/board/discard.ld" -Xlinker --wrap=_swift_stdlib_getScalarName)

# Flags for 64-bit ARM, with the files of packaging/board/setup.sh.
board=$top/.build/board
for_board=(-c release --static-swift-stdlib "${link[@]}" -Xlinker --strip-all --swift-sdks-path "$board/sdks"
  --pkg-config-path "$board/sysroot/usr/lib/aarch64-linux-gnu/pkgconfig")
cross=("${for_board[@]}" --swift-sdk arm64 "${small[@]}")
