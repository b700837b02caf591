#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Replaces three files of swift-argument-parser in the checkout of a build folder, because they need two libraries that nothing else in
# the programs needs (docs/reference/size.md): one imports FoundationEssentials, and two have asynchronous commands, which the
# programs do not have.
# usage: replace.sh FOLDER (--scratch-path of the build)
set -eu
checkout=$1/checkouts/swift-argument-parser
here=$(dirname "$0")

# FILE, and the object name of its original (git-hash-object(1)): another version of the package may need another file. The new
# content is the input.
replace() {
  file=Sources/ArgumentParser/$1
  [ "$(git -C "$checkout" rev-parse "HEAD:$file")" = "$2" ] || {
    echo "replace.sh: $file of swift-argument-parser has changed; check $here against it" >&2
    exit 65
  }
  new=$(mktemp)
  cat > "$new"
  # The date stays for a file that is in place already, so that it is not compiled again. SwiftPM writes its checkouts read-only.
  cmp -s "$new" "$checkout/$file" || cp -f "$new" "$checkout/$file"
  rm "$new"
}

replace Utilities/Foundation.swift af7fa95584087ee20fe0b26f4f2cce4f3ba75e5c < "$here/Foundation.swift"
replace 'Parsable Types/AsyncParsableCommand.swift' eb8ab0585778f76de553787a8a0076e9522db40c < "$here/AsyncParsableCommand.swift"
# Without the one asynchronous function.
git -C "$checkout" show HEAD:Sources/ArgumentParser/Parsing/CommandParser.swift |
  sed '/^  @available(macOS 10.15, /,/^  }$/d' |
  replace Parsing/CommandParser.swift 46368b2f369d76c7c5866eb8df13c95219345950
