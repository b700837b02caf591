#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Installs what is built, and removes it; the targets of the Makefile call it. sudo is used where the user cannot write.
# usage: install.sh programs | clib | units | hw-rules | remove-programs | remove-units
# Variables: DESTDIR, a folder before all paths. PREFIX (/usr/local). LIBDIR, where the linker searches, such as /usr/lib/x86_64-linux-gnu.
#   PROGRAMS, the folder of the programs; one that is not there is not installed. STRIP has to know their architecture. MANUAL has the man
#   pages and completions. CLIB is the folder of libsextant. LIB, UNITS, USER_UNITS, POLKIT and UDEV are folders of the system: those
#   outside of the distribution's packages (systemd.unit(5), sysusers.d(5), polkit(8), udev(7)).
set -euo pipefail
cd "$(dirname "$0")/.."
destination=${DESTDIR:-} prefix=${PREFIX:-/usr/local}
libraries=${LIBDIR:-$prefix/lib}
lib=${LIB:-/usr/local/lib}
units=${UNITS:-$lib/systemd/system} user_units=${USER_UNITS:-/etc/systemd/user} polkit=${POLKIT:-/etc/polkit-1/rules.d} udev=${UDEV:-/etc/udev}
share=$destination$prefix/share

# Root is needed only where the user cannot write: in the nearest folder that exists.
sudo=()
needs() {
  local folder
  [ "$(id -u)" != 0 ] || return 0
  for folder; do
    while [ ! -e "$folder" ]; do folder=$(dirname "$folder"); done
    [ -w "$folder" ] || sudo=(sudo)
  done
}
put() { "${sudo[@]}" install -D -m 644 "$@"; }

case ${1:-} in
  programs)
    needs "$destination$prefix/bin" "$share"
    programs=${PROGRAMS:-.build/static/release} manual=${MANUAL:-.build/manual} found=() interfaces=Sources/Messages/Varlink/Interfaces
    for name in sextant sextant-track sextantd sextant-uplink; do [ ! -e "$programs/$name" ] || found+=("$programs/$name"); done
    "${sudo[@]}" install -D -s --strip-program="${STRIP:-strip}" -t "$destination$prefix/bin" "${found[@]}"
    put -t "$share/man/man1" "$manual"/man1/*.1
    put -t "$share/bash-completion/completions" "$manual/completions/bash/sextant"
    put -t "$share/zsh/site-functions" "$manual/completions/zsh/_sextant"
    put -t "$share/fish/vendor_completions.d" "$manual/completions/fish/sextant.fish"
    put -t "$share/doc/sextant/examples" packaging/examples/config packaging/examples/devices
    put -t "$share/doc/sextantd/examples" packaging/examples/policy
    put -t "$share/doc/sextant/docs/guides" docs/guides/*.md
    put -t "$share/doc/sextant/docs/reference" docs/reference/*.md "$interfaces"/org.sextant.*.varlink
    # The pages link to the interfaces, which are beside them there.
    "${sudo[@]}" sed -i "s|](../../$interfaces/|](../reference/|" "$share"/doc/sextant/docs/*/*.md
    [ ! -e "$programs/sextant.spdx.json" ] || put -t "$share/doc/sextant" "$programs/sextant.spdx.json"
    ;;
  clib)
    # libsextant, its header and its pkg-config file.
    needs "$destination$prefix/bin" "$share" "$destination$libraries"
    built=${CLIB:-.build/clib/host}
    version=$(sed -n 's/^#define SEXTANT_ABI_VERSION //p' CSupport/CSextant/sextant.h)
    put -t "$destination$prefix/include" CSupport/CSextant/sextant.h
    put -t "$destination$libraries" "$built/libsextant.a" "$built/libsextant.so.$version"
    "${sudo[@]}" ln -sf "libsextant.so.$version" "$destination$libraries/libsextant.so"
    sed "s|@PREFIX@|$prefix|; s|@LIBDIR@|$libraries|; s|@VERSION@|$version|" CSupport/CSextant/libsextant.pc.in > "$built/libsextant.pc"
    put -t "$destination$libraries/pkgconfig" "$built/libsextant.pc"
    ;;
  units)
    # The location service: units, which are not enabled (docs/guides/service.md), polkit's rule, and the user.
    needs "$destination$units" "$destination$user_units" "$destination$polkit" "$destination$lib"
    put -t "$destination$units" hw-rules/sextantd.service hw-rules/sextantd.socket hw-rules/sextantd-gpsd.socket \
      hw-rules/sextantd-nmea.socket hw-rules/sextant-uplink.service
    put -t "$destination$user_units" hw-rules/sextant-launcher.service
    put hw-rules/sextant.rules "$destination$polkit/60-sextant.rules"
    "${sudo[@]}" sed -i "s|/usr/local/bin/|$prefix/bin/|" "$destination$units/sextantd.service" \
      "$destination$units/sextant-uplink.service" "$destination$user_units/sextant-launcher.service"
    put hw-rules/sextant.sysusers.conf "$destination$lib/sysusers.d/sextant.conf"
    put hw-rules/sextant.tmpfiles.conf "$destination$lib/tmpfiles.d/sextant.conf"
    if [ -z "$destination" ] && [ -d /run/systemd/system ]; then
      "${sudo[@]}" systemd-sysusers sextant.conf
      "${sudo[@]}" systemd-tmpfiles --create sextant.conf
      "${sudo[@]}" systemctl daemon-reload
    fi
    ;;
  hw-rules)
    needs "$destination$udev"
    put -t "$destination$udev/hwdb.d" hw-rules/60-sextant-gnss.hwdb
    put -t "$destination$udev/rules.d" hw-rules/60-sextant-gnss.rules
    [ -n "$destination" ] || {
      "${sudo[@]}" groupadd --system --force gnss
      "${sudo[@]}" systemd-hwdb update
      "${sudo[@]}" udevadm control --reload
      "${sudo[@]}" udevadm trigger --settle --subsystem-match=usb --subsystem-match=tty --subsystem-match=gnss
    }
    ;;
  remove-programs)
    needs "$destination$prefix/bin" "$share"
    "${sudo[@]}" rm -f "$destination$prefix"/bin/{sextant,sextant-track,sextantd,sextant-uplink} \
      "$share"/man/man1/{sextant,sextantd}.1 "$share"/man/man1/sextant-*.1 "$share/bash-completion/completions/sextant" \
      "$share/zsh/site-functions/_sextant" "$share/fish/vendor_completions.d/sextant.fish"
    "${sudo[@]}" rm -rf "$share/doc/sextant" "$share/doc/sextantd"
    ;;
  remove-units)
    needs "$destination$units" "$destination$user_units" "$destination$polkit" "$destination$lib"
    "${sudo[@]}" rm -f "$destination$units"/{sextantd.service,sextantd.socket,sextantd-gpsd.socket,sextantd-nmea.socket} \
      "$destination$units/sextant-uplink.service" "$destination$user_units/sextant-launcher.service" "$destination$polkit/60-sextant.rules" \
      "$destination$lib/sysusers.d/sextant.conf" "$destination$lib/tmpfiles.d/sextant.conf"
    ;;
  *)
    echo "usage: install.sh programs | clib | units | hw-rules | remove-programs | remove-units" >&2
    exit 64
    ;;
esac
