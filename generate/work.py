"""What the runner does: games that a plan lists, played by players, with a record of each at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Protocol, TypeVar

from games.core import Game, Outcome
from games.record import GameRecord
from generate.players.protocol import Player


class Piece(Protocol):
    """One game of the work. number: its place in the run, from 0."""

    @property
    def number(self) -> int: ...

    @property
    def game_id(self) -> str: ...


P = TypeVar("P", bound=Piece)


class Work(Protocol[P]):
    """game: the name of the game, for its prompts; players: the specs of all players that the work needs.

    Everything that changes a game is in `plan`; a run folder with another plan is refused.
    """

    game: str
    players: tuple[str, ...]

    def __len__(self) -> int: ...

    def plan(self) -> dict[str, Any]:
        """Plain JSON data, for run.json."""
        ...

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        """Raises BadData where a folder's plan is of another kind of run."""
        ...

    def strands(self, ended: Set[str]) -> Iterator[Sequence[P]]:
        """The games that have not ended; those of a strand one after the other, strands side by side."""
        ...

    def begin(self, piece: P, players: Mapping[str, Player]) -> Game:
        """The game itself, not begun. players: by spec."""
        ...

    def seats(self, piece: P, game: Game) -> Mapping[str, str]:
        """Whose spec answers for each seat."""
        ...

    async def end(
        self, piece: P, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        """The record of a game that ended or failed. players: by seat."""
        ...
