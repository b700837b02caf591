#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# time.sh - the clock in a virtual machine with systemd as process 1: chronyd, ntpd of ntpsec, and gpsd beside them, all Debian's;
# pulses of a source of the kernel, and of a modem line with and without the kernel's stamps; the sandbox of sextantd.service, with
# the lines of docs/guides/time.md. The receivers' clock is a quarter of a second ahead of the machine's, which nothing sets: each
# offset is known. linux-image 6.1 has no pps-ktimer, pps-gpio or gpio-sim. pps-ktimer of linux-source would not serve
# either: it waits for HZ ticks by the timer wheel, whose granularity is 8 ticks there (kernel/time/timer.c, "Level 1"), so that its pulses
# are not a second apart. Hence the module rig_pps.
# usage: Tests/rig/vm/time.sh BIN-FOLDER        root; BIN-FOLDER holds sextant, sextant-track and sextantd
#   RIG=FOLDER     as in run.sh
#   IMAGE=FOLDER   the image with systemd and the daemons (default: .build/rig/image-time, built there when it is missing)
set -euo pipefail
IMAGE=${IMAGE:-$(cd "$(dirname "$0")/../../.." && pwd)/.build/rig/image-time}
. "$(dirname "$0")/machine.sh"
limit=1800

build_image chrony gpsd python3 libssl3 libbsd0 libcap2
share_programs sextant sextant-track sextantd
prepare_systemd
cp -r "$project/hw-rules" "$project/docs/guides/time.md" "$here/feed.py" "$here/../emulator.py" "$rig/usbip-gnss.py" "$share/"
cp "$here"/guest-install.sh "$share/"
kernel=$(sed -n 's/^kernel linux-image-\([^ ]*\) .*/\1/p' "$image/versions")
cp -r "$here/rig_pps" "$work/"
make -s -C "/usr/src/linux-headers-$kernel" M="$work/rig_pps" modules > "$work/build.log" 2>&1 || { cat "$work/build.log" >&2; exit 1; }
cp "$work/rig_pps/rig_pps.ko" "$share/"
# As a package it excludes chrony.
(cd "$work" && apt-get -o APT::Sandbox::User=root -qq download ntpsec && dpkg-deb -x ntpsec_*.deb "$share/ntpsec")
image=$work
run_guest guest-time.sh
