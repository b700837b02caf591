#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# debian-packages.sh PACKAGE...: installs Debian packages, and prints their names. Without apt-get it only prints them, and ends
# with 69. The callers check first that something is missing.
set -eu
command -v apt-get >/dev/null || { echo "needs the Debian packages $*, or what they contain" >&2; exit 69; }
echo "installing $*" >&2
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
# Another program may use apt at this time.
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=600 --no-install-recommends "$@" >/dev/null
