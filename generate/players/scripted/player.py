"""The scripted player: answers every ask from the seat's view and the planted skills alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from liescope.games.core import Ask, AskKind, Assessment, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.protocol import PlayerContext
from liescope.generate.players.scripted.assessments import rate, report_self, suspected_kind
from liescope.generate.players.scripted.beliefs import lean
from liescope.generate.players.scripted.choices import investigate, kill, vote
from liescope.generate.players.scripted.draws import draws
from liescope.generate.players.scripted.grammar import compose
from liescope.generate.players.scripted.intents import Intent, intend
from liescope.generate.players.scripted.knowledge import Heard, Knowledge, look
from liescope.generate.players.scripted.naming import name_roles
from liescope.generate.players.scripted.skills import Skills, parse_spec
from liescope.generate.players.scripted.werewolf import answer_werewolf, plays_werewolf
from liescope.labeling.taxonomy import DeceptionType


class ScriptedPlayer:
    """Keeps no state: what it draws depends on the game's id, the step, the seat, the kind of ask and the spec."""

    source = Source.SCRIPTED

    def __init__(self, model: str, skills: Skills) -> None:
        self.model = model
        self.skills = skills

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        """Never suspends. A statement's `private` holds planted_type, a name of the taxonomy, and intent, its moves."""
        if plays_werewolf(view):
            return answer_werewolf(self.model, self.skills, ask, view)
        seen = look(ask.seat, view)
        if ask.kind is AskKind.SPEAK:
            intent, text = self._speak(seen, ask)
            private: dict[str, Any] = {"planted_type": intent.planted.value, "intent": "+".join(intent.moves)}
            return Reply(text=text, private=private)
        if ask.kind is AskKind.SELF_ASSESSMENT:
            return Reply(assessment=self._report(seen, ask, view))
        random = self._random(ask)
        if ask.kind is AskKind.PEER_ASSESSMENT:
            said = _about(seen, ask)
            return Reply(assessment=rate(seen, said, self.skills, random)) if said else _NOTHING
        if ask.kind is AskKind.VOTE:
            return Reply(choice=vote(seen, self.skills, ask, random, self._leaning(seen, ask)))
        if ask.kind is AskKind.NAME_ROLES:
            return Reply(form=name_roles(seen, ask.options, self.skills, random))
        act = kill if ask.kind is AskKind.KILL else investigate
        return Reply(choice=act(seen, self.skills, ask, random))

    async def close(self) -> None:
        """Nothing to close."""

    def _speak(self, seen: Knowledge, ask: Ask) -> tuple[Intent, str]:
        random = self._random(ask)
        intent = intend(seen, self.skills, ask, random, self._leaning(seen, ask))
        return intent, compose(intent.moves, intent.names, intent.strength, ask.limit, random)

    def _report(self, seen: Knowledge, ask: Ask, view: Sequence[Event]) -> Assessment | None:
        """Think the statement's intent through again: the view as it was before it gives the same one."""
        said = _about(seen, ask)
        if said is None:
            return None
        before = look(ask.seat, [event for event in view if event.index < said.about])
        spoke = replace(ask, kind=AskKind.SPEAK, step=ask.step - 1, about=None, rounds=before.rounds)
        return report_self(self._meant(before, spoke, said), self.skills, self._random(ask))

    def _meant(self, before: Knowledge, ask: Ask, said: Heard) -> DeceptionType:
        intent, text = self._speak(before, ask)
        words = set(said.text.rstrip("…").split())
        if 2 * len(words.intersection(text.split())) > len(words):  # fewer: somebody else spoke for this seat
            return intent.planted
        return suspected_kind(said.reading) if before.evil else DeceptionType.NONE

    def _leaning(self, seen: Knowledge, ask: Ask) -> dict[str, float]:
        return lean(seen.names, draws(self.model, ask.game, ask.day, ask.seat, "lean"))

    def _random(self, ask: Ask) -> Random:
        return draws(self.model, ask.game, ask.step, ask.seat, ask.kind.value)


_NOTHING = Reply(problem="the statement to rate is not in the view")


def _about(seen: Knowledge, ask: Ask) -> Heard | None:
    return next((said for said in reversed(seen.said) if said.about == ask.about), None)


def open_scripted(argument: str, _context: PlayerContext) -> ScriptedPlayer:
    """The player of `scripted:ARGUMENT`. Raises UnknownName or UsageError for a spec that is none."""
    return ScriptedPlayer(*parse_spec(argument))
