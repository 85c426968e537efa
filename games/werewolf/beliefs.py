"""Who seems to be a werewolf, and who a jester that only wants to look like one.

A belief is a number for each living player, higher for more suspect, on the scale of log-odds. How firm a speaker
sounds on average is its credit: it counts for the speaker, and gives weight to those it accuses and clears. Odd,
self-incriminating talk counts against the speaker, and more of it makes it look like a jester.

From beliefs follow votes, kills, protections, investigations and bids, what a speaker intends with a statement or the
reason for its vote, and which deception it considers that to be.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from random import Random

from liescope.games.core import Ask, Phase
from liescope.games.script.grammar import SECOND, SPREAD, Intent
from liescope.games.script.knowledge import Knowledge, PublicKnowledge
from liescope.games.script.persona import SURE, Skills, Weights, chance, draw, favourite, pick, weights
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.werewolf.rules import DOCTOR, JESTER, SEER, VILLAGER, WEREWOLF

CREDIT = 0.5  # weight of the average strength, for the speaker
ODD = 1.6  # for a speaker that is always odd
POINTED = 0.12  # for each player that accuses one, whatever its credit
TRUSTED = 0.12  # weight of the accuser's credit
REPORTED = 1.5  # for a seer's finding reported publicly
HUNTED = 0.2  # for having voted against someone the werewolves killed later
QUIET = 0.2  # for each silence
WRONGED = 0.3  # for accusing one who knows better
CAREFUL = 0.6  # how much of the suspicion of an odd player a careful voter puts down to a jester's act


# The cache compares public knowledge by identity, and is right as long as one object stands for one log.
@lru_cache(maxsize=64)
def public_suspicion(public: PublicKnowledge) -> Mapping[str, float]:
    """How suspect each player is to a bystander without secrets."""
    spoken = Counter(said.actor for said in public.said)
    credit: dict[str, float] = defaultdict(float)
    scores = dict.fromkeys(public.names, 0.0)
    pointed: dict[tuple[str, str], float] = {}
    cleared: dict[tuple[str, str], None] = {}
    for said in public.said:
        share = 1.0 / spoken[said.actor]
        credit[said.actor] += share * said.reading.strength
        if said.odd:
            scores[said.actor] += share * ODD
        for name, weight in said.reading.accused:
            pair = said.actor, name
            pointed[pair] = max(
                pointed.get(pair, 0.0), REPORTED if said.role == SEER and public.counts.get(SEER) else weight * POINTED
            )
        cleared |= dict.fromkeys((said.actor, name) for name in said.reading.cleared)
    for name, strength in credit.items():
        scores[name] -= CREDIT * strength
    for (accuser, name), weight in pointed.items():
        if accuser != name:
            scores[name] += weight + TRUSTED * credit[accuser]
    for friend, name in cleared:
        if friend != name:
            scores[name] -= TRUSTED * (0.5 + credit[friend])
    for name in public.silent:
        scores[name] += QUIET
    for vote in public.votes:
        if vote.target in public.killed:
            scores[vote.voter] += HUNTED
    for role in (SEER, DOCTOR):
        claimants = public.claiming(role)
        if len(claimants) > public.counts.get(role, 0):
            for name in claimants:
                scores[name] += 2 * POINTED
    return scores


@lru_cache(maxsize=64)
def jesterish(public: PublicKnowledge) -> Mapping[str, float]:
    """How much like a jester each player behaves, from 0 to about 1; no one does in a game without a jester."""
    if not public.counts.get(JESTER):
        return dict.fromkeys(public.names, 0.0)
    spoken = Counter(said.actor for said in public.said)
    odd = Counter(said.actor for said in public.said if said.odd)
    named = Counter(name for said in public.said for name in said.jesters if name != said.actor)
    return {name: odd[name] / (spoken[name] or 1) + 0.02 * min(named[name], 5) for name in public.names}


def believe(seen: Knowledge) -> dict[str, float]:
    """The seat's own belief that each other living player is a werewolf."""
    scores = dict(public_suspicion(seen.public))
    if seen.evil:
        scores = {name: SURE if name in seen.partners else -SURE for name in scores}
        return {name: scores[name] for name in seen.others()}
    for name in seen.accusers(seen.me):
        scores[name] += WRONGED
    if seen.role in (SEER, DOCTOR) and seen.public.counts.get(seen.role) == 1:
        for name in seen.public.claiming(seen.role):
            scores[name] += SURE / 2
    for name, role in seen.results.items():
        scores[name] = SURE if role == WEREWOLF else -SURE
    return {name: scores[name] for name in seen.others()}


