#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The Debian packages in a chroot of a suite: installed, enabled, upgraded, used by an ordinary user, removed and purged. Nothing may
# stay but the accounts. Then what lintian finds; an error of it is one of the rig.
# usage: packages.sh DEBS VERSION ARCHITECTURE SUITE WORK, as root; DEBS also has the packages of VERSION+1
set -euo pipefail
debs=$(realpath "$1") version=$2 architecture=$3 suite=$4
mkdir -p "$5"
work=$(realpath "$5")
top=$(cd "$(dirname "$0")/../.." && pwd)

# Programs of another architecture are run by qemu-user.
foreign=()
[ "$architecture" = "$(dpkg --print-architecture)" ] || foreign=("$top/Tests/rig/foreign.sh" "$top/.build/board/qemu/qemu-aarch64")

base="$work/$suite-$architecture"
if [ ! -e "$base.complete" ]; then
  begin=$SECONDS
  rm -rf "$base"
  debootstrap --arch="$architecture" ${foreign:+--foreign} --variant=minbase \
    --include=systemd,udev,adduser,libudev1,libstdc++6,procps,libc6-dev "$suite" "$base" > "$base.log" || { tail "$base.log" >&2; exit 1; }
  # The devices are there since the first stage; as in a container of this kind, the second one makes none.
  [ ${#foreign[@]} = 0 ] || container=lxc "${foreign[@]}" chroot "$base" /debootstrap/debootstrap --second-stage \
    >> "$base.log" || { tail "$base.log" >&2; exit 1; }
  touch "$base.complete"
  echo "packages: chroot of $suite for $architecture: $((SECONDS - begin)) s"
fi

# The chroot stays as it is: changes are in a layer of its own, in a mount namespace that ends with this program.
if [ -z "${LAYER:-}" ]; then
  export LAYER
  LAYER=$(mktemp -d "$work/layer.XXXXXX")
  trap 'rm -rf "$LAYER"' EXIT
  [ ${#foreign[@]} -gt 0 ] || foreign=(unshare --mount --pid --fork --kill-child)
  # shellcheck disable=SC2016
  unshare --mount sh -ec '
    mount -t tmpfs none "$LAYER"
    mkdir "$LAYER/upper" "$LAYER/work" "$LAYER/root"
    mount -t overlay -o "lowerdir=$1,upperdir=$LAYER/upper,workdir=$LAYER/work" none "$LAYER/root"
    mkdir "$LAYER/root/rig"
    mount --bind "$2" "$LAYER/root/rig"
    shift 2
    exec "$@"' sh "$base" "$debs" "${foreign[@]}" "$0" "$@"
  exit
fi
layer=$LAYER root="$LAYER/root"
mount -t proc none "$root/proc"
# In the folder of the packages: dpkg takes names relative to it.
inside() {
  LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$root" /bin/sh -c 'cd /rig && exec "$@"' sh "$@"
}
user() { inside setpriv --reuid=ada --regid=ada --init-groups "$@"; }
fail() { echo "packages: $suite: $*" >&2; exit 1; }
step() { echo "packages: $suite: $1: $((SECONDS - begin)) s"; begin=$SECONDS; }
begin=$SECONDS

# Files with type, mode and owner, accounts, and the state of units. /run/adduser is the lock of Debian 13's adduser.
list() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./rig -o -path ./tmp -o -path ./run/systemd -o -path ./run/adduser -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \) \
    -prune -o -printf 'file %p %y %m %U:%G %l\n' | sort)
  (cd "$root/etc" && sed 's/^/passwd /' passwd && sed 's/^/group /' group)
  inside systemctl list-unit-files --no-legend | sed 's/^/unit /; s/  */ /g'
}
added() { diff "$1" "$2" | sed -n 's/^[<>] /&/p' || true; }

inside useradd --create-home ada
list > "$work/before"
names=()
for name in sextant sextantd sextant-track libsextant1 libsextant-dev; do
  # Those that are built for this architecture (packaging/deb.sh).
  [ ! -e "$debs/${name}_${version}_$architecture.deb" ] || names+=("$name")
done
dpkg() { inside dpkg "$@" > "$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log" >&2; fail "dpkg $1"; }; }
install() { dpkg -i "${names[@]/%/_$1_$architecture.deb}"; }
install "$version"
list > "$work/installed"
step "installed"
added "$work/before" "$work/installed" | grep -E "^. (passwd|group|unit)" || true
echo "$(added "$work/before" "$work/installed" | grep -c '^> file') files and folders; KiB installed:"
inside dpkg-query -W -f '${Package} ${Version} ${Installed-Size}\n' "${names[@]}"
grep -q '^unit sextantd.service disabled' "$work/installed" || fail "sextantd.service is not disabled after the installation"
inside systemd-analyze verify --man=no /usr/lib/systemd/system/sextantd.{service,socket} /usr/lib/systemd/system/sextantd-{gpsd,nmea}.socket \
  2>&1 | { ! grep -i sextant; } || fail "systemd-analyze verify"

# As an ordinary user, with the output of the program that was packaged.
recording="$layer/root/tmp/recording"
SEXTANT_STATE_DIR=$layer "$top/.build/static/release/sextant" record --device sim:walk --seconds 3 "$recording" 2>/dev/null
# A recording is readable by its user alone.
chmod 644 "$recording"
[ "$(user sextant --version)" = "sextant ${version%%[+~]*}" ] || fail "sextant --version"
[ "$(user sextantd --version)" = "sextantd ${version%%[+~]*}" ] || fail "sextantd --version"
user sextant decode /tmp/recording > "$work/decoded"
"$top/.build/static/release/sextant" decode "$recording" | cmp - "$work/decoded" || fail "sextant decode"
echo "sextant decode: $(wc -l < "$work/decoded") lines, equal to those of the build"

# The administrator's files, units that are enabled, and state.
inside mkdir -p /etc/sextant /var/lib/sextant
inside cp /usr/share/doc/sextant/examples/config /usr/share/doc/sextant/examples/devices /usr/share/doc/sextantd/examples/policy /etc/sextant/
user sextant devices >/dev/null || fail "the examples of the configuration are refused"
inside systemctl enable sextantd.socket sextantd.service sextantd-gpsd.socket sextantd-nmea.socket 2>/dev/null
inside install -d -o sextant -g sextant -m 700 /var/lib/sextantd/users
step "used"

install "$version+1"
[ "$(inside dpkg-query -W -f '${Version}' sextantd)" = "$version+1" ] || fail "upgrade"
[ "$(inside systemctl is-enabled sextantd.service)" = enabled ] || fail "the upgrade has disabled sextantd.service"
[ -e "$root/etc/sextant/policy" ] && [ -d "$root/var/lib/sextantd/users" ] || fail "the upgrade has removed configuration or state"
step "upgraded"

dpkg -r "${names[@]}"
[ -e "$root/etc/sextant/policy" ] && [ -d "$root/var/lib/sextantd/users" ] || fail "the removal is no purge: configuration and state"
dpkg -P "${names[@]}"
list > "$work/purged"
step "purged"
# The accounts stay: their numbers may own files elsewhere.
left=$(added "$work/before" "$work/purged" | sed -E 's/:[0-9]+:/:N:/g; s/:[0-9]+:/:N:/g')
echo "left: ${left:-nothing}"
[ -z "$(grep -vE '^> (group (gnss|sextant):|passwd sextant:)' <<< "$left")" ] || fail "the purge leaves more than the accounts"

lintian --allow-root --fail-on error "$debs"/*_"${version}"_"$architecture".deb
step "lintian"
