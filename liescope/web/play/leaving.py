"""People who withdraw their words: out of every game that a table has played."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from liescope.common.errors import UnknownName
from liescope.games.withdrawal import NAME
from liescope.generate.runs.withdraw import withdraw


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
