#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public names of Core Location, in apple-names.txt, against those of the module, in api.txt.

usage: names.py [--write]

Each name is in the module, or has a reason why it is not; a name with a reason is not in the module. --write writes the table
docs/reference/api.md, else it has to be as it would be written.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs/reference/api.md"
HEAD = """# The names of Core Location

Each public name of Core Location as of iOS 18 and macOS 15, and whether module CoreLocation has it. `Tests/clients/check.sh` compares
the table with the module's declarations, which are in `Tests/clients/api.txt` with their types (`docs/generate api` writes both).
[corelocation.md](corelocation.md) lists the differences in behaviour.

| Type | Present | Missing, and why |
|---|---|---|
"""


def labels(parameters):
    """`_:for:` of the text between the parentheses of a declaration."""
    depth, parts, part = 0, [], ""
    for letter in parameters.replace("->", "  "):
        depth += (letter in "([<") - (letter in ")]>")
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return "".join(one.split(":")[0].split()[0] + ":" for one in [*parts, part] if ":" in one)


def name(declaration):
    """The name of a declaration of api.txt, with its labels; None for one that has none of its own."""
    found = re.search(r"\b(?:func|init|var|let|case|struct|class|enum|actor|protocol|typealias)\b[?]?\s*(.*)", declaration)
    if not found:
        return None
    if match := re.search(r"\binit[?]?\(", declaration):
        base, start = "init", match.end()
    elif match := re.search(r"\bfunc ([^\s(<]+)(?:<[^>]*>)?\(", declaration):
        base, start = match.group(1), match.end()
    else:
        match = re.search(r"\b(?:var|let|case|struct|class|enum|actor|protocol|typealias) `?(\w+)", declaration)
        return match and match.group(1)
    depth, end = 1, start
    while depth:
        depth += {"(": 1, ")": -1}.get(declaration[end], 0)
        end += 1
    return f"{base}({labels(declaration[start:end - 1])})"


def module():
    """The names of each type of api.txt."""
    names = {}
    for line in (HERE / "api.txt").read_text().splitlines():
        if match := re.match(r"([\w.]+): (.*)", line):
            names.setdefault(match.group(1), set()).add(name(match.group(2)))
        elif " is " not in line:
            names.setdefault("-", set()).add(name(line))
    return names


def wanted():
    """(owner, names, reason) of each line of apple-names.txt; no reason for names that are to be present."""
    for line in (HERE / "apple-names.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        owner, mark, rest = re.match(r"([\w.-]+)([:!]) (.*)", line).groups()
        words, reason = rest.split(), None
        if mark == "!":
            words, reason = re.match(r"(.*?): (.*)", re.sub(r":(?=[\w_)])", "\0", rest)).groups()
            words = words.replace("\0", ":").split()
        yield owner, words, reason


def main():
    here, faults, table = module(), [], {}
    for owner, words, reason in wanted():
        present, missing = table.setdefault(owner, ([], []))
        for word in words:
            is_here = word in here.get(owner, set())
            if reason is None and not is_here:
                faults.append(f"{owner}: {word} is missing, without a reason in apple-names.txt")
            elif reason is not None and is_here:
                faults.append(f"{owner}: {word} is present, but apple-names.txt says that it is missing: {reason}")
        if reason is None:
            present += words
        else:
            missing.append(f"{', '.join(f'`{word}`' for word in words)}: {reason}")
    if faults:
        sys.exit("\n".join(faults))
    rows = [f"| {'the module' if owner == '-' else f'`{owner}`'} | {', '.join(f'`{word}`' for word in present)} | {'; '.join(missing)} |\n"
            for owner, (present, missing) in table.items()]
    text = HEAD + "".join(rows)
    if "--write" in sys.argv:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(f"{PAGE.name} is out of date; `docs/generate api` writes it again")
    print(f"{sum(len(present) for present, _ in table.values())} names of Apple's interface are present")


main()
