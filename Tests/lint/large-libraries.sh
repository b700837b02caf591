#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# large-libraries.sh FOLDER PROGRAM...: the objects of programs that are built in FOLDER refer to neither of the libraries of regular
# expressions and of concurrency, which add 1.6 MB (docs/reference/size.md). The compiler imports the library of regular expressions
# implicitly: `contains` and `firstRange` with a text are its functions, and WireBytes/TextSearch.swift has others. EXCEPT names a
# module whose objects are not checked.
set -eu
folder=$1
shift
lists=
for program; do lists="$lists $folder/$program.product/Objects.LinkFileList"; done
objects=$(cat $lists | grep -v "/${EXCEPT:-none}\.build/" | sort -u)
[ -n "$objects" ]
large=$(grep -lE '\$s[A-Za-z0-9_]*17_StringProcessing|swift_task_' $objects) || [ $? = 1 ]
[ -z "$large" ] || { printf 'large-libraries.sh: references to regular expressions or concurrency:\n%s\n' "$large" >&2; exit 1; }
