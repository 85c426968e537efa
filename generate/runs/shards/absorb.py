"""Rows of a shard's journal, taken into the journal of the run. Taking the same rows again changes nothing.

A reply, a request's text and a game are known by their keys. Attempts have none that lasts: they are numbered anew, and
the run notes for each shard up to which of its attempts it has them. So a run killed at any moment can be given a whole
shard again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from liescope.games.record import Status
from liescope.generate.runs.tables import NAMES, insertion, rows, signed

Row = Sequence[Any]
Piece = tuple[str, Sequence[Row]]
"""A table and rows for it; FORGOTTEN and ids of games; ENDPOINTS and facts about them."""
FORGOTTEN, ENDPOINTS = "forgotten", "endpoints"
_STORES = {
    "texts": "INSERT OR IGNORE INTO texts VALUES (?, ?)",
    "prompts": "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)",
}
_CHECKED = ("attempts", "replies", "unanswered", "games")


def absorb(base: sqlite3.Connection, shard: str, pieces: Iterable[Piece]) -> None:
    """Take in rows, in the caller's transaction. shard: the name that its attempts are remembered by."""
    base.execute("CREATE TABLE IF NOT EXISTS merged (shard TEXT PRIMARY KEY, place INTEGER NOT NULL)")
    for table, given in pieces:
        if table in _STORES:
            base.executemany(_STORES[table], given)
        elif table == FORGOTTEN:
            failed = ((Status.FAILED.value, game_id) for (game_id,) in given)
            base.executemany("DELETE FROM games WHERE (status, game_id) = (?, ?)", failed)
        elif table == "attempts":
            _absorb_attempts(base, shard, given)
        elif table != ENDPOINTS:
            way = "INSERT OR IGNORE" if table == "replies" else "INSERT OR REPLACE"
            base.executemany(insertion(table).replace("INSERT", way), (signed(table, row) for row in given))


def _absorb_attempts(base: sqlite3.Connection, shard: str, given: Sequence[Row]) -> None:
    """The first value of a row is its place in the shard."""
    (known,) = base.execute("SELECT coalesce(max(place), 0) FROM merged WHERE shard = ?", (shard,)).fetchone()
    (last,) = base.execute("SELECT coalesce(max(place), 0) FROM attempts").fetchone()
    new = [row for row in given if row[0] > known]
    placed = ((place, *row[1:]) for place, row in enumerate(new, last + 1))
    base.executemany(insertion("attempts"), (signed("attempts", row) for row in placed))
    if new:
        base.execute("INSERT OR REPLACE INTO merged VALUES (?, ?)", (shard, max(row[0] for row in new)))


def whole(base: sqlite3.Connection, path: Path) -> list[Piece]:
    """Everything that a shard's journal holds. Raises BadData if it is damaged."""
    pieces: list[Piece] = [(table, base.execute(f"SELECT * FROM {table}").fetchall()) for table in _STORES]
    return pieces + [(table, list(rows(base, path, table, ", ".join(NAMES[table])))) for table in _CHECKED]


def games_at(base: sqlite3.Connection, path: Path, numbers: Iterable[int]) -> Piece:
    """The games at some places of a run."""
    columns, where = ", ".join(NAMES["games"]), "WHERE number = ?"
    return "games", [row for one in numbers for row in rows(base, path, "games", columns, where, (one,))]


def replies_of(base: sqlite3.Connection, path: Path, game_ids: Iterable[str]) -> Piece:
    """The replies of some games, for a worker that goes on with them."""
    columns = ", ".join(NAMES["replies"])
    where = "WHERE game_id = ? ORDER BY step, position"
    return "replies", [row for one in game_ids for row in rows(base, path, "replies", columns, where, (one,))]
