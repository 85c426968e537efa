"""The tables of a journal: their columns, the checksum of every row, and how the rows of a shard come into its run's.

Taking the same rows again changes nothing. A reply, a request's text and a game are known by their keys. Attempts have
none that lasts: they are numbered anew, and the run notes for each shard up to which of its attempts it has them. So a
run killed at any moment can be given a whole shard again.

A prompt is a list of lines. Lines are stored in `texts` under their hash. A prompt is stored in `prompts` under a hash
of its whole text: the prompt whose beginning it shares, how many lines they share, and its own lines after those. Both
hashes are checked when a prompt is read, so that a changed row is detected.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from operator import itemgetter
from pathlib import Path
from typing import Any
from zlib import crc32

from liescope.common.errors import BadData
from liescope.games.record import Status
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
CREATE TABLE IF NOT EXISTS prompts (
    id INTEGER PRIMARY KEY, parent INTEGER, shared INTEGER NOT NULL, tail BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS merged (shard TEXT PRIMARY KEY, place INTEGER NOT NULL)
"""
Row = Sequence[Any]
Piece = tuple[str, Sequence[Row]]
"""A table and rows for it; FORGOTTEN and ids of games; ENDPOINTS and facts about them."""
FORGOTTEN, ENDPOINTS = "forgotten", "endpoints"
_BY_CONTENT = {
    "texts": "INSERT OR IGNORE INTO texts VALUES (?, ?)",
    "prompts": "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)",
}


def insertion(table: str) -> str:
    """The statement that adds a row with its checksum."""
    names = (*NAMES[table], "checksum")
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


def checksum(row: Sequence[Any]) -> int:
    """CRC-32 over a row's values and their types; any change of one to four neighbouring bytes changes it."""
    return crc32("".join([f"{type(part).__name__} {part!s}\x1f" for part in row]).encode("utf-8", "surrogatepass"))


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
        for statement in _STORES.split(";"):
            base.execute(statement)
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


def absorb(base: sqlite3.Connection, shard: str, pieces: Iterable[Piece]) -> None:
    """Take in rows, in the caller's transaction. shard: the name that its attempts are remembered by."""
    for table, given in pieces:
        if table in _BY_CONTENT:
            base.executemany(_BY_CONTENT[table], given)
        elif table == FORGOTTEN:
            failed = ((Status.FAILED.value, game_id) for (game_id,) in given)
            base.executemany("DELETE FROM games WHERE (status, game_id) = (?, ?)", failed)
        elif table == "attempts":
            _absorb_attempts(base, shard, given)
        elif table != ENDPOINTS:
            way = "INSERT OR IGNORE" if table == "replies" else "INSERT OR REPLACE"
            base.executemany(insertion(table).replace("INSERT", way), (signed(row) for row in given))


def _absorb_attempts(base: sqlite3.Connection, shard: str, given: Sequence[Row]) -> None:
    """The first value of a row is its place in the shard."""
    (known,) = base.execute("SELECT coalesce(max(place), 0) FROM merged WHERE shard = ?", (shard,)).fetchone()
    (last,) = base.execute("SELECT coalesce(max(place), 0) FROM attempts").fetchone()
    new = [row for row in given if row[0] > known]
    placed = ((place, *row[1:]) for place, row in enumerate(new, last + 1))
    base.executemany(insertion("attempts"), (signed(row) for row in placed))
    if new:
        base.execute("INSERT OR REPLACE INTO merged VALUES (?, ?)", (shard, max(row[0] for row in new)))


def whole(base: sqlite3.Connection, path: Path) -> list[Piece]:
    """Everything that a shard's journal holds. Raises BadData if it is damaged."""
    pieces: list[Piece] = [(table, base.execute(f"SELECT * FROM {table}").fetchall()) for table in _BY_CONTENT]
    return pieces + [
        (table, list(rows(base, path, table, ", ".join(NAMES[table])))) for table in NAMES if table != "templates"
    ]


def games_at(base: sqlite3.Connection, path: Path, numbers: Iterable[int]) -> Piece:
    """The games at some places of a run."""
    columns, where = ", ".join(NAMES["games"]), "WHERE number = ?"
    return "games", [row for one in numbers for row in rows(base, path, "games", columns, where, (one,))]


def replies_of(base: sqlite3.Connection, path: Path, game_ids: Iterable[str]) -> Piece:
    """The replies of some games, for a worker that goes on with them."""
    columns = ", ".join(NAMES["replies"])
    where = "WHERE game_id = ? ORDER BY step, position"
    return "replies", [row for one in game_ids for row in rows(base, path, "replies", columns, where, (one,))]


_KNOWN = 1 << 16  # texts remembered as already written, so that most lines need no SQL statement
_KNOWN_LINES, _KNOWN_PROMPTS = 1024, 256  # kept in memory by a reader


