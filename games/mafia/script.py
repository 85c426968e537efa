"""How scripted players of Mafia think and talk: what a seat wants to say, what it rates and names, whom it votes for.

Every role draws from the same moves. A detective decides when to come forward (the sooner the larger d), a mafioso
whether to blend in, strike back or counter-claim, a villager follows its beliefs (`beliefs`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from random import Random

from liescope.games.core import Ask, AskKind, Assessment
from liescope.games.mafia.beliefs import believe, investigate, kill, suspect, town, vote
from liescope.games.mafia.rules import DETECTIVE, MAFIOSO, VILLAGER
from liescope.games.script.grammar import SECOND, SPREAD, Intent, Phrasebook
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Skills, Weights, chance, draw, favourite, pick
from liescope.games.script.player import Dealing, Mind, rated, suspected_kind
from liescope.games.taxonomy import DeceptionType as Kind

WORDS = Phrasebook.read(Path(__file__).with_suffix(".toml"))

_LIES: Mapping[str, Mapping[str, Mapping[Kind, float]]] = {
    side: {move: {Kind(kind): weight for kind, weight in kinds.items()} for move, kinds in moves.items()}
    for side, moves in tomllib.loads(Path(__file__).with_name("lies.toml").read_text("utf-8")).items()
}

# A mafioso would rather cast doubt, agree and hide among the villagers than commit to an accusation.
_GUARDED = {
    "claim_villager": 1.7,
    "doubt": 1.7,
    "appeal": 2.0,
    "agree": 1.6,
    "question": 1.3,
    "observe": 1.3,
    "accuse": 0.6,
    "vote_promise": 0.6,
}


def intend(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> Intent:
    """Draw the speaker's intent. The same arguments (and state of `random`) always give the same intent."""
    last = ask.round >= ask.rounds
    if not seen.others():
        return _intent(seen, skills, ("small_talk",), "", "", random)
    if seen.evil:
        return _mafioso(seen, skills, last, random)
    if seen.role == DETECTIVE and any(name in seen.public.alive for name in seen.results):
        return _detective(seen, skills, last, random, leaning)
    return _villager(seen, skills, last, random, leaning)


# Roles


def _villager(seen: Knowledge, skills: Skills, last: bool, random: Random, leaning: Mapping[str, float]) -> Intent:
    beliefs = believe(seen)
    suspect = favourite(beliefs, list(beliefs), skills.v, leaning)
    options = _moves_of_all(seen, last)
    if seen.public.accusers.get(seen.me):
        options |= {"deny": 3.0, "claim_villager": 2.0}
    options["claim_detective"] = 0.05
    if seen.role == DETECTIVE:
        options |= {"claim_villager": 0.0, "claim_detective": 0.5}
    return _compound(seen, skills, options, suspect, _friend(seen, beliefs, suspect), random)


def _detective(seen: Knowledge, skills: Skills, last: bool, random: Random, leaning: Mapping[str, float]) -> Intent:
    culprits = seen.culprits()
    told = any(said.reading.report for said in seen.mine)
    if culprits:
        suspect = culprits[-1]
        openly = 1.0 if seen.exposed else 0.0  # hiding protects nobody once the mafia knows
        tells = chance((2.2 if last else 0.8) + 1.2 * skills.d + openly)
    else:
        suspect = favourite(believe(seen), seen.others(), skills.v, leaning)
        tells = chance(-1.5 + skills.d + (2.0 if seen.public.accusers.get(seen.me) else 0.0))
    friend = _friend(seen, believe(seen), suspect)
    if told:
        options = _moves_of_all(seen, last) | {"claim_villager": 0.0, "small_talk": 0.1, "claim_detective": 0.6}
        options["report_investigation"] = 2.5
        options["accuse"] += 1.0
        if seen.public.accusers.get(seen.me):
            options |= {"deny": 1.5}
        return _compound(seen, skills, options, suspect, friend, random)
    if random.random() < tells:
        return _compound(seen, skills, {"report_investigation": 1.0}, suspect, friend, random)
    options = _moves_of_all(seen, last) | {"defend": 0.3}
    options["claim_villager"] *= 0.4
    return _compound(seen, skills, options, suspect, friend, random, hides=True)


