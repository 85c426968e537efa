"""A scripted player's answers in Mafia, from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, Reply
from liescope.games.mafia.assessments import name_roles, rate
from liescope.games.mafia.choices import investigate, kill, vote
from liescope.games.mafia.intents import intend
from liescope.games.mafia.knowledge import Heard, Knowledge, look
from liescope.games.mafia.phrases import WORDS
from liescope.games.script.assessments import report_self, suspected_kind
from liescope.games.script.draws import draws, lean
from liescope.games.script.following import Log
from liescope.games.script.grammar import Composed, Intent, compose
from liescope.games.script.persona import Persona, Skills
from liescope.games.taxonomy import DeceptionType


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player."""
    return _Player(who.name, who.skills).answer(ask, view)


class _Player:
    def __init__(self, model: str, skills: Skills) -> None:
        self.model = model
        self.skills = skills

    def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind is AskKind.SPEAK:
            intent, words = self._speak(ask, ask.step, ask.rounds, view)
            return Reply(text=words.text(ask.limit), private=intent.private)
        seen = look(ask.seat, ask.game, view)
        if ask.kind is AskKind.SELF_ASSESSMENT:
            return Reply(assessment=self._report(seen, ask, view))
        random = _random(self.model, ask)
        match ask.kind:
            case AskKind.PEER_ASSESSMENT:
                said = _about(seen, ask)
                return Reply(assessment=rate(seen, said, self.skills, random)) if said else _NOTHING
            case AskKind.VOTE:
                return Reply(
                    choice=vote(
                        seen, self.skills, ask, random, lean(seen.names, self.model, ask.game, ask.day, ask.seat)
                    )
                )
            case AskKind.KILL:
                return Reply(choice=kill(seen, self.skills, ask, random))
            case AskKind.INVESTIGATE:
                return Reply(choice=investigate(seen, self.skills, ask, random))
            case AskKind.NAME_ROLES:
                return Reply(form=name_roles(seen, ask.options, self.skills, random))
        return Reply(problem=f"a scripted player of Mafia has no answer to {ask.kind.value}")

    def _speak(self, ask: Ask, step: int, rounds: int, view: Sequence[Event]) -> tuple[Intent, Composed]:
        """What the seat said, or says, at this step of a discussion with these rounds."""
        last, log = ask.round >= rounds, Log(ask.game, tuple(view))
        return _spoken(self.model, self.skills, ask.seat, ask.day, step, last, log)

    def _report(self, seen: Knowledge, ask: Ask, view: Sequence[Event]) -> Assessment | None:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        said = _about(seen, ask)
        if said is None:
            return None
        before = [event for event in view if event.index < said.about]
        intent, composed = self._speak(ask, ask.step - 1, seen.rounds, before)
        words = set(said.text.rstrip("…").split())
        meant = intent.planted
        if 2 * len(words.intersection(composed.text(None).split())) <= len(words):  # someone else spoke for this seat
            meant = suspected_kind(said.reading) if seen.evil else DeceptionType.NONE
        return report_self(meant, self.skills, _random(self.model, ask))


@lru_cache(maxsize=64)
def _spoken(
    model: str, skills: Skills, seat: str, day: int, step: int, last: bool, log: Log
) -> tuple[Intent, Composed]:
    """The statement that a player makes, however long; its report on it needs it again."""
    seen = look(seat, log.game, log.events)
    random = draws(model, log.game, step, seat, AskKind.SPEAK.value)
    intent = intend(seen, skills, last, random, lean(seen.names, model, log.game, day, seat))
    return intent, compose(intent.moves, intent.names, intent.strength, random, WORDS)


def _random(model: str, ask: Ask) -> Random:
    return draws(model, ask.game, ask.step, ask.seat, ask.kind.value)


_NOTHING = Reply(problem="the statement to rate is not in the view")


def _about(seen: Knowledge, ask: Ask) -> Heard | None:
    return next((said for said in reversed(seen.said) if said.about == ask.about), None)
