#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Downloads the packages of a list that are not in the folder yet, and checks each.
# usage: download.sh LIST FOLDER     LIST has a line for each package: its SHA-256 and its path on Debian's servers
set -euo pipefail
mkdir -p "$2"
# A package that has left Debian's servers is in the archive of their states.
sources=(http://deb.debian.org/debian https://snapshot.debian.org/archive/debian/20261124T000000Z)
while read -r checksum path; do
  file="$2/${path##*/}"
  for source in "${sources[@]}"; do
    [ ! -e "$file" ] || break
    curl -sSfL --retry 2 -o "$file.part" "$source/$path" && mv "$file.part" "$file" || true
  done
  [ -e "$file" ] || { echo "download.sh: $path: not found at ${sources[*]}" >&2; exit 69; }
  echo "$checksum  $file" | sha256sum --check --quiet || { echo "download.sh: remove $file" >&2; exit 65; }
done < "$1"
