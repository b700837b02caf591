#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""copies.py - no function of the decoder copies a table: the calls of memcpy and memmove in objects for AArch64 have constant sizes below 4 kB.

usage: copies.py OBJECT...

A constant InlineArray as a table was copied at each look-up, 16 kB for one byte of RTCM 3 (docs/reference/speed.md). The size is the third
argument, register x2 (Procedure Call Standard for the Arm 64-bit Architecture, section 6.8.2).
"""
import re
import subprocess
import sys

LIMIT = 4096
calls, largest, failed = 0, 0, False
for path in sys.argv[1:]:
    listing = subprocess.run(
        ["llvm-objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    function, size = "", None
    for line in listing.splitlines():
        if match := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function, size = match[1], None
        elif match := re.search(r"\tmovz?\t[wx]2, #(0x[0-9a-f]+|\d+)", line):
            size = int(match[1], 0)
        elif re.search(r"R_AARCH64_(CALL|JUMP)26\s+mem(cpy|move)\b", line):
            calls += 1
            largest = max(largest, size or 0)
            if (size or 0) >= LIMIT:
                failed = True
                print(f"copies.py: {path}: {function}: copies {size} bytes", file=sys.stderr)
            size = None
if calls == 0:
    sys.exit("copies.py: no call was found; is this the code of another architecture?")
print(f"board: {calls} calls of memcpy and memmove in the decoder, the largest constant size is {largest} bytes")
sys.exit(failed)
