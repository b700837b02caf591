#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Debian packages of the files that `make install` writes.
# usage: deb.sh TREE ARCHITECTURE VERSION OUTPUT
#   TREE    the folder that DESTDIR named, with PREFIX=/usr
#   OUTPUT  gets PACKAGE_VERSION_ARCHITECTURE.deb
# SYSROOT names the folder with the libraries of another architecture, and dpkg's records of them (board/setup.sh).
# MAINTAINER names who builds them, as in "Name <address>"; by default the project, as the author of its commits has it. HOMEPAGE is the
# project's page, by default the address that this checkout was cloned from, if a browser opens it.
set -euo pipefail
tree=$1 architecture=$2 version=$3 output=$4
here=$(cd "$(dirname "$0")" && pwd)
maintainer=${MAINTAINER:-$(git -C "$here" log -1 --format='%an <%ae>')}
homepage=${HOMEPAGE-$(git -C "$here" remote get-url origin 2>/dev/null | grep -E '^https?://' || true)}
# Times in the packages: equal sources make equal packages (reproducible-builds.org, SOURCE_DATE_EPOCH).
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$tree" "$work/rest"
libraries=()
[ -z "${SYSROOT:-}" ] || libraries=("--admindir=$SYSROOT/var/lib/dpkg" "-l$SYSROOT/usr/lib/$(dpkg-architecture -A"$architecture" -qDEB_TARGET_MULTIARCH)")
mkdir -p "$output"

# The dependencies of a program: its libraries with the versions of their symbols (dpkg-shlibdeps(1)); and for packed relocations, which are
# no symbol, the glibc that knows them.
depends() {
  local -a binaries
  mapfile -t binaries < <(find "$1/usr" -path "$1/usr/share" -prune -o -type f \( -perm -111 -o -name '*.so.*' \) -print | sort)
  [ ${#binaries[@]} -gt 0 ] || return 0
  mkdir -p "$work/shlibs/debian"
  printf 'Source: sextant\n\nPackage: sextant\nArchitecture: any\n' > "$work/shlibs/debian/control"
  (cd "$work/shlibs" && DEB_HOST_ARCH=$architecture dpkg-shlibdeps "${libraries[@]}" -O "${binaries[@]}") |
    sed -n 's/^shlibs:Depends=//p' | tr -d '\n'
  ! readelf -V "${binaries[@]}" | grep GLIBC_ABI_DT_RELR >/dev/null || printf ', libc6 (>= 2.36)'
}

package() {
  local name=$1 root="$work/$1" script
  mkdir -p "$root/DEBIAN" "$root/usr/share/doc/$name"
  cp "$here/copyright" "$root/usr/share/doc/$name/"
  printf 'sextant (%s) unstable; urgency=medium\n\n  * CHANGELOG.md of the project has the changes.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$root/usr/share/doc/$name/changelog.gz"
  find "$root/usr/share" -path '*/man/*' -name '*.1' -exec gzip -9n {} +
  { sed "s/@SHLIBS@/$(depends "$root")/; s/@VERSION@/$version/" "$here/$name/control"
    printf 'Version: %s\nArchitecture: %s\nMaintainer: %s\nSource: sextant\nPriority: optional\nInstalled-Size: %s\n' \
      "$version" "$architecture" "$maintainer" "$(du -k -s --apparent-size "$root/usr" | cut -f1)"
    [ -z "$homepage" ] || printf 'Homepage: %s\n' "${homepage%.git}"
  } | awk '/^Description:/ { text = 1 } text && /^(Description:| )/ { tail = tail $0 "\n"; next } { print } END { printf "%s", tail }' \
    > "$root/DEBIAN/control"
  for script in postinst prerm postrm; do
    [ ! -e "$here/$name/$script" ] || install -m 755 "$here/$name/$script" "$root/DEBIAN/$script"
  done
  for script in shlibs triggers; do
    [ ! -e "$here/$name/$script" ] || install -m 644 "$here/$name/$script" "$root/DEBIAN/$script"
  done
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
  find "$root" -type d -exec chmod 755 {} +
  dpkg-deb --root-owner-group -Zxz --build "$root" "$output/${name}_${version}_$architecture.deb"
}

for name in sextant-uplink sextantd sextant-track libsextant1 libsextant-dev; do
  mkdir -p "$work/$name"
  # The names are patterns: a folder of libraries has the architecture in its name.
  # shellcheck disable=SC2086
  (cd "$work/rest" && while read -r pattern; do
    for file in $pattern; do
      [ ! -e "$file" ] && [ ! -L "$file" ] || { cp -a --parents "$file" "$work/$name/" && rm -r "$file"; }
    done
  done < "$here/$name/files")
  # A program or library that was not built for this architecture has no package.
  [ ! -d "$work/$name/usr/bin" ] && [ ! -d "$work/$name/usr/include" ] && ! compgen -G "$work/$name/usr/lib/*/*.so.*" > /dev/null || package "$name"
done
find "$work/rest" -type d -empty -delete
mv "$work/rest" "$work/sextant"
package sextant
