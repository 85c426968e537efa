"""What a scripted player reports about its own statement, how it suspects others', and the roles it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from liescope.games.core import Assessment
from liescope.games.script.hearing import MessageContent
from liescope.games.script.persona import Skills, chance
from liescope.games.taxonomy import DeceptionType as Kind

# What speakers mistake each kind of deception for, in themselves and in others.
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
    """The type of deception that a statement would be if it were one."""
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


_OWN = {
    False: ("I meant what I said.", "It is what I know.", "That is my honest view.", "I said it as I see it."),
    True: (
        "It helps me to stay in the game.",
        "I kept the truth to myself.",
        "I wanted them to look elsewhere.",
        "It was not quite what I know.",
    ),
}
OTHERS = {
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
    """The roles a player names when asked for every player's role: given to names one after the other, no more of each
    than the table holds. counts: how many of each role are left to give.
    """

    def __init__(self, counts: Mapping[str, int], own: str, names: Sequence[str]) -> None:
        self._left = {**counts, own: counts.get(own, 0) - 1}
        self._names = names
        self._given: dict[str, str] = {}

    def give(self, role: str, names: Iterable[str]) -> None:
        """Give the role to the first names without one, as long as any of the role are left."""
        for name in names:
            if name in self._names and name not in self._given and self._left.get(role, 0) > 0:
                self._given[name] = role
                self._left[role] -= 1

    def form(self, rest: str) -> dict[str, tuple[str, ...]]:
        """The role of each name, `rest` for those without one."""
        return {name: (self._given.get(name, rest),) for name in self._names}
