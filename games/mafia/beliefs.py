"""Who seems to be in the mafia, from what was said publicly and what the seat itself knows.

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

from liescope.games.mafia import DETECTIVE, MAFIOSO
from liescope.games.mafia.knowledge import Knowledge, only_detective
from liescope.games.script.draws import SURE

POINTED = 0.3  # for being accused at all, whatever the strength
REPORTED = 0.2  # if the accuser reports an investigation
WRONGED = 0.2  # for an accuser, as seen by an accused who knows better
TURNED = 0.5  # for a role claim that differs from an earlier one
ECHOED = 0.2  # for claiming a detective's role that someone claimed before
QUIET = -0.4  # the strength of a silence


@lru_cache(maxsize=64)
def suspicion(seen: Knowledge, observer: str | None) -> Mapping[str, float]:
    """How suspect each player at the table is, to `observer` or (None) to a bystander without secrets.

    Only an observer on the town's side reasons from its own innocence.
    """
    scores = dict.fromkeys(seen.names, 0.0)
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
        trusted = 2.0 if actor in seen.town else 1.0
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
    for voter, target in seen.votes:
        if target in seen.town and voter in scores:
            scores[voter] += POINTED
    claimants = [
        name
        for name, role in claims.items()
        if role == DETECTIVE and name != observer and seen.revealed.get(name) != DETECTIVE
    ]
    if observer is not None and only_detective(seen):
        for name in claimants:
            scores[name] += SURE / 2
    elif len(claimants) > seen.detectives:
        for name in claimants:
            scores[name] += 2 * POINTED
    return scores


def believe(seen: Knowledge, observer_knows: bool = True) -> dict[str, float]:
    """The seat's own belief about every other living player. A mafioso's is certain: it knows its partners.

    observer_knows False: what the table as a whole may think, which a deceiver takes into account.
    """
    scores = dict(suspicion(seen, seen.me if observer_knows and not seen.evil else None))
    for name in seen.town:
        scores[name] = -SURE
    if observer_knows:
        if seen.evil:
            scores = {name: SURE if name in seen.partners else -SURE for name in scores}
        for name, role in seen.results.items():
            scores[name] = SURE if role == MAFIOSO else -SURE
    return {name: scores[name] for name in seen.others()}
