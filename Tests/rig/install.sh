#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# What `make install` writes is in PREFIX, and a folder of the user's needs no sudo: as an ordinary user, with a sudo that only reports
# its call. `make install-units` is what the system's folders get.
# usage: install.sh, as root
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
fail() { echo "install.sh: $*" >&2; exit 1; }

# Small stands for the programs, man pages and completions.
mkdir -p "$work"/{bin,programs,manual/man1,manual/completions/{bash,zsh,fish}}
printf '#!/bin/sh\necho "sudo $*" >> "%s/sudo.log"\nexit 1\n' "$work" > "$work/bin/sudo"
chmod +x "$work/bin/sudo"
for program in sextant sextantd; do cp /bin/true "$work/programs/$program"; done
touch "$work"/manual/man1/sextant.1 "$work"/manual/completions/{bash/sextant,zsh/_sextant,fish/sextant.fish}
mkdir "$work/home"
chown -R 65534:65534 "$work/home"
as_user() { (cd "$top" && HOME="$work/home" PATH="$work/bin:$PATH" setpriv --reuid=65534 --regid=65534 --clear-groups "$@"); }
options=(PROGRAMS="$work/programs" MANUAL="$work/manual")

touch "$work/before" "$work/sudo.log"
chmod 666 "$work/sudo.log"
as_user make -s install-files PREFIX="$work/home/.local" "${options[@]}" || fail "no installation into the user's folder"
[ ! -s "$work/sudo.log" ] || fail "sudo is called: $(cat "$work/sudo.log")"
[ -x "$work/home/.local/bin/sextant" ] || fail "the program is missing"
[ -e "$work/home/.local/share/man/man1/sextant.1" ] || fail "the man page is missing"
others=$(find "$work/home" -type f -not -path "$work/home/.local/*")
[ -z "$others" ] || fail "files outside of PREFIX: $others"
# Of this user alone: other rigs install files at the same time.
others=$(find /etc /usr /opt -newer "$work/before" -user 65534 2>"$work/find.log" || true)
[ -z "$others" ] || fail "files of the system: $others"

# The pages that help and messages name are there.
for page in $(grep -rhoE 'docs/(guides|reference)/[a-z-]+\.md' "$top/Sources" --include='*.swift' | sort -u); do
  [ -e "$work/home/.local/share/doc/sextant/$page" ] || fail "$page is named and not installed"
done

as_user make -s uninstall PREFIX="$work/home/.local"
left=$(find "$work/home/.local" -type f)
[ -z "$left" ] || fail "after uninstall: $left"

# A folder of root's is changed by sudo alone.
! as_user make -s install-files PREFIX="$work/system" "${options[@]}" 2>"$work/errors" || fail "an installation without permission"
[ -s "$work/sudo.log" ] || fail "sudo is not called for a folder of root's"

# Units, polkit's rule and user have a target of their own, in the folders that are named.
make -s -C "$top" install-units DESTDIR="$work/image" SUDO= PREFIX=/usr LIB=/usr/lib USER_UNITS=/usr/lib/systemd/user POLKIT=/usr/share/polkit-1/rules.d
for file in systemd/system/sextantd.service systemd/user/sextant-launcher.service sysusers.d/sextant.conf; do
  [ -e "$work/image/usr/lib/$file" ] || fail "$file is not installed"
done
grep -q '/usr/bin/sextantd' "$work/image/usr/lib/systemd/system/sextantd.service" || fail "the unit starts another program"
echo "install: ok"
