"""The page that every report writes, and its folder: written completely or not at all, and never over anything else.

The page has the answer in a sentence, a figure that shows it, what else was found, sections. It is one self-contained
HTML file; all text is escaped, figures are embedded. It is complete without scripts: its one script lets readers sort
the tables, and the page's policy allows no other. Readers who prefer a dark page get one; print is always light.
"""

from __future__ import annotations

import base64
import html as markup
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.figures import svg
from liescope.common.folders import replacing
from liescope.common.key_finder import find_secret, secrets_of
from liescope.common.model_names import PEOPLE
from liescope.common.report.contents import (
    SHORT,
    Content,
    Report,
    Section,
    Tabular,
    headings,
    markdown,
    numeric,
    shown,
)
from liescope.common.text import cell

_OURS = re.compile(r'<meta name="liescope-report" content="([^"]*)">')
_PAGE = "report.html"
_DPI = 150


def check_report_folder(out: str | os.PathLike[str] | None, overwrite: bool = True) -> Path | None:
    """The folder that is named for a report, None for none. Raises UsageError, before long work, for one that is a
    file, holds anything but a report, or one that is to stay.
    """
    if out is None:
        return None
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{out} is a file; give a folder for the report")
    if folder.is_dir() and any(folder.iterdir()):
        if not overwrite:
            raise UsageError(f"{out} is not empty; add --overwrite to replace a report there, or choose another --out")
        if not is_report(folder):
            raise UsageError(f"{out} exists and is not a report; choose another --out, or move it away")
    return folder


def is_report(folder: Path) -> bool:
    """Whether the folder holds a report and nothing beside it: the page of a report names the files written with it."""
    try:
        found = _OURS.search((folder / _PAGE).read_text(encoding="utf-8")[:4000])
    except (OSError, UnicodeDecodeError):
        return False
    return found is not None and {item.name for item in folder.iterdir()} <= set(json.loads(markup.unescape(found[1])))


def write(report: Report, out: Path, *, tables_in: str = "", short: bool = True) -> list[Path]:
    """Write a report to a folder, which appears when it is complete and takes the place of an earlier report.

    tables_in: the folder in it for the CSV files; short: also write report.md. Returns the paths.

    Raises UsageError if the folder holds anything but a report or cannot be written, or if a text would contain a
    secret of this machine; an earlier report then stays as it was.
    """
    contents: dict[str, str | bytes] = {}
    for name, table in report.tables.items():
        if table.width:
            contents[f"{tables_in}/{name}.csv".lstrip("/")] = csv_text(table)
    contents |= {name: _content(name, content) for name, content in report.files.items()}
    if short:
        contents["report.md"] = markdown(report)
    held = sorted({name.partition("/")[0] for name in {_PAGE, *contents}})
    contents = {_PAGE: page_html(report, json.dumps(held)), **contents}
    secrets = secrets_of(os.environ)
    for name, text in contents.items():
        if isinstance(text, str) and (what := find_secret(text, secrets, shapes=False)):
            raise UsageError(f"{name} would hold {what}; remove it from the runs' plans and texts")
    check_report_folder(out)
    try:
        with replacing(out, "report", is_report) as folder:
            for name, content in contents.items():
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error
    return [out / name for name in contents]


def csv_text(table: pl.DataFrame) -> str:
    """A table as CSV: lists joined by semicolons, and no text that a spreadsheet would run as a formula."""
    nested = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    joined = table.with_columns(pl.col(nested).cast(pl.List(pl.String)).list.join("; ")) if nested else table
    texts = [name for name, kind in joined.schema.items() if kind == pl.String]
    safe = joined.with_columns(pl.col(name).map_elements(cell, return_dtype=pl.String) for name in texts)
    return safe.write_csv()


def _content(name: str, content: Content) -> str | bytes:
    if isinstance(content, str):
        return content
    if isinstance(content, pl.DataFrame):
        buffer = io.BytesIO()
        content.write_parquet(buffer, compression="zstd")
        return buffer.getvalue()
    if isinstance(content, Mapping):
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if name.endswith(".svg"):
        return svg(content, name.removesuffix(".svg"))
    buffer = io.BytesIO()
    content.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


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
    environment.filters.update(text=text, shown=shown, embedded=lambda svg: Markup(_embedded(svg)), kinds=_kinds)
    environment.filters.update(chapters=_chapters, headings=headings, aspect=_aspect)
    script = environment.get_template("page.js").render()
    template = environment.get_template("page.html.jinja")
    shown_first, appendix = report.in_short
    return template.render(
        page=report,
        sections=shown_first,
        appendix=appendix,
        files=files,
        script=Markup(script),
        digest=base64.b64encode(sha256(script.encode()).digest()).decode(),  # by it the page's policy knows its script
        most=SHORT,
        people=PEOPLE,
    )


def _chapters(sections: Sequence[Section]) -> list[tuple[str, list[Section]]]:
    """The sections by chapter, in order; those without one stand under ""."""
    return [(title, list(group)) for title, group in groupby(sections, lambda section: section.chapter)]


def _kinds(table: Tabular) -> list[str]:
    """How each column is set: "number" to the right, "name" on one line, "words" with line breaks."""
    found = []
    for values in zip(*table.rows()[:SHORT], strict=True) if table.rows() else ((),) * len(table.columns):
        if numeric(values):
            found.append("number")
        else:
            found.append("name" if max(len(shown(value)) for value in values) <= _SHORT else "words")
    return found


def _aspect(svg: str) -> float:
    """Height by width; 1 where the drawing does not say."""
    box = re.search(r'viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"', svg)
    return float(box[2]) / float(box[1]) if box and float(box[1]) else 1.0


def _embedded(svg: str) -> str:
    """As a data address; characters with a meaning in attributes or addresses are written as %XX."""
    marked = svg if _QUOTED.search(svg) else svg.replace('"', "'")
    return f"data:image/svg+xml,{quote(marked, safe=_PLAIN)}"