def _mafioso(seen: Knowledge, skills: Skills, last: bool, random: Random) -> Intent:
    hostile = seen.accusers(seen.me)
    public = believe(seen, observer_knows=False)
    prey = seen.prey()
    claimants = [
        name for name in prey if any(s.actor == name and s.reading.role == DETECTIVE for s in seen.public.said)
    ]
    claimants = claimants or [name for name in prey if name in seen.exposed]
    rivals = [name for name in claimants if name in hostile] or claimants or [n for n in hostile if n in prey]
    target = rivals[-1] if rivals else pick(public, prey, 1.0, random)
    told = any(said.reading.role == DETECTIVE or said.reading.report for said in seen.mine)
    options = {move: weight * _GUARDED.get(move, 1.0) for move, weight in _moves_of_all(seen, last).items()}
    friend = _friend(seen, public, target)
    if told:
        options |= {"claim_villager": 0.0, "small_talk": 0.1, "report_investigation": 2.5, "claim_detective": 0.6}
        options["accuse"] += 1.0
    elif rivals:
        counter = 2.5 if seen.public.counts.get(DETECTIVE) else 0.0
        options |= {"deny": 1.5, "report_investigation": counter, "claim_detective": 0.3}
        options["doubt"] += 1.0
    else:
        options |= {"report_investigation": 1.2 if seen.public.counts.get(DETECTIVE) else 0.0, "claim_detective": 0.1}
    return _compound(seen, skills, options, target, friend, random)


def _moves_of_all(seen: Knowledge, last: bool) -> Weights:
    """How likely any player is to make each move at this point."""
    begun = 1.0 if seen.public.said else 0.25
    return {
        "accuse": 2.0 * begun,
        "doubt": 1.5 * begun,
        "defend": 0.7 * begun,
        "question": 0.8 if last else 1.8,
        "agree": 1.3 if seen.public.said else 0.0,
        "vote_promise": 2.5 if last else 0.5,
        "observe": 1.3 if seen.public.said else 0.0,
        "claim_villager": 1.2,
        "appeal": 0.7,
        "small_talk": 0.5 if last else 2.5,
    }


def _friend(seen: Knowledge, beliefs: dict[str, float], suspect: str) -> str:
    """A player to defend or agree with: one who accused the suspect, else the least suspect."""
    allies = [name for name in seen.accusers(suspect) if name != seen.me]
    others = [name for name in beliefs if name != suspect]
    return allies[-1] if allies else min(others or [suspect], key=lambda name: beliefs[name])


# From options to an intent


def _compound(
    seen: Knowledge,
    skills: Skills,
    options: Weights,
    suspect: str,
    friend: str,
    random: Random,
    hides: bool = False,
) -> Intent:
    """Draw one or two moves. hides: whether the speaker holds back a finding that the others would want."""
    if friend == suspect:
        options = options | {"defend": 0.0}
    if friend == suspect or seen.last_by(friend) is None:
        options = options | {"agree": 0.0}
    first = draw(options, random)
    moves = [first]
    if random.random() < SECOND:
        rest = _second(first)
        if hides or "claim_villager" not in options or not options["claim_villager"]:
            rest.pop("claim_villager", None)
        moves.append(draw(rest, random))
    return _intent(seen, skills, tuple(moves), suspect, friend, random, hides)


def _second(first: str) -> Weights:
    rest: Weights = {"accuse": 1.0, "vote_promise": 1.2, "question": 1.0, "small_talk": 0.8, "claim_villager": 1.0}
    rest |= {"doubt": 1.0, "appeal": 0.6}
    rest.pop(first, None)
    if first in ("report_investigation", "claim_detective", "claim_villager"):
        rest.pop("claim_villager", None)
    if first in ("defend", "agree", "report_investigation"):
        rest.pop("doubt", None)
    return rest


def _intent(
    seen: Knowledge,
    skills: Skills,
    moves: tuple[str, ...],
    suspect: str,
    friend: str,
    random: Random,
    hides: bool = False,
) -> Intent:
    dead = (seen.public.killed or ["one of us"])[-1]
    keys, names, planted = [], [], Kind.NONE
    for move in moves:
        x, y = (friend, suspect) if move in ("defend", "agree") else (suspect, friend)
        key = move
        if move == "report_investigation":
            key, x = _report(seen, suspect)
        elif move == "observe":
            key, x, y, kind = _observe(seen, suspect, random)
            planted = kind if planted is Kind.NONE else planted
        keys.append(key)
        names.append({"x": x, "y": y, "dead": dead})
        if planted is Kind.NONE and move != "observe":
            planted = _meaning(seen, move, random)
    if hides and planted is Kind.NONE:
        planted = Kind.STRATEGIC_DECEPTION if "claim_villager" in moves else Kind.OMISSION
    skill = skills.m if seen.evil else skills.d
    return Intent(tuple(keys), tuple(names), planted, random.gauss(skill, SPREAD))


