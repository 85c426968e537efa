"""A scripted player's answers in Werewolf, from nothing but the seat's view and the planted skills."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Phase, Reply
from liescope.generate.players.scripted.assessments import report_self, suspected_kind
from liescope.generate.players.scripted.beliefs import lean
from liescope.generate.players.scripted.draws import draws
from liescope.generate.players.scripted.grammar import compose
from liescope.generate.players.scripted.intents import Intent
from liescope.generate.players.scripted.skills import Skills
from liescope.generate.players.scripted.werewolf.assessments import name_roles, rate
from liescope.generate.players.scripted.werewolf.choices import bid, investigate, kill, protect, vote
from liescope.generate.players.scripted.werewolf.intents import explain, intend
from liescope.generate.players.scripted.werewolf.knowledge import Heard, Knowledge, look
from liescope.generate.players.scripted.werewolf.phrases import WORDS
from liescope.generate.players.scripted.werewolf.reflection import reflect, tag_lesson
from liescope.labeling.taxonomy import DeceptionType

_ACTS: dict[AskKind, Callable[[Knowledge, Skills, Ask, Random], str]] = {
    AskKind.KILL: kill,
    AskKind.PROTECT: protect,
    AskKind.INVESTIGATE: investigate,
    AskKind.BID: bid,
}
_NOTHING = Reply(problem="what the ask is about is not in the view")


def answer_werewolf(model: str, skills: Skills, ask: Ask, view: Sequence[Event]) -> Reply:
    """The reply of the player with this name and these skills. Its draws depend on the point in the game, not on the
    event number, so that assessments, or lessons shown to it, change nothing else.
    """
    return _Player(model, skills, ask).answer(view)


class _Player:
    """A player for the length of one answer: its name, skills and draws."""

    def __init__(self, model: str, skills: Skills, ask: Ask) -> None:
        self.model = model
        self.skills = skills
        self.ask = ask

    def answer(self, view: Sequence[Event]) -> Reply:
        ask, kind = self.ask, self.ask.kind
        if kind is AskKind.TAG_LESSON:
            lesson = next((event.text for event in reversed(view) if event.index == ask.about), None)
            return _NOTHING if lesson is None else Reply(form=tag_lesson(lesson, self._random(ask, lesson)))
        seen = look(ask.seat, ask.game, view)
        if kind is AskKind.SPEAK:
            intent, text = self._speak(seen, ask)
            return Reply(text=text, private=intent.private)
        if kind is AskKind.EXPLAINED_VOTE:
            choice, intent, text = self._vote(seen, ask)
            return Reply(choice=choice, text=text, private=intent.private)
        if kind is AskKind.VOTE:
            return Reply(choice=vote(seen, self.skills, ask, self._random(ask), self._leaning(seen)))
        if kind in _ACTS:
            return Reply(choice=_ACTS[kind](seen, self.skills, ask, self._random(ask)))
        if kind is AskKind.REFLECTION:
            return Reply(form=reflect(seen, self.skills, self._random(ask)))
        if kind is AskKind.NAME_ROLES:
            return Reply(form=name_roles(seen, ask.options, self.skills, self._random(ask)))
        said = next((said for said in reversed(seen.table.said) if said.about == ask.about), None)
        if said is None:
            return _NOTHING
        random = self._random(ask, said.actor)
        if kind is AskKind.PEER_ASSESSMENT:
            return Reply(assessment=rate(seen, said, self.skills, random))
        return Reply(assessment=self._report(said, view, random))

    def _speak(self, seen: Knowledge, ask: Ask) -> tuple[Intent, str]:
        random = self._random(ask)
        intent = intend(seen, self.skills, ask, random, self._leaning(seen))
        return intent, compose(intent.moves, intent.names, intent.strength, ask.limit, random, WORDS)

    def _vote(self, seen: Knowledge, ask: Ask) -> tuple[str, Intent, str]:
        random = self._random(ask)
        choice = vote(seen, self.skills, ask, random, self._leaning(seen))
        intent = explain(seen, self.skills, choice, random)
        return choice, intent, compose(intent.moves, intent.names, intent.strength, ask.limit, random, WORDS)

    def _report(self, said: Heard, view: Sequence[Event], random: Random) -> Assessment:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        ask = self.ask
        begin = said.about
        if said.phase is Phase.VOTING:
            ballot = (e.index for e in view if e.kind is EventKind.VOTE and (e.day, e.phase) == (said.day, said.phase))
            begin = min(ballot, default=begin)
        before = look(ask.seat, ask.game, [event for event in view if event.index < begin])
        if said.phase is Phase.VOTING:
            spoke = replace(ask, kind=AskKind.EXPLAINED_VOTE, about=None, options=tuple(before.others()))
            _, intent, text = self._vote(before, spoke)
        else:
            intent, text = self._speak(before, replace(ask, kind=AskKind.SPEAK, about=None))
        words = set(said.text.rstrip("…").split())
        if 2 * len(words.intersection(text.split())) > len(words):
            planted = intent.planted
        else:  # someone else spoke for this seat
            planted = suspected_kind(said.reading) if before.evil else DeceptionType.NONE
        return report_self(planted, self.skills, random)

    def _leaning(self, seen: Knowledge) -> dict[str, float]:
        return lean(seen.table.names, draws(self.model, self.ask.game, self.ask.day, self.ask.seat, "lean"))

    def _random(self, ask: Ask, about: str = "") -> Random:
        place = ask.day, ask.phase.value, ask.round, ask.kind.value, about
        return draws(self.model, ask.game, ask.seat, *place)
