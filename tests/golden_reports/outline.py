"""The outline of a report: everything that it says, with long tables cut short; and how two outlines differ."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tests.golden.frozen import digest, masked

ROWS = 2  # of a longer table that are kept whole
CLOSE, LEARNED = 1e-5, 0.02
"""Relative tolerance: of arithmetic, and of trained detectors, of whom a rank that flips with the processor moves few
pairs by a percent."""
TINY = 1e-8
_TIMES, _MARKS = ("seconds", "cpu_seconds", "built", "at"), ("versions", "liescope", "bytes", "sha256", "id", "learned")
VOLATILE = frozenset({*_TIMES, *_MARKS})
_NUMBER = re.compile(r"[−–-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?%?")
_ROUGH = re.compile(r" \([a-z ]+: a rough figure[^)]*\)")  # said or not by a bound on what is sampled
_TEXT = frozenset({"h1", "h2", "h3", "h4", "h5", "p", "li", "figcaption", "caption", "th", "summary", "dt", "dd", "a"})
_HIDDEN = frozenset({"script", "style", "svg"})


def outline(data: Any, loose: bool) -> Any:
    """The data with long lists of rows as their number, their first rows and a line for each column.

    loose: numbers come from a sampler and are masked, also in sentences.
    """
    match data:
        case dict():
            keys = sorted(data) if any(" " in key for key in data) else list(data)
            return {key: "…" if key in VOLATILE else outline(data[key], loose) for key in keys}
        case list() if len(data) > ROWS and all(isinstance(row, dict) for row in data):
            names = list(dict.fromkeys(name for row in data for name in row if name not in VOLATILE))
            if loose:  # how many rows there are, and their order, may be a sampler's too
                return {"rows": "N", "columns": names}
            columns = {name: _column([row.get(name) for row in data], loose) for name in names}
            return {"rows": len(data), "first": [outline(row, loose) for row in data[:ROWS]], "columns": columns}
        case list() if len(data) > 12:
            return {"items": len(data), "all": _column(data, loose)}
        case list():
            return [outline(item, loose) for item in data]
        case str():
            return _words(data, loose)
        case bool() | None:
            return data
        case int() | float():
            return "N" if loose else data
    return data


def _words(text: str, loose: bool) -> str:
    text = masked(text)
    text = _ROUGH.sub("", _NUMBER.sub("N", text)) if loose else text
    return text if len(text) <= 600 else f"{text[:300]}… {digest(text)}"


def _column(values: list[Any], loose: bool) -> str | list[Any]:
    """A column: of numbers how many, their sum and extremes; of anything else a digest and how much is null."""
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        finite = [value for value in known if math.isfinite(value)]
        if loose or not finite:
            return f"{len(known)} numbers"
        weighted = math.fsum(value * (at + 1) for at, value in enumerate(finite)) / len(finite)
        return [len(known), math.fsum(finite), min(finite), max(finite), weighted]
    text = json.dumps([outline(value, loose) for value in values], sort_keys=True, default=str)
    sampled = loose and '"N"' in text
    return f"{len(known)} values" if sampled else f"{len(known)} values, {digest(text)}"


class _Page(HTMLParser):
    """What a page says, in lines: `h2: words`. Figures and scripts are left out, table cells other than headers too."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._inside: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        if tag in _TEXT and not (tag == "a" and self._inside):
            self._inside.append(tag)
            self.lines.append(f"{tag}: ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden -= 1
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._inside and not self._hidden:
            self.lines[-1] += data


def page(file: Path, loose: bool) -> list[str]:
    parser = _Page()
    parser.feed(file.read_text(encoding="utf-8"))
    lines = (" ".join(line.split()) for line in parser.lines)
    return [_words(line, loose) for line in lines if not line.endswith(":")]


def _cell(text: str) -> Any:
    try:
        return float(text) if text and "_" not in text else text or None
    except ValueError:
        return text


def table(file: Path, loose: bool) -> Any:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [{key: _cell(value) for key, value in row.items()} for row in csv.DictReader(lines)]
    return outline(rows, loose)


def folder(path: Path, loose: bool) -> dict[str, Any]:
    """By file of a folder: what it says; of figures and Parquet files only that they are there."""
    found: dict[str, Any] = {}
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        name = masked(file.relative_to(path).as_posix())
        match file.suffix:
            case ".json" if file.name == "features.json":  # in an order that earlier fits of the process decide
                data = json.loads(file.read_text(encoding="utf-8"))
                found[name] = {field: len(part["features"]) for field, part in data.items()}
            case ".json":
                found[name] = outline(json.loads(file.read_text(encoding="utf-8")), loose)
            case ".csv":
                found[name] = table(file, loose)
            case ".html":
                found[name] = page(file, loose)
            case ".md":
                found[name] = list(_markdown(file, loose))
            case _:
                found[name] = "a file"
    return found


def _markdown(file: Path, loose: bool) -> Iterator[str]:
    """Its lines; of a table only the header, how many rows it has and a digest of them without numbers."""
    rows: list[str] = []
    for line in [*file.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            rows.append(_NUMBER.sub("N", masked(line)))
            continue
        if rows:
            yield rows[0]
            yield "N rows" if loose else f"{len(rows) - 2} rows, {digest(''.join(rows))}"
            rows = []
        if line:
            yield _words(line, loose)


def differences(was: Any, now: Any, path: str = "", close: float = CLOSE) -> Iterator[str]:
    """Each difference in a line: where, what was there, what is there now. close: relative, of numbers."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            if key not in now or key not in was:
                yield f"{path}/{key}: {'is new' if key in now else 'is gone'}"
            else:
                yield from differences(was[key], now[key], f"{path}/{key}", close)
    elif isinstance(was, list) and isinstance(now, list):
        if len(was) != len(now):
            yield f"{path}: {len(was)} items then, {len(now)} now"
        for at, (one, other) in enumerate(zip(was, now, strict=False)):
            yield from differences(one, other, f"{path}/{at}", close)
    elif _number(was) and _number(now):
        if not math.isclose(was, now, rel_tol=close, abs_tol=TINY):
            yield f"{path}: {was} then, {now} now"
    elif was != now:
        yield f"{path}:\n    then {str(was)[:300]}\n    now  {str(now)[:300]}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