def _report(seen: Knowledge, suspect: str) -> tuple[str, str]:
    """The finding that a detective has, or that a mafioso makes up."""
    if seen.evil or suspect in seen.culprits():
        return "report_investigation/guilty", suspect
    cleared = [name for name in seen.results if name in seen.public.alive]
    return "report_investigation/clean", cleared[-1] if cleared else suspect


def _meaning(seen: Knowledge, move: str, random: Random) -> Kind:
    if seen.evil:
        kinds = _LIES["mafia"][move]
        return random.choices(list(kinds), list(kinds.values()))[0]
    ((kind, often),) = _LIES["town"].get(move, {Kind.NONE: 0.0}).items()
    if move == "claim_detective" and seen.role == DETECTIVE:
        return Kind.NONE
    return kind if random.random() < often else Kind.NONE


def _observe(seen: Knowledge, suspect: str, random: Random) -> tuple[str, str, str, Kind]:
    """Something to point out: usually what happened; a mafioso, and now and then another player, distorts it."""
    true = _facts(seen)
    about = [fact for fact in true if fact[1] == suspect]
    bends = random.random() < (0.7 if seen.evil else 0.08)
    if true and not bends:
        return *random.choice(about or true), Kind.NONE
    others = [name for name in seen.others() if name != suspect] or [suspect]
    key = random.choice(("observe/accused", "observe/quiet", "observe/claimed", "observe/turned"))
    made_up = (key, suspect, random.choice(others))
    return *made_up, Kind.NONE if made_up in true else Kind.DISTORTION


def _facts(seen: Knowledge) -> list[tuple[str, str, str]]:
    """Obvious facts of the discussion so far, as (move, {x}, {y})."""
    found: list[tuple[str, str, str]] = []
    roles: dict[str, str] = {}
    spoke: set[str] = set()
    for said in seen.public.said:
        spoke.add(said.actor)
        if said.actor not in seen.public.alive or said.actor == seen.me:
            continue
        found += [("observe/accused", said.actor, name) for name, _ in said.reading.accused if name != said.actor]
        role = said.reading.role
        if role and roles.get(said.actor, role) != role:
            found.append(("observe/turned", said.actor, ""))
        if role == DETECTIVE:
            found.append(("observe/claimed", said.actor, ""))
        if role:
            roles[said.actor] = role
    found += [("observe/quiet", name, "") for name in seen.others() if name not in spoke]
    return list(dict.fromkeys(found))


_KNOWN = 3.0  # log-odds that a statement by a known mafioso deceives, before its words are weighed
_BASE = -0.9  # the same for a speaker about whom nothing is known


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """A peer's view of a statement, from what it believes about the speaker and what it heard in the words."""
    belief = believe(seen).get(said.actor, 0.0)
    known = seen.results.get(said.actor) == MAFIOSO or seen.evil
    if known:
        odds = (_KNOWN if belief > 0 else -_KNOWN) - (
            1.5 if belief > 0 and not (said.reading.report or said.reading.role or said.reading.accused) else 0.0
        )
    else:
        wronged = any(name == seen.me for name, _ in said.reading.accused)
        odds = _BASE + max(skills.v, 0.0) * belief + (0.8 if wronged else 0.0)
    probability = chance(odds)
    return rated(
        said.actor,
        probability,
        suspected_kind(said.reading),
        0.15 + 0.25 * chance(-skills.v),
        lambda flag: belief if known else max(skills.v, 0.0) * belief + 0.4 * flag - 0.2,
        random,
    )


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """As many mafiosos and detectives as were dealt, without the seat's own role: what the seat knows, then the most
    suspect as mafiosos (drawn with sensitivity v) and those who claimed to be detectives; all others are villagers.
    """
    deal = Dealing(seen, options)
    scores = suspect(seen)
    cleared = town(seen.public) | {name for name, role in seen.results.items() if role != MAFIOSO}
    doubt = {name: scores[name] - SURE * (name in cleared) for name in options}
    noise = {name: random.gauss(0.0, 1.0) for name in options}
    suspects = sorted(options, key=lambda name: -(max(skills.v, 0.0) * doubt[name] + noise[name]))
    claimants = [said.actor for said in seen.public.said if said.reading.role == DETECTIVE]
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
