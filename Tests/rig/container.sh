#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The container image: its files alone run the service and the commands as its user, without a shell and without a right; and where
# there is buildah, the last stage of the Containerfile is built of them and run. The first stage is `make static`.
# usage: container.sh PROGRAMS, as root; PROGRAMS is the folder of `make static`
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
programs=$(realpath "$1")
work=$(mktemp -d)
service=
# unshare passes no signal on, and its option to end its child has no effect on one of another user.
stop() {
  [ -z "$service" ] || { kill -KILL $(ps -o pid= --ppid "$service") && wait "$service"; } 2>/dev/null || true
  service=
}
finish() {
  stop
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "container: $*" >&2; [ ! -s "$work/log" ] || cat "$work/log" >&2; exit 1; }

"$top/packaging/container/root.sh" "$programs" "$work/image"
# Every path of the Containerfile is in the folder that it copies.
for path in $(sed -n 's/^ENTRYPOINT \["\(.*\)"\]/\1/p; s/^VOLUME //p' "$top/packaging/container/Containerfile"); do
  [ -e "$work/image$path" ] || fail "the Containerfile names $path, which is not in the image"
done
user=$(sed -n 's/^USER //p' "$top/packaging/container/Containerfile")
grep -q ":x:$user:" "$work/image/etc/passwd" || fail "user $user is not in the image"
[ ! -e "$work/image/bin/sh" ] && [ ! -e "$work/image/usr/bin/sh" ] || fail "the image has a shell"
echo "container: $(du -sk --apparent-size "$work/image" | cut -f1) KiB, $(find "$work/image" -type f | wc -l) files"

# inside ROOT COMMAND...: in the image alone, as its user, with /proc and the devices that every container has. It replaces
# the shell.
inside() {
  exec unshare --mount --pid --fork --kill-child sh -ec '
    mount --bind "$0" "$0"; mkdir -p "$0/proc" "$0/dev"
    mount -t proc none "$0/proc"; mount --rbind /dev "$0/dev"
    shift; exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin SEXTANT_STATE_DIR=/var/lib/sextantd chroot --userspec='"$user"' "$0" "$@"' "$1" "$@"
}
(inside "$work/image" /usr/bin/sextant --version)
(inside "$work/image" /usr/bin/sextant watch --device sim:walk --seconds 3) > "$work/watch" 2>&1 || true
grep -q ' 48\.[0-9]* 11\.' "$work/watch" || { cp "$work/watch" "$work/log"; fail "no fix of the simulated receiver"; }
inside "$work/image" /usr/bin/sextantd --device sim:walk > "$work/log" 2>&1 &
service=$!
# The socket is the volume's: a program outside of the container uses it.
socket="$work/image/run/sextant/location"
while [ ! -S "$socket" ]; do
  kill -0 $service 2>/dev/null || fail "the service does not start"
  sleep 0.1
done
SEXTANT_SERVICE=$socket "$programs/sextant" status > "$work/status" 2>&1 || { cat "$work/status" >&2; fail "sextant status"; }
grep -q 'sim:walk' "$work/status" || fail "the status does not name the receiver"
stop
echo "container: commands and service run in the image's files as user $user"

command -v buildah >/dev/null || { echo "container: no buildah here: the image itself is not built"; exit 0; }
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs CONTAINERS_STORAGE_CONF=/dev/null
storage=(--root "$work/storage" --runroot "$work/runroot")
sed -n '/^FROM scratch/,$p' "$top/packaging/container/Containerfile" | sed 's|--from=build /image|image|' > "$work/Containerfile"
buildah "${storage[@]}" build -q -t sextant -f "$work/Containerfile" "$work" > "$work/id"
container=$(buildah "${storage[@]}" from --pull-never sextant)
buildah "${storage[@]}" run "$container" /usr/bin/sextant --version
buildah "${storage[@]}" inspect --type image sextant | grep -q '"/usr/bin/sextantd"' || fail "the image has no entry point"
echo "container: buildah has built the image"
