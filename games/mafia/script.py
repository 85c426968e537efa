"""How scripted players of Mafia think: what they rate and name, and where their draws come from."""

from __future__ import annotations

from random import Random

from liescope.games.core import AskKind, Assessment
from liescope.games.mafia.beliefs import believe, investigate, kill, suspect, town, vote
from liescope.games.mafia.intents import intend
from liescope.games.mafia.phrases import WORDS
from liescope.games.mafia.rules import DETECTIVE, MAFIOSO, VILLAGER
from liescope.games.script.assessments import NEAR, OTHERS, Dealing, suspected_kind
from liescope.games.script.draws import SURE, chance
from liescope.games.script.hearing import MessageContent
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import Skills
from liescope.games.script.player import Mind
from liescope.games.taxonomy import DeceptionType as Kind

_KNOWN = 3.0  # log-odds that a statement by a known mafioso deceives, before its words are weighed
_BASE = -0.9  # the same for a speaker about whom nothing is known


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


def _harmless(reading: MessageContent) -> bool:
    return not (reading.report or reading.role or reading.accused)


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """As many mafiosos and detectives as the table has, without the seat's own role: what the seat knows, then the most
    suspect as mafiosos (drawn with sensitivity v) and those who claimed to be detectives; all others are villagers.
    """
    deal = Dealing(seen.table.counts, seen.role, options)
    for name, role in (*dict.fromkeys(seen.partners, MAFIOSO).items(), *seen.results.items()):
        deal.give(role, [name])
    scores = suspect(seen)
    cleared = town(seen.table) | {name for name, role in seen.results.items() if role != MAFIOSO}
    doubt = {name: scores[name] - SURE * (name in cleared) for name in options}
    noise = {name: random.gauss(0.0, 1.0) for name in options}
    suspects = sorted(options, key=lambda name: -(max(skills.v, 0.0) * doubt[name] + noise[name]))
    claimants = [said.actor for said in seen.table.said if said.reading.role == DETECTIVE]
    deal.give(MAFIOSO, suspects)
    deal.give(DETECTIVE, [*claimants, *reversed(suspects)])
    return deal.form(VILLAGER)


answer = Mind(
    Follower(MAFIOSO),
    WORDS,
    place=lambda ask, _: (ask.game, ask.step, ask.seat, ask.kind.value),
    leaning=lambda ask: (ask.game, ask.day, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.KILL: kill, AskKind.INVESTIGATE: investigate},
).answer
