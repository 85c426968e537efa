"""What the server keeps of its tables besides their runs: who may sit where, the secrets of their links, whose words
are still to be withdrawn.

One SQLite file that its owner alone may read. It is no part of any run, and nothing of it reaches a corpus.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from liescope.common.errors import BadData, LiescopeError, UnknownName, UsageError
from liescope.games.withdrawal import NAME
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.generate.runs.run_plan import Plan
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
    consented TEXT, PRIMARY KEY (table_id, name));
CREATE TABLE IF NOT EXISTS withdrawals (
    table_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (table_id, name));
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
    """One seat for a person. pseudonym, consent: of whoever took it, None before; consent: the hash of the text that
    they agreed to, consented: when, in UTC.
    """

    table: str
    name: str
    secret: str
    pseudonym: str | None
    consent: str | None
    consented: str | None


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
        columns = "table_id, name, secret, pseudonym, consent, consented"
        return [SeatKept(*row) for row in self._all(f"SELECT {columns} FROM seats WHERE table_id = ?", table)]

    def take(self, table: str, name: str, pseudonym: str, consent: str) -> None:
        """Somebody sits down, having agreed to the text with this hash."""
        self._base.execute(
            "UPDATE seats SET pseudonym = ?, consent = ?, consented = ? WHERE (table_id, name) = (?, ?)",
            (pseudonym, consent, now(), table, name),
        )

    def leave(self, table: str, name: str) -> None:
        """Whoever took a seat gives it back before the game."""
        self._base.execute(
            "UPDATE seats SET pseudonym = NULL, consent = NULL, consented = NULL WHERE (table_id, name) = (?, ?)",
            (table, name),
        )
        self._forget()

    def ask_withdrawal(self, table: str, name: str) -> None:
        """The person in a seat wants their words withdrawn, as soon as that can be."""
        self._base.execute("INSERT OR IGNORE INTO withdrawals VALUES (?, ?)", (table, name))

    def withdrawals(self, table: str) -> list[str]:
        """The seats whose words are still to be withdrawn."""
        return [name for (name,) in self._all("SELECT name FROM withdrawals WHERE table_id = ?", table)]

    def withdrawn(self, table: str, name: str, become: str) -> None:
        """The words are gone, and the person has another name."""
        self._base.execute("BEGIN")
        self._base.execute("UPDATE seats SET pseudonym = ? WHERE (table_id, name) = (?, ?)", (become, table, name))
        self._base.execute("DELETE FROM withdrawals WHERE (table_id, name) = (?, ?)", (table, name))
        self._base.execute("COMMIT")
        self._forget()

    def _forget(self) -> None:
        """Leave nothing in the file's log of what was deleted."""
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

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


class Leavers:
    """The seats of a table whose people's words are still to be withdrawn. The store keeps them until that is done."""

    def __init__(self, table: str, store: TablesFile) -> None:
        self._table = table
        self._store = store
        self._names = set(store.withdrawals(table))
        self._turn = asyncio.Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def add(self, name: str) -> None:
        """The person in a seat wants their words withdrawn."""
        self._store.ask_withdrawal(self._table, name)
        self._names.add(name)

    def catch_up(self, plan: Plan | None) -> bool:
        """Forget the pseudonyms of people whose words were withdrawn without the server; returns whether there are any.
        plan: of the table's game.
        """
        people = {name: spec.partition(":")[2] for name, spec in (plan.held if plan is not None else {}).items()}
        left = {name: person for name, person in people.items() if has_left(person)}
        for name, person in left.items():
            self._store.withdrawn(self._table, name, person)
        return bool(left)

    def alone(self) -> asyncio.Lock:
        """To be held while words are withdrawn: two at once would be in each other's way in the same runs."""
        return self._turn

    @property
    def busy(self) -> bool:
        """Whether words are being withdrawn at this moment."""
        return self._turn.locked()

    async def settle(self, runs: Sequence[Path], person: Callable[[str], str]) -> str:
        """Withdraw the words of all of them from runs. person: who holds a seat. Returns why some could not be, ""
        where all were.
        """
        problems = []
        for name in self:
            try:
                become = await asyncio.to_thread(_withdraw_from, runs, person(name))
            except LiescopeError as error:
                problems.append(f"somebody's words are still to be withdrawn: {error}")
                continue
            self._store.withdrawn(self._table, name, become)
            self._names.discard(name)
        return "; ".join(problems)


def _withdraw_from(runs: Sequence[Path], person: str) -> str:
    """Take a person's words out of runs; returns their name from now on. Raises as `withdraw`."""
    become = person if has_left(person) else f"{NAME}1"
    for run in runs:
        with suppress(UnknownName):  # a game that the person did not play
            become = withdraw(run, person).name
    return become
