#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# readme.sh FOLDER: runs what README tells a reader to run. Its two packages are made from README's text alone, built in FOLDER, and
# run by README's commands until they print what they should; the other commands run at the simulator. A command that is not in the
# table below is an error. Prints ok, or what is missing. CHECKOUT names another copy of the project, such as one without a build.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
checkout=$(cd "${CHECKOUT:-$here/../..}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The output of a package's commands, of the last of them, and of the other commands of README.
declare -A wanted=(
  [hike]='^CLLocationCoordinate2D\(latitude: 48'
  [fixes]='^fix 48\.[0-9]+ 11\.[0-9]+$'
  ['sextant watch --demo']='^[0-9-]+T[0-9:.]+Z  48\.[0-9]+ 11\.[0-9]+ '
  ['sextant view --demo']='the page is at http://127\.0\.0\.1:[0-9]+/'
)

# The compiler's records in FOLDER are by path, so the packages name the checkout itself in place of ../sextant.
# A folder for each package, with Package.swift, Sources/main.swift and its commands; `commands` has the others, a line each.
python3 - "$checkout" "$work" <<'PYTHON'
import os, re, sys
checkout, work = sys.argv[1:]
page = open(f"{checkout}/README.md").read()
package, blocks, others = None, {}, []
for match in re.finditer(r"in a folder `(\w+)` beside|```swift\n([\s\S]*?)```|((?:^    \S.*\n)+)", page, re.M):
    if match[1]:
        package = match[1]
        blocks[package] = []
    elif match[2] or package and 2 <= len(blocks[package]) < 3:
        blocks[package].append(match[2] or match[3])
    else:
        others.append(match[3])
for name, parts in blocks.items():
    os.makedirs(f"{work}/{name}/Sources")
    for path, content in zip(("Package.swift", "Sources/main.swift", "commands"), parts, strict=True):
        with open(f"{work}/{name}/{path}", "w") as file:
            file.write(content.replace('path: "../sextant"', f'name: "sextant", path: "{checkout}"'))
with open(f"{work}/packages", "w") as file:
    file.write("".join(f"{name}\n" for name in blocks))
with open(f"{work}/commands", "w") as file:
    file.write("".join(re.sub(r"^ +| +#.*", "", line, flags=re.M) for line in others))
PYTHON

fail() { # TEXT OUTPUT
  echo "readme.sh: $1" >&2
  [ ! -e "$2" ] || tail -n 30 "$2" >&2
  exit 1
}
# run FOLDER NAME SCRIPT: runs the script in the folder until it prints what is wanted of the name.
run() {
  (cd "$1" && exec setsid bash -e "$3") >"$work/printed" 2>&1 </dev/null &
  local job=$!
  while ! grep -Eq "${wanted[$2]}" "$work/printed" && kill -0 $job 2>/dev/null; do sleep 0.2; done
  kill -- -$job 2>/dev/null || true
  wait $job || true
  grep -Eq "${wanted[$2]}" "$work/printed" || fail "'$2' of README does not print ${wanted[$2]}:" "$work/printed"
}

# README's commands, with the build's folder; the answer of a person at a terminal; no port that others use.
swift() { command swift "$1" --scratch-path "$build" --disable-build-manifest-caching "${@:2}"; }
export -f swift
export build SEXTANT_AUTHORIZATION=always SEXTANT_SERVICE=none SEXTANT_STATE_DIR="$work/state" SEXTANT_RUN_DIR="$work/run"

[ "$(tr '\n' ' ' <"$work/packages")" = "hike fixes " ] || fail "README has other packages" "$work/packages"
for package in hike fixes; do
  if [ -e "$checkout/Package.resolved" ]; then cp "$checkout/Package.resolved" "$work/$package"; fi
  ln -s "$build" "$work/$package/.build"
  run "$work/$package" $package "$work/$package/commands"
done

PATH="$build/debug:$PATH"
while read -r command; do
  case $command in
    make*) make --dry-run --directory "$checkout" ${command#make } >"$work/printed" 2>&1 || fail "no '$command'" "$work/printed" ;;
    # `Tests/rig/run repository` runs the lines that install from the repository.
    "sudo /usr/lib/apt/apt-helper download-file "* | "echo \"deb [signed-by="* | "sudo apt update && sudo apt install "*) ;;
    # The packages that `make deb` writes are installed by `Tests/rig/run packages`.
    "sudo apt install make") ;;
    "sudo apt install ./.build/deb/"*)
      for name in ${command#sudo apt install }; do
        name=$(basename "$name")
        [ -e "$checkout/packaging/${name%%_*}/control" ] || fail "there is no package ${name%%_*}" ""
      done ;;
    *)
      [ -n "${wanted[$command]+is}" ] || fail "the output of '$command' is not in readme.sh" ""
      echo "$command" >"$work/command"
      run "$work" "$command" "$work/command" ;;
  esac
done <"$work/commands"
echo ok
