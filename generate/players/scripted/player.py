"""The scripted player: answers every ask from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Sequence

from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.protocol import PlayerContext
from liescope.generate.players.scripted.games import ANSWERS
from liescope.generate.players.scripted.skills import Skills, parse_spec


class ScriptedPlayer:
    """Keeps no state: what it draws depends on the game's id, the step, the seat, the kind of ask and the spec.

    game: the name of the game that it plays. Raises UndeclaredGame for a game without scripted players.
    """

    source = Source.SCRIPTED

    def __init__(self, model: str, skills: Skills, game: str) -> None:
        self.model = model
        self.skills = skills
        self._answer = ANSWERS[game]

    async def prepare(self) -> None:
        """Nobody to ask."""

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Never suspends. A statement's `private` holds planted_type, a name of the taxonomy, and intent, its moves."""
        return self._answer(self.model, self.skills, ask, view)

    async def close(self) -> None:
        """Nothing to close."""


def open_scripted(argument: str, context: PlayerContext) -> ScriptedPlayer:
    """The player of `scripted:ARGUMENT`. Raises UnknownName or UsageError for a spec that cannot be read."""
    return ScriptedPlayer(*parse_spec(argument), context.game)
