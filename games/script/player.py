"""The scripted player of any game: it answers from nothing but its seat's view and its planted skills.

What differs between games is a `Mind`: the moves it considers, its words, how it suspects, votes and acts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, EventKind, Phase, Reply
from liescope.games.script.grammar import Composed, Intent, Phrasebook, compose
from liescope.games.script.hearing import MessageContent
from liescope.games.script.knowledge import Follower, Heard, Knowledge, Log
from liescope.games.script.persona import Persona, Skills, chance, draws, lean
from liescope.games.taxonomy import DeceptionType
from liescope.games.taxonomy import DeceptionType as Kind

Leaning = Mapping[str, float]
Form = Mapping[str, tuple[str, ...]]
_NOTHING = Reply(problem="what the ask is about is not in the view")


@dataclass(frozen=True, slots=True, eq=False)
class Mind:
    """How scripted players of one game think. follower: for its games; words: what it can say; place: of the draws for
    an ask (given the speaker, if it is about a statement); leaning: the place of the draws that a seat keeps all day;
    intend: what to say; vote: for whom; rate: another's statement; name_roles: at the end; acts: other choices, by kind
    of ask; explain: the reason for a vote, in games that ask for it; reflect: on a game that has ended.
    """

    follower: Follower
    words: Phrasebook
    place: Callable[[Ask, str], tuple[object, ...]]
    leaning: Callable[[Ask], tuple[object, ...]]
    intend: Callable[[Knowledge, Skills, Ask, Random, Leaning], Intent]
    vote: Callable[[Knowledge, Skills, Ask, Random, Leaning], str]
    rate: Callable[[Knowledge, Heard, Skills, Random], Assessment]
    name_roles: Callable[[Knowledge, tuple[str, ...], Skills, Random], Form]
    acts: Mapping[AskKind, Callable[[Knowledge, Skills, Ask, Random], str]] = field(default_factory=dict)
    explain: Callable[[Knowledge, Skills, str, Random], Intent] | None = None
    reflect: Callable[[Knowledge, Skills, Random], Form] | None = None

    def answer(self, who: Persona, ask: Ask, view: Sequence[Event]) -> Reply:
        """The reply of a player, the same for the same place in a game."""
        seen = self._look(who, ask, view)
        kind = ask.kind
        if kind is AskKind.SPEAK or (kind is AskKind.EXPLAINED_VOTE and self.explain):
            said = self._said(who, ask, seen, view)
            return Reply(choice=said.choice, text=said.words.text(ask.limit), private=said.intent.private)
        if kind is AskKind.VOTE:
            leaning = lean(seen.public.names, who.name, *self.leaning(ask))
            return Reply(choice=self.vote(seen, who.skills, ask, self._random(who, ask), leaning))
        if kind in self.acts:
            return Reply(choice=self.acts[kind](seen, who.skills, ask, self._random(who, ask)))
        if kind is AskKind.REFLECTION and self.reflect:
            return Reply(form=self.reflect(seen, who.skills, self._random(who, ask)))
        if kind is AskKind.NAME_ROLES:
            return Reply(form=self.name_roles(seen, ask.options, who.skills, self._random(who, ask)))
        if kind not in (AskKind.SELF_ASSESSMENT, AskKind.PEER_ASSESSMENT):
            return Reply(problem=f"a scripted player of this game has no answer to {kind.value}")
        heard = next((said for said in reversed(seen.public.said) if said.about == ask.about), None)
        if heard is None:
            return _NOTHING
        random = self._random(who, ask, heard.actor)
        if kind is AskKind.PEER_ASSESSMENT:
            return Reply(assessment=self.rate(seen, heard, who.skills, random))
        return Reply(assessment=self._report(who, ask, seen, heard, view, random))

    def _look(self, who: Persona, ask: Ask, view: Sequence[Event]) -> Knowledge:
        return self.follower.look(ask.seat, ask.game, view, who.find_claims)

    def _random(self, who: Persona, ask: Ask, about: str = "") -> Random:
        return draws(who.name, *self.place(ask, about))

    def _said(self, who: Persona, ask: Ask, seen: Knowledge, view: Sequence[Event]) -> _Spoken:
        """The player's words at this place of a game, now or earlier, without a limit of length."""
        return _speak(self, who, replace(ask, rounds=seen.public.rounds, limit=None), Log(ask.game, tuple(view)))

    def _report(
        self, who: Persona, ask: Ask, seen: Knowledge, heard: Heard, view: Sequence[Event], random: Random
    ) -> Assessment:
        """Derive the statement's intent again: the view from before the statement gives the same one."""
        begin, spoke = heard.about, replace(ask, kind=AskKind.SPEAK, about=None, step=ask.step - 1)
        explained = heard.phase is Phase.VOTING
        if explained:
            place = heard.day, heard.phase
            ballot = (e.index for e in view if e.kind is EventKind.VOTE and (e.day, e.phase) == place)
            begin = min(ballot, default=begin)
        before = [event for event in view if event.index < begin]
        if explained:
            gone = {event.target for event in before if event.kind in (EventKind.DEATH, EventKind.EXILE)}
            others = tuple(name for name in seen.public.names if name != seen.me and name not in gone)
            spoke = replace(spoke, kind=AskKind.EXPLAINED_VOTE, options=others)
        said = self._said(who, spoke, seen, before)
        words = set(heard.text.rstrip("…").split())
        planted = said.intent.planted
        if 2 * len(words.intersection(said.words.text(None).split())) <= len(words):  # someone else spoke for this seat
            planted = suspected_kind(heard.reading) if seen.evil else DeceptionType.NONE
        return report_self(planted, who.skills, random)


