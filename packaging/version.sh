#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Prints the version of this checkout; DEB_VERSION names another one for its packages.
set -eu
[ -z "${DEB_VERSION:-}" ] || { echo "$DEB_VERSION"; exit; }
sed -n 's/.*static let text = "\(.*\)"/\1/p' "$(dirname "$0")/../Sources/LinuxIO/SextantVersion.swift"
