"""Tables of text with a sign between the cells: commas, semicolons, tabs or bars."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path

from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.text_files import DAMAGED, Rows, text_of

_LONGEST_CELL = 4 << 20  # characters
_NUMBER = re.compile(r"-?\d+([.,]\d+)?|true|false", re.IGNORECASE)
_DELIMITERS, _HEAD, _MOST_SPANNED = (",", ";", "\t", "|"), 50, 1000
UNNAMED = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
"""The name of a column that has none, as pandas writes one."""


def read_delimited(source: Path, kind: str, given: Sequence[str] = ()) -> Rows:
    """Text with delimiters; quotes are quotes where they close, else signs. given: the names of the first columns, the
    only ones that are read; without them, the first line has the names.
    """
    csv.field_size_limit(_LONGEST_CELL)
    number, bad = 0, partial(Rejected, source.name)
    try:
        words = _text_lines(text_of(source))
        head = list(islice(words, _HEAD))
        skipped = int(bool(head) and head[0].lower().startswith("sep=") and len(head[0].strip("\r")) == 5)
        comma = head.pop(0)[4] if skipped else _delimiter(head, "\t" if kind == ".tsv" else ",")
        first = next(_records(iter(head), comma), (0, []))[1]
        names = [name.strip() for name in first]
        sample = [cells for _, cells in _records(iter(head), comma, len(names))][1:]
        if why := _misfit(given, names) if given else _no_header(names, sample):
            yield 1, bad(1, "", why)
            return
        names = [*given, *[""] * (len(names) - len(given))] if given else names
        for line, cells in islice(_records(chain(head, words), comma, len(names)), int(not given), None):
            number = line + skipped
            if len(cells) > len(names) and not any(cells[len(names) :]):
                cells = cells[: len(names)]
            if len(cells) == len(names):
                yield number, dict(zip(names, cells, strict=True))
                continue
            quote = "; a quotation mark may be lacking" if any('"' in one for one in cells) else ""
            many = "cell" if len(cells) == 1 else "cells"
            yield number, bad(number, "", f"it has {len(cells)} {many}, and the first line {len(names)}{quote}")
    except UnicodeDecodeError as error:
        yield number + 1, bad(number + 1, "", f"not UTF-8: save it as CSV in UTF-8 ({str(error)[:200]})")
    except (csv.Error, *DAMAGED) as error:
        yield number + 1, bad(number + 1, "", f"not CSV: {str(error)[:200]}")


def _text_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """The lines of a text."""
    rest = ""
    for part in codecs.iterdecode(chunks, "utf-8-sig"):
        *lines, rest = (rest + part).split("\n")
        yield from lines
        if len(rest) > _LONGEST_CELL:
            raise csv.Error(f"a line of more than {_LONGEST_CELL:,} characters")
    if rest:
        yield rest


def _records(words: Iterator[str], comma: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record, with its first line's number. width: how many cells a record should have, 0 where
    that is not known.

    A cell in quotes may span lines. Where a quote does not close, or closes so that the record has another width, the
    line stands as it is; and with tabs or bars, which corpora write without quotes, where each of its lines is a whole
    record and none has the doubled quotes of a quoted cell.
    """
    ahead, number = deque[str](), 0
    while (line := ahead.popleft() if ahead else next(words, None)) is not None:
        number += 1
        if not line.strip():
            continue
        line = line.rstrip("\r")
        cells, more = [line] if width == 1 else line.split(comma), 0
        if '"' in line:
            taken = [line]

            def feed(taken: list[str] = taken) -> Iterator[str]:
                yield taken[0] + "\n"
                while len(taken) < _MOST_SPANNED:
                    if len(ahead) < len(taken):
                        if (following := next(words, None)) is None:
                            return
                        ahead.append(following)
                    taken.append(ahead[len(taken) - 1])
                    yield taken[-1] + "\n"

            with suppress(csv.Error, StopIteration):
                found = next(csv.reader(feed(), delimiter=comma, strict=True))
                whole = len(taken) > 1 and comma in "\t|" and all(one.count(comma) == width - 1 for one in taken)
                fits = len(found) == width or not width or (len(taken) == 1 and len(cells) != width)
                if fits and ('""' in "".join(taken) or not whole):
                    cells, more = found, len(taken) - 1
        yield number, cells
        for _ in range(more):
            ahead.popleft()
        number += more


def _delimiter(head: Sequence[str], usual: str) -> str:
    """The sign that divides most lines into as many cells as the first."""

    def fits(comma: str) -> tuple[float, int]:
        width = len(next(_records(iter(head), comma), (0, [""]))[1])
        rows = [len(cells) == width for _, cells in _records(iter(head), comma, width)]
        return (sum(rows) / len(rows), width) if width > 1 else (0.0, 0)

    return max((usual, *_DELIMITERS), key=fits)


def _misfit(given: Sequence[str], first: Sequence[str]) -> str:
    """Why names cannot be those of the columns; "" if they can."""
    if len(given) > len(first):
        return f"--columns has {len(given)} names, and the first line {len(first)} cells: name the first columns only"
    return "the first line has the names itself: leave out --columns" if [*given] == [*first[: len(given)]] else ""


def _no_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Why a first line cannot be names of columns; "" if it can."""
    again = any(name and any(row[at : at + 1] == [name] for row in rows) for at, name in enumerate(names))
    if any(len(name.split()) >= 4 for name in names) and (again or any(_NUMBER.fullmatch(name) for name in names)):
        return "the first line is a row, not the names of the columns: give them, as in --columns id,label,text"
    if twice := [name for name, count in Counter(names).items() if count > 1 and not UNNAMED.fullmatch(name)]:
        return f"two columns are called {twice[0][:40]}: rename one of them"
    return ""
