"""A worker's share of a job: the chains that are dealt to it while it plays."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, Generic

from liescope.games.core import Game, Outcome
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.players.protocol import Player
from liescope.generate.runs.job import G, Job

Chain = Sequence[int]  # numbers of games that are played one after the other


class Leases:
    """Chains as they are dealt, from another thread."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._chains = list(chains)
        self._final = False
        self._changed = threading.Condition()
        self.taken = 0  # chains that were begun

    def deal(self, chains: Sequence[Chain], final: bool) -> None:
        """Add chains. final: there will be no more."""
        with self._changed:
            self._chains += chains
            self._final |= final
            self._changed.notify_all()

    @property
    def starved(self) -> bool:
        """Whether none is left while more may come."""
        return self.taken >= len(self._chains) and not self._final

    def __iter__(self) -> Iterator[Chain]:
        """All chains from the first on; waits for more until they are final."""
        place = 0
        while True:
            with self._changed:
                self.taken = max(self.taken, place)
                self._changed.wait_for(lambda: place < len(self._chains) or self._final)  # noqa: B023
                if place >= len(self._chains):
                    return
                chain = self._chains[place]
            place += 1
            self.taken = max(self.taken, place)
            yield chain


class ShardJob(Generic[G]):
    """A job limited to the chains that are leased to this worker. plan: that of the run."""

    def __init__(self, job: Job[G], plan: dict[str, Any], leases: Leases) -> None:
        self.game = job.game
        self.players = job.players
        self._job = job
        self._plan = plan
        self._leases = leases

    def __len__(self) -> int:
        return len(self._job)

    def plan(self) -> dict[str, Any]:
        return self._plan

    def check(self, plan: Mapping[str, Any], where: Path) -> None:
        self._job.check(plan, where)

    def chains(self, ended: Set[str]) -> Iterator[Sequence[G]]:
        for numbers in self._leases:
            games = map(self._job.planned, numbers)
            if chain := tuple(game for game in games if game.game_id not in ended):
                yield chain

    def draw(self, game_id: str) -> str:
        return self._job.draw(game_id)

    def origin(self, game_id: str) -> str:
        return self._job.origin(game_id)

    def specs(self, planned: G) -> Collection[str]:
        return self._job.specs(planned)

    def planned(self, number: int) -> G:
        return self._job.planned(number)

    def kept(self) -> Mapping[str, Mapping[str, str]]:
        return self._job.kept()

    def begin(self, planned: G, players: Mapping[str, Player]) -> Session:
        return self._job.begin(planned, players)

    def seats(self, planned: G, game: Game) -> Mapping[str, str]:
        return self._job.seats(planned, game)

    async def end(
        self, planned: G, game: Game, outcome: Outcome | None, players: Mapping[str, Player], failure: str
    ) -> GameRecord:
        return await self._job.end(planned, game, outcome, players, failure)
