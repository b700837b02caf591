#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Runs a command as root of a user namespace in which the programs of 64-bit ARM run, also those that other programs start. The kernel
# hands them to qemu-user, by a binfmt_misc of the namespace (Linux 6.7); nothing is registered for the machine.
# usage: foreign.sh QEMU COMMAND [ARGUMENT …]     as root
set -euo pipefail
if [ "${1:-}" != --inside ]; then
  # All accounts of a chroot keep their numbers. A line in the pipe tells the namespace that they are mapped.
  pipe=$(mktemp -u)
  mkfifo "$pipe"
  exec 5<> "$pipe"
  rm "$pipe"
  unshare --user --mount --pid --fork --kill-child "$0" --inside "$@" &
  child=$!
  until [ "$(readlink "/proc/$child/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do
    kill -0 $child 2>/dev/null || exit 70
  done
  for map in uid_map gid_map; do echo "0 0 65536" > "/proc/$child/$map"; done
  echo >&5
  wait $child
  exit $?
fi
read -r _ <&5
exec 5<&-
qemu=$(realpath "$2")
mount -t proc none /proc
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
# The head of an ELF file for AArch64 (elf(5)), executable or shared; F opens the interpreter now, because a chroot does not have it.
printf '%s' ":arm64:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff:$qemu:F" \
  > /proc/sys/fs/binfmt_misc/register
exec "${@:3}" < /dev/null
