"""The work of a runner: the games that a plan lists, played by players, with a record of each when it ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Protocol, TypeVar

from liescope.games.core import Game, Outcome
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.players.protocol import Player


class JobGame(Protocol):
    """One game of the job. number: its place in the run, from 0."""

    @property
    def number(self) -> int: ...

    @property
    def game_id(self) -> str: ...


G = TypeVar("G", bound=JobGame)


class Job(Protocol[G]):
    """game: the name of the game, for its prompts; players: the specs of all players that the job needs.

    Everything that changes a game is in `plan`; a run folder with a different plan is refused.
    """

    game: str
    players: tuple[str, ...]

    def __len__(self) -> int: ...

    def plan(self) -> dict[str, Any]:
        """Plain JSON data, for run.json."""
        ...

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        """Raise BadData if a folder's plan belongs to a different kind of run."""
        ...

    def chains(self, ended: Set[str]) -> Iterator[Sequence[G]]:
        """The games that have not ended; games in a chain run one after the other, chains run in parallel."""
        ...

    def draw(self, game_id: str) -> str:
        """What tells the draws of a game from those of the job's other games, the same in a job with more games."""
        ...

    def origin(self, game_id: str) -> str:
        """The id of the recorded game that a game plays again or goes on from, "" for none."""
        ...

    def specs(self, planned: G) -> Collection[str]:
        """The specs of the players that a game needs."""
        ...

    def planned(self, number: int) -> G:
        """The game with this number."""
        ...

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        """Texts besides templates that the journal keeps, by hash and name."""
        ...

    def begin(self, planned: G, players: Mapping[str, Player]) -> Session:
        """The game at the first ask that is to be answered. players: by spec."""
        ...

    def seats(self, planned: G, game: Game) -> Mapping[str, str]:
        """The spec of the player in each seat."""
        ...

    async def end(
        self, planned: G, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        """The record of a game that ended or failed. players: by seat."""
        ...
