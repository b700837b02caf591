#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software bill of materials of built programs: SPDX 2.3 as JSON (ISO/IEC 5962, spdx.github.io/spdx-spec/v2.3).

usage: sbom.py RESOLVED PROGRAM... > sextant.spdx.json

RESOLVED is the build's Package.resolved. It names the programs with their SHA-256, the packages that are compiled into them
with their revision, the Swift runtime, and the system packages of the libraries that they are linked with. Equal programs
make an equal document: its time is SOURCE_DATE_EPOCH, else the time of the last commit, and its name space has the hash of the
programs.
"""
import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Both are under the Apache License with Swift's Runtime Library Exception (their LICENSE.txt).
SWIFT_LICENSE = "Apache-2.0 WITH Swift-exception"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def version():
    with open(f"{TOP}/Sources/LinuxIO/SextantVersion.swift") as file:
        return re.search(r'text = "(.*)"', file.read())[1]


def package(name, number, license_name, location="NOASSERTION", references=(), supplier="NOASSERTION", files=None):
    identity = "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)
    return {"SPDXID": identity, "name": name, "versionInfo": number, "downloadLocation": location, "licenseConcluded": license_name,
            "licenseDeclared": license_name, "copyrightText": "NOASSERTION", "supplier": supplier, "filesAnalyzed": bool(files),
            **({"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
                                 for purl in references]} if references else {})}


def needed(program):
    """The names of the libraries that the loader looks for (elf(5), DT_NEEDED)."""
    return re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "--dynamic", "--wide", program))


def library_package(name):
    """The Debian package of a library: its name, version and architecture; on other systems the library itself."""
    if not shutil.which("dpkg-query"):
        return name, "NOASSERTION", os.uname().machine
    for line in output("/sbin/ldconfig", "-p").splitlines():
        if line.strip().startswith(name + " "):
            path = os.path.realpath(line.split(" => ")[1])
            for candidate in (path, path.removeprefix("/usr")):
                done = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    owner = done.stdout.split(": ")[0].split(",")[0]
                    return output("dpkg-query", "-W", "-f", "${Package} ${Version} ${Architecture}", owner).split()
    sys.exit(f"sbom.py: no package owns {name}")


def main(resolved, programs):
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", TOP, "log", "-1", "--format=%ct"))
    hashes = {}
    for path in programs:
        with open(path, "rb") as file:
            data = file.read()
        hashes[os.path.basename(path)] = (hashlib.sha256(data).hexdigest(), hashlib.sha1(data, usedforsecurity=False).hexdigest())
    whole = hashlib.sha256("".join(sha256 for sha256, _ in hashes.values()).encode()).hexdigest()

    product = package("sextant", version(), "Apache-2.0", files=True)
    product["packageVerificationCode"] = {"packageVerificationCodeValue": hashlib.sha1(
        "".join(sorted(sha1 for _, sha1 in hashes.values())).encode(), usedforsecurity=False).hexdigest()}
    files = [{"SPDXID": f"SPDXRef-File-{name}", "fileName": f"./{name}", "fileTypes": ["BINARY"], "licenseConcluded": "Apache-2.0",
              "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION",
              "checksums": [{"algorithm": "SHA256", "checksumValue": sha256}, {"algorithm": "SHA1", "checksumValue": sha1}]}
             for name, (sha256, sha1) in hashes.items()]
    linked, dynamic = [], []
    with open(resolved) as file:
        for pin in json.load(file)["pins"]:
            linked.append(package(pin["identity"], pin["state"]["version"], SWIFT_LICENSE, f"git+{pin['location']}@{pin['state']['revision']}",
                                  [f"pkg:swift/{pin['location'].removeprefix('https://')}@{pin['state']['version']}"]))
    compiler = re.search(r"Swift version (\S+)", output("swiftc", "--version"))[1]
    linked.append(package("swift-runtime", compiler, SWIFT_LICENSE, "https://www.swift.org/install/linux/"))
    if "sextant-track" in hashes:
        # They come with the compiler, without versions of their own (packaging/copyright).
        linked.append(package("swift-foundation", compiler, SWIFT_LICENSE, "https://www.swift.org/install/linux/"))
        linked.append(package("swift-foundation-icu", compiler, "Unicode-3.0", "https://www.swift.org/install/linux/"))
    with open("/etc/os-release") as file:
        system = re.search(r"^ID=(.*)$", file.read(), re.M)[1].strip('"')
    found = sorted({tuple(library_package(name)) for path in programs for name in needed(path)})
    for name, number, architecture in found:
        dynamic.append(package(name, number, "NOASSERTION", references=[f"pkg:deb/{system}/{name}@{number.replace(':', '%3A')}?arch={architecture}"]))

    document = "SPDXRef-DOCUMENT"
    relations = [(document, "DESCRIBES", product["SPDXID"])]
    relations += [(product["SPDXID"], "CONTAINS", one["SPDXID"]) for one in files]
    relations += [(product["SPDXID"], "STATIC_LINK", one["SPDXID"]) for one in linked]
    relations += [(product["SPDXID"], "DYNAMIC_LINK", one["SPDXID"]) for one in dynamic]
    json.dump({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": f"sextant-{version()}",
        "documentNamespace": f"https://spdx.org/spdxdocs/sextant-{version()}-{whole}",
        "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: sextant-packaging/sbom.py"]},
        "packages": [product, *linked, *dynamic], "files": files,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations],
    }, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
