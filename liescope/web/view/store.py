"""The index of the games that are looked at: an SQLite file in the user's cache folder, never beside the games.

games       one row for each game; `facts` is 0 until its facts are known
players     which model held which role in it; "" stands for any model, and for any role
statements  the opinions on each statement, and how doubtful they leave it
mistakes    what each detector missed, and its false alarms
said        the words of each game, for searching
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import polars as pl

from liescope import __version__
from liescope.common.errors import UsageError
from liescope.common.folders import take_lock
from liescope.web.view.facts import COUNTS, GAME_COLUMNS, OPINIONS, Facts

_FORMAT = 3
_FILE = "index.sqlite"
_KEPT_S = 30 * 86400.0  # since it was last opened
_TYPES = {"days": "INTEGER", "statements": "INTEGER", "silences": "INTEGER", "fallbacks": "INTEGER"}
_COLUMNS = (*GAME_COLUMNS, *COUNTS)


def doubt(opinions: Collection[str]) -> str:
    """How doubtful some opinions leave a statement, as SQL, from 0 to 1: 4 m (1 - m) for their mean m, less the more
    the fewer they are: times 1 - 2^-n for n opinions. None if there are none.
    """
    known = [f"({one} IS NOT NULL)" for one in opinions]
    n, total = " + ".join(known), " + ".join(f"coalesce({one}, 0.0)" for one in opinions)
    mean = f"(1.0 * ({total}) / nullif({n}, 0))"
    return f"(4 * {mean} * (1 - {mean}) * (1 - 1.0 / (1 << ({n}))))"


_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS games (
    number INTEGER PRIMARY KEY, facts INTEGER NOT NULL DEFAULT 0,
    {", ".join(f"{name} {_TYPES.get(name, 'TEXT')}" for name in GAME_COLUMNS)},
    {", ".join(f"{name} INTEGER" for name in COUNTS)});
CREATE UNIQUE INDEX IF NOT EXISTS by_id ON games (game_id);
CREATE INDEX IF NOT EXISTS waiting ON games (number) WHERE facts = 0;
CREATE TABLE IF NOT EXISTS players (
    model TEXT, role TEXT, number INTEGER, PRIMARY KEY (model, role, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS statements (
    number INTEGER, event INTEGER, {", ".join(f"{name} REAL" for name in OPINIONS)},
    doubt REAL, PRIMARY KEY (number, event)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS doubtful ON statements (doubt DESC, number, event);
CREATE TABLE IF NOT EXISTS mistakes (
    detector TEXT, number INTEGER, missed INTEGER, alarms INTEGER, PRIMARY KEY (detector, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS choices (kind TEXT, value TEXT, PRIMARY KEY (kind, value)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS said USING fts5(words, content='', detail=none, columnsize=0);
"""


class IndexFile:
    """The file of an index, held by this process. One thread writes; any may read."""

    def __init__(self, identity: str, cache: Path | None = None) -> None:
        """identity: of the games and scores; the same ones find their index again. cache: by default the user's folder.

        Raises UsageError if another process holds the index, or the cache folder cannot be written.
        """
        name = sha256(f"{_FORMAT} {__version__} {identity}".encode()).hexdigest()[:24]
        folder = (cache or _cache()) / "liescope" / "view" / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made ({error.strerror}); set XDG_CACHE_HOME to a folder") from error
        self._lock = take_lock(folder)
        self.path = folder / _FILE
        _forget_unused(folder.parent)
        self._base = sqlite3.connect(self.path, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = OFF")  # after a crash of the machine it is made again
        self._base.executescript(_SCHEMA)
        os.utime(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()
        os.close(self._lock)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one thread to read with."""
        base = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)
        try:
            base.row_factory = sqlite3.Row
            base.execute("PRAGMA mmap_size = 1073741824")
            yield base
        finally:
            base.close()

    def list_games(self, listed: Mapping[int, str]) -> None:
        """Take in that these games, and no others, are there."""
        known = dict(self._base.execute("SELECT number, game_id FROM games"))
        gone = [(number,) for number, game_id in known.items() if listed.get(number) != game_id]
        new = [(number, game_id) for number, game_id in listed.items() if known.get(number) != game_id]
        with self._base:
            for table in ("games", "players", "statements", "mistakes") if gone else ():
                self._base.executemany(f"DELETE FROM {table} WHERE number = ?", gone)
            self._base.executemany("INSERT INTO games (number, game_id) VALUES (?, ?)", new)

    def waiting(self, most: int) -> dict[int, str]:
        """The first games whose facts are not known yet: number to id."""
        return dict(
            self._base.execute("SELECT number, game_id FROM games WHERE facts = 0 ORDER BY number LIMIT ?", (most,))
        )

    def add(self, facts: Facts, numbers: Mapping[str, int]) -> None:
        """Take in the facts of some games. numbers: by their ids."""
        with self._base:
            names = ", ".join(f"{name} = ?" for name in _COLUMNS)
            rows = [(*row, numbers[row[0]]) for row in facts.games.select(_COLUMNS).iter_rows()]
            self._base.executemany(f"UPDATE games SET facts = 1, {names} WHERE number = ?", rows)
            self._insert("players", ("model", "role"), _with_any(facts.players), numbers)
            self._insert("statements", ("event", *OPINIONS), facts.statements, numbers)
            span = (min(numbers.values(), default=0), max(numbers.values(), default=0))
            self._base.execute(f"UPDATE statements SET doubt = {doubt(OPINIONS)} WHERE number BETWEEN ? AND ?", span)
            self._insert("mistakes", ("detector", "missed", "alarms"), facts.mistakes, numbers)
            words = [(numbers[game], words) for game, words in facts.words.select("game_id", "words").iter_rows()]
            self._base.executemany("INSERT INTO said (rowid, words) VALUES (?, ?)", words)
            self._base.executemany("INSERT OR IGNORE INTO choices VALUES (?, ?)", _choices(facts))

    def _insert(self, table: str, columns: Sequence[str], rows: pl.DataFrame, numbers: Mapping[str, int]) -> None:
        places = ", ".join("?" * (len(columns) + 1))
        values = ((numbers[game], *row) for game, *row in rows.select("game_id", *columns).iter_rows())
        self._base.executemany(f"INSERT INTO {table} (number, {', '.join(columns)}) VALUES ({places})", values)


def _with_any(players: pl.DataFrame) -> pl.DataFrame:
    """The players, once more with any role and with any model, so that each filter is one stretch of the table."""
    any_role = players.with_columns(role=pl.lit(""))
    any_model = players.with_columns(model=pl.lit(""))
    return pl.concat([players, any_role, any_model]).unique()


def _choices(facts: Facts) -> Iterator[tuple[str, str]]:
    """What can be chosen in the filters."""
    for kind, column in (
        ("model", facts.players["model"]),
        ("role", facts.players["role"]),
        ("winner", facts.games["winner"]),
        ("status", facts.games["status"]),
        ("game", facts.games["game"]),
    ):
        yield from ((kind, value) for value in column.unique() if value)


def _forget_unused(indices: Path) -> None:
    """Delete indices that were not opened for a month, such as those of games that are gone."""
    for file in indices.glob(f"*/{_FILE}"):
        with suppress(OSError, UsageError):  # another process holds it, or deletes it too
            if time.time() - file.stat().st_mtime > _KEPT_S:
                with ExitStack() as stack:
                    stack.callback(os.close, take_lock(file.parent))
                    shutil.rmtree(file.parent)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache")
