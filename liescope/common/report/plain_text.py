"""A report as Markdown, and as lines of a terminal: the page in short."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from liescope.common.report.contents import Report, Section, Tabular, headings
from liescope.common.text import markdown as escaped
from liescope.common.text import plain

WIDTH = 79  # columns of a terminal
SHORT = 60  # rows of a table that Markdown shows


def markdown(report: Report) -> str:
    """The report as Markdown: its main sections, with the notes that must accompany them."""
    blocks = [
        f"# {escaped(report.title)}",
        *map(escaped, report.findings),
        _picture(report.figure_alt, report.picture),
        *(f"> {escaped(note)}" for note in report.notes),
        escaped(report.meta),
    ]
    chapter = ""
    for section in report.shown_sections:
        if not section.main:
            continue
        if section.chapter and section.chapter != chapter:
            blocks.append(f"## {escaped(section.chapter)}")
        chapter = section.chapter
        blocks += _section(section)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _section(section: Section) -> Iterator[str]:
    yield f"{'###' if section.chapter else '##'} {escaped(section.title)}"
    yield from map(escaped, section.paragraphs)
    yield escaped(section.caption)
    yield f"({escaped(section.source)}.)" if section.source else ""
    yield _picture(section.figure_alt or section.title, section.picture)
    if section.table is not None and section.table.rows():
        yield markdown_table(section.table)
        if (more := len(section.table.rows()) - SHORT) > 0:
            yield f"{more} more rows are in the file."
    if section.file:
        yield f"[{section.file}]({section.file})"


def _picture(words: str, file: str) -> str:
    return f"![{escaped(words)}]({file})" if file else ""


def markdown_table(table: Tabular, most: int = SHORT) -> str:
    """The first rows of a table as Markdown, as the page shows them; numbers stand to the right."""
    columns, rows = headings(table), table.rows()[:most]
    numbers = [
        all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)
        for values in (zip(*rows, strict=True) if rows else [()] * len(columns))
    ]
    lines = [
        [escaped(column.heading) for column in columns],
        ["---:" if number else "---" for number in numbers],
        *([escaped(column.text(value)) for column, value in zip(columns, row, strict=True)] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def wrapped(text: str, width: int = WIDTH) -> str:
    """Outside text in lines that fit a terminal; long words such as paths are not split."""
    return textwrap.fill(plain(text), width, break_long_words=False, break_on_hyphens=False)


def terminal(report: Report, width: int = WIDTH) -> Iterator[str]:
    """The report in lines of at most `width` columns: findings, notes, and the sections that are to be printed."""
    yield from (wrapped(sentence, width) for sentence in (*report.findings, *report.notes))
    printed = [section for section in report.sections if section.printed]
    several = len({section.chapter for section in printed} - {""}) > 1
    for chapter, sections in groupby(printed, lambda section: section.chapter):
        yield from ("", wrapped(chapter, width)) if chapter and several else ()
        for section in sections:
            yield ""
            yield wrapped(section.title, width)
            yield from (wrapped(words, width) for words in section.paragraphs)
            if section.table is not None:
                yield from terminal_table(section.table, width)


def terminal_table(table: Tabular, width: int = WIDTH) -> Iterator[str]:
    """A table in lines of at most `width` columns."""
    columns = headings(table)
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        grid.add_column(plain(column.heading), overflow="fold")
    for row in table.rows():
        grid.add_row(*(column.text(value).replace("[", r"\[") for column, value in zip(columns, row, strict=True)))
    console = Console(width=width, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(grid)
    yield from (line.rstrip() for line in captured.get().splitlines())
