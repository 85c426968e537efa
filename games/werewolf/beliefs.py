"""Who seems to be a werewolf, and who a jester that only wants to look like one.

A belief is a number for each living player, higher for more suspect, on the scale of log-odds. How firm a speaker
sounds on average is its credit: it counts for the speaker, and gives weight to those it accuses and clears. Odd,
self-incriminating talk counts against the speaker, and more of it makes it look like a jester.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache

from liescope.games.script.draws import SURE
from liescope.games.script.knowledge import Knowledge, Table
from liescope.games.werewolf import DOCTOR, JESTER, SEER, WEREWOLF

CREDIT = 0.5  # of the average strength, for the speaker
ODD = 1.6  # for a speaker that is always odd
POINTED = 0.12  # for each player that accuses one, whatever its credit
TRUSTED = 0.12  # of the accuser's credit
REPORTED = 1.5  # for a seer's finding reported publicly
HUNTED = 0.2  # for having voted against someone the werewolves killed later
QUIET = 0.2  # for each silence
WRONGED = 0.3  # for an accuser, as seen by an accused who knows better
CAREFUL = 0.6  # how much of the suspicion of an odd player a careful voter puts down to a jester's act


@lru_cache(maxsize=64)
def public_suspicion(table: Table) -> Mapping[str, float]:
    """How suspect each player is to a bystander without secrets."""
    spoken = Counter(said.actor for said in table.said)
    credit: dict[str, float] = defaultdict(float)
    scores = dict.fromkeys(table.names, 0.0)
    pointed: dict[tuple[str, str], float] = {}
    cleared: dict[tuple[str, str], None] = {}
    for said in table.said:
        share = 1.0 / spoken[said.actor]
        credit[said.actor] += share * said.reading.strength
        if said.odd:
            scores[said.actor] += share * ODD
        for name, weight in said.reading.accused:
            pair = said.actor, name
            pointed[pair] = max(pointed.get(pair, 0.0), REPORTED if _reports(table, said.role) else weight * POINTED)
        cleared |= dict.fromkeys((said.actor, name) for name in said.reading.cleared)
    for name, strength in credit.items():
        scores[name] -= CREDIT * strength
    for (accuser, name), weight in pointed.items():
        if accuser != name:
            scores[name] += weight + TRUSTED * credit[accuser]
    for friend, name in cleared:
        if friend != name:
            scores[name] -= TRUSTED * (0.5 + credit[friend])
    for name in table.silent:
        scores[name] += QUIET
    for vote in table.votes:
        if vote.target in table.killed:
            scores[vote.voter] += HUNTED
    for role in (SEER, DOCTOR):
        claimants = table.claiming(role)
        if len(claimants) > table.counts.get(role, 0):
            for name in claimants:
                scores[name] += 2 * POINTED
    return scores


def _reports(table: Table, role: str) -> bool:
    return role == SEER and table.counts.get(SEER, 0) > 0


@lru_cache(maxsize=64)
def jesterish(table: Table) -> Mapping[str, float]:
    """How much like a jester each player behaves, from 0 to about 1; no one does at a table without a jester."""
    if not table.counts.get(JESTER):
        return dict.fromkeys(table.names, 0.0)
    spoken = Counter(said.actor for said in table.said)
    odd = Counter(said.actor for said in table.said if said.odd)
    named = Counter(name for said in table.said for name in said.jesters if name != said.actor)
    return {name: odd[name] / (spoken[name] or 1) + 0.02 * min(named[name], 5) for name in table.names}


def believe(seen: Knowledge) -> dict[str, float]:
    """The seat's own belief that each other living player is a werewolf."""
    scores = dict(public_suspicion(seen.table))
    if seen.evil:
        scores = {name: SURE if name in seen.partners else -SURE for name in scores}
        return {name: scores[name] for name in seen.others()}
    for name in seen.accusers(seen.me):
        scores[name] += WRONGED
    if seen.role in (SEER, DOCTOR) and seen.table.counts.get(seen.role) == 1:
        for name in seen.table.claiming(seen.role):
            scores[name] += SURE / 2
    for name, role in seen.results.items():
        scores[name] = SURE if role == WEREWOLF else -SURE
    return {name: scores[name] for name in seen.others()}


def wary(scores: Mapping[str, float], table: Table) -> dict[str, float]:
    """Beliefs of a player who would rather not exile a jester."""
    jesters = jesterish(table)
    return {name: score - CAREFUL * jesters[name] for name, score in scores.items()}
