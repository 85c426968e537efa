"""Who seems to be a werewolf, and who a jester that only wants to look like one.

A belief is a number for each living player, higher for more suspect, on the scale of log-odds. How firm a speaker
sounds on average is its credit: it counts for the speaker, and gives weight to those it accuses and clears. Odd,
self-incriminating talk counts against the speaker, and more of it makes it look like a jester.

The choices of a vote, a kill, a protection and an investigation follow from it, and how much to bid for the floor.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from random import Random

from liescope.games.core import Ask, Phase
from liescope.games.script.knowledge import Knowledge, TableKnowledge
from liescope.games.script.persona import SURE, Skills, chance, favourite, pick, weights
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
def public_suspicion(table: TableKnowledge) -> Mapping[str, float]:
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


def _reports(table: TableKnowledge, role: str) -> bool:
    return role == SEER and table.counts.get(SEER, 0) > 0


@lru_cache(maxsize=64)
def jesterish(table: TableKnowledge) -> Mapping[str, float]:
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


def wary(scores: Mapping[str, float], table: TableKnowledge) -> dict[str, float]:
    """Beliefs of a player who would rather not exile a jester."""
    jesters = jesterish(table)
    return {name: score - CAREFUL * jesters[name] for name, score in scores.items()}


MOMENTUM = 0.6  # what each vote of the first ballot adds to a revote for the same player
FOLLOWS = 0.9  # how often a werewolf adopts the proposal of the one before it at the table
LIKELY = 0.8  # that a player votes for the one it last spoke against


def vote(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> str:
    """Villagers vote by belief with sensitivity v, werewolves with the others, a jester with sensitivity 1 − j."""
    momentum: Counter[str] = Counter()
    if ask.phase is Phase.REVOTE:
        momentum.update(ballot.target for ballot in seen.table.today)
    if seen.evil:
        return _with_the_crowd(seen, skills, ask, random, momentum)
    found = [name for name in ask.options if name in seen.culprits()]
    if found:
        return random.choice(found)
    if seen.role == JESTER:
        return favourite(public_suspicion(seen.table), ask.options, 1.0 - skills.j, leaning)
    beliefs = wary(believe(seen), seen.table)
    open_ones = [name for name in ask.options if beliefs.get(name, 0.0) > -SURE / 2] or list(ask.options)
    pulled = {name: leaning.get(name, 0.0) + MOMENTUM * momentum[name] for name in open_ones}
    return favourite(beliefs, open_ones, max(skills.v, 0.0), pulled)


def _with_the_crowd(seen: Knowledge, skills: Skills, ask: Ask, random: Random, momentum: Mapping[str, int]) -> str:
    """The option that can expect the most votes, from the first ballot or else from who the others spoke against.
    Partners are spared; so is anyone who looks like a jester, the more so the better the werewolf.
    """
    prey = [name for name in ask.options if name not in seen.partners] or list(ask.options)
    public = public_suspicion(seen.table)
    expected = {name: 2.0 * momentum[name] for name in prey}
    if ask.phase is not Phase.REVOTE:
        for other in seen.others():
            last = None if other in seen.partners else seen.last_by(other)
            named = [name for name, _ in last.reading.accused if name in expected] if last else []
            for name in named:
                expected[name] += LIKELY / len(named)
    for name, share in zip(prey, weights(public, prey, 1.0), strict=True):
        expected[name] += 2.0 * share
    jesters = jesterish(seen.table)
    shy = 6.0 * CAREFUL * (0.5 + chance(skills.m))
    return max(prey, key=lambda name: expected[name] - shy * jesters[name] + 0.3 * random.random())


def kill(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """Targets are the trusted, those who claim to be the doctor or the seer, and those who speak against werewolves,
    not a jester. In the second round the werewolf first at the table usually gets its way.
    """
    if ask.round > 1 and seen.proposals:
        first = next(name for name in seen.table.names if name in seen.proposals)
        if first != seen.me and seen.proposals[first] in ask.options and random.random() < FOLLOWS:
            return seen.proposals[first]
        if seen.proposals.get(seen.me) in ask.options:
            return seen.proposals[seen.me]
    public, jesters = public_suspicion(seen.table), jesterish(seen.table)
    special = seen.table.claiming(SEER) | seen.table.claiming(DOCTOR)
    danger = {name: -0.5 * public[name] + 1.5 * (name in special) - 3.0 * jesters[name] for name in ask.options}
    for name in (seen.me, *seen.partners):
        for accuser in seen.accusers(name):
            if accuser in danger:
                danger[accuser] += 0.5
    return pick(danger, ask.options, 1.0 + max(skills.m, -0.5), random)


def protect(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """The players who seem most worth killing; itself once it has revealed its role."""
    public = public_suspicion(seen.table)
    special = seen.table.claiming(SEER) | seen.table.claiming(DOCTOR)
    worth = {name: -0.5 * public[name] + 1.5 * (name in special) for name in ask.options}
    worth[seen.me] += 0.5
    return pick(worth, ask.options, max(skills.v, 0.0), random)


def investigate(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """The most suspect of the players it does not know yet."""
    unknown = [name for name in ask.options if name not in seen.results]
    return pick(believe(seen), unknown or ask.options, max(skills.v, 0.0), random)


def bid(seen: Knowledge, skills: Skills, _ask: Ask, random: Random) -> str:
    """0 to 10: more for those who were accused since they last spoke, or know a werewolf, or are a jester on show; less
    for those who have just spoken.
    """
    recent = seen.table.said[-8:]
    mine = max((place for place, said in enumerate(recent) if said.actor == seen.me), default=-1)
    accused = sum(any(name == seen.me for name, _ in said.reading.accused) for said in recent[mine + 1 :])
    wish = 3.0 + random.gauss(0.0, 1.5) + 1.5 * min(accused, 3)
    if seen.culprits():
        wish += 2.5
    if seen.role == JESTER:
        wish += max(skills.j, 0.0)
    if mine >= 0:
        wish -= 0.3 * mine
    wish += 0.5 * (skills.m if seen.evil else skills.d)
    return str(min(10, max(0, round(wish))))
