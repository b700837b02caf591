#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Replaces the one file of swift-argument-parser that imports FoundationEssentials, in the checkout of a build folder.
# usage: replace.sh FOLDER (--scratch-path of the build)
set -eu
file=Sources/ArgumentParser/Utilities/Foundation.swift
checkout=$1/checkouts/swift-argument-parser
here=$(dirname "$0")
# The object name of the original (git-hash-object(1)): another version of the package may need another file.
original=af7fa95584087ee20fe0b26f4f2cce4f3ba75e5c
found=$(git -C "$checkout" rev-parse "HEAD:$file")
[ "$found" = "$original" ] || {
  echo "replace.sh: $file of swift-argument-parser has changed; check $here/Foundation.swift against it" >&2
  exit 65
}
# The date stays for a file that is in place already, so that it is not compiled again. SwiftPM writes its checkouts read-only.
cmp -s "$here/Foundation.swift" "$checkout/$file" || cp -f "$here/Foundation.swift" "$checkout/$file"
