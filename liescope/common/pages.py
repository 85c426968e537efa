"""Long text on standard output: wrapped at words, and in a pager where a person reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_HANG = 2  # extra indentation of the continuation of a wrapped line, in columns
_NARROWEST = 20


def print_pages(lines: Iterable[Text], console: Console | None = None) -> None:
    """Print lines, wrapped at words to the width of the terminal (80 columns on a pipe), each with its indentation."""
    console = console or Console(highlight=False)
    os.environ.setdefault("LESS", "-RFX")  # colours shown, and no pager for what fits on the screen
    with console.pager(styles=True) if console.is_terminal else nullcontext():
        for line in lines:
            for part in hang(line, console):
                console.print(part, soft_wrap=True)


def hang(line: Text, console: Console) -> Iterator[Text]:
    """A line that is too long for the console, split into parts; all but the first are indented further.

    A word longer than a line is never split, and neither is a line with `no_wrap`, so that paths and commands can be
    copied.
    """
    for row in line.split("\n", allow_blank=True):
        indent = len(row.plain) - len(row.plain.lstrip(" "))
        width = max(console.width - indent - _HANG, _NARROWEST)
        breaks = [] if line.no_wrap or row.cell_len <= console.width else list(_breaks(row.plain, indent, width))
        for number, part in enumerate(row.divide(breaks)):
            part.rstrip()
            yield Text(" " * (indent + _HANG)) + part if number else part


def _breaks(words: str, start: int, width: int) -> Iterator[int]:
    """The offsets at which the line is broken."""
    column = 0
    for word in re.finditer(r"\S+\s*", words[start:]):
        if column and column + cell_len(word.group().rstrip()) > width:
            yield start + word.start()
            column = 0
        column += cell_len(word.group())
