"""People who withdraw their words: out of every game that a table has played."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from liescope.common.errors import LiescopeError, UnknownName
from liescope.games.withdrawal import NAME
from liescope.generate.runs.plan import Plan
from liescope.generate.runs.withdraw import withdraw
from liescope.web.play.store import TablesFile


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
