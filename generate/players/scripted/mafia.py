"""A scripted player's answers in Mafia, from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, Reply
from liescope.generate.players.scripted.assessments import rate, report_self, suspected_kind
from liescope.generate.players.scripted.beliefs import lean
from liescope.generate.players.scripted.choices import investigate, kill, vote
from liescope.generate.players.scripted.draws import draws
from liescope.generate.players.scripted.grammar import MAFIA_WORDS, compose
from liescope.generate.players.scripted.intents import Intent, intend
from liescope.generate.players.scripted.knowledge import Heard, Knowledge, look
from liescope.generate.players.scripted.naming import name_roles
from liescope.generate.players.scripted.skills import Skills
from liescope.labeling.taxonomy import DeceptionType


def answer_mafia(model: str, skills: Skills, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of the player with this name and these skills."""
    return _Player(model, skills).answer(ask, view)


class _Player:
    def __init__(self, model: str, skills: Skills) -> None:
        self.model = model
        self.skills = skills

    def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        seen = look(ask.seat, view)
        if ask.kind is AskKind.SPEAK:
            intent, text = self._speak(seen, ask)
            return Reply(text=text, private=intent.private)
        if ask.kind is AskKind.SELF_ASSESSMENT:
            return Reply(assessment=self._report(seen, ask, view))
        random = self._random(ask)
        match ask.kind:
            case AskKind.PEER_ASSESSMENT:
                said = _about(seen, ask)
                return Reply(assessment=rate(seen, said, self.skills, random)) if said else _NOTHING
            case AskKind.VOTE:
                return Reply(choice=vote(seen, self.skills, ask, random, self._leaning(seen, ask)))
            case AskKind.KILL:
                return Reply(choice=kill(seen, self.skills, ask, random))
            case AskKind.INVESTIGATE:
                return Reply(choice=investigate(seen, self.skills, ask, random))
            case AskKind.NAME_ROLES:
                return Reply(form=name_roles(seen, ask.options, self.skills, random))
        return Reply(problem=f"a scripted player of Mafia has no answer to {ask.kind.value}")

    def _speak(self, seen: Knowledge, ask: Ask) -> tuple[Intent, str]:
        random = self._random(ask)
        intent = intend(seen, self.skills, ask, random, self._leaning(seen, ask))
        return intent, compose(intent.moves, intent.names, intent.strength, ask.limit, random, MAFIA_WORDS)

    def _report(self, seen: Knowledge, ask: Ask, view: Sequence[Event]) -> Assessment | None:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        said = _about(seen, ask)
        if said is None:
            return None
        before = look(ask.seat, [event for event in view if event.index < said.about])
        spoke = replace(ask, kind=AskKind.SPEAK, step=ask.step - 1, about=None, rounds=before.rounds)
        return report_self(self._meant(before, spoke, said), self.skills, self._random(ask))

    def _meant(self, before: Knowledge, ask: Ask, said: Heard) -> DeceptionType:
        intent, text = self._speak(before, ask)
        words = set(said.text.rstrip("…").split())
        if 2 * len(words.intersection(text.split())) > len(words):  # fewer: someone else spoke for this seat
            return intent.planted
        return suspected_kind(said.reading) if before.evil else DeceptionType.NONE

    def _leaning(self, seen: Knowledge, ask: Ask) -> dict[str, float]:
        return lean(seen.names, draws(self.model, ask.game, ask.day, ask.seat, "lean"))

    def _random(self, ask: Ask) -> Random:
        return draws(self.model, ask.game, ask.step, ask.seat, ask.kind.value)


_NOTHING = Reply(problem="the statement to rate is not in the view")


def _about(seen: Knowledge, ask: Ask) -> Heard | None:
    return next((said for said in reversed(seen.said) if said.about == ask.about), None)
