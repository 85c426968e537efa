"""What a scripted player reports about its own statement, and how it rates another's."""

from __future__ import annotations

from random import Random

from liescope.games.core import Assessment
from liescope.games.mafia import MAFIOSO
from liescope.generate.players.scripted.beliefs import believe, chance
from liescope.generate.players.scripted.knowledge import Heard, Knowledge
from liescope.generate.players.scripted.reading import MessageContent
from liescope.generate.players.scripted.skills import Skills
from liescope.labeling.taxonomy import DeceptionType as Kind

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
_KNOWN = 3.0  # log-odds that a statement by a known mafioso deceives, before its words are weighed
_BASE = -0.9  # the same for a speaker about whom nothing is known


def report_self(planted: Kind, skills: Skills, random: Random) -> Assessment:
    """The type that the speaker meant; the less skilled it is at lying, the more often it is mistaken."""
    slip = 0.04 + 0.2 * chance(-skills.m)
    kind = random.choice(NEAR[planted]) if random.random() < slip else planted
    confidence = round(min(0.99, max(0.5, random.gauss(0.85, 0.08))), 2)
    reason = random.choice(_OWN[kind is not Kind.NONE])
    return Assessment(kind is not Kind.NONE, kind.value, confidence, None, reason)


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """A peer's view of a statement, from what it believes about the speaker and what it heard in the words."""
    belief = believe(seen).get(said.actor, 0.0)
    known = seen.results.get(said.actor) == MAFIOSO or seen.evil
    if known:
        odds = (_KNOWN if belief > 0 else -_KNOWN) - (1.5 if belief > 0 and _harmless(said.reading) else 0.0)
    else:
        wronged = any(name == seen.me for name, _ in said.reading.accused)
        odds = _BASE + max(skills.v, 0.0) * belief + (0.8 if wronged else 0.0)
    probability = chance(odds)
    flag = random.random() < probability
    kind = Kind.NONE
    if flag:
        kind = suspected_kind(said.reading)
        if random.random() < 0.15 + 0.25 * chance(-skills.v):
            kind = random.choice([near for near in NEAR[kind] if near is not Kind.NONE])
    sure = 0.5 + 0.5 * abs(2 * probability - 1)
    confidence = round(min(0.99, max(0.3, random.gauss(sure - 0.05, 0.07))), 2)
    evil = chance(belief if known else max(skills.v, 0.0) * belief + 0.4 * flag - 0.2)
    suspicion = round(min(1.0, max(0.0, random.gauss(evil, 0.05))), 2)
    reason = random.choice(OTHERS[flag]).format(x=said.actor)
    return Assessment(flag, kind.value, confidence, suspicion, reason)


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


def _harmless(reading: MessageContent) -> bool:
    return not (reading.report or reading.role or reading.accused)


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
