#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Puts the Debian packages of a version into a signed apt repository: a folder that any web server serves (RELEASING.md).
# usage: repository.sh DEBS VERSION KEY OUTPUT ARCHITECTURE...
#   DEBS    the folder of `make deb`
#   KEY     the key that signs, as gpg finds it; GNUPGHOME names another keyring
#   OUTPUT  gets pool, dists and the public key. Packages of earlier versions in its pool stay.
# SUITES are the suites of Debian, which get the same packages.
set -euo pipefail
debs=$1 version=$2 key=$3
mkdir -p "$4"
output=$(realpath "$4")
shift 4
suites=${SUITES:-bookworm trixie}
pool=pool/main/s/sextant

mkdir -p "$output/$pool"
for architecture in "$@"; do
  compgen -G "$debs/*_${version}_$architecture.deb" > /dev/null || {
    echo "repository.sh: no packages of $version for $architecture in $debs; build them with make deb ARCH=$architecture" >&2; exit 66; }
  install -m 644 "$debs"/*_"${version}"_"$architecture".deb "$output/$pool/"
done

# Two keys may sign while one replaces the other: all keys of KEY= are in the file.
read -ra keys <<< "$key"
gpg --batch --yes --armor --output "$output/sextant.asc" --export "${keys[@]}"
[ -s "$output/sextant.asc" ] || { echo "repository.sh: gpg has no key '$key'; make one with gpg --quick-gen-key" >&2; exit 66; }
signers=()
for one in "${keys[@]}"; do signers+=(--local-user "$one"); done

cd "$output"
for suite in $suites; do
  folder=dists/$suite
  for architecture in "$@"; do
    binary=$folder/main/binary-$architecture
    mkdir -p "$binary"
    dpkg-scanpackages --multiversion --arch "$architecture" pool > "$binary/Packages" 2> "$folder/log" || { cat "$folder/log" >&2; exit 1; }
    rm "$folder/log"
    gzip -9nkf "$binary/Packages"
  done
  rm -f "$folder"/{Release,InRelease,Release.gpg}
  {
    printf 'Origin: Sextant\nLabel: Sextant\nSuite: %s\nCodename: %s\nDate: %s\nArchitectures: %s\nComponents: main\nSHA256:\n' \
      "$suite" "$suite" "$(date -u -R | sed 's/+0000/UTC/')" "$*"
    (cd "$folder" && find main -type f | LC_ALL=C sort | while read -r file; do
      printf ' %s %s %s\n' "$(sha256sum "$file" | cut -d' ' -f1)" "$(stat -c %s "$file")" "$file"
    done)
  } > "$folder/Release"
  gpg --batch --yes "${signers[@]}" --digest-algo SHA512 --clearsign --output "$folder/InRelease" "$folder/Release"
  gpg --batch --yes "${signers[@]}" --digest-algo SHA512 --armor --detach-sign --output "$folder/Release.gpg" "$folder/Release"
done
# A web server reads the folder, whatever umask made it.
chmod -R a+rX "$output"
echo "repository.sh: $version for $* in $output ($suites)"
