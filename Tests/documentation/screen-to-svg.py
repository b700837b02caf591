#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the screen of `sextant watch` as docs/watch.svg.

usage: screen-to-svg.py SEXTANT [DEVICE [SECONDS]]; `docs/generate picture` calls it.

SEXTANT is the program. It runs on a pseudo-terminal of 84 columns for SECONDS (default 45), on DEVICE (default
sim:walk).
The picture has the text of a late screen, with its attributes and colours.
"""
import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import sys
import tempfile
import termios

PICTURE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "watch.svg"
COLUMNS, ROWS = 84, 27
# Pixels of a character cell, and of the margin.
WIDTH, HEIGHT, MARGIN = 8.4, 18, 16
# Erase to the end of the line or of the screen, and attributes. Each attribute has a class of the picture.
ESCAPE = re.compile(r"\x1b\[(K|J|\d+m)")
STYLES = {"1m": "b", "2m": "f", "32m": "g", "33m": "y", "31m": "r"}


def output(program, device, seconds):
    """What the program writes to a terminal."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm", LC_ALL="C.UTF-8", SEXTANT_STATE_DIR=tempfile.mkdtemp())
        os.environ.pop("NO_COLOR", None)
        os.execv(program, [program, "watch", "--device", device, "--seconds", seconds])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = b""
    while True:
        try:
            written += os.read(terminal, 65536)
        except OSError:  # The program ended.
            os.waitpid(process, 0)
            return written.decode()


def runs(line):
    """The pieces of a line with one style: (column, classes, text)."""
    column, classes = 0, []
    for index, piece in enumerate(ESCAPE.split(line)):
        if index % 2:
            classes = [] if piece == "0m" else classes + [STYLES[piece]] if piece in STYLES else classes
        else:
            text = piece.strip()
            if text:
                yield column + len(piece) - len(piece.lstrip()), " ".join(classes), text
            column += len(piece)


def picture(lines):
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" {size}>'
    yield "<title>The screen of sextant watch: position, motion, time, and the signal of each satellite</title>"
    yield "<style>text{font:14px ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace;fill:#d8dee9;white-space:pre}"
    yield ".b{font-weight:bold;fill:#fff}.f{fill:#8b95a7}.g{fill:#7fb069}.y{fill:#d9b44a}.r{fill:#cf7a68}.f.g,.f.y,.f.r{opacity:.6}</style>"
    yield '<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>'
    for row, line in enumerate(lines):
        for column, style, text in runs(line):
            x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT + 13
            name = f' class="{style}"' if style else ""
            yield (
                f'<text x="{x:.1f}" y="{y}"{name} textLength="{len(text) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs">'
                f"{html.escape(text)}</text>"
            )
    yield "</svg>"


def main():
    program, device, seconds = (sys.argv[1:] + ["sim:walk", "45"][len(sys.argv) - 2 :])[:3]
    # Each screen begins at the top left corner. After the last one the terminal is restored.
    written = output(program, device, seconds).split("\x1b[?1049l")[0]
    screens = written.split("\x1b[H")[1:]
    if not screens:
        sys.exit(f"{program} drew no screen")
    # The last screens belong to the end and have no new frames.
    lines = screens[max(0, len(screens) - 3)].replace("\r", "").split("\n")
    PICTURE.write_text("\n".join(picture(lines)) + "\n")


main()
