#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles public projects that use Core Location against module CoreLocation, and runs their own tests on the simulator.

usage: projects.py SOURCES WORK [PROJECT...] [--write PAGE]

SOURCES has a git repository for each project of projects.json and for each of their dependencies, in a folder OWNER+NAME. Each
project is copied to WORK as it is at its commit; its steps of projects.json are the only changes, beside a dependency on this package
for each target. WORK also has the builds, which are several GB. The simulated receiver needs the program sextant in .build/debug.
`--write` renews the lines of these projects in the page (docs/reference/clients.md).
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT = 1800  # Seconds; it only ends a build or a test that would never end.
# Of this package and its dependencies: module maps for packages that see module CoreLocation without a dependency on it.
MAPS = ["checkouts/swift-system/Sources/CSystem/include/module.modulemap", "debug/CBus.build/module.modulemap",
        "debug/CTLS.build/module.modulemap"]
DEPENDENCY = """
package.dependencies.append(.package(path: {root}))
for target in package.targets where ["regular", "executable", "test"].contains("\\(target.type)") {{
  target.dependencies.append(.product(name: "CoreLocation", package: {name}))
}}
"""


def run(*words, folder, **options):
    return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          timeout=LIMIT, **options)


class Project:
    """A row of projects.json: `project` (OWNER/NAME), `commit`, `uses`, and where they apply

    - `package`: a manifest for a project without one: its targets by name, each with `path` and perhaps `sources`, `kind`, `exclude`
    - `steps`: changes; `delete` or `replace` (a regular expression) with `with`, in the files of a pattern, or `write` with `lines`
    - `changed`: what they do, in words; `remark`; `testsNeed`: why its tests cannot run
    - `seesModule`: a dependency of its has `#if canImport(CoreLocation)`, and needs the module maps (docs/guides/port-an-ios-class.md)
    """

    def __init__(self, row, sources, work, own_modules):
        self.row, self.sources, self.own_modules = row, sources, own_modules
        self.folder_name = row["project"].replace("/", "+")
        self.folder = os.path.join(work, "copies", self.folder_name)
        self.build_folder = os.path.join(work, "build")
        self.dependencies = os.path.join(work, "dependencies")

    def copy(self):
        """The files of the commit, with the changes."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        repository = os.path.join(self.sources, self.folder_name)
        # Of a project with a manifest of ours, the folders of its targets: a mirror may lack large files beside them.
        for path in [target["path"] for target in self.row.get("package", {}).values()] or [""]:
            tree = f"{self.row['commit']}:{path}"
            prefix = ["--prefix", f"{path}/"] if path else []
            archive = subprocess.Popen(["git", "-C", repository, "archive", *prefix, tree], stdout=subprocess.PIPE)
            subprocess.run(["tar", "x", "-C", self.folder], stdin=archive.stdout, check=True)
            if archive.wait():
                sys.exit(f"{repository} has no {tree}")
        for step in self.row.get("steps", []):
            self.change(step)
        if "package" in self.row:
            self.write_manifest()
        for path in glob.glob(f"{self.folder}/Package*.swift"):
            self.depend(path)

    def files(self, pattern):
        found = glob.glob(f"{self.folder}/{pattern}", recursive=True)
        if not found:
            sys.exit(f"{self.row['project']}: no files match {pattern}")
        return found

    def change(self, step):
        if "write" in step:
            path = os.path.join(self.folder, step["write"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write("\n".join(step["lines"]) + "\n")
        elif "delete" in step:
            for path in self.files(step["delete"]):
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        else:
            count = 0
            for path in self.files(step["in"]):
                with open(path, newline="") as file:
                    text = file.read()
                changed, here = re.subn(step["replace"], step["with"], text, flags=re.M)
                count += here
                if here:
                    with open(path, "w", newline="") as file:
                        file.write(changed)
            if not count:
                sys.exit(f"{self.row['project']}: {step['replace']} does not occur in {step['in']}")

    def write_manifest(self):
        targets = []
        for name, target in self.row["package"].items():
            fields = [f"name: {json.dumps(name)}"]
            fields += [f"{key}: {json.dumps(target[key])}" for key in ("dependencies", "path", "exclude", "sources") if key in target]
            targets.append(f".{target.get('kind', 'target')}({', '.join(fields)})")
        with open(f"{self.folder}/Package.swift", "w") as file:
            file.write("// swift-tools-version:5.9\nimport PackageDescription\n"
                       f"let package = Package(name: {json.dumps(self.row['project'].split('/')[1])}, defaultLocalization: \"en\", "
                       f"targets: [{', '.join(targets)}])\n")

    def depend(self, path):
        """Adds the dependency on this package, and takes those that SOURCES has from there."""
        with open(path) as file:
            text = file.read()

        def local(match):
            name = match[1].removesuffix(".git")
            source = next((one for one in os.listdir(self.sources) if one.lower() == name.replace("/", "+").lower()), None)
            if source is None:
                return match[0]
            link = os.path.join(self.dependencies, name.split("/")[1])
            os.makedirs(self.dependencies, exist_ok=True)
            if not os.path.lexists(link):
                os.symlink(os.path.abspath(os.path.join(self.sources, source)), link)
            return f".package(path: {json.dumps(link)})"

        text = re.sub(r'\.package\(\s*(?:name: *"[^"]*",\s*)?url: *"https://github\.com/([^"]+)",[^\n]*\)', local, text)
        with open(path, "w") as file:
            file.write(text + DEPENDENCY.format(root=json.dumps(ROOT), name=json.dumps(os.path.basename(ROOT).lower())))

    def swift(self, verb, *words):
        flags = [*words, "--scratch-path", self.build_folder, "--disable-build-manifest-caching"]
        if "seesModule" in self.row:
            maps = [*(f"{self.build_folder}/{path}" for path in MAPS), *glob.glob(f"{ROOT}/CSupport/**/module.modulemap", recursive=True)]
            flags += [word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")]
        # The simulated receiver is the program sextant.
        environment = {**os.environ, "PATH": f"{ROOT}/.build/debug:{os.environ['PATH']}", "GNSS_DEVICE": "sim:walk",
                       "SEXTANT_AUTHORIZATION": "always", "SEXTANT_SERVICE": "none",
                       "SEXTANT_STATE_DIR": f"{self.folder}.state", "SEXTANT_RUN_DIR": f"{self.folder}.run"}
        return run("swift", verb, *flags, folder=self.folder, env=environment)

    def has_tests(self):
        with open(f"{self.folder}/Package.swift") as file:
            return "testTarget(" in file.read()

    def examine(self):
        """Whether it compiles, its tests as text, and the first error."""
        self.copy()
        # A module of another project would be found by `#if canImport`.
        modules = f"{self.build_folder}/debug/Modules"
        for name in os.listdir(modules):
            if name not in self.own_modules:
                os.unlink(f"{modules}/{name}")
        tests = self.has_tests() and not self.row.get("testsNeed")
        done = self.swift("build", *(["--build-tests"] if tests else []))
        with open(f"{self.folder}.build.log", "w") as file:
            file.write(done.stdout)
        if done.returncode:
            return False, "–", first_error(done.stdout)
        if not tests:
            return True, "–", None
        done = self.swift("test", "--skip-build")
        with open(f"{self.folder}.test.log", "w") as file:
            file.write(done.stdout)
        return True, tests_of(done.stdout), None


def first_error(text):
    """The first error that names a place in a source, else the first of the package manager."""
    found = re.findall(r"^/.*?: error: (.*)", text, re.M) or re.findall(r"error: (.*)", text)
    return found[0] if found else "no message"


def tests_of(text):
    """Passed and all tests, of XCTest and of swift-testing."""
    cases = re.findall(r"^Test Case '.*' (passed|failed)", text, re.M)
    summary = re.search(r"^. Test run with (\d+) tests?", text, re.M)
    total = len(cases) + (int(summary[1]) if summary else 0)
    failed = cases.count("failed") + len(re.findall(r"^. Test (?!run with).* failed after", text, re.M))
    return f"{total - failed} of {total}"


def build_own(work):
    """The modules of this package: the modules that an empty client is built with."""
    client = os.path.join(work, "copies", "empty")
    os.makedirs(f"{client}/Sources/Empty", exist_ok=True)
    with open(f"{client}/Sources/Empty/Empty.swift", "w") as file:
        file.write("import CoreLocation\n")
    with open(f"{client}/Package.swift", "w") as file:
        file.write('// swift-tools-version:5.9\nimport PackageDescription\n'
                   'let package = Package(name: "Empty", targets: [.target(name: "Empty")])\n'
                   + DEPENDENCY.format(root=json.dumps(ROOT), name=json.dumps(os.path.basename(ROOT).lower())))
    build = os.path.join(work, "build")
    done = run("swift", "build", "--scratch-path", build, "--disable-build-manifest-caching", folder=client)
    if done.returncode:
        sys.exit(done.stdout)
    return {name for name in os.listdir(f"{build}/debug/Modules") if not name.startswith("Empty.")}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("sources")
    parser.add_argument("work")
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--write")
    options = parser.parse_args()
    with open(f"{HERE}/projects.json") as file:
        rows = json.load(file)
    chosen = [row for row in rows if not options.projects or row["project"] in options.projects]
    work = os.path.abspath(options.work)
    own_modules = build_own(work)
    found = {}
    for row in chosen:
        begin = time.monotonic()
        compiles, tests, error = Project(row, os.path.abspath(options.sources), work, own_modules).examine()
        beginning = f"| {row['project']} | {row['commit']} | {row['uses']} |"
        if compiles:
            remarks = "; ".join(filter(None, [row.get("testsNeed"), row.get("remark")]))
            found[row["project"]] = True, f"{beginning} {row.get('changed', '')} | yes | {tests} | {remarks} |"
        else:
            found[row["project"]] = False, f"{beginning} {row.get('remark', '')} | `{error}` |"
        print(found[row["project"]][1], f"{time.monotonic() - begin:.0f} s", flush=True)
    if options.write:
        write(options.write, [row["project"] for row in rows], found)


HEADS = ("| Project | Commit | Uses | Changed | Compiles | Own tests passed | Remarks |\n|---|---|---|---|---|---|---|\n",
         "| Project | Commit | Uses | Needs | The compiler's first error |\n|---|---|---|---|---|\n")


def write(path, order, found):
    """Renews the lines of these projects in the two tables of the page; a project may change its table."""
    with open(path) as file:
        page = file.read()
    before, compiled, between, others, after = re.split(r"((?:^\|.*\n)+)", page, maxsplit=2, flags=re.M)
    lines = {line.split(" | ")[0][2:]: (compiles, line) for compiles, table in ((True, compiled), (False, others))
             for line in table.splitlines()[2:]}
    lines |= found
    now = [lines[name] for name in order if name in lines]
    tables = [[f"{line}\n" for is_in, line in now if is_in == compiles] for compiles in (True, False)]
    page = before + HEADS[0] + "".join(tables[0]) + between + HEADS[1] + "".join(tables[1]) + after
    page = re.sub(r"\d+ of \d+ compile", f"{len(tables[0])} of {len(lines)} compile", page)
    with open(path, "w") as file:
        file.write(page)


if __name__ == "__main__":
    main()
