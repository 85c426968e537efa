"""The page that every report writes: what was found in three sentences, a figure that shows it, then sections.

One self-contained HTML file; all text is escaped, figures are embedded. It is complete without scripts: its one script
lets readers sort the tables, and the page's policy allows no other. Readers who prefer a dark page get one; print is
always light.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from liescope.common.people import PEOPLE
from liescope.common.text import plain

LONG = 24  # rows beyond which a table folds
MOST = 400  # rows that a page shows
_SHORT = 36  # characters of the longest value of a column that is kept on one line
_BREAKS = re.compile(r"(?<=[-/_])(?=\w)")
_WORD = 20  # characters beyond which a word may be broken after - / _
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")  # of a command: a browser would break it after a hyphen


class Tabular(Protocol):
    """What a page shows as a table: a `Table` or a polars frame."""

    @property
    def columns(self) -> Sequence[str]: ...

    def rows(self) -> Sequence[Sequence[Any]]: ...


@dataclass(frozen=True, slots=True)
class Table:
    """Names of columns, and rows with a value for each."""

    columns: Sequence[str]
    values: Sequence[Sequence[Any]]

    def rows(self) -> Sequence[Sequence[Any]]:
        return self.values


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to a file beside the page, also as a value of a table. address: relative, as `reports/one.html`
    or `../index.html`.

    Raises ValueError for an address that could lead elsewhere.
    """

    words: str
    address: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(?:\.\./)?(?:[\w-][\w.-]*/)*[\w-][\w.-]*", self.address, re.ASCII):
            raise ValueError(f"{self.address!r} is no path of a file beside the page")

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Section:
    """One section. name: its place in the page's address, in lower-case letters, digits, - and _.

    chapter: the heading above it and its neighbours of the same chapter. paragraphs: text. links: below them. caption:
    how to read the table, such as what its intervals are. figure: SVG (`liescope.common.figures.svg`), figure_alt: what
    it shows, in words. table: shown below the figure, folded where `folded` or where it has more than 24 rows. source:
    where the section comes from; file: one with the same numbers.
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
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page. findings: up to three sentences that say what was found, with intervals. figure, figure_alt: what shows
    it.

    warnings: sentences that must accompany the findings. meta: what was read, by which version.
    """

    title: str
    findings: tuple[str, ...]
    figure: str = ""
    figure_alt: str = ""
    warnings: tuple[str, ...] = ()
    meta: str = ""
    sections: tuple[Section, ...] = ()


def page_html(page: Page) -> str:
    """The page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def text(value: Any) -> Markup:
        if isinstance(value, Link):
            return Markup('<a href="{}">{}</a>').format(value.address, text(value.words))
        words = (re.sub(_BREAKS, "\0", word) if len(word) > _WORD else word for word in shown(value).split(" "))
        escaped = str(escape(" ".join(words))).replace("\0", "<wbr>")
        return Markup(re.sub(_OPTION, r'<span class="name">\g<0></span>', escaped))

    environment = Environment(
        loader=PackageLoader("liescope.common", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(text=text, shown=shown, embedded=_embedded, kinds=_kinds, digest=_digest)
    environment.filters.update(chapters=_chapters)
    script = Markup(environment.get_template("report_page.js").render())
    template = environment.get_template("report_page.html.jinja")
    return template.render(page=page, script=script, long=LONG, most=MOST, people=PEOPLE)


def write_page(path: Path, page: Page) -> None:
    """Write the page to a file, in UTF-8."""
    path.write_text(page_html(page), encoding="utf-8")


def shown(value: Any) -> str:
    """A value as shown to readers: at most three decimals, a dash for a missing value."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"
    if isinstance(value, list | tuple):
        return "; ".join(map(shown, value))
    return plain(str(value))


def with_interval(value: float | None, lo: float | None, hi: float | None, digits: int = 2) -> str:
    """A number with its interval as in a sentence: "0.73 (0.65 to 0.80)"."""
    if value is None or not math.isfinite(value):
        return "–"
    if lo is None or hi is None:
        return f"{value:z.{digits}f}"
    return f"{value:z.{digits}f} ({lo:z.{digits}f} to {hi:z.{digits}f})"


def _chapters(sections: Sequence[Section]) -> list[tuple[str, list[Section]]]:
    """The sections by chapter, in order; those without one stand under ""."""
    return [(title, list(group)) for title, group in groupby(sections, lambda section: section.chapter)]


def _kinds(table: Tabular) -> list[str]:
    """How each column is set: "number" to the right, "name" on one line, "words" with line breaks."""
    found = []
    for values in zip(*table.rows()[:MOST], strict=True) if table.rows() else ((),) * len(table.columns):
        if all(value is None or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values):
            found.append("number")
        else:
            found.append("name" if max(len(shown(value)) for value in values) <= _SHORT else "words")
    return found


def _digest(script: str) -> str:
    """The hash by which the page's policy knows its script."""
    return base64.b64encode(sha256(script.encode()).digest()).decode()


def _embedded(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"
