#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the interface descriptions of the location service with PyPI's varlink.

Exit code 1 when its scanner refuses one, when a file's name is not its interface's, when a member has no comment, or when
a type is used and not declared.
"""
import re
import sys

from packages import TOP, install_peers

install_peers()
from varlink.scanner import Interface  # noqa: E402

# Methods, types and errors that clients rely on.
EXPECTED = {
    "org.sextant.Location": {
        "GetStatus", "RequestLocation", "Subscribe", "GetReceivers", "Stream", "Location", "Receiver", "Identity",
        "Program", "Status", "Denied", "NotDetermined", "LocationUnknown", "NoReceiver"},
    "org.sextant.Receivers": {
        "Lease", "KeepRecovery", "NotPermitted", "Lent", "Unavailable", "ReadOnly", "NoReceiver", "NotLent"},
    "org.sextant.CoreLocation": {"Open"},
}


def problems(path):
    text = path.read_text()
    interface = Interface(text)
    if path.name != interface.name + ".varlink":
        yield f"describes {interface.name}"
    for name in sorted(EXPECTED.get(interface.name, set()) - set(interface.members)):
        yield f"has no {name}"
    for name, member in interface.members.items():
        if not member.doc.strip():
            yield f"{name} has no comment"
    declarations = re.sub(r"#.*", "", text)
    for used in set(re.findall(r"[:\]?]\s*([A-Z]\w*)", declarations)):
        if used not in interface.members:
            yield f"uses {used}, which it does not declare"


files = sorted((TOP / "Sources/Messages/Varlink/Interfaces").glob("org.sextant.*.varlink"))
missing = EXPECTED.keys() - {path.stem for path in files}
found = [f"{name}: there is no description" for name in sorted(missing)]
for path in files:
    try:
        found += [f"{path.name}: {problem}" for problem in problems(path)]
    except SyntaxError as error:
        found.append(f"{path.name}: {error}")
print("\n".join(found) if found else f"varlink reads {len(files)} interface descriptions")
sys.exit(1 if found else 0)
