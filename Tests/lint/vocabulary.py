#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a name in the sources has a word that the vocabulary replaces.

CONTRIBUTING.md, "Language and names", has the table with the words to use instead. A name is checked
where it is declared: types, functions, properties, parameters, enum cases, and the names of files.
"""
import pathlib
import re
import sys

ROOTS = ["Sources", "CSupport", "Tests", "Benchmarks", "Examples"]

# A word of a camel-case name -> the word to use.
REPLACED = {
    "letter": "event", "letters": "events", "mailbox": "event queue", "errand": "block", "errands": "blocks",
    "shell": "runtime", "talking": "requests", "exchange": "request", "vain": "failed", "lookout": "watcher",
    "wish": "desired configuration, demand", "wishes": "demands", "wished": "desired", "roster": "reconnect policy",
    "likeness": "device match", "twin": "same model", "obey": "apply", "director": "coordinator", "nap": "idle interval",
    "attention": "expectation", "fact": "observation, attribute", "facts": "observations, attributes",
    "news": "event", "happening": "event", "abilities": "capabilities", "facilities": "capabilities",
    "stillness": "stationary", "keeper": "store", "dice": "random number generator", "ledger": "metrics",
    "teller": "position sentence", "say": "send, report", "says": "sends, reports", "said": "sent, reported",
    "tell": "report", "tells": "reports", "told": "reported", "telling": "reporting",
    "feel": "sample", "hear": "receive, detect", "hears": "receives", "heard": "received", "hearing": "receiving",
    "look": "scan, check, poll", "looks": "scans, checks", "looked": "checked", "looking": "checking",
    "box": "store, handle", "patience": "timeout",
}
# Pairs of words that are names only together.
REPLACED_PAIRS = {
    ("home", "loop"): "delegate run loop", ("loop", "watch"): "run-loop stall detector",
    ("read", "policy"): "read scheduler", ("permission", "book"): "authorization store",
    ("take", "alone"): "lock exclusively", ("left", "receiver"): "crash-recovery record",
    ("left", "settings"): "crash-recovery record", ("stand", "in"): "device match",
    ("multiple", "signal"): "MSM", ("receiver", "order"): "receiver command",
}
# Names that others chose, or that mean something else: Apple's, the standard library's, the formats'.
ALLOWED = {"isLetter", "CLFloor", "areLetters", "smallLetters"}

DECLARED = re.compile(
    r"\b(?:struct|enum|class|protocol|actor|typealias|func|var|let|case|init)\s+`?([A-Za-z_]\w*)"
    r"|(?<=[(,])\s*(?:_\s+)?([a-z]\w*)(?:\s+([a-z]\w*))?\s*:(?!:)")
WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def problem(name):
    if name in ALLOWED:
        return None
    words = [word.lower() for word in WORDS.findall(name)]
    for word in words:
        if word in REPLACED:
            return f"{word} -> {REPLACED[word]}"
    for pair in zip(words, words[1:]):
        if pair in REPLACED_PAIRS:
            return f"{' '.join(pair)} -> {REPLACED_PAIRS[pair]}"
    return None


def names(text):
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))
    for number, line in enumerate(text.split("\n"), 1):
        for match in DECLARED.finditer(line):
            for name in match.groups():
                if name:
                    yield number, name


def main():
    found = 0
    only = sys.argv[1:]
    for root in only or ROOTS:
        for path in sorted(pathlib.Path(root).rglob("*")):
            if path.suffix not in (".swift", ".h", ".c") or "/.build" in str(path):
                continue
            checks = [(1, path.stem)]
            if path.suffix == ".swift":
                checks += names(path.read_text(encoding="utf-8"))
            for number, name in checks:
                reason = problem(name)
                if reason:
                    print(f"{path}:{number}: {name}: {reason}", file=sys.stderr)
                    found += 1
    if found:
        print(f"{found} names; the words to use are in CONTRIBUTING.md, \"Language and names\"", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