def wary(scores: Mapping[str, float], public: PublicKnowledge) -> dict[str, float]:
    """Beliefs of a player who would rather not exile a jester."""
    jesters = jesterish(public)
    return {name: score - CAREFUL * jesters[name] for name, score in scores.items()}


MOMENTUM = 0.6  # what each vote of the first ballot adds to a revote for the same player
FOLLOWS = 0.9  # how often a werewolf adopts the proposal of the one seated before it
LIKELY = 0.8  # how likely a player votes for the one it last spoke against


def vote(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> str:
    """Villagers vote by belief with sensitivity v, werewolves with the others, a jester with sensitivity 1 − j."""
    momentum: Counter[str] = Counter()
    if ask.phase is Phase.REVOTE:
        momentum.update(ballot.target for ballot in seen.public.today)
    if seen.evil:
        return _with_the_crowd(seen, skills, ask, random, momentum)
    found = [name for name in ask.options if name in seen.culprits()]
    if found:
        return random.choice(found)
    if seen.role == JESTER:
        return favourite(public_suspicion(seen.public), ask.options, 1.0 - skills.j, leaning)
    beliefs = wary(believe(seen), seen.public)
    open_ones = [name for name in ask.options if beliefs.get(name, 0.0) > -SURE / 2] or list(ask.options)
    pulled = {name: leaning.get(name, 0.0) + MOMENTUM * momentum[name] for name in open_ones}
    return favourite(beliefs, open_ones, max(skills.v, 0.0), pulled)


def _with_the_crowd(seen: Knowledge, skills: Skills, ask: Ask, random: Random, momentum: Mapping[str, int]) -> str:
    """The option that can expect the most votes, from the first ballot or else from who the others spoke against.
    Partners are spared; so is anyone who looks like a jester, the more so the better the werewolf.
    """
    prey = [name for name in ask.options if name not in seen.partners] or list(ask.options)
    public = public_suspicion(seen.public)
    expected = {name: 2.0 * momentum[name] for name in prey}
    if ask.phase is not Phase.REVOTE:
        for other in seen.others():
            last = None if other in seen.partners else seen.last_by(other)
            named = [name for name, _ in last.reading.accused if name in expected] if last else []
            for name in named:
                expected[name] += LIKELY / len(named)
    for name, share in zip(prey, weights(public, prey, 1.0), strict=True):
        expected[name] += 2.0 * share
    jesters = jesterish(seen.public)
    shy = 6.0 * CAREFUL * (0.5 + chance(skills.m))
    return max(prey, key=lambda name: expected[name] - shy * jesters[name] + 0.3 * random.random())


def kill(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """Targets are the trusted, those who claim to be the doctor or the seer, and those who speak against werewolves,
    not a jester. In the second round the werewolf seated first usually gets its way.
    """
    if ask.round > 1 and seen.proposals:
        first = next(name for name in seen.public.names if name in seen.proposals)
        if first != seen.me and seen.proposals[first] in ask.options and random.random() < FOLLOWS:
            return seen.proposals[first]
        if seen.proposals.get(seen.me) in ask.options:
            return seen.proposals[seen.me]
    public, jesters = public_suspicion(seen.public), jesterish(seen.public)
    special = seen.public.claiming(SEER) | seen.public.claiming(DOCTOR)
    danger = {name: -0.5 * public[name] + 1.5 * (name in special) - 3.0 * jesters[name] for name in ask.options}
    for name in (seen.me, *seen.partners):
        for accuser in seen.accusers(name):
            if accuser in danger:
                danger[accuser] += 0.5
    return pick(danger, ask.options, 1.0 + max(skills.m, -0.5), random)


def protect(seen: Knowledge, skills: Skills, ask: Ask, random: Random) -> str:
    """The players who seem most worth killing; itself once it has revealed its role."""
    public = public_suspicion(seen.public)
    special = seen.public.claiming(SEER) | seen.public.claiming(DOCTOR)
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
    recent = seen.public.said[-8:]
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


SHOWN = 0.8  # firmness that a jester gives up for each unit of j
ODDER = 1.2  # weight of odd moves for each unit of j

_LIES: Mapping[str, Mapping[str, tuple[float, tuple[Kind, ...]]]] = {
    side: {move: (often, tuple(map(Kind, kinds))) for move, (often, *kinds) in moves.items()}
    for side, moves in tomllib.loads(Path(__file__).with_name("lies.toml").read_text("utf-8")).items()
}
_SHOW = {**{move: (0.4 * often, kinds) for move, (often, kinds) in _LIES["werewolf"].items()}, **_LIES["jester"]}


def intend(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> Intent:
    """Draw the intent of a discussion turn. The same arguments (and state of `random`) always give the same intent."""
    others = seen.others()
    if not others:
        return _intent(seen, skills, ("small_talk",), seen.me, seen.me, random)
    suspect, friend = _aims(seen, skills, leaning, random)
    options = _options(seen, skills, ask, suspect)
    if friend == suspect or seen.last_by(friend) is None:
        options |= {"agree": 0.0, "defend": 0.0 if friend == suspect else options["defend"]}
    moves = [draw(options, random)]
    if random.random() < SECOND:
        rest = {"accuse": 1.0, "vote_promise": 1.2, "question": 1.0, "small_talk": 0.6, "doubt": 1.0, "appeal": 0.5}
        rest.pop(moves[0], None)
        moves.append(draw(rest, random))
    if "suspect_jester" in moves:
        suspect = max(others, key=lambda name: jesterish(seen.public)[name])
    return _intent(seen, skills, tuple(moves[:1] if "suspect_jester" in moves else moves), suspect, friend, random)


def explain(seen: Knowledge, skills: Skills, target: str, random: Random) -> Intent:
    """Draw the reason to give for a vote for `target`."""
    against = seen.accusers(target)
    allies = [name for name in against if name != seen.me]
    options = {"vote/suspect": 2.0, "vote/follow": 1.0 if allies else 0.0, "vote/odd": _oddity(seen, skills)}
    options["vote/accuser"] = 1.5 if target in seen.accusers(seen.me) else 0.0
    if target in seen.culprits() or (
        seen.evil and seen.public.counts.get(SEER) and seen.me in seen.public.claiming(SEER)
    ):
        options = {"vote/found": 1.0}
    friend = allies[-1] if allies else target
    return _intent(seen, skills, (draw(options, random),), target, friend, random)


def _aims(seen: Knowledge, skills: Skills, leaning: Mapping[str, float], random: Random) -> tuple[str, str]:
    """The player to speak against, and the one to side with."""
    others = seen.others()
    if seen.evil:
        public = public_suspicion(seen.public)
        prey = seen.prey()
        back = [name for name in seen.accusers(seen.me) if name in prey]
        scores = wary({name: public[name] for name in others}, seen.public)
        suspect = back[-1] if back and random.random() < 0.5 else pick(scores, prey, 1.0, random)
        suspected = min(others, key=lambda name: scores[name])
    else:
        scores = wary(believe(seen), seen.public)
        culprits = seen.culprits()
        suspect = culprits[-1] if culprits else favourite(scores, others, max(skills.v, 0.0), leaning)
        suspected = min([name for name in others if name != suspect] or others, key=lambda name: scores[name])
    allies = [name for name in seen.accusers(suspect) if name != seen.me]
    return suspect, allies[-1] if allies else suspected


def _options(seen: Knowledge, skills: Skills, ask: Ask, suspect: str) -> Weights:
    """How likely the seat is to make each move now."""
    begun = 1.0 if seen.public.said else 0.25
    defence = ask.phase is Phase.DEFENCE
    accused = bool(seen.accusers(seen.me)) or (defence and any(v.target == seen.me for v in seen.public.today))
    options: Weights = {
        "accuse": 2.0 * begun,
        "doubt": 1.5 * begun,
        "defend": 0.6 * begun,
        "question": 0.5 if defence else 1.6,
        "agree": 1.2 if seen.public.said else 0.0,
        "vote_promise": 1.5 if defence else 0.6,
        "observe/accused": 0.0,
        "observe/quiet": 0.0,
        "observe/voted": 0.0,
        "suspect_jester": 0.0,
        "claim_villager": 1.5 if accused else 0.5,
        "claim_doctor": 0.04,
        "claim_seer": 0.0,
        "report/guilty": 0.0,
        "report/clean": 0.0,
        "deny": 3.0 if accused else 0.2,
        "odd": _oddity(seen, skills),
        "appeal": 1.0 if defence else 0.4,
        "small_talk": 0.3 if seen.public.said else 3.0,
    }
    options |= {f"observe/{key}": 0.6 for key in _facts(seen, suspect)}
    jesters = jesterish(seen.public)
    if max((jesters[name] for name in seen.others()), default=0.0) > 0.1 and seen.role != JESTER:
        options["suspect_jester"] = 1.0
    if seen.role == DOCTOR:
        options["claim_doctor"] = 1.2 * chance(skills.d) if accused and defence else 0.02
    elif seen.role == SEER:
        _seer(seen, skills, options)
    elif seen.role == JESTER:
        options["claim_doctor"] = 0.15
    elif seen.evil and seen.public.counts.get(SEER):
        options |= {"report/guilty": 0.6 if accused else 0.1}
    return options


def _seer(seen: Knowledge, skills: Skills, options: Weights) -> None:
    """A seer who has found a werewolf comes forward, the sooner the larger d."""
    known = [name for name in seen.results if name in seen.public.alive]
    if seen.culprits():
        options["report/guilty"] = 6.0 * chance(skills.d)
    elif known:
        options["report/clean"] = 0.5 * chance(skills.d)
    if seen.me in seen.public.claiming(SEER):
        options |= {"claim_villager": 0.0, "claim_seer": 0.5}


def _oddity(seen: Knowledge, skills: Skills) -> float:
    return ODDER * max(skills.j, 0.0) if seen.role == JESTER else 0.06


def _intent(
    seen: Knowledge, skills: Skills, moves: tuple[str, ...], suspect: str, friend: str, random: Random
) -> Intent:
    dead = seen.public.killed[-1] if seen.public.killed else "one of us"
    names, planted = [], Kind.NONE
    for move in moves:
        x, y = (friend, suspect) if move in ("defend", "agree") else (suspect, friend)
        if move == "report/clean":
            x = next((name for name in reversed(seen.results) if name in seen.public.alive), x)
        elif move in ("observe/accused", "observe/voted"):
            y = _facts(seen, suspect).get(move.removeprefix("observe/"), friend)
        names.append({"x": x, "y": y, "dead": dead})
        if planted is Kind.NONE:
            planted = _meaning(seen, move, random)
    if seen.evil:
        strength = skills.m
    elif seen.role == JESTER:
        strength = skills.d - SHOWN * max(skills.j, 0.0)
    else:
        strength = skills.d
    return Intent(moves, tuple(names), planted, random.gauss(strength, SPREAD))


def _meaning(seen: Knowledge, move: str, random: Random) -> Kind:
    kinds = _LIES["werewolf"] if seen.evil else _SHOW if seen.role == JESTER else _LIES["village"]
    often, deceptions = kinds.get(move, (0.0, (Kind.NONE,)))
    if move.startswith("claim_") and not seen.evil:  # holds for only one role
        often, deceptions = (0.0 if move == f"claim_{seen.role}" else 1.0), (Kind.STRATEGIC_DECEPTION,)
    elif seen.role not in (VILLAGER, JESTER) and move == "small_talk" and not seen.evil:
        often, deceptions = 0.15, (Kind.OMISSION,)
    return random.choice(deceptions) if random.random() < often else Kind.NONE


def _facts(seen: Knowledge, about: str) -> dict[str, str]:
    """Obvious facts about a player: who it last accused, who it last voted for (except the seat itself, which does not
    refer to itself by name), or that it was quiet.
    """
    found: dict[str, str] = {}
    last = seen.last_by(about)
    if last is None and seen.public.said:
        found["quiet"] = ""
    accused = [name for name, _ in last.reading.accused if name not in (about, seen.me)] if last else []
    if accused:
        found["accused"] = accused[0]
    votes = [vote.target for vote in seen.public.votes if vote.voter == about and vote.target != seen.me]
    if votes:
        found["voted"] = votes[-1]
    return found
