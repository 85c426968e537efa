"""The tables of a journal: their columns, and the checksum of every row.

A request is stored in `requests` under a hash of its text as three things: an earlier request of the game with the same
beginning, how many characters they share, and the rest, compressed. The hash is checked when a request is read.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.generate.runs.run_folder import FORMAT, JOURNAL_FILE, guard

_COLUMNS: dict[str, str] = {
    "games": "number INTEGER PRIMARY KEY, game_id TEXT NOT NULL UNIQUE, status TEXT NOT NULL, record TEXT NOT NULL",
    "replies": "game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, position INTEGER NOT NULL, "
    "kind TEXT NOT NULL, model TEXT NOT NULL, reply TEXT NOT NULL, raw TEXT NOT NULL",
    "attempts": "place INTEGER PRIMARY KEY, game_id TEXT NOT NULL, step INTEGER NOT NULL, seat TEXT NOT NULL, "
    "problem TEXT NOT NULL, raw TEXT NOT NULL, prompt_tokens INTEGER, cached_tokens INTEGER, "
    "completion_tokens INTEGER, cost REAL, latency_ms REAL, request INTEGER, response_id TEXT, "
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
# Requests are named by a hash of their contents, which serves as their checksum.
_REQUESTS = """
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY, parent INTEGER, shared INTEGER NOT NULL, rest BLOB NOT NULL
)
"""
Row = Sequence[Any]
INSERT_REQUEST = "INSERT OR IGNORE INTO requests VALUES (?, ?, ?, ?)"


def insertion(table: str) -> str:
    """The statement that adds a row with its checksum."""
    names = (*NAMES[table], "checksum")
    how = "INSERT OR REPLACE" if table == "unanswered" else "INSERT"
    return f"{how} INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


dumped = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""JSON in plain ASCII, which can hold any text that a model may send, lone surrogates included."""


def checksum(row: Sequence[Any]) -> int:
    """CRC-32 over a row's values and their types; any change of one to four neighbouring bytes changes it."""
    return zlib.crc32("".join([f"{type(part).__name__} {part!s}\x1f" for part in row]).encode("utf-8", "surrogatepass"))


def signed(row: Sequence[Any]) -> tuple[Any, ...]:
    """The row followed by its checksum, as stored."""
    return *row, checksum(row)


def create(base: sqlite3.Connection) -> None:
    """Create the missing tables."""
    with base:
        base.execute("BEGIN IMMEDIATE")
        for table, columns in _COLUMNS.items():
            unique = f", UNIQUE ({_UNIQUE[table]})" if table in _UNIQUE else ""
            base.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns}, checksum INTEGER NOT NULL{unique})")
        base.execute(_REQUESTS)
        base.execute("CREATE INDEX IF NOT EXISTS attempts_of_game ON attempts (game_id, step, seat)")
        base.execute(f"PRAGMA user_version = {FORMAT}")


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
            if not all(map(isinstance, kept, types)) or signed_as != checksum(kept):
                raise BadData(_changed(path, table, names, kept))
            yield wanted(kept)


@cache
def _picker(table: str, columns: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function that takes these columns out of a whole row."""
    places = [NAMES[table].index(column.strip()) for column in columns.split(",")]
    return itemgetter(*places) if len(places) > 1 else lambda row: (row[places[0]],)


def _changed(path: Path, table: str, names: Sequence[str], row: Sequence[Any]) -> str:
    shown = dict(zip(names, row, strict=True))
    where = ", ".join(f"{name} {str(shown[name])[:40]!r}" for name in ("game_id", "step", "seat") if name in shown)
    return (
        f"{path / JOURNAL_FILE}: a row of {table} is not what was written ({where or shown}); restore the journal from "
        "a copy, or play the run anew elsewhere"
    )


_GAMES = 1000  # games whose last requests are remembered while writing
_READ = 64  # requests remembered by a reader
_NEAR = 4096  # characters at the end of a request in which the next one's words are looked for
_LONGEST = 1 << 26  # characters of a request


class RequestStore:
    """The rows to write for the requests of one process; `rows` holds those still pending."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._last: dict[str, dict[str, tuple[int, str]]] = {}  # name and text by game, and by seat, "" for any

    def keep(self, game: str, seat: str, request: Mapping[str, Any]) -> int:
        """Take in the body of a request; returns the name that it is stored under."""
        text = json.dumps(request, separators=(",", ":"))
        name, last = name_of(text), self._last.setdefault(game, {})
        known = [(_shared(last[key][1], text), *last[key]) for key in (seat, "") if key in last]
        shared, parent, before = max(known, default=(0, None, ""), key=lambda one: one[0])
        if parent != name:
            packer = zlib.compressobj(zdict=_near(before))
            self.rows.append((name, parent, shared, packer.compress(text[shared:].encode()) + packer.flush()))
        last[seat] = last[""] = name, text
        if len(self._last) > _GAMES:
            self.forget(next(iter(self._last)))
        return name

    def forget(self, game: str) -> None:
        """Forget a game that ended, since no later request will share the beginning of its own."""
        self._last.pop(game, None)


def _shared(one: str, other: str) -> int:
    """The number of characters that two texts share at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # bisection on slices, which are compared in C, unlike single characters
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _near(text: str) -> bytes:
    return text[-_NEAR:].encode() or b" "


class RequestReader:
    """The requests of a run, read back."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._texts: dict[int, str] = {}  # the requests read last

    def read(self, name: int) -> dict[str, Any]:
        """The body of a request as it was sent. Raises ValueError if what was kept is damaged."""
        rest: dict[int, tuple[int | None, int, bytes]] = {}
        at: int | None = name
        while at is not None and at not in self._texts:
            row = self._base.execute("SELECT parent, shared, rest FROM requests WHERE id = ?", (at,)).fetchone()
            if row is None or at in rest:
                raise ValueError("a request is missing")
            rest[at] = row
            at = row[0]
        for one, (parent, shared, packed) in reversed(rest.items()):
            before = "" if parent is None else self._texts[parent]
            if len(self._texts) >= _READ:
                self._texts.pop(next(iter(self._texts)))
            self._texts[one] = before[:shared] + _unpacked(packed, before)
        text = self._texts[name]
        if name_of(text) != name:
            raise ValueError("a request is not what was written")
        body: dict[str, Any] = json.loads(text)
        return body


def _unpacked(packed: bytes, before: str) -> str:
    unpacker = zlib.decompressobj(zdict=_near(before))
    try:
        found = unpacker.decompress(packed, _LONGEST)
    except zlib.error as error:
        raise ValueError(f"a request is not what was written: {error}") from None
    if not unpacker.eof:
        raise ValueError("a request is cut off or too long")
    return found.decode("ascii")


def name_of(text: str) -> int:
    """The name that a text is stored under: 64 bits of its BLAKE2b hash, as a signed SQLite integer."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def escaped(text: str) -> str:
    """The text with lone surrogates written as escapes, since SQLite takes only valid UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
