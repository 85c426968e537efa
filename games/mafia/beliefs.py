"""Who seems to be in the mafia, from what was said publicly and what the seat itself knows; whom to vote for.

A belief is a number for each living player: higher is more suspect, and differences are on the scale of log-odds. A
speaker's strength, averaged over all its statements, is its credit: if it accuses someone, half of it counts against
the accused and half for the speaker; otherwise all of it counts for the speaker. In a duel between a detective and a
mafioso, a villager's belief is thus the difference of their strengths, m − d on average, and a vote drawn with
sensitivity v follows the capability model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from random import Random

from liescope.games.core import Ask
from liescope.games.mafia.rules import DETECTIVE, MAFIOSO
from liescope.games.script.knowledge import Knowledge, PublicKnowledge
from liescope.games.script.persona import SURE, Skills, favourite, pick, weights

POINTED = 0.3  # for being accused at all, whatever the strength
REPORTED = 0.2  # if the accuser reports an investigation
WRONGED = 0.2  # for accusing one who knows better
TURNED = 0.5  # for a role claim that differs from an earlier one
ECHOED = 0.2  # for claiming a detective's role that someone claimed before
QUIET = -0.4  # the strength of a silence
LIKELY = 0.8  # how likely a player votes for the one it last spoke against


# The cache compares `seen` by identity: one object stands for one log.
@lru_cache(maxsize=64)
def suspicion(seen: PublicKnowledge, observer: str | None, sure: bool) -> Mapping[str, float]:
    """How suspect each player is, to `observer` or (None) to a bystander without secrets. sure: the observer is the
    only detective, so anyone else who claims to be one is lying.

    Only an observer on the town's side reasons from its own innocence.
    """
    scores, safe = dict.fromkeys(seen.names, 0.0), town(seen)
    spoken = Counter([*(item.actor for item in seen.said), *seen.silent])
    for name in seen.silent:
        scores[name] -= QUIET / spoken[name]
    claims: dict[str, str] = {}
    for item in seen.said:
        actor, reading = item.actor, item.reading
        strength = reading.strength
        if reading.role:
            if claims.get(actor, reading.role) != reading.role:
                strength -= TURNED
            if reading.role == DETECTIVE and any(r == DETECTIVE and a != actor for a, r in claims.items()):
                strength -= ECHOED
            claims[actor] = reading.role
        share = 1.0 / spoken[actor]
        targets = [(name, weight) for name, weight in reading.accused if name not in (actor, observer)]
        if any(name == observer for name, _ in reading.accused) and actor != observer:
            scores[actor] += share * WRONGED
        trusted = 2.0 if actor in safe else 1.0
        if not targets:
            scores[actor] -= share * strength
        else:
            scores[actor] -= share * strength / 2
            for name, weight in targets:
                base = weight * (POINTED + (REPORTED if reading.report else 0.0))
                scores[name] += trusted * share * (strength / (2 * len(targets)) + base)
        for name in reading.cleared:
            if name != actor and name in scores:
                scores[name] -= trusted * share * 0.25
    for vote in seen.votes:
        if vote.target in safe and vote.voter in scores:
            scores[vote.voter] += POINTED
    claimants = [
        name
        for name, role in claims.items()
        if role == DETECTIVE and name != observer and seen.revealed.get(name) != DETECTIVE
    ]
    if observer is not None and sure:
        for name in claimants:
            scores[name] += SURE / 2
    elif len(claimants) > seen.counts.get(DETECTIVE, 0) - list(seen.revealed.values()).count(DETECTIVE):
        for name in claimants:
            scores[name] += 2 * POINTED
    return scores


def town(public: PublicKnowledge) -> set[str]:
    """Names that, by the rules, cannot be in the mafia: those killed at night, and those arrested if there is only one
    mafioso and the game went on.
    """
    return {*public.killed, *(public.exiled if public.counts.get(MAFIOSO) == 1 else ())}


def suspect(seen: Knowledge, knows: bool = True) -> Mapping[str, float]:
    """How suspect each player is to the seat; knows False: to all players together."""
    observer = seen.me if knows and not seen.evil else None
    return suspicion(seen.public, observer, seen.role == DETECTIVE and seen.public.counts.get(DETECTIVE) == 1)


def believe(seen: Knowledge, observer_knows: bool = True) -> dict[str, float]:
    """The seat's own belief about every other living player. A mafioso's is certain: it knows its partners.

    observer_knows False: what all players together may think, which a deceiver takes into account.
    """
    scores = dict(suspect(seen, observer_knows))
    for name in town(seen.public):
        scores[name] = -SURE
    if observer_knows:
        if seen.evil:
            scores = {name: SURE if name in seen.partners else -SURE for name in scores}
        for name, role in seen.results.items():
            scores[name] = SURE if role == MAFIOSO else -SURE
    return {name: scores[name] for name in seen.others()}


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
    for said in seen.public.said:
        if said.actor in danger:
            danger[said.actor] += 1.5 if said.reading.role == DETECTIVE or said.reading.report else 0.0
    for name in (seen.me, *seen.partners):
        for accuser in seen.public.accusers.get(name, ()):
            if accuser in danger:
                danger[accuser] += 0.7
    return pick(danger, ask.options, 1.0 + max(skills.m, -0.5), random)


def investigate(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """A detective investigates the most suspect of the players it does not know yet."""
    safe = town(seen.public)
    unknown = [name for name in ask.options if name not in seen.results and name not in safe]
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
        named = (
            [name for name, _ in last.reading.accused if name in seen.public.alive and name != other] if last else []
        )
        rest = [name for name in seen.public.alive if name != other]
        for name, share in zip(rest, weights(public, rest, 1.0), strict=True):
            aim = LIKELY / len(named) if name in named else 0.0
            if name in expected:
                expected[name] += aim + (1.0 - (LIKELY if named else 0.0)) * share
    claimed = seen.exposed | {said.actor for said in seen.public.said if said.reading.role == DETECTIVE}
    return max(prey, key=lambda name: expected[name] + (0.3 if name in claimed else 0.0) + 0.1 * random.random())
