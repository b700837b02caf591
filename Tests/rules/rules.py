#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/rules.md: each rule of Core Location's behaviour, and the tests that bear its id.

usage: rules.py [--check]

A test bears a rule's id at the beginning of its name: @Test("SU-8 small steps add up"), or several of them. The rules are
in rules.txt, the reasons for rules without a test in reasons.txt. --check writes nothing, and fails if the table is stale.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
TABLE = TOP / "docs" / "reference" / "rules.md"

TEST = re.compile(r'@Test\(\s*"((?:[A-Z]{2}-\d+ )+)([^"]*)"')
RULE = re.compile(r"([A-Z]{2}-\d+) (.*)")
REASON = re.compile(r"([A-Z]{2}-\d+) (later (\w+)|never): (.*)")


def read_rules():
    """Sections with their rules, in order: [(section, [(id, title)])]."""
    sections = []
    for line in (HERE / "rules.txt").read_text().splitlines():
        if line.startswith("["):
            sections.append((line.strip("[]"), []))
        elif rule := RULE.fullmatch(line):
            sections[-1][1].append(rule.groups())
    return sections


def read_reasons():
    reasons = {}
    for line in (HERE / "reasons.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        reason = REASON.fullmatch(line)
        if not reason:
            sys.exit(f"reasons.txt: not understood: {line}")
        reasons[reason[1]] = (reason[3], reason[4])
    return reasons


def read_tests():
    """Test names by rule id: {id: [(file, name)]}."""
    tests = {}
    for path in sorted((TOP / "Tests").rglob("*.swift")):
        for ids, name in TEST.findall(path.read_text()):
            for rule in ids.split():
                tests.setdefault(rule, []).append((path.relative_to(TOP / "Tests"), name))
    return tests


def problems(sections, tests, reasons):
    known = {rule for _, rules in sections for rule, _ in rules}
    for rule in sorted(tests.keys() - known):
        yield f"{rule}: a test bears it, rules.txt does not know it"
    for rule in sorted(reasons.keys() - known):
        yield f"{rule}: reasons.txt has it, rules.txt does not know it"
    for rule in sorted(known - tests.keys() - reasons.keys()):
        yield f"{rule}: neither a test nor a reason"
    for rule in sorted(tests.keys() & reasons.keys()):
        yield f"{rule}: has a test, its reason is needless"


def table(sections, tests, reasons):
    count = sum(len(rules) for _, rules in sections)
    later = sum(1 for module, _ in reasons.values() if module)
    never = len(reasons) - later
    yield "# Rules and their tests"
    yield ""
    yield "`docs/generate rules` generates this page from the names of the tests. A rule without a test has a reason."
    yield ""
    yield f"{count} rules: {count - len(reasons)} with a test, {later} planned, {never} that cannot apply on Linux."
    for section, rules in sections:
        yield ""
        yield f"## {section}"
        yield ""
        yield "| Rule | Content | Test |"
        yield "|---|---|---|"
        for rule, title in rules:
            if rule in tests:
                proof = "<br>".join(f"{name} ({path.stem})" for path, name in tests[rule])
            else:
                module, why = reasons.get(rule, (None, "missing"))
                proof = f"*{module}, to come: {why}*" if module else f"*none: {why}*"
            yield f"| {rule} | {title} | {proof} |"


def main():
    sections, tests, reasons = read_rules(), read_tests(), read_reasons()
    found = list(problems(sections, tests, reasons))
    if found:
        sys.exit("\n".join(found))
    text = "\n".join(table(sections, tests, reasons)) + "\n"
    if "--check" not in sys.argv:
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        sys.exit("docs/reference/rules.md is stale: run docs/generate rules")


main()
