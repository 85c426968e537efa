"""What a package must know about each game, registered under the game's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from liescope.common.errors import UndeclaredGame

T = TypeVar("T")


class PerGame(dict[str, T]):
    """One part of each game. Looking up a game that has not registered the part raises UndeclaredGame: no game is ever
    treated as a different one. what: the part, in words; where: the module that holds this registry.
    """

    def __init__(self, what: str, where: str, parts: Mapping[str, T]) -> None:
        super().__init__(parts)
        self.what = what
        self.where = where

    def __missing__(self, game: str) -> T:
        raise UndeclaredGame(game, self.what, self.where)
