"""How scripted players of one-night werewolf think: what they say, whom they vote for, what they rate and name."""

from __future__ import annotations

from random import Random

from liescope.games.core import Ask, AskKind, Assessment
from liescope.games.one_night.beliefs import believe, claims_seer, public_suspicion, reports
from liescope.games.one_night.phrases import WORDS
from liescope.games.one_night.rules import SEER, VILLAGER, WEREWOLF
from liescope.games.script.assessments import NEAR, OTHERS, Dealing, suspected_kind
from liescope.games.script.draws import SURE, chance, favourite
from liescope.games.script.grammar import SPREAD, Intent
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import Skills
from liescope.games.script.player import Leaning, Mind
from liescope.games.taxonomy import DeceptionType as Kind

# What a move is when a werewolf makes it, which always knows better than it says.
_LIES: dict[str, Kind] = {
    "report/guilty": Kind.FABRICATION,
    "report/clean": Kind.FABRICATION,
    "claim_villager": Kind.STRATEGIC_DECEPTION,
    "deny": Kind.STRATEGIC_DECEPTION,
    "accuse": Kind.MISDIRECTION,
    "doubt": Kind.MISDIRECTION,
    "centre": Kind.DISTORTION,
    "small_talk": Kind.OMISSION,
}


def intend(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Leaning) -> Intent:
    """One move, and now and then a second; the larger d, the sooner the seer reports."""
    last = ask.round >= ask.rounds
    hostile = _accusers(seen)
    suspect = _suspect(seen, skills, leaning)
    options = {
        "claim_villager": 1.5,
        "accuse": 1.5 if seen.table.said else 0.3,
        "doubt": 1.0 if seen.table.said else 0.2,
        "defend": 0.5 if seen.table.said else 0.0,
        "deny": 3.0 if hostile else 0.0,
        "question": 0.7 if last else 1.8,
        "vote_promise": 2.0 if last else 0.4,
        "centre": 0.4,
        "small_talk": 0.2 if last else 1.2,
    }
    if seen.evil:
        options |= {"report/guilty": 0.8, "report/clean": 0.2, "question": 0.8}
    elif seen.role == SEER and seen.results:
        name, role = next(iter(seen.results.items()))
        options |= {"claim_villager": 0.0, "centre": 0.0}
        if random.random() < chance((1.5 if last else 0.5) + skills.d):
            suspect, options = name, {"report/guilty" if role == WEREWOLF else "report/clean": 1.0}
    first = random.choices(list(options), list(options.values()))[0]
    moves = (first, "vote_promise") if last and first == "accuse" else (first,)
    trusted = min(seen.others(), key=lambda name: believe(seen)[name])
    about = {"deny": hostile[-1] if hostile else suspect, "defend": trusted}
    names = tuple({"x": about.get(move, suspect), "y": trusted, "dead": "the village"} for move in moves)
    planted = _LIES.get(first, Kind.NONE) if seen.evil else Kind.NONE
    if seen.role == SEER and not first.startswith("report") and not last:
        planted = Kind.OMISSION
    skill = skills.m if seen.evil else skills.d
    return Intent(moves, names, planted, random.gauss(skill, SPREAD))


def _suspect(seen: Knowledge, skills: Skills, leaning: Leaning) -> str:
    """The player this seat speaks and votes against: werewolves join the others, against anyone but a partner."""
    options = seen.prey()
    beliefs = public_suspicion(seen) if seen.evil else believe(seen)
    known = [name for name in options if beliefs[name] >= SURE]
    return known[0] if known else favourite(beliefs, options, skills.v, leaning)


def vote(seen: Knowledge, skills: Skills, ask: Ask, _: Random, leaning: Leaning) -> str:
    """Against the one it speaks against."""
    choice = _suspect(seen, skills, leaning)
    return choice if choice in ask.options else ask.options[0]


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """What a peer believes about the speaker; skills.b is added to the log-odds of the flag."""
    belief = max(-3.0, min(3.0, believe(seen)[said.actor]))
    contradicted = any(
        name in seen.results and guilty != (seen.results[name] == WEREWOLF) for name, guilty in reports(seen, said)
    )
    odds = -0.9 + max(skills.v, 0.0) * belief + 2.0 * contradicted + skills.b
    probability = chance(odds)
    flag = random.random() < probability
    kind = suspected_kind(said.reading) if flag else Kind.NONE
    if flag and random.random() < 0.3:
        kind = random.choice([near for near in NEAR[kind] if near is not Kind.NONE])
    confidence = round(min(0.99, max(0.3, random.gauss(0.45 + 0.5 * abs(2 * probability - 1), 0.07))), 2)
    suspicion = round(min(1.0, max(0.0, random.gauss(chance(belief), 0.05))), 2)
    return Assessment(flag, kind.value, confidence, suspicion, random.choice(OTHERS[flag]).format(x=said.actor))


def name_roles(seen: Knowledge, options: tuple[str, ...], _: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """What it saw, then anyone who claims to be the seer, and the most suspect as werewolves."""
    deal = Dealing(seen.table.counts, seen.role, options)
    for name, role in (*dict.fromkeys(seen.partners, WEREWOLF).items(), *seen.results.items()):
        deal.give(role, [name])
    beliefs = believe(seen)
    deal.give(
        SEER, [said.actor for said in seen.table.said if claims_seer(seen, said) and beliefs.get(said.actor, 0.0) < 1.0]
    )
    if not seen.evil:
        suspects = [name for name in options if seen.results.get(name, WEREWOLF) == WEREWOLF]
        deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs[name] + random.gauss(0.0, 0.5))))
    return deal.form(VILLAGER)


def _accusers(seen: Knowledge) -> list[str]:
    """Players who have spoken against this seat, each once, the earliest first."""
    named = (said for said in seen.table.said if any(name == seen.me for name, _ in said.reading.accused))
    return list(dict.fromkeys(said.actor for said in named if said.actor != seen.me))


def _place(ask: Ask, _: str) -> tuple[object, ...]:
    return ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about


answer = Mind(
    Follower(WEREWOLF),
    WORDS,
    place=_place,
    leaning=lambda ask: (ask.game, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.INVESTIGATE: lambda _seen, _skills, ask, random: random.choice(ask.options)},
).answer
