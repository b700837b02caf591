#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The tools to build and try an arm64 program, from the packages in packages.txt: downloaded once, and checked.
# usage: setup.sh FOLDER
#   FOLDER/packages   the downloads (540 MB)
#   FOLDER/sysroot    libraries and headers of Debian 12 (glibc 2.36), with dpkg's records of them
#   FOLDER/sdks       the Swift SDK bundle `arm64`: the static Swift library
#   FOLDER/qemu       qemu-user
# docs/guides/cross-build.md gives the reasons.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
folder=$PWD

"$here/download.sh" "$here/packages.txt" packages

# Unpacked already, by the same list and the same script.
cat "$here/packages.txt" "$here/setup.sh" "$here/compatibility.c" "$here/../scalar-names.c" | sha256sum > state.new
! cmp -s state.new state || exit 0
rm -rf sysroot sdks qemu state
mkdir -p sysroot/var/lib/dpkg/info sysroot/usr/lib sdks/arm64.artifactbundle/arm64 qemu

for package in packages/*.deb; do
  name=$(dpkg-deb -f "$package" Package)
  case $name in
    qemu-user) dpkg-deb --fsys-tarfile "$package" | tar -x -C qemu --strip-components=3 ./usr/bin/qemu-aarch64 ;;
    # Neither the library for microcontrollers nor the compiler's library.
    swiftlang | libswiftlang) dpkg-deb --fsys-tarfile "$package" | tar -x -C sysroot/usr --strip-components=4 --wildcards \
      './usr/libexec/swift/lib/swift*/*' './usr/libexec/swift/lib/clang/*' --exclude '*/embedded' --exclude '*/swift/host' 2>/dev/null || true ;;
    *) # Debian 12 has /lib as a link to /usr/lib. The records let dpkg-shlibdeps find versions: it searches for the full path.
      dpkg-deb --fsys-tarfile "$package" | tar -x -C sysroot --transform 's,^\./lib/,./usr/lib/,S' --exclude ./usr/share
      { dpkg-deb -f "$package" | sed '/^Version:/a Status: install ok installed'; echo; } >> sysroot/var/lib/dpkg/status
      dpkg-deb --fsys-tarfile "$package" | tar -t | sed -E "s,^\./(lib/),./usr/\1,; s,^\.,$folder/sysroot," > "sysroot/var/lib/dpkg/info/$name:arm64.list"
      dpkg-deb --ctrl-tarfile "$package" | tar -x -O ./symbols > "sysroot/var/lib/dpkg/info/$name:arm64.symbols" 2>/dev/null || \
        rm "sysroot/var/lib/dpkg/info/$name:arm64.symbols" ;;
  esac
done
# The names of the records have the architecture.
echo 1 > sysroot/var/lib/dpkg/info/format
# Its folder was unpacked, without files.
rmdir sysroot/lib
ln -s usr/lib sysroot/lib
# A link with a full path would be one to this machine's library.
while read -r link; do
  target=$(readlink "$link")
  [ "${target#/}" = "$target" ] || ln -sfn "$folder/sysroot$target" "$link"
done < <(find sysroot/usr/lib -type l)

# The library is of Swift 6.2. A compiler of another version refuses its binary modules, and builds them from their textual
# interfaces. A module without an interface cannot be used: Foundation, FoundationEssentials.
while read -r module; do
  if compgen -G "$module/*.swiftinterface" >/dev/null; then rm -f "$module"/*.swiftmodule "$module"/*.swiftdoc; else rm -r "$module"; fi
done < <(find sysroot/usr/lib/swift sysroot/usr/lib/swift_static -name '*.swiftmodule' -type d)

clang --target=aarch64-linux-gnu --sysroot="$folder/sysroot" -O2 -ffunction-sections -c "$here/compatibility.c" -o compatibility.o

bundle=sdks/arm64.artifactbundle
cat > $bundle/info.json <<END
{"schemaVersion": "1.0", "artifacts": {"arm64": {"type": "swiftSDK", "version": "1", "variants": [{"path": "arm64"}]}}}
END
cat > $bundle/arm64/swift-sdk.json <<END
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {
  "sdkRootPath": "$folder/sysroot", "swiftResourcesPath": "$folder/sysroot/usr/lib/swift",
  "swiftStaticResourcesPath": "$folder/sysroot/usr/lib/swift_static", "toolsetPaths": ["toolset.json"]}}}
END
cat > $bundle/arm64/toolset.json <<END
{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}, "linker": {"extraCLIOptions": ["$folder/compatibility.o"]}}
END
mv state.new state
