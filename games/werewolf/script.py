"""A scripted player's answers in Werewolf, from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Phase, Reply
from liescope.games.script.assessments import report_self, suspected_kind
from liescope.games.script.draws import draws, lean
from liescope.games.script.following import Log
from liescope.games.script.grammar import Composed, Intent, compose
from liescope.games.script.persona import Persona, Skills
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.assessments import name_roles, rate
from liescope.games.werewolf.choices import bid, investigate, kill, protect, vote
from liescope.games.werewolf.intents import explain, intend
from liescope.games.werewolf.knowledge import Heard, Knowledge, look
from liescope.games.werewolf.phrases import WORDS
from liescope.games.werewolf.reflection import reflect

_ACTS: dict[AskKind, Callable[[Knowledge, Skills, Ask, Random], str]] = {
    AskKind.KILL: kill,
    AskKind.PROTECT: protect,
    AskKind.INVESTIGATE: investigate,
    AskKind.BID: bid,
}
_NOTHING = Reply(problem="what the ask is about is not in the view")


def answer(who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of this player. Its draws depend on the point in the game, not on the
    event number, so that assessments, or lessons shown to it, change nothing else.
    """
    return _Player(who.name, who.skills, ask).answer(view)


class _Player:
    """A player for the length of one answer: its name, skills and draws."""

    def __init__(self, model: str, skills: Skills, ask: Ask) -> None:
        self.model = model
        self.skills = skills
        self.ask = ask

    def answer(self, view: Sequence[Event]) -> Reply:
        ask, kind = self.ask, self.ask.kind
        if kind is AskKind.SPEAK or kind is AskKind.EXPLAINED_VOTE:
            said = self._spoken(ask, view)
            return Reply(choice=said.choice, text=said.words.text(ask.limit), private=said.intent.private)
        seen = look(ask.seat, ask.game, view)
        if kind is AskKind.VOTE:
            leaning = _leaning(self.model, seen, ask)
            return Reply(choice=vote(seen, self.skills, ask, self._random(), leaning))
        if kind in _ACTS:
            return Reply(choice=_ACTS[kind](seen, self.skills, ask, self._random()))
        if kind is AskKind.REFLECTION:
            return Reply(form=reflect(seen, self.skills, self._random()))
        if kind is AskKind.NAME_ROLES:
            return Reply(form=name_roles(seen, ask.options, self.skills, self._random()))
        heard = next((said for said in reversed(seen.table.said) if said.about == ask.about), None)
        if heard is None:
            return _NOTHING
        random = self._random(heard.actor)
        if kind is AskKind.PEER_ASSESSMENT:
            return Reply(assessment=rate(seen, heard, self.skills, random))
        return Reply(assessment=self._report(seen, heard, view, random))

    def _spoken(self, ask: Ask, view: Sequence[Event]) -> _Spoken:
        place = replace(ask, step=0, rounds=0, limit=None)  # what was said depends on none of them
        return _speak(self.model, self.skills, place, Log(ask.game, tuple(view)))

    def _report(self, seen: Knowledge, heard: Heard, view: Sequence[Event], random: Random) -> Assessment:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        begin, spoke = heard.about, replace(self.ask, kind=AskKind.SPEAK, about=None)
        if heard.phase is Phase.VOTING:
            place = heard.day, heard.phase
            ballot = (e.index for e in view if e.kind is EventKind.VOTE and (e.day, e.phase) == place)
            begin = min(ballot, default=begin)
        before = [event for event in view if event.index < begin]
        if heard.phase is Phase.VOTING:
            gone = {event.target for event in before if event.kind in (EventKind.DEATH, EventKind.EXILE)}
            others = tuple(name for name in seen.table.names if name != seen.me and name not in gone)
            spoke = replace(spoke, kind=AskKind.EXPLAINED_VOTE, options=others)
        said = self._spoken(spoke, before)
        words = set(heard.text.rstrip("…").split())
        planted = said.intent.planted
        if 2 * len(words.intersection(said.words.text(None).split())) <= len(words):  # someone else spoke for this seat
            planted = suspected_kind(heard.reading) if seen.evil else DeceptionType.NONE
        return report_self(planted, self.skills, random)

    def _random(self, about: str = "") -> Random:
        return _random(self.model, self.ask, about)


@dataclass(frozen=True, slots=True, eq=False)
class _Spoken:
    """What a player says: its words, what it means by them, and the choice that they explain."""

    intent: Intent
    words: Composed
    choice: str | None


@lru_cache(maxsize=64)
def _speak(model: str, skills: Skills, ask: Ask, log: Log) -> _Spoken:
    """What the player answers to an ask for words, however long; its report on it needs it again."""
    seen, random = look(ask.seat, ask.game, log.events), _random(model, ask)
    leaning, choice = _leaning(model, seen, ask), None
    if ask.kind is AskKind.EXPLAINED_VOTE:
        choice = vote(seen, skills, ask, random, leaning)
        intent = explain(seen, skills, choice, random)
    else:
        intent = intend(seen, skills, ask, random, leaning)
    return _Spoken(intent, compose(intent.moves, intent.names, intent.strength, random, WORDS), choice)


def _leaning(model: str, seen: Knowledge, ask: Ask) -> Mapping[str, float]:
    return lean(seen.table.names, model, ask.game, ask.day, ask.seat)


def _random(model: str, ask: Ask, about: str = "") -> Random:
    return draws(model, ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, about)
