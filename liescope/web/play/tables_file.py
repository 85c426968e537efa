"""What the server keeps of its tables besides their runs: who may sit where, the secrets of their links, whose words
are still to be withdrawn.

One SQLite file that its owner alone may read. It is no part of any run, and nothing of it reaches a corpus.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.games.withdrawal import NAME
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.generate.runs.withdraw import withdraw
from liescope.web.play.table_setup import Setup, new_secret

FILE = "tables.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS server (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, setup TEXT NOT NULL, state TEXT NOT NULL, round INTEGER NOT NULL, note TEXT NOT NULL,
    made TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS seats (
    table_id TEXT NOT NULL, name TEXT NOT NULL, secret TEXT NOT NULL UNIQUE, pseudonym TEXT, consent TEXT,
    consented TEXT, leaving INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (table_id, name));
"""


class State(StrEnum):
    """Where a table is. PAUSED: its run stopped for a reason that its note says, and can go on; CLOSED: by
    the host, for good.
    """

    LOBBY = "lobby"
    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SeatKept:
    """One seat for a person. pseudonym: of whoever took it, None before; leaving: whether their words are still to be
    withdrawn.
    """

    name: str
    secret: str
    pseudonym: str | None
    leaving: bool


@dataclass(frozen=True, slots=True)
class TableKept:
    """One table. round: the number of the game that it plays, from 1."""

    id: str
    setup: Setup
    state: State
    round: int
    note: str


class TablesFile:
    """The file of tables in a folder, made if it is missing. Raises UsageError for one that cannot be opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if (folder / PLAN_FILE).is_file():
            raise UsageError(f"{folder} is a run, and tables need a folder of their own; choose another --out")
        file = folder / FILE
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # runs in it hold the roles of games under way
            os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
            self._base = sqlite3.connect(file, isolation_level=None)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("PRAGMA secure_delete = ON")
            self._base.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"{file} cannot be opened ({error}); choose another --out") from error

    def close(self) -> None:
        self._base.close()

    def secret(self, name: str) -> str:
        """A secret of the server itself, made when it is first asked for."""
        self._base.execute("INSERT OR IGNORE INTO server VALUES (?, ?)", (name, new_secret()))
        return str(self._one("SELECT value FROM server WHERE name = ?", name)[0])

    def add(self, setup: Setup) -> str:
        """Keep a new table, with a secret for each seat that a person may take; returns its id."""
        (count,) = self._one("SELECT count(*) FROM tables")
        table = f"table-{count + 1}"
        while (self.folder / table).exists():
            count += 1
            table = f"table-{count + 1}"
        seats = [(table, name, new_secret()) for name in setup.people]
        self._base.execute("BEGIN")
        self._base.execute(
            "INSERT INTO tables VALUES (?, ?, ?, 1, '', ?)", (table, setup.model_dump_json(), State.LOBBY, now())
        )
        self._base.executemany("INSERT INTO seats (table_id, name, secret) VALUES (?, ?, ?)", seats)
        self._base.execute("COMMIT")
        return table

    def tables(self) -> Iterator[TableKept]:
        """Every table, oldest first. Raises BadData for one that cannot be read."""
        rows = self._all("SELECT id, setup, state, round, note FROM tables ORDER BY made, id")
        for table, setup, state, number, note in rows:
            try:
                yield TableKept(table, Setup.model_validate_json(setup), State(state), number, note)
            except (ValidationError, ValueError) as error:
                raise BadData(f"{self.folder / FILE} holds what is no table ({table}: {error})") from None

    def seats(self, table: str) -> list[SeatKept]:
        """The seats for people at a table."""
        rows = self._all("SELECT name, secret, pseudonym, leaving FROM seats WHERE table_id = ?", table)
        return [SeatKept(name, secret, pseudonym, bool(leaving)) for name, secret, pseudonym, leaving in rows]

    def put_seat(self, table: str, name: str, **values: str | bool | None) -> SeatKept:
        """What a seat is now, by column of the file. What it was before is nowhere in the file or its log."""
        columns = ", ".join(f"{column} = ?" for column in values)
        self._base.execute(
            f"UPDATE seats SET {columns} WHERE (table_id, name) = (?, ?)", (*values.values(), table, name)
        )
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return next(seat for seat in self.seats(table) if seat.name == name)

    def put(self, table: str, state: State, round: int, note: str = "") -> None:
        """Where a table is now."""
        self._base.execute("UPDATE tables SET state = ?, round = ?, note = ? WHERE id = ?", (state, round, note, table))

    def _one(self, query: str, *values: object) -> tuple[Any, ...]:
        return next(iter(self._all(query, *values)))

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(self._base.execute(query, values)) as found:
            return found.fetchall()


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def has_left(person: str | None) -> bool:
    """Whether a name stands for somebody who withdrew."""
    return person is not None and person.startswith(NAME)


def withdraw_from(runs: Sequence[Path], person: str) -> str:
    """Take a person's words out of runs; returns their name from now on. Raises as `withdraw`."""
    become = person if has_left(person) else f"{NAME}1"
    for run in runs:
        with suppress(UnknownName):  # a game that the person did not play
            become = withdraw(run, person).name
    return become
