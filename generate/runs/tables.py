"""The tables of a journal: their columns, the checksum of every row, and older formats.

Format 1 had no checksums, format 2 not the newer columns. An older journal is upgraded in one transaction when opened
for writing; when opened for reading, it is left as it is and seen through views with the columns of today.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any
from zlib import crc32

from liescope.common.errors import BadData
from liescope.generate.runs.folder import FORMAT, JOURNAL_FILE, guard

_COLUMNS: dict[str, str] = {
    "games": "number INTEGER PRIMARY KEY, game_id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, record TEXT NOT NULL",
    "replies": "game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, position INTEGER NOT NULL, "
    "kind TEXT NOT NULL, model TEXT NOT NULL, reply TEXT NOT NULL, raw TEXT NOT NULL",
    "attempts": "place INTEGER PRIMARY KEY, game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, "
    "problem TEXT NOT NULL, raw TEXT NOT NULL, prompt_tokens INTEGER, cached_tokens INTEGER, "
    "completion_tokens INTEGER, cost REAL, latency_ms REAL, parameters INTEGER, prompts BLOB, response_id TEXT, "
    "served_model TEXT, via TEXT",
    "unanswered": "game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, kind TEXT NOT NULL, "
    "model TEXT NOT NULL",
    "templates": "digest TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL",
}
_UNIQUE = {
    "replies": "game_id, step, seat",
    "unanswered": "game_id, step, seat",
    "templates": "digest, name",
}
_NEWER = {"attempts": 1}  # columns at the end that came after format 2, empty for what did not have them
NAMES: dict[str, tuple[str, ...]] = {
    table: tuple(column.split()[0] for column in columns.split(", ")) for table, columns in _COLUMNS.items()
}
_PYTHON = {"INTEGER": int, "REAL": float, "TEXT": str, "BLOB": bytes}
_TYPES: dict[str, tuple[tuple[type, ...], ...]] = {
    table: tuple(
        (_PYTHON[column.split()[1]], *(() if "NOT NULL" in column or "KEY" in column else (type(None),)))
        for column in columns.split(", ")
    )
    for table, columns in _COLUMNS.items()
}
# Rows named by a hash of their contents, which serves as their checksum.
_STORES = """
CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS prompts (id INTEGER PRIMARY KEY, parent INTEGER, shared INTEGER NOT NULL, tail BLOB NOT NULL)
"""
_FORMAT_1 = {
    "games": "SELECT number, game_id, status, record, NULL AS checksum FROM main.games",
    "replies": "SELECT game_id, step, seat, position, kind, model, reply, raw, NULL AS checksum FROM main.replies",
    "attempts": "SELECT rowid AS place, game_id, step, seat, problem, raw, prompt_tokens, cached_tokens, "
    "completion_tokens, cost, latency_ms, NULL AS parameters, NULL AS prompts, NULL AS response_id, "
    "NULL AS served_model, NULL AS via, NULL AS checksum FROM main.attempts",
    "unanswered": "SELECT DISTINCT game_id, step, seat, kind, model, NULL AS checksum FROM main.attempts "
    "WHERE kind IS NOT NULL",
    "templates": "SELECT '' AS digest, '' AS name, '' AS source, NULL AS checksum WHERE 0",
}


def insertion(table: str) -> str:
    """The statement that adds a row with its checksum."""
    names = (*NAMES[table], "checksum")
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def checksum(row: Sequence[Any]) -> int:
    """CRC-32 over a row's values and their types; any change of one to four neighbouring bytes changes it."""
    return crc32("".join([f"{type(part).__name__} {part!s}\x1f" for part in row]).encode("utf-8", "surrogatepass"))


def signature(table: str, row: Sequence[Any]) -> int:
    """The checksum of a row. Newer columns that are empty do not count, so that rows of older formats keep theirs."""
    newer = _NEWER.get(table, 0)
    if not newer:
        return checksum(row)
    first = len(row) - newer
    return checksum([value for place, value in enumerate(row) if place < first or value is not None])


def signed(table: str, row: Sequence[Any]) -> tuple[Any, ...]:
    """The row followed by its checksum, as stored."""
    return *row, signature(table, row)


