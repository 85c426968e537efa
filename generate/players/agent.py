"""A seat that is answered from outside, by other people's agents and trainers: `agent:NAME`, in a live game only
(`liescope.environment`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from liescope.common.errors import UsageError
from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.player_protocol import AtOnce, PlayerContext


@dataclass(frozen=True, slots=True)
class AgentDesk:
    """What agents are asked now. open: by seat, in the order of the asks; asked: set with every ask."""

    open: dict[str, tuple[Ask, asyncio.Future[Reply]]] = field(default_factory=dict)
    asked: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Agent(AtOnce):
    """Whoever answers from outside. model: their name in tables."""

    model: str
    desk: AgentDesk
    source: ClassVar[Source] = Source.MODEL

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:  # noqa: ARG002
        """Waits for the answer. Raises the reason why the table closed."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.desk.open[ask.seat] = ask, reply
        self.desk.asked.set()
        return await reply


def open_agent(argument: str, context: PlayerContext) -> Agent:
    """The player of `agent:NAME`. Raises UsageError without a name, and where no table is."""

    def no_desk() -> AgentDesk:
        spec, table = f"agent:{argument}", "a table that liescope.environment(...) opens"
        raise UsageError(f"{spec} is answered from outside, at {table}; name another player here")

    if not argument.strip():
        raise UsageError("an agent needs a name, which stands in the record: agent:policy")
    return Agent(argument, context.shared.once(AgentDesk, no_desk))
