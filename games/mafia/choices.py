"""The choices of a vote, a kill and an investigation."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from liescope.games.core import Ask
from liescope.games.mafia import DETECTIVE
from liescope.games.mafia.beliefs import believe
from liescope.games.mafia.intents import accusers
from liescope.games.mafia.knowledge import Knowledge
from liescope.games.script.draws import SURE, favourite, pick, weights
from liescope.games.script.persona import Skills

LIKELY = 0.8  # that a player votes for the one it last spoke against


def vote(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> str:
    """The town votes by belief with sensitivity v, and for anyone it has found out; the mafia votes with the others."""
    if seen.evil:
        return _with_the_crowd(seen, ask, random)
    found = [name for name in ask.options if name in seen.culprits()]
    if found:
        return random.choice(found)
    beliefs = believe(seen)
    open_ones = [name for name in ask.options if beliefs.get(name, 0.0) > -SURE] or list(ask.options)
    return favourite(beliefs, open_ones, skills.v, leaning)


def kill(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """A mafioso kills those who seem to be detectives or who speak against the mafia."""
    danger = {name: 3.0 if name in seen.exposed else 0.0 for name in ask.options}
    for said in seen.said:
        if said.actor in danger:
            danger[said.actor] += 1.5 if said.reading.role == DETECTIVE or said.reading.report else 0.0
    for name in (seen.me, *seen.partners):
        for accuser in accusers(seen, name):
            if accuser in danger:
                danger[accuser] += 0.7
    return pick(danger, ask.options, 1.0 + max(skills.m, -0.5), random)


def investigate(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """A detective investigates the most suspect of the players it does not know yet."""
    unknown = [name for name in ask.options if name not in seen.results and name not in seen.town]
    return pick(believe(seen), unknown or ask.options, max(skills.v, 0.0), random)


def _with_the_crowd(seen: Knowledge, ask: Ask, random: Random) -> str:
    """The option that can expect the most votes, given who the others spoke against; partners are spared."""
    public = believe(seen, observer_knows=False)
    prey = [name for name in ask.options if name not in seen.partners] or list(ask.options)
    expected = dict.fromkeys(prey, 0.0)
    for other in seen.others():
        if other in seen.partners:
            continue
        last = seen.last_by(other)
        named = [name for name, _ in last.reading.accused if name in seen.alive and name != other] if last else []
        rest = [name for name in seen.alive if name != other]
        for name, share in zip(rest, weights(public, rest, 1.0), strict=True):
            aim = LIKELY / len(named) if name in named else 0.0
            if name in expected:
                expected[name] += aim + (1.0 - (LIKELY if named else 0.0)) * share
    claimed = seen.exposed | {said.actor for said in seen.said if said.reading.role == DETECTIVE}
    return max(prey, key=lambda name: expected[name] + (0.3 if name in claimed else 0.0) + 0.1 * random.random())
