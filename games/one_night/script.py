"""How scripted players of one-night werewolf think and talk: whom they suspect, what they say, rate and name.

What others say is read in two ways: for its firmness, as in every game, and for its claims, as for labels.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from liescope.games.core import Ask, AskKind, Assessment
from liescope.games.one_night.rules import SEER, VILLAGER, WEREWOLF, OneNightWerewolf
from liescope.games.script.grammar import SPREAD, Intent, Phrasebook
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Skills, chance, draw, favourite
from liescope.games.script.player import Dealing, Leaning, Mind, rated, suspected_kind
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.vocabulary import FoundClaim

WORDS = Phrasebook.read(Path(__file__).with_suffix(".toml"))


POINTED = 0.3  # for being accused at all
REPORTED = 1.2  # for being reported as a werewolf by a seer
CLEARED = 0.5  # subtracted, for being reported as no werewolf
RIVAL = 2.0  # for claiming a role whose only card the observer holds


def reports(seen: Knowledge, said: Heard) -> Iterator[tuple[str, bool]]:
    """The players whose cards the speaker claims to have seen, and whether each was a werewolf's."""
    for claim in _claims(seen, said):
        if claim.kind == "investigation" and claim.value:
            yield claim.subject, claim.value == WEREWOLF


def claims_seer(seen: Knowledge, said: Heard) -> bool:
    """Whether the speaker claims to be the seer, or to have seen a card."""
    claims = _claims(seen, said)
    own = any((claim.kind, claim.subject, claim.value) == ("role", said.actor, SEER) for claim in claims)
    return own or any(claim.kind == "investigation" for claim in claims)


def _claims(seen: Knowledge, said: Heard) -> tuple[FoundClaim, ...]:
    return seen.find_claims(said.text, said.actor, seen.public.names, OneNightWerewolf.name)


def public_suspicion(seen: Knowledge) -> dict[str, float]:
    """How suspect each player seems to someone who knows no card, on the scale of log-odds."""
    scores = dict.fromkeys(seen.public.names, 0.0)
    for said in seen.public.said:
        scores[said.actor] -= 0.5 * said.reading.strength
        for name, weight in said.reading.accused:
            if name != said.actor:
                scores[name] += weight * (POINTED + 0.5 * said.reading.strength)
        for name, guilty in reports(seen, said):
            scores[name] += REPORTED if guilty else -CLEARED
    return scores


def believe(seen: Knowledge) -> dict[str, float]:
    """How suspect each other player is to this seat, from what was said and what it saw at night."""
    scores = public_suspicion(seen)
    only_seer = seen.role == SEER and seen.public.counts.get(SEER) == 1
    for said in seen.public.said:
        if only_seer and said.actor != seen.me and claims_seer(seen, said):
            scores[said.actor] += RIVAL
    others = [name for name in seen.public.names if name != seen.me]  # exiled players included
    for name in others:
        if seen.evil:
            scores[name] = SURE if name in seen.partners else -SURE
        elif name in seen.results:
            scores[name] = SURE if seen.results[name] == WEREWOLF else -SURE
    return {name: scores[name] for name in others}


_LIES = {
    move: Kind(kind) for move, kind in tomllib.loads(Path(__file__).with_name("lies.toml").read_text("utf-8")).items()
}


def intend(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Leaning) -> Intent:
    """One move, and now and then a second; the larger d, the sooner the seer reports."""
    last = ask.round >= ask.rounds
    hostile = _accusers(seen)
    suspect = _suspect(seen, skills, leaning)
    options = {
        "claim_villager": 1.5,
        "accuse": 1.5 if seen.public.said else 0.3,
        "doubt": 1.0 if seen.public.said else 0.2,
        "defend": 0.5 if seen.public.said else 0.0,
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
    first = draw(options, random)
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
    """The player this seat speaks and votes against: werewolves join the others against anyone but a partner."""
    options = seen.prey()
    beliefs = public_suspicion(seen) if seen.evil else believe(seen)
    known = [name for name in options if beliefs[name] >= SURE]
    return known[0] if known else favourite(beliefs, options, skills.v, leaning)


def vote(seen: Knowledge, skills: Skills, ask: Ask, _: Random, leaning: Leaning) -> str:
    """A vote for the one it speaks against."""
    choice = _suspect(seen, skills, leaning)
    return choice if choice in ask.options else ask.options[0]


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """A rating from beliefs about the speaker; skills.b is added to the log-odds of the flag."""
    belief = max(-3.0, min(3.0, believe(seen)[said.actor]))
    contradicted = any(
        name in seen.results and guilty != (seen.results[name] == WEREWOLF) for name, guilty in reports(seen, said)
    )
    odds = -0.9 + max(skills.v, 0.0) * belief + 2.0 * contradicted + skills.b
    return rated(said.actor, chance(odds), suspected_kind(said.reading), 0.3, lambda _: belief, random)


def name_roles(seen: Knowledge, options: tuple[str, ...], _: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """Roles by name: the cards it saw, then whoever claims to be the seer, and the most suspect as werewolves."""
    deal = Dealing(seen, options)
    beliefs = believe(seen)
    deal.give(
        SEER,
        [said.actor for said in seen.public.said if claims_seer(seen, said) and beliefs.get(said.actor, 0.0) < 1.0],
    )
    if not seen.evil:
        suspects = [name for name in options if seen.results.get(name, WEREWOLF) == WEREWOLF]
        deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs[name] + random.gauss(0.0, 0.5))))
    return deal.form(VILLAGER)


def _accusers(seen: Knowledge) -> list[str]:
    """Players who have spoken against this seat, each once, the earliest first."""
    named = (said for said in seen.public.said if any(name == seen.me for name, _ in said.reading.accused))
    return list(dict.fromkeys(said.actor for said in named if said.actor != seen.me))


answer = Mind(
    Follower(WEREWOLF),
    WORDS,
    place=lambda ask, _: (ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, ask.about),
    leaning=lambda ask: (ask.game, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.INVESTIGATE: lambda _seen, _skills, ask, random: random.choice(ask.options)},
).answer
