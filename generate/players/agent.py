"""A seat that is answered from outside, by other people's agents and trainers: `agent:NAME`, in a live game only
(`liescope.environment`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from liescope.common.errors import LiescopeError, UsageError
from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.player_protocol import PlayerContext


class AgentDesk:
    """What agents' seats are asked now, in the order of the asks; it belongs to one event loop."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Ask, asyncio.Future[Reply]]] = {}
        self.changed = asyncio.Event()

    @property
    def asks(self) -> tuple[Ask, ...]:
        return tuple(ask for ask, _ in self._open.values())

    async def ask(self, ask: Ask) -> Reply:
        """The reply to an ask, once it is given."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[ask.seat] = ask, reply
        self.changed.set()
        return await reply

    def give(self, seat: str, reply: Reply) -> None:
        """Answer the open ask of a seat."""
        self._open.pop(seat)[1].set_result(reply)
        self.changed.clear()

    def close(self, why: LiescopeError) -> None:
        """Answer every open ask with this error."""
        for _, reply in self._open.values():
            reply.set_exception(why)
        self._open.clear()


class Agent:
    """Whoever answers from outside. model: their name in tables."""

    source = Source.MODEL

    def __init__(self, model: str, desk: AgentDesk) -> None:
        self.model = model
        self._desk = desk

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:  # noqa: ARG002
        """Waits for the answer. Raises the reason why the table closed."""
        return await self._desk.ask(ask)

    async def close(self) -> None:
        """Nothing to close."""


def open_agent(argument: str, context: PlayerContext) -> Agent:
    """The player of `agent:NAME`. Raises UsageError without a name, and where no table is."""
    if not argument.strip():
        raise UsageError("an agent needs a name, which stands in the record: agent:policy")

    def no_desk() -> AgentDesk:
        raise UsageError(
            f"agent:{argument} is answered from outside, at a table that liescope.environment(...) opens; "
            "name another player here"
        )

    return Agent(argument, context.shared.once(AgentDesk, no_desk))