@dataclass(frozen=True, slots=True, eq=False)
class _Spoken:
    """A player's words, its intent, and the choice that they explain."""

    intent: Intent
    words: Composed
    choice: str | None


@lru_cache(maxsize=64)
def _speak(mind: Mind, who: Persona, ask: Ask, log: Log) -> _Spoken:
    """The answer to an ask for words; the player's report on it needs it again."""
    seen, random = mind._look(who, ask, log.events), mind._random(who, ask)
    leaning, choice = lean(seen.public.names, who.name, *mind.leaning(ask)), None
    if ask.kind is AskKind.EXPLAINED_VOTE and mind.explain:
        choice = mind.vote(seen, who.skills, ask, random, leaning)
        intent = mind.explain(seen, who.skills, choice, random)
    else:
        intent = mind.intend(seen, who.skills, ask, random, leaning)
    return _Spoken(intent, compose(intent.moves, intent.names, intent.strength, random, mind.words), choice)


# The kinds that speakers confuse each kind of deception with, in themselves and in others.
NEAR: dict[Kind, tuple[Kind, ...]] = {
    Kind.NONE: (Kind.OMISSION, Kind.DISTORTION),
    Kind.OMISSION: (Kind.NONE, Kind.MISDIRECTION),
    Kind.DISTORTION: (Kind.NONE, Kind.FABRICATION, Kind.MISDIRECTION),
    Kind.FABRICATION: (Kind.STRATEGIC_DECEPTION, Kind.DISTORTION),
    Kind.MISDIRECTION: (Kind.NONE, Kind.DISTORTION, Kind.OMISSION),
    Kind.SYCOPHANCY: (Kind.NONE, Kind.PERSUASIVE_MANIPULATION),
    Kind.STRATEGIC_DECEPTION: (Kind.FABRICATION, Kind.OMISSION),
    Kind.PERSUASIVE_MANIPULATION: (Kind.NONE, Kind.SYCOPHANCY, Kind.MISDIRECTION),
}


def report_self(planted: Kind, skills: Skills, random: Random) -> Assessment:
    """The type that the speaker meant; the less skilled it is at lying, the more often it is mistaken."""
    slip = 0.04 + 0.2 * chance(-skills.m)
    kind = random.choice(NEAR[planted]) if random.random() < slip else planted
    confidence = round(min(0.99, max(0.5, random.gauss(0.85, 0.08))), 2)
    reason = random.choice(_OWN[kind is not Kind.NONE])
    return Assessment(kind is not Kind.NONE, kind.value, confidence, None, reason)


def suspected_kind(reading: MessageContent) -> Kind:
    """The type of deception that a statement would be if it were deceptive."""
    if reading.report:
        return Kind.FABRICATION
    if reading.role:
        return Kind.STRATEGIC_DECEPTION
    if reading.pleads:
        return Kind.PERSUASIVE_MANIPULATION
    if reading.accused:
        return Kind.MISDIRECTION if reading.strength <= 0.5 else Kind.DISTORTION
    if reading.cleared:
        return Kind.SYCOPHANCY
    return Kind.OMISSION


def rated(
    speaker: str, probability: float, kind: Kind, slip: float, odds: Callable[[bool], float], random: Random
) -> Assessment:
    """An observer's rating of a statement. probability: of flagging it; kind: its kind of deception, if any; slip: how
    often the observer names a similar kind; odds: that the speaker is up to no good, by whether it was flagged.
    """
    flag = random.random() < probability
    if not flag:
        kind = Kind.NONE
    elif random.random() < slip:
        kind = random.choice([near for near in NEAR[kind] if near is not Kind.NONE])
    confidence = round(min(0.99, max(0.3, random.gauss(0.45 + 0.5 * abs(2 * probability - 1), 0.07))), 2)
    suspicion = round(min(1.0, max(0.0, random.gauss(chance(odds(flag)), 0.05))), 2)
    return Assessment(flag, kind.value, confidence, suspicion, random.choice(_OTHERS[flag]).format(x=speaker))


_OWN = {
    False: ("I meant what I said.", "It is what I know.", "That is my honest view.", "I said it as I see it."),
    True: (
        "It helps me to stay in the game.",
        "I kept the truth to myself.",
        "I wanted them to look elsewhere.",
        "It was not quite what I know.",
    ),
}
_OTHERS = {
    False: (
        "{x} sounds open to me.",
        "It fits what I know of {x}.",
        "I see no reason to doubt {x}.",
        "{x} has nothing to gain by that.",
    ),
    True: (
        "It does not fit what I know of {x}.",
        "{x} seems to steer us.",
        "I do not believe {x} here.",
        "{x} has a reason to say so.",
    ),
}


class Dealing:
    """The roles a player names when asked for every player's role: given to names one after the other, first to those
    whose role it knows, no more of each than the game deals.
    """

    def __init__(self, seen: Knowledge, names: Sequence[str]) -> None:
        self._left = {**seen.public.counts, seen.role: seen.public.counts.get(seen.role, 0) - 1}
        self._names = names
        self._given: dict[str, str] = {}
        for name, role in {**dict.fromkeys(seen.partners, seen.role), **seen.results}.items():
            self.give(role, [name])

    def give(self, role: str, names: Iterable[str]) -> None:
        """Give the role to the first names without one, as long as any of the role are left."""
        for name in names:
            if name in self._names and name not in self._given and self._left.get(role, 0) > 0:
                self._given[name] = role
                self._left[role] -= 1

    def form(self, rest: str) -> dict[str, tuple[str, ...]]:
        """The role of each name, `rest` for those without one."""
        return {name: (self._given.get(name, rest),) for name in self._names}
