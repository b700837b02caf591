#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the pages name only existing links, headings, source files, folders, make targets and rigs.

usage: links.py; `make lint` calls it.

Pages are the Markdown files outside of Tests/. A page may name a source file by the end of its path
(`Epochs/BurstOrder.swift`), or by its name alone. Pages that source files name (`docs/….md`) must exist too.
"""
import os
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
# Pages that are made from other files. Their content is checked where it is made.
GENERATED = {"docs/reference/api.md", "docs/reference/rules.md", "docs/reference/ubx-messages.md"}
# A relative link: not to another host, and not to a mail address.
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w.+/-]*\w\.(?:swift|py|sh|h|c|ubx|keys|txt|hwdb|rules|cfg)(?!\w)")
FOLDER = re.compile(r"(?:Sources|Tests|CSupport|Benchmarks|Examples|hw-rules|docs)/[\w.+/-]*")
PAGE = re.compile(r"\bdocs/[\w./-]+\.(?:md|svg)\b")
TARGET = re.compile(r"^([a-z][a-z-]*)(?: [a-z -]+)?:(?!=)", re.MULTILINE)
# File names that users choose, in examples, and files that only exist on a running machine.
EXAMPLES = {
    "cities500.txt", "cmdline.txt", "config.txt", "fixes.json", "main.swift", "states.txt", "receivers/LINE.txt",
    "receivers/LINE-RECEIVER.txt", "batch/ID.txt",
}


def project_files():
    """The files of the project, without build folders and other hidden ones."""
    for folder, folders, names in os.walk(TOP):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), TOP)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for line in page.read_text().splitlines():
        if line.startswith("#"):
            title = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(title.replace(" ", "-"))
    return found


def in_text(name, path):
    """Whether a source file names a page outside of its comments."""
    return any(path in line and not line.lstrip().startswith("//") for line in (TOP / name).read_text().splitlines())


def problems():
    files = sorted(project_files())
    ends = {"/".join(name.split("/")[i:]) for name in files for i in range(name.count("/") + 1)}
    makefiles = [name for name in files if name.endswith("Makefile")]
    targets = {target for name in makefiles for target in TARGET.findall((TOP / name).read_text())}
    folders = {"/".join(name.split("/")[:i]) for name in files for i in range(1, name.count("/") + 1)}

    def exists(name):
        return name in ends or name.rstrip("/") in folders

    pages = [name for name in files if name.endswith(".md") and not name.startswith("Tests/")]
    for name in pages:
        page = TOP / name
        text = page.read_text()
        for path, anchor in LINK.findall(text):
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                yield f"{name}: link to {path}, which does not exist"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{name}: link to {path}#{anchor}; the page has no such heading"
        if name in GENERATED:
            continue
        for code in CODE.findall(text):
            for path in set(FILE.findall(code) + FOLDER.findall(code)):
                if path in EXAMPLES or path.startswith("/") or "~/" + path in code or "*" in code:
                    continue
                if not exists(path.rstrip("./")):
                    yield f"{name}: names {path}, which does not exist"
        lines = re.findall(r"^    (make .*|.*Tests/rig/run .*)", text, re.MULTILINE)
        for target in re.findall(r"\bmake ([a-z][a-z-]*)", "\n".join(CODE.findall(text) + lines)):
            if target not in targets:
                yield f"{name}: names `make {target}`; the Makefile has no such target"
        for rigs in re.findall(r"Tests/rig/run ((?:[a-z][a-z_0-9/]*(?: |$))+)", "\n".join([*CODE.findall(text), *lines]), re.MULTILINE):
            for rig in rigs.split():
                if not (TOP / "Tests/rig" / f"{rig}.py").exists():
                    yield f"{name}: names rig {rig}, which does not exist"
    for name in files:
        if not name.endswith((".swift", ".py", ".sh", ".txt", "Makefile", ".h", ".c")) or name.startswith("docs/"):
            continue
        for path in set(PAGE.findall((TOP / name).read_text(errors="replace"))):
            if not (TOP / path).exists():
                yield f"{name}: names {path}, which does not exist"
            # Help and messages name pages that are installed (packaging/install.sh).
            elif name.startswith("Sources/") and not re.fullmatch(r"docs/(guides|reference)/[\w-]+\.md", path) and in_text(name, path):
                yield f"{name}: names {path} in a message; it is not installed"


found = list(problems())
if found:
    sys.exit("\n".join(found))