class RequestStore:
    """The rows to write for the requests of one process: `texts` and `prompts` hold those still pending."""

    def __init__(self) -> None:
        self.texts: list[tuple[int, str]] = []
        self.prompts: list[tuple[int, int | None, int, bytes]] = []
        # By game; by seat, "" for any, and the message's place in a request.
        self._last: dict[str, dict[tuple[str, int], tuple[int, list[int]]]] = {}
        self._written: dict[int, None] = {}

    def keep(self, game: str, seat: str, request: Mapping[str, Any]) -> tuple[int, bytes]:
        """Take in the body of a request; returns the stored names of its parameters and of its messages' texts."""
        messages = [dict(message) for message in request.get("messages", ())]
        prompts = []
        for place, message in enumerate(messages):
            if isinstance(text := message.get("content"), str):
                message["content"] = None
                prompts.append(self._prompt(game, seat, place, escaped(text)))
        rest = {**request, "messages": messages}
        parameters = json.dumps(rest, separators=(",", ":"))
        return self._text(parameters, name_of(parameters)), array("q", prompts).tobytes()

    def forget(self, game: str) -> None:
        """Forget a game that ended, since no later prompt will share the beginning of its prompts."""
        self._last.pop(game, None)

    def _text(self, text: str, name: int) -> int:
        if name not in self._written:
            if len(self._written) >= _KNOWN:
                self._written.pop(next(iter(self._written)))
            self._written[name] = None
            self.texts.append((name, text))
        return name

    def _prompt(self, game: str, seat: str, place: int, text: str) -> int:
        name = name_of(text)
        last, own, any_seat = self._last.setdefault(game, {}), (seat, place), ("", place)
        lines = [self._text(line, _line_name(line)) for line in text.split("\n")]
        nearest = (last[key] for key in (own, any_seat) if key in last)
        near = [(_shared(before, lines), parent) for parent, before in nearest]
        shared, parent = max(near, default=(0, None), key=lambda one: one[0])
        if parent != name:
            tail = array("q", lines[shared:]).tobytes()
            self.prompts.append((name, parent if shared else None, shared, tail))
        last[own] = last[any_seat] = name, lines
        return name


def _shared(one: list[int], other: list[int]) -> int:
    """The number of lines that two prompts share at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class RequestReader:
    """The requests of a run, read back. The lines and beginnings that prompts share are read once while they are in
    use, as everything is named by a hash of its contents.
    """

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._text = lru_cache(maxsize=_KNOWN_LINES)(self._read_text)
        self._lines: dict[int, list[int]] = {}  # of the prompts read last

    def read(self, parameters: int, prompts: bytes) -> dict[str, Any]:
        """The body of a request as it was sent. Raises ValueError if what was kept is damaged."""
        body: dict[str, Any] = json.loads(self._read_text(parameters))
        names = iter(_numbers(prompts))
        for message in body["messages"]:
            if message.get("content") is None and (name := next(names, None)) is not None:
                message["content"] = self._prompt(name)
        return body

    def _prompt(self, name: int) -> str:
        tails: list[tuple[int, int, array[int]]] = []
        seen: set[int] = set()
        at: int | None = name
        while at is not None and at not in self._lines:
            row = self._base.execute("SELECT parent, shared, tail FROM prompts WHERE id = ?", (at,)).fetchone()
            if row is None or at in seen:
                raise ValueError("a prompt that a request names is missing")
            seen.add(at)
            parent, shared, tail = row
            tails.append((at, shared, _numbers(tail)))
            at = parent
        lines = [] if at is None else self._lines[at]
        for part, shared, tail in reversed(tails):
            lines = [*lines[:shared], *tail]
            self._remember(part, lines)
        text = "\n".join(map(self._text, lines))
        if name_of(text) != name:
            raise ValueError("a prompt is not what was written")
        return text

    def _remember(self, name: int, lines: list[int]) -> None:
        if len(self._lines) >= _KNOWN_PROMPTS:
            self._lines.pop(next(iter(self._lines)))
        self._lines[name] = lines

    def _read_text(self, name: int) -> str:
        row = self._base.execute("SELECT text FROM texts WHERE id = ?", (name,)).fetchone()
        if row is None or not isinstance(row[0], str) or name_of(row[0]) != name:
            raise ValueError("a text that a request names is missing or not what was written")
        return row[0]


def _numbers(data: Any) -> array[int]:
    if not isinstance(data, bytes) or len(data) % 8:
        raise ValueError("a list of texts is not what was written")
    return array("q", data)


def name_of(text: str) -> int:
    """The name that a text is stored under: 64 bits of its BLAKE2b hash, as a signed SQLite integer."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


_line_name = lru_cache(maxsize=_KNOWN)(name_of)  # for lines only: whole prompts are long and seldom repeat


def escaped(text: str) -> str:
    """The text with lone surrogates written as escapes, since SQLite takes only valid UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
