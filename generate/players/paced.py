"""Answers at the pace of people, so that at a table with people nobody is known for a program by its speed.

A player takes the time to read what was said since it last acted, to think, and to type its words. What it took itself
counts. The speeds are the means of large studies: silent reading of English at 238 words a minute (Brysbaert 2019, 190
studies), typing on a keyboard at 52 (Dhakal et al. 2018, 168,000 people; standard deviation 20), with five characters
to the typed word. No study is behind the time to think.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import RunPaused
from liescope.games.core import Ask, Event, EventKind, Reply
from liescope.generate.players.protocol import Player
from liescope.generate.players.shared import Halt

_SPREAD = 0.38  # of typing speeds: the standard deviation of their logarithm
_LETTERS = 5  # to a typed word


class Pacing(BaseModel):
    """reading, typing: words a minute; thinking: the median of the seconds before an answer; most: seconds after which
    any answer is given.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    reading: float = Field(default=238.0, gt=0)
    typing: float = Field(default=52.0, gt=0)
    thinking: float = Field(default=4.0, ge=0)
    most: float = Field(default=75.0, gt=0)

    def seconds(self, ask: Ask, view: Sequence[Event], reply: Reply) -> float:
        """How long a person in this seat would take. The same for the same place of a game; the game's own draws are
        not touched.
        """
        own = math.exp(_SPREAD * Random(f"pace {ask.game} {ask.seat}").gauss(0, 1))  # this seat's, in the whole game
        mood = math.exp(_SPREAD * Random(f"pace {ask.game} {ask.seat} {ask.step}").gauss(0, 1))
        words = sum(len(text.split()) for text in _unread(ask, view))
        typed = len(reply.text or "") / _LETTERS
        return min(60 * words / self.reading + self.thinking * mood + 60 * typed / (self.typing * own), self.most)


def _unread(ask: Ask, view: Sequence[Event]) -> list[str]:
    """What others have said since the seat last said or decided something."""
    found: list[str] = []
    for event in reversed(view):
        if event.actor == ask.seat and event.kind in (EventKind.STATEMENT, EventKind.SILENCE, EventKind.VOTE):
            break
        found.append(event.text)
    return found


class Paced:
    """A player whose answers come at the pace of people."""

    def __init__(self, player: Player, pacing: Pacing, halt: Halt) -> None:
        self.model = player.model
        self.source = player.source
        self._player = player
        self._pacing = pacing
        self._halt = halt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._player, name)  # what only some players have: a host, a name for each seat

    async def prepare(self) -> None:
        await self._player.prepare()

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        begun = time.monotonic()
        reply = await self._player.answer(ask, view)
        with suppress(RunPaused):  # a run that ends keeps what it has
            await self._halt.sleep(begun + self._pacing.seconds(ask, view, reply) - time.monotonic())
        return reply

    async def close(self) -> None:
        await self._player.close()
