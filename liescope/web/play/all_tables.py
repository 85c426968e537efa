"""All tables of a server: found by their secrets, begun, and stopped together."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from liescope.common.errors import LiescopeError, RunPaused
from liescope.generate.players.run_limits import Limits
from liescope.web.play.people_table import PeopleTable
from liescope.web.play.table_setup import Setup, same_table
from liescope.web.play.tables_file import State, TablesFile


class Hub:
    """The tables kept in a folder. Call `open` in a running event loop, before anything else. host_secret: of the
    host's link, by default one that the folder keeps; terms: fields of the setup of every new table,
    whatever was given.
    """

    def __init__(
        self, folder: Path, limits: Limits, host_secret: str | None = None, terms: Mapping[str, Any] | None = None
    ) -> None:
        self._store = TablesFile(folder)
        self._limits = limits
        self._terms = dict(terms or {})
        self._settling: set[asyncio.Task[None]] = set()
        self.tables: dict[str, PeopleTable] = {}
        self._seats: dict[str, tuple[PeopleTable, str]] = {}
        self.host_secret = host_secret or self._store.secret("host")
        self.form_secret = self._store.secret("forms")
        for kept in self._store.tables():
            self._take(PeopleTable(kept, self._store, self._limits))

    def open(self) -> None:
        """Go on with every game where it was when the server stopped; where one cannot, its host is told why."""
        for table in self.tables.values():
            if table.state in (State.PLAYING, State.PAUSED):
                with suppress(LiescopeError):
                    table.resume()
            else:
                self._settling.add(asyncio.create_task(table.settle()))

    async def close(self) -> None:
        """Stop all games for now; they go on when the server starts again."""
        why = RunPaused("the server is stopping")
        await asyncio.gather(*self._settling)
        await asyncio.gather(*(table.close(why) for table in self.tables.values()))
        self._store.close()

    def add(self, setup: Setup) -> PeopleTable:
        """A new table, whose links can be shared."""
        made = self._store.add(setup.model_copy(update=self._terms))
        kept = next(kept for kept in self._store.tables() if kept.id == made)
        return self._take(PeopleTable(kept, self._store, self._limits))

    def find(self, setup: Setup) -> PeopleTable | None:
        """A table that was made with this setup, and that its host has not closed."""
        open_now = (table for table in self.tables.values() if table.state is not State.CLOSED)
        return next((table for table in open_now if same_table(table.setup, setup)), None)

    def seat(self, secret: str) -> tuple[PeopleTable, str] | None:
        """The table and the seat that a link leads to."""
        return self._seats.get(secret)

    def is_host(self, secret: str) -> bool:
        return hmac.compare_digest(secret.encode("utf-8", "replace"), self.host_secret.encode())

    def _take(self, table: PeopleTable) -> PeopleTable:
        self.tables[table.id] = table
        for seat in table.seats.values():
            self._seats[seat.kept.secret] = table, seat.name
        return table
