#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Runs a command with Debian's compiler of compiler.sh. The command sees that compiler's system, and the folders of this machine that are
# not the system's, such as /home. No root is needed: the kernel gives the command a namespace of its own.
# usage: inside.sh FOLDER COMMAND [ARGUMENT …]     FOLDER is the folder that setup.sh made
set -euo pipefail
if [ "${1:-}" != --inside ]; then
  root=$(realpath "$1/compiler")
  own=(--mount)
  [ "$(id -u)" = 0 ] || own+=(--user --map-root-user)
  exec unshare "${own[@]}" "$0" --inside "$root" "${@:2}"
fi
root=$2
for folder in /*; do
  case $folder in /bin | /boot | /etc | /lib* | /lost+found | /sbin | /usr | /var) continue ;; esac
  [ -d "$folder" ] && [ ! -L "$folder" ] || continue
  mkdir -p "$root$folder"
  mount --rbind "$folder" "$root$folder"
done
exec chroot "$root" /usr/bin/env PATH=/usr/libexec/swift/bin:/usr/bin bash -c 'cd "$0" && exec "$@"' "$PWD" "${@:3}"
