#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# The hardening of programs: position-independent (DYN with FLAGS_1 PIE), full RELRO (PT_GNU_RELRO and BIND_NOW), no executable
# stack, no segment that is writable and executable, no RUNPATH or RPATH. elf(5).
set -euo pipefail
# usage: hardening.sh [PROGRAM...]      default: the programs of `make static`
[ $# -gt 0 ] || { cd "$(dirname "$0")/../.." && set -- .build/static/release/{sextant,sextant-track,sextantd,sextant-uplink}; }

failed=0
for program in "$@"; do
  dynamic=$(readelf --dynamic --wide "$program")
  segments=$(readelf --program-headers --wide "$program")
  check() {
    if ! grep -qE "$3" <<<"$2"; then echo "$program: $1" >&2; failed=1; fi
  }
  refuse() {
    if grep -qE "$3" <<<"$2"; then echo "$program: $1" >&2; failed=1; fi
  }
  check "is not position-independent" "$dynamic" 'FLAGS_1.*PIE'
  check "has no RELRO segment" "$segments" 'GNU_RELRO'
  check "binds functions late, so that RELRO is partial" "$dynamic" 'BIND_NOW|FLAGS_1.*NOW'
  check "states no stack permissions" "$segments" 'GNU_STACK'
  refuse "has an executable stack" "$segments" 'GNU_STACK.* RWE '
  refuse "has a segment that is writable and executable" "$segments" 'LOAD .* RWE '
  refuse "searches a folder for libraries" "$dynamic" 'RUNPATH|RPATH'
  [ $failed = 1 ] || echo "$program: PIE, full RELRO, no executable stack, no RUNPATH"
done
exit $failed
