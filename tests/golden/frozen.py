"""What is kept of tables and texts, and how a difference is told."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from liescope.data_cards.tables import scanned

DIGITS = 7  # of floats: what numerics of other machines may change is left out
BLOCKS = 64  # a column's rows are told apart in so many blocks at most
SHOWN = 60  # lines of a difference
_MASKS = (
    (re.compile(r"\b[0-9a-f]{8}-(\d{6})\b"), r"#-\1"),  # a game's id begins with its plan's hash
    (re.compile(r"\b(?=\d*[a-f])[0-9a-f]{16,128}\b"), "#"),
    (re.compile(r"\b20[2-9]\d-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?"), "DATE"),
    (re.compile(r'"\d+\.\d+\.\d+[\w.+]*"'), '"VERSION"'),
    (re.compile(r"\b\d+\.\d{6,}\.\d{6,}\b"), "VERSION"),  # a config's, made of its files' hashes
)
Columns = dict[str, str]


def masked(text: str) -> str:
    """The text without hashes and dates."""
    for pattern, instead in _MASKS:
        text = pattern.sub(instead, text)
    return text


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """The data with floats of so many digits."""
    match value:
        case float():
            return float(f"{value:.{digits - 1}e}") if math.isfinite(value) else str(value)
        case dict():
            return {key: rounded(item, digits) for key, item in value.items()}
        case list() | tuple():
            return [rounded(item, digits) for item in value]
    return value


def digest(text: str, length: int = 12) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def frames(corpus: Path) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every table of a corpus: all splits, by game, each game's rows in their order."""
    for folder in sorted(path for path in corpus.iterdir() if any(path.glob("*.parquet"))):
        parts = [scanned(folder.name, [path]).collect() for path in sorted(folder.glob("*.parquet"))]
        yield folder.name, pl.concat(parts).sort("game_id", maintain_order=True)


def cells(column: pl.Series) -> list[str]:
    return [masked(json.dumps(rounded(value), ensure_ascii=False, default=str)) for value in column.to_list()]


def columns_of(frame: pl.DataFrame) -> Columns:
    """By column: its type, a digest of all rows, and two hexadecimal digits for each block of rows."""
    size = max(1, math.ceil(frame.height / BLOCKS))
    found = {}
    for column in frame.iter_columns():
        rows = cells(column)
        blocks = [digest("\n".join(rows[at : at + size]), 2) for at in range(0, len(rows), size)]
        alike = f"{blocks[0]}*" if len(set(rows)) == 1 and len(rows) % size == 0 else "".join(blocks)
        found[column.name] = f"{column.dtype} {digest(json.dumps(rows))} {alike}".replace("String", "str")
    return found


def tables_of(corpus: Path) -> dict[str, dict[str, Any]]:
    return {name: {"rows": frame.height, "columns": columns_of(frame)} for name, frame in frames(corpus)}


def unlike_tables(name: str, was: Mapping[str, Any], corpus: Path) -> list[str]:
    """What differs from the tables of then, each a line. New tables and new columns are none of it."""
    now = dict(frames(corpus))
    found = [f"{name}: no table {table}" for table in was if table not in now]
    for table, frame in now.items():
        if table not in was:
            continue
        rows, columns, here = was[table]["rows"], was[table]["columns"], columns_of(frame)
        if frame.height != rows:
            found.append(f"{name}, table {table}: {rows} rows then, {frame.height} now")
        kept = [column for column in here if column in columns]
        if kept != [column for column in columns if column in here]:
            found.append(f"{name}, table {table}: columns in another order: {', '.join(kept)}")
        for column, line in columns.items():
            if column not in here:
                found.append(f"{name}, table {table}: no column {column}")
            elif here[column] != line:
                found.append(
                    f"{name}, table {table}, column {column}: {_where(line, here[column], rows, frame[column])}"
                )
    return found


def _where(was: str, now: str, rows: int, column: pl.Series) -> str:
    """The first rows that differ, with what they are now."""
    kind, _, blocks = was.rsplit(" ", 2)
    if not now.startswith(f"{kind} "):
        return f"its type was {kind}, it is {now.rsplit(' ', 2)[0]}"
    size = max(1, math.ceil(rows / BLOCKS))
    count = math.ceil(rows / size) if rows else 0
    then = [blocks[:2]] * count if blocks.endswith("*") else [blocks[at : at + 2] for at in range(0, len(blocks), 2)]
    texts = cells(column)
    for number in range(max(count, math.ceil(len(texts) / size))):
        here = texts[number * size : (number + 1) * size]
        if number >= count or digest("\n".join(here), 2) != then[number]:
            last = f" to {number * size + len(here) - 1}" if len(here) > 1 else ""
            return f"first in row {number * size}{last}, now {' | '.join(here)[:400] or 'gone'}"
    return "rows differ, but their short digests do not tell which"


def unlike_text(name: str, was: str, now: str) -> str:
    """The difference as a diff, empty if there is none."""
    lines = unified_diff(was.splitlines(), now.splitlines(), f"{name} (golden)", f"{name} (now)", lineterm="", n=2)
    shown = list(lines)
    more = [f"… {len(shown) - SHOWN} lines more"] if len(shown) > SHOWN else []
    return "\n".join([*shown[:SHOWN], *more])


def as_text(data: Any) -> str:
    """As JSON, a list of numbers in one line."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([-\d.,e+\s]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"
