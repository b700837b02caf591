#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The files of the container image: the programs of `make static`, the libraries that they load, and a user. Nothing else, not even a shell.
# usage: root.sh PROGRAMS FOLDER
set -euo pipefail
programs=$1 folder=$2
mkdir -p "$folder"/{usr/bin,etc,run/sextant,var/lib/sextantd}
mkdir -p -m 1777 "$folder/tmp"
for name in sextant sextantd; do
  install -m 755 "$programs/$name" "$folder/usr/bin/$name"
  strip "$folder/usr/bin/$name"
  # Each library under the path that the program's loader looks it up at.
  ldd "$folder/usr/bin/$name" | sed -n 's/.*=> \(\/[^ ]*\) (.*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p' | while read -r library; do
    install -D -m 755 "$(realpath "$library")" "$folder$library"
  done
done
printf 'root:x:0:0:root:/:/usr/bin/false\nsextant:x:65532:65532:sextant:/var/lib/sextantd:/usr/bin/false\n' > "$folder/etc/passwd"
printf 'root:x:0:\nsextant:x:65532:\n' > "$folder/etc/group"
chown -R 65532:65532 "$folder/run/sextant" "$folder/var/lib/sextantd"
