"""The pages of a seat while they are open: a game that says when it has moved on, and answers that are told to be kept
once the journal holds them, and not before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from liescope.common.errors import UsageError
from liescope.games.core import Game, Replies
from liescope.games.session import Session
from liescope.generate.players.player_protocol import Player
from liescope.generate.runs.job import Playing
from liescope.generate.runs.run_plan import Plan, PlannedGame
from liescope.web.play.tables_file import SeatKept

MOST_PAGES = 8  # of one seat, open at the same time
LOG, ASK, PAGE = "log", "ask", "page"
"""What a seat's page is told has changed: what the seat has seen, what it is asked, or the page as a whole."""


class Listener:
    """One open page of a seat. Changes that it has not been told of add up. ended: it is to be told nothing more."""

    def __init__(self) -> None:
        self.ended = False
        self._told = asyncio.Event()
        self._what: set[str] = set()

    def tell(self, what: str) -> None:
        self._what.add(what)
        self._told.set()

    async def next(self) -> set[str]:
        """What has changed since the last call; waits until something has."""
        await self._told.wait()
        self._told.clear()
        what, self._what = self._what, set()
        return what


@dataclass(slots=True)
class PersonSeat:
    """A person's seat. seen: how many events its view had when its pages were last told; answered: the key of the last
    form that was taken from it, and when it is kept.
    """

    kept: SeatKept
    listeners: list[Listener] = field(default_factory=list)
    seen: int = 0
    answered: tuple[str, asyncio.Future[None]] | None = None

    @property
    def name(self) -> str:
        return self.kept.name

    def tell(self, what: str) -> None:
        for listener in self.listeners:
            listener.tell(what)

    def open(self) -> Listener:
        """Another page of the seat; of too many, the oldest ends, which may be one that has long been left."""
        for oldest in self.listeners[: len(self.listeners) + 1 - MOST_PAGES]:
            oldest.ended = True
            oldest.tell("")
        self.listeners.append(Listener())
        return self.listeners[-1]


class TableJob(Playing):
    """The playing of a table's game. begun: called with its session; moved: called whenever the game has moved on."""

    def __init__(self, plan: Plan, out: Path, begun: Callable[[Session], None], moved: Callable[[], None]) -> None:
        super().__init__(plan, out)
        self._begun = begun
        self._moved = moved

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:  # noqa: ARG002
        session = _Watched(self.plan.make(planned), self._moved)
        self._begun(session)
        self._moved()
        return session


class _Watched(Session):
    """A session that says when the game has moved on."""

    def __init__(self, game: Game, moved: Callable[[], None]) -> None:
        self._moved: Callable[[], None] | None = None
        super().__init__(game)
        self._moved = moved

    def send(self, replies: Replies) -> None:
        super().send(replies)
        if self._moved is not None:
            self._moved()


_LOST = "The server is stopping, and your answer was not kept. Your words are still here: send them again in a moment."


class Promises:
    """Replies that somebody waits for until they are kept. `kept` is what the run feeds."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, str], asyncio.Future[None]] = {}

    def promise(self, step: int, seat: str) -> asyncio.Future[None]:
        """Done once the journal holds the reply of a seat to the batch at this step."""
        return self._waiting.setdefault((step, seat), asyncio.get_running_loop().create_future())

    def kept(self, step: int, seat: str) -> None:
        """The journal has committed this reply."""
        if (waiting := self._waiting.pop((step, seat), None)) and not waiting.done():
            waiting.set_result(None)

    def end(self) -> None:
        """The run is over: nothing more will be kept. Whoever still waits gets a UsageError."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(UsageError(_LOST))
        self._waiting.clear()