def create(base: sqlite3.Connection) -> None:
    """Create the missing tables."""
    with base:
        base.execute("BEGIN IMMEDIATE")
        _create(base)


def _create(base: sqlite3.Connection) -> None:
    for table, columns in _COLUMNS.items():
        unique = f", UNIQUE ({_UNIQUE[table]})" if table in _UNIQUE else ""
        base.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns}, checksum INTEGER NOT NULL{unique})")
    for statement in _STORES.split(";"):
        base.execute(statement)
    base.execute("CREATE INDEX IF NOT EXISTS attempts_of_game ON attempts (game_id, step, seat)")
    base.execute(f"PRAGMA user_version = {FORMAT}")


def upgrade(base: sqlite3.Connection, number: int) -> None:
    """Upgrade a journal from an older format, completely or not at all. Rows of format 1 get the checksum of their
    current values.
    """
    if number == 1:
        _upgrade_1(base)
        return
    with base:
        base.execute("BEGIN IMMEDIATE")
        for table, columns in _newer_columns().items():
            for column in columns:
                base.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
        base.execute(f"PRAGMA user_version = {FORMAT}")


def _newer_columns() -> dict[str, list[str]]:
    return {table: _COLUMNS[table].split(", ")[-count:] for table, count in _NEWER.items()}


def _upgrade_1(base: sqlite3.Connection) -> None:
    base.create_function("row_checksum", -1, lambda table, *row: signature(table, row), deterministic=True)
    with base:
        base.execute("BEGIN IMMEDIATE")
        old = ("games", "replies", "attempts")
        for table in old:
            base.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        base.execute("DROP INDEX IF EXISTS attempts_of_game")
        _create(base)
        for table, query in _FORMAT_1.items():
            columns = ", ".join(NAMES[table])
            source = query.replace("main.", "main.old_")
            base.execute(f"INSERT INTO {table} SELECT {columns}, row_checksum('{table}', {columns}) FROM ({source})")
        for table in old:
            base.execute(f"DROP TABLE old_{table}")
    with suppress(sqlite3.OperationalError):  # shrinking the file is optional, and fails on a full disk
        base.execute("VACUUM")


def view_as_today(base: sqlite3.Connection, number: int) -> None:
    """Give a journal in an older format, open for reading, the columns of today."""
    empty = {
        table: [f"NULL AS {column.split()[0]}" for column in columns] for table, columns in _newer_columns().items()
    }
    format_2 = {table: f"SELECT *, {', '.join(columns)} FROM main.{table}" for table, columns in empty.items()}
    for table, query in (_FORMAT_1 if number == 1 else format_2).items():
        base.execute(f"CREATE TEMP VIEW {table} AS {query}")


def rows(
    base: sqlite3.Connection, path: Path, table: str, columns: str, where: str = "", values: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """Some columns of a table's rows, each row checked. where: what follows the table's name in the query.

    Raises BadData for a row that has changed since it was written.
    """
    names, types = NAMES[table], _TYPES[table]
    wanted = _picker(table, columns)
    with guard(path):
        for row in base.execute(f"SELECT {', '.join(names)}, checksum FROM {table} {where}", values):
            kept, signed_as = row[:-1], row[-1]
            if not all(map(isinstance, kept, types)) or (signed_as is not None and signed_as != signature(table, kept)):
                raise BadData(_changed(path, table, names, kept))
            yield wanted(kept)


@cache
def _picker(table: str, columns: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Takes some columns out of a whole row."""
    places = [NAMES[table].index(column.strip()) for column in columns.split(",")]
    return itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)


def _changed(path: Path, table: str, names: Sequence[str], row: Sequence[Any]) -> str:
    shown = dict(zip(names, row, strict=True))
    where = ", ".join(f"{name} {str(shown[name])[:40]!r}" for name in ("game_id", "step", "seat") if name in shown)
    return (
        f"{path / JOURNAL_FILE}: a row of {table} is not what was written ({where or shown}); restore the journal from "
        "a copy, or play the run anew elsewhere"
    )
