"""What a report holds: sections of prose, tables with declared columns, figures, notes, and what is missing and why.
Also the short report, as Markdown and for the terminal.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid

from liescope.common.text import markdown as escaped
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Content: TypeAlias = "pl.DataFrame | Figure | Mapping[str, Any] | str"
"""What a file of a report is made of: a frame (.parquet), a figure (.png, .svg), data (.json) or text."""
MISSING = "What is not shown, and why"
FIGURES = 10  # figures of a page, beyond which sections move to its appendix


class Estimate(NamedTuple):
    """A value with the ends of its interval."""

    value: float | None
    lo: float | None
    hi: float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, declared once beside the function that computes it. name: in the frame; title: the heading,
    the name without underscores where it is empty; format: of numbers, as of `format` (".2f", ".1%"), at most three
    decimals where it is empty; interval: the frame has its ends as NAME_lo and NAME_hi.
    """

    name: str
    title: str = ""
    format: str = ""
    interval: bool = False

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")

    def text(self, value: Any) -> str:
        """A value of the column as readers see it."""
        if isinstance(value, Estimate):
            return with_interval(*value, self.format)
        if self.format and isinstance(value, int | float) and math.isfinite(value):
            return format(value, self.format)
        return shown(value)


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Columns, by name or declared, and rows with a value for each."""

    columns: Sequence[str | Column]
    values: Sequence[Sequence[Any]]

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Sequence[Column]) -> ReportTable:
        """The declared columns of a frame, those it lacks left out."""
        held = [column for column in columns if column.name in frame.columns]
        rows = [
            tuple(
                Estimate(*(row[column.name + end] for end in ("", "_lo", "_hi")))
                if column.interval
                else row[column.name]
                for column in held
            )
            for row in frame.iter_rows(named=True)
        ]
        return cls(held, rows)

    def rows(self) -> Sequence[Sequence[Any]]:
        return self.values


Tabular: TypeAlias = ReportTable | pl.DataFrame
"""What a section can show as a table."""


def headings(table: Tabular) -> list[Column]:
    """The columns of a table as they are declared, or by their names alone."""
    return [column if isinstance(column, Column) else Column(column) for column in table.columns]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a report. name: its place in the page's address; title, paragraphs: the heading and the text below
    it; caption: how to read the table; figure, figure_alt, picture: SVG (`liescope.common.figures.svg`), what it shows
    in words, and the file that shows it in Markdown; table, folded: below the figure, folded where `folded` or where it
    has more than 24 rows; source, file: where the section comes from, and the file with the same numbers; chapter: the
    heading above it and its neighbours; main: also in Markdown, and before others on a page of many figures; printed:
    its table also on the terminal.
    """

    name: str
    title: str
    paragraphs: tuple[str, ...] = ()
    caption: str = ""
    figure: str = ""
    figure_alt: str = ""
    table: Tabular | None = None
    folded: bool = False
    source: str = ""
    file: str = ""
    chapter: str = ""
    picture: str = ""
    main: bool = True
    printed: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A report, or what a method adds to one. title: of the page; findings: a few sentences that say what was
    found, with intervals, the first the answer; figure, figure_alt, picture: what shows them, as in a `Section`; notes:
    what must accompany the findings, such as whose words these are; meta: what was read, by which version; missing:
    what could not be computed, by its title, with the reason; tables: by the name of their CSV file; files: others of
    the folder, by name.
    """

    title: str = ""
    findings: tuple[str, ...] = ()
    figure: str = ""
    figure_alt: str = ""
    notes: tuple[str, ...] = ()
    meta: str = ""
    sections: tuple[Section, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    files: Mapping[str, Content] = field(default_factory=dict)
    picture: str = ""

    @property
    def shown_sections(self) -> tuple[Section, ...]:
        """The sections, with a last one for what is missing, if anything is."""
        if not self.missing:
            return self.sections
        left_out = ReportTable(("what", "why"), list(self.missing.items()))
        return (*self.sections, Section("missing", MISSING, table=left_out))

    @property
    def in_short(self) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
        """The sections of the page and those of its appendix. With few figures the appendix is empty; else it takes
        those that are not main and those whose figure is one too many. Every chapter keeps its first figure before any
        keeps a second.
        """
        drawn = [section for section in self.shown_sections if section.figure]
        room = FIGURES - bool(self.figure)
        if len(drawn) <= room:
            return self.shown_sections, ()
        of_chapter: dict[str, list[Section]] = {}
        for section in sorted(drawn, key=lambda section: not section.main):
            of_chapter.setdefault(section.chapter, []).append(section)
        place = {id(section): number for number, section in enumerate(drawn)}
        ranked = sorted((rank, place[id(one)]) for part in of_chapter.values() for rank, one in enumerate(part))
        kept = {number for _, number in ranked[:room]}
        short: list[Section] = []
        rest: list[Section] = []
        for section in self.shown_sections:
            stays = place[id(section)] in kept if section.figure else section.main
            (short if stays else rest).append(section)
        return tuple(short), tuple(rest)

    def to_json(self) -> dict[str, Any]:
        """What the report says, for programs: title, findings, notes, tables by name with columns and rows, missing."""
        return {
            "title": self.title,
            "findings": list(self.findings),
            "notes": list(self.notes),
            "tables": {name: _data(table) for name, table in self.tables.items()},
            "missing": dict(self.missing),
        }


@dataclass(frozen=True, slots=True, repr=False)
class ToldResult:
    """What an action found. told: the report, or as much of it as everything else is made from."""

    told: Report

    @property
    def findings(self) -> tuple[str, ...]:
        """A few sentences that say what was found."""
        return self.told.findings

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that must accompany the findings."""
        return self.told.notes

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Every table, by its name."""
        return self.told.tables


def shown(value: Any) -> str:
    """A value as shown to readers: at most three decimals, a dash for a missing value."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, Estimate):
        return with_interval(*value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
    if isinstance(value, list | tuple):
        return "; ".join(map(shown, value))
    return plain(str(value))


def with_interval(value: float | None, lo: float | None, hi: float | None, form: str = "") -> str:
    """A number with its interval as in a sentence: "0.73 (0.65 to 0.80)". form: the format, two decimals for ""."""
    if value is None or not math.isfinite(value):
        return "–"
    form = form or "z.2f"
    if lo is None or hi is None:
        return format(value, form)
    return f"{value:{form}} ({lo:{form}} to {hi:{form}})"


def _data(table: pl.DataFrame) -> dict[str, Any]:
    """Columns and rows; a number that is not defined is null."""
    floats = [name for name, kind in table.schema.items() if kind.is_float()]
    defined = table.with_columns(pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in floats)
    return {"columns": table.columns, "rows": [list(row) for row in defined.rows()]}


WIDTH = 79  # columns of a terminal
SHORT = 60  # rows of a table that Markdown and the page show


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


def markdown_table(table: Tabular) -> str:
    """The first rows of a table as Markdown, as the page shows them; numbers stand to the right."""
    columns, rows = headings(table), table.rows()[:SHORT]
    lines = [
        [escaped(column.heading) for column in columns],
        ["---:" if numeric(values) else "---" for values in zip(*rows, strict=True)] or ["---:"] * len(columns),
        *([escaped(column.text(value)) for column, value in zip(columns, row, strict=True)] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def numeric(values: Iterable[Any]) -> bool:
    """Whether there are only numbers, and missing ones."""
    return all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values)


def wrapped(text: str) -> str:
    """Outside text in lines that fit a terminal; long words such as paths are not split, and a command to install
    something stands on a line of its own.
    """
    words, install, what = plain(text).partition("pip install ")
    lines = textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{lines}\n{install}{what}" if install else lines


def terminal(report: Report) -> Iterator[str]:
    """The report in lines that fit a terminal: findings, notes, and the sections that are to be printed."""
    yield from map(wrapped, (*report.findings, *report.notes))
    printed = [section for section in report.sections if section.printed]
    several = len({section.chapter for section in printed} - {""}) > 1
    for chapter, sections in groupby(printed, lambda section: section.chapter):
        yield from ("", wrapped(chapter)) if chapter and several else ()
        for section in sections:
            yield ""
            yield wrapped(section.title)
            yield from map(wrapped, section.paragraphs)
            if section.table is not None:
                yield from terminal_table(section.table)


def terminal_table(table: Tabular) -> Iterator[str]:
    """A table in lines that fit a terminal."""
    columns = headings(table)
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        grid.add_column(plain(column.heading), overflow="fold")
    for row in table.rows():
        grid.add_row(*(column.text(value).replace("[", r"\[") for column, value in zip(columns, row, strict=True)))
    console = Console(width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(grid)
    yield from (line.rstrip() for line in captured.get().splitlines())
