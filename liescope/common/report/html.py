"""The page that every report writes: the answer in a sentence, a figure that shows it, what else was found, sections.

One self-contained HTML file; all text is escaped, figures are embedded. It is complete without scripts: its one script
lets readers sort the tables, and the page's policy allows no other. Readers who prefer a dark page get one; print is
always light.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any
from urllib.parse import quote

from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import Report, Section, Tabular, headings, shown

LONG = 24  # rows beyond which a table folds
MOST = 60  # rows that a page shows
TALL = 2.1  # height by width of a figure that no screen shows whole, so that its end is folded
ENTRIES = 12  # sections beyond which the list of contents is folded
_SHORT = 36  # characters of the longest value of a column that is kept on one line
_BREAKS = re.compile(r"(?<=[-/_])(?=\w)")
_WORD = 20  # characters beyond which a word may be broken after - / _
_QUOTED = re.compile(r"<[^!>][^>]*'")
_PLAIN = " !$')*+,-./:;=?@[]^_`{|}~"  # in an address of data, and in double quotes
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")  # of a command: a browser would break it after a hyphen


def page_html(report: Report, files: str = "") -> str:
    """The report as a page. files: what its folder holds, as `liescope.common.report.files` names it in the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def text(value: Any) -> Markup:
        words = (re.sub(_BREAKS, "\0", word) if len(word) > _WORD else word for word in shown(value).split(" "))
        escaped = str(escape(" ".join(words))).replace("\0", "<wbr>")
        return Markup(re.sub(_OPTION, r'<span class="name">\g<0></span>', escaped))

    environment = Environment(
        loader=PackageLoader("liescope.common", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        text=text, shown=shown, embedded=lambda svg: Markup(_embedded(svg)), kinds=_kinds, digest=_digest
    )
    environment.filters.update(chapters=_chapters, headings=headings, aspect=_aspect)
    script = Markup(environment.get_template("page.js").render())
    template = environment.get_template("page.html.jinja")
    shown_first, appendix = report.in_short
    return template.render(
        page=report,
        sections=shown_first,
        appendix=appendix,
        files=files,
        script=script,
        long=LONG,
        most=MOST,
        tall=TALL,
        entries=ENTRIES,
        people=PEOPLE,
    )


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


def _aspect(svg: str) -> float:
    """Height by width; 1 where the drawing does not say."""
    box = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', svg)
    return float(box[2]) / float(box[1]) if box and float(box[1]) else 1.0


def _digest(script: str) -> str:
    """The hash by which the page's policy knows its script."""
    return base64.b64encode(sha256(script.encode()).digest()).decode()


def _embedded(svg: str) -> str:
    """As an address; what an attribute or an address could mistake is written as %XX."""
    marked = svg if _QUOTED.search(svg) else svg.replace('"', "'")
    return f"data:image/svg+xml,{quote(marked, safe=_PLAIN)}"
