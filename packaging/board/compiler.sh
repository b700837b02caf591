#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The tools to build a client of Core Location for arm64: Debian's compiler, whose Swift library for arm64 has Foundation. Modules with
# Foundation are binary, and only a compiler of their version reads them.
# usage: compiler.sh FOLDER     FOLDER is the folder that setup.sh made
#   FOLDER/compiler-packages   the downloads (620 MB)
#   FOLDER/compiler            the root folder of a system with the compiler, for inside.sh
#   FOLDER/foundation          the Swift library for arm64 with its binary modules
#   FOLDER/sdks                one more Swift SDK bundle, `arm64-foundation`
# docs/guides/cross-build.md gives the reasons.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"
folder=$PWD
"$here/download.sh" "$here/compiler.txt" compiler-packages

# Unpacked already, by the same lists and the same script.
cat state "$here/compiler.txt" "$here/compiler.sh" | sha256sum > compiler-state.new
! cmp -s compiler-state.new compiler-state || exit 0
rm -rf compiler foundation sdks/arm64-foundation.artifactbundle compiler-state
mkdir -p compiler foundation sdks/arm64-foundation.artifactbundle/arm64

# Its links such as /bin first. A folder that other packages have in their place would replace one.
dpkg-deb --extract compiler-packages/base-files_*.deb compiler
for package in compiler-packages/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C compiler --keep-directory-symlink --exclude ./usr/share/doc --exclude ./usr/share/man \
    --exclude ./usr/share/locale
done
# The compiler's own linker, in place of another package.
ln -s ../libexec/swift/bin/ld.lld compiler/usr/bin/ld
for package in packages/*swiftlang_*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C foundation --strip-components=4 --wildcards \
    './usr/libexec/swift/lib/swift*/*' './usr/libexec/swift/lib/clang/*' --exclude '*/embedded' --exclude '*/swift/host' 2>/dev/null || true
done

bundle=sdks/arm64-foundation.artifactbundle
sed 's/"arm64": {"type"/"arm64-foundation": {"type"/' sdks/arm64.artifactbundle/info.json > $bundle/info.json
sed "s,$folder/sysroot/usr/lib/swift,$folder/foundation/lib/swift,g" sdks/arm64.artifactbundle/arm64/swift-sdk.json > $bundle/arm64/swift-sdk.json
# Foundation's data of chosen languages (`make board-client`). Options of the command line would apply to this machine's tools too.
sed "s,\"$folder/compatibility.o\",&\, \"$folder/icu-data.ld\"," sdks/arm64.artifactbundle/arm64/toolset.json > $bundle/arm64/toolset.json
mv compiler-state.new compiler-state
