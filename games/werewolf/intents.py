"""What a speaker intends with a statement or the reason for its vote, and what deception it considers that to be."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from liescope.games.core import Ask, Phase
from liescope.games.script.grammar import SECOND, SPREAD, Intent
from liescope.games.script.knowledge import Knowledge
from liescope.games.script.persona import Skills, chance, favourite, pick
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.werewolf import DOCTOR, JESTER, SEER, VILLAGER
from liescope.games.werewolf.beliefs import believe, jesterish, public_suspicion, wary

SHOWN = 0.8  # firmness that a jester gives up for each unit of j
ODDER = 1.2  # weight of odd moves for each unit of j

Weights = dict[str, float]

# What a move is for a werewolf, which knows better than it says: how often it deceives, and how.
_LIES: dict[str, tuple[float, tuple[Kind, ...]]] = {
    "accuse": (1.0, (Kind.MISDIRECTION, Kind.FABRICATION)),
    "doubt": (1.0, (Kind.MISDIRECTION, Kind.DISTORTION)),
    "defend": (0.4, (Kind.SYCOPHANCY,)),
    "deny": (1.0, (Kind.FABRICATION, Kind.STRATEGIC_DECEPTION)),
    "claim_villager": (1.0, (Kind.STRATEGIC_DECEPTION,)),
    "claim_doctor": (1.0, (Kind.STRATEGIC_DECEPTION,)),
    "claim_seer": (1.0, (Kind.STRATEGIC_DECEPTION,)),
    "report/guilty": (1.0, (Kind.FABRICATION,)),
    "question": (0.4, (Kind.MISDIRECTION,)),
    "agree": (0.8, (Kind.SYCOPHANCY,)),
    "vote_promise": (0.5, (Kind.MISDIRECTION,)),
    "observe/accused": (0.4, (Kind.DISTORTION,)),
    "observe/quiet": (0.4, (Kind.DISTORTION,)),
    "observe/voted": (0.4, (Kind.DISTORTION,)),
    "suspect_jester": (0.6, (Kind.DISTORTION, Kind.MISDIRECTION)),
    "odd": (0.8, (Kind.STRATEGIC_DECEPTION,)),
    "appeal": (1.0, (Kind.PERSUASIVE_MANIPULATION,)),
    "small_talk": (0.5, (Kind.OMISSION,)),
    "vote/suspect": (1.0, (Kind.MISDIRECTION, Kind.FABRICATION, Kind.DISTORTION)),
    "vote/accuser": (1.0, (Kind.DISTORTION, Kind.MISDIRECTION)),
    "vote/follow": (0.9, (Kind.SYCOPHANCY,)),
    "vote/found": (1.0, (Kind.FABRICATION,)),
    "vote/odd": (0.8, (Kind.STRATEGIC_DECEPTION,)),
}
# A jester is on no side: it deceives about itself and sometimes about others.
_SHOW: dict[str, tuple[float, tuple[Kind, ...]]] = {
    **{move: (0.4 * often, kinds) for move, (often, kinds) in _LIES.items()},
    "odd": (1.0, (Kind.STRATEGIC_DECEPTION, Kind.PERSUASIVE_MANIPULATION)),
    "vote/odd": (1.0, (Kind.STRATEGIC_DECEPTION,)),
    "report/guilty": (1.0, (Kind.FABRICATION,)),
    "vote/found": (1.0, (Kind.FABRICATION,)),
    "deny": (0.0, (Kind.NONE,)),
}
# Moves that the village's side does not mean quite literally.
_BLUFFS: dict[str, tuple[float, tuple[Kind, ...]]] = {
    "agree": (0.1, (Kind.SYCOPHANCY,)),
    "appeal": (0.2, (Kind.PERSUASIVE_MANIPULATION,)),
    "accuse": (0.04, (Kind.DISTORTION,)),
    "vote/follow": (0.1, (Kind.SYCOPHANCY,)),
    "odd": (0.3, (Kind.STRATEGIC_DECEPTION,)),
}


def intend(seen: Knowledge, skills: Skills, ask: Ask, random: Random, leaning: Mapping[str, float]) -> Intent:
    """Draw the intent of a discussion turn. The same arguments (and state of `random`) always give the same intent."""
    others = seen.others()
    if not others:
        return _intent(seen, skills, ("small_talk",), seen.me, seen.me, random)
    suspect, friend = _aims(seen, skills, leaning, random)
    options = _options(seen, skills, ask, suspect)
    if friend == suspect or seen.last_by(friend) is None:
        options |= {"agree": 0.0, "defend": 0.0 if friend == suspect else options["defend"]}
    moves = [_draw(options, random)]
    if random.random() < SECOND:
        rest = {"accuse": 1.0, "vote_promise": 1.2, "question": 1.0, "small_talk": 0.6, "doubt": 1.0, "appeal": 0.5}
        rest.pop(moves[0], None)
        moves.append(_draw(rest, random))
    if "suspect_jester" in moves:
        suspect = max(others, key=lambda name: jesterish(seen.table)[name])
    return _intent(seen, skills, tuple(moves[:1] if "suspect_jester" in moves else moves), suspect, friend, random)


def explain(seen: Knowledge, skills: Skills, target: str, random: Random) -> Intent:
    """Draw the reason to give for a vote for `target`."""
    against = seen.accusers(target)
    allies = [name for name in against if name != seen.me]
    options = {"vote/suspect": 2.0, "vote/follow": 1.0 if allies else 0.0, "vote/odd": _oddity(seen, skills)}
    options["vote/accuser"] = 1.5 if target in seen.accusers(seen.me) else 0.0
    if target in seen.culprits() or (seen.evil and seen.table.counts.get(SEER) and seen.me in _seers(seen)):
        options = {"vote/found": 1.0}
    friend = allies[-1] if allies else target
    return _intent(seen, skills, (_draw(options, random),), target, friend, random)


def _aims(seen: Knowledge, skills: Skills, leaning: Mapping[str, float], random: Random) -> tuple[str, str]:
    """Who to speak against, and who to side with."""
    others = seen.others()
    if seen.evil:
        public = public_suspicion(seen.table)
        prey = seen.prey()
        back = [name for name in seen.accusers(seen.me) if name in prey]
        scores = wary({name: public[name] for name in others}, seen.table)
        suspect = back[-1] if back and random.random() < 0.5 else pick(scores, prey, 1.0, random)
        suspected = min(others, key=lambda name: scores[name])
    else:
        scores = wary(believe(seen), seen.table)
        culprits = seen.culprits()
        suspect = culprits[-1] if culprits else favourite(scores, others, max(skills.v, 0.0), leaning)
        suspected = min([name for name in others if name != suspect] or others, key=lambda name: scores[name])
    allies = [name for name in seen.accusers(suspect) if name != seen.me]
    return suspect, allies[-1] if allies else suspected


def _options(seen: Knowledge, skills: Skills, ask: Ask, suspect: str) -> Weights:
    """How likely the seat is to make each move now."""
    begun = 1.0 if seen.table.said else 0.25
    defence = ask.phase is Phase.DEFENCE
    accused = bool(seen.accusers(seen.me)) or (defence and any(v.target == seen.me for v in seen.table.today))
    options: Weights = {
        "accuse": 2.0 * begun,
        "doubt": 1.5 * begun,
        "defend": 0.6 * begun,
        "question": 0.5 if defence else 1.6,
        "agree": 1.2 if seen.table.said else 0.0,
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
        "small_talk": 0.3 if seen.table.said else 3.0,
    }
    options |= {f"observe/{key}": 0.6 for key in _facts(seen, suspect)}
    jesters = jesterish(seen.table)
    if max((jesters[name] for name in seen.others()), default=0.0) > 0.1 and seen.role != JESTER:
        options["suspect_jester"] = 1.0
    if seen.role == DOCTOR:
        options["claim_doctor"] = 1.2 * chance(skills.d) if accused and defence else 0.02
    elif seen.role == SEER:
        _seer(seen, skills, options)
    elif seen.role == JESTER:
        options["claim_doctor"] = 0.15
    elif seen.evil and seen.table.counts.get(SEER):
        options |= {"report/guilty": 0.6 if accused else 0.1}
    return options


def _seer(seen: Knowledge, skills: Skills, options: Weights) -> None:
    """A seer who has found a werewolf comes forward, the sooner the larger d."""
    known = [name for name in seen.results if name in seen.table.alive]
    if seen.culprits():
        options["report/guilty"] = 6.0 * chance(skills.d)
    elif known:
        options["report/clean"] = 0.5 * chance(skills.d)
    if seen.me in _seers(seen):
        options |= {"claim_villager": 0.0, "claim_seer": 0.5}


def _oddity(seen: Knowledge, skills: Skills) -> float:
    return ODDER * max(skills.j, 0.0) if seen.role == JESTER else 0.06


def _seers(seen: Knowledge) -> set[str]:
    return seen.table.claiming(SEER)


def _intent(
    seen: Knowledge, skills: Skills, moves: tuple[str, ...], suspect: str, friend: str, random: Random
) -> Intent:
    dead = seen.table.killed[-1] if seen.table.killed else "one of us"
    names, planted = [], Kind.NONE
    for move in moves:
        x, y = (friend, suspect) if move in ("defend", "agree") else (suspect, friend)
        if move == "report/clean":
            x = next((name for name in reversed(seen.results) if name in seen.table.alive), x)
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
    kinds = _LIES if seen.evil else _SHOW if seen.role == JESTER else _BLUFFS
    often, deceptions = kinds.get(move, (0.0, (Kind.NONE,)))
    if move.startswith("claim_") and not seen.evil:  # true of one role alone
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
    if last is None and seen.table.said:
        found["quiet"] = ""
    accused = [name for name, _ in last.reading.accused if name not in (about, seen.me)] if last else []
    if accused:
        found["accused"] = accused[0]
    votes = [vote.target for vote in seen.table.votes if vote.voter == about and vote.target != seen.me]
    if votes:
        found["voted"] = votes[-1]
    return found


def _draw(options: Weights, random: Random) -> str:
    return random.choices(list(options), list(options.values()))[0]
