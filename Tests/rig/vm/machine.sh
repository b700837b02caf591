# machine.sh - what the scripts that boot the virtual machine have in common. They source it, with the folder of the programs
# as their first argument; RIG and IMAGE are explained in run.sh.
script=$(basename "$0")
here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../../.." && pwd)
bin=$(cd "$1" && pwd)
rig=${RIG:-$project/../shared/rig/vm}
image=${IMAGE:-$project/.build/rig/image}

if [ ! -x "$rig/boot.py" ]; then
  echo "$script: no virtual machine: $rig has no boot.py; name the folder that has it with RIG=" >&2
  exit 69
fi

has_image() { [ -e "$image/versions" ] && command -v qemu-system-x86_64 >/dev/null; }

# For those that do not build it.
need_image() {
  has_image || { echo "$script: there is no image in $image; run.sh builds it" >&2; exit 69; }
}

# The folder that the guest sees, with these programs and the Swift runtime from wherever the toolchain has it.
share_programs() {
  local program library
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  share=$work/share
  mkdir -p "$share/lib"
  for program in "$@"; do strip -o "$share/$program" "$bin/$program"; done
  for library in $(ldd "${@/#/$bin/}" |
    sed -n 's/.*=> \(\/.*\/lib\(swift\|dispatch\|Blocks\|_\?Foundation\)[^ ]*\) .*/\1/p' | sort -u); do
    strip -o "$share/lib/$(basename "$library")" "$library"
  done
}

# Boots, has the guest run a script of this folder, and fails when a check failed or it did not come to its end.
run_guest() {
  local seconds=$1 guest=$2
  cp "$here/$guest" "$share/"
  "$rig/boot.py" --image "$image" --share "$share" --work "$work/machine" --times --timeout "$seconds" \
    -- "bash $guest" | tee "$work/out"
  grep -q done-guest "$work/out" || { echo "FAIL the guest did not come to its end"; exit 1; }
  tell_count
  ! grep -q FAIL "$work/out"
}

tell_count() {
  echo "--- $(grep -c PASS "$work/out") passed in the guest, $(grep -c FAIL "$work/out" || true) failed"
}
