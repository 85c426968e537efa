"""How scripted players of Werewolf think: what they hear, rate and name, and where their draws come from.

Draws depend on the point in the game, not on the step, so that assessments, or lessons shown to a player, change
nothing else.
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from liescope.games.core import Ask, AskKind, Assessment, Event, LessonKind
from liescope.games.script.assessments import NEAR, OTHERS, Dealing, suspected_kind
from liescope.games.script.hearing import MessageContent
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Skills, chance
from liescope.games.script.player import Mind
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.werewolf.beliefs import believe, bid, investigate, jesterish, kill, protect, public_suspicion, vote
from liescope.games.werewolf.intents import explain, intend
from liescope.games.werewolf.phrases import WORDS
from liescope.games.werewolf.rules import DOCTOR, JESTER, SEER, VILLAGER, WEREWOLF

_NONE = 0.2  # how often nothing is learned

_BANK: dict[tuple[LessonKind, bool], tuple[str, ...]] = {
    (LessonKind.TO_DO, True): (
        "Contradict an earlier statement of mine by day {day}, so that the village doubts me.",
        "Press players like {loud} early and openly; the answer brings votes back to me.",
        "Vote as the werewolves do, so that villagers take me for a wolf.",
        "Answer a charge with a question and leave it standing.",
        "Stay silent for a turn when {loud} accuses me, it looks evasive.",
    ),
    (LessonKind.TO_DO, False): (
        "Draw the first accusation on day 1; by day {day} it was too late.",
        "Accuse {loud} or somebody as loud, and keep the quarrel going until the vote.",
        "Give the villagers a werewolf's reasons while the wolves see a harmless villager.",
        "Ask who the werewolves fear, then dodge when asked the same.",
        "Change my vote between the two ballots without saying why.",
    ),
    (LessonKind.TO_AVOID, True): (
        "Do not ask for my own exile once votes are on me; the village thinks of a jester at once.",
        "Do not overact; two odd remarks a day were enough for {votes} votes.",
        "Never defend myself well, it sends the votes elsewhere.",
    ),
    (LessonKind.TO_AVOID, False): (
        "Do not joke about being the jester; {loud} warned the others.",
        "Do not sound firm and helpful, nobody votes out a useful villager.",
        "Avoid being so strange on day 1 that everybody expects a jester.",
        "Do not stay out of the talk, the wolves killed or ignored me.",
    ),
    (LessonKind.WINNING_TACTIC, True): (
        "A shaky denial in the defence turned {votes} votes into an exile on day {day}.",
        "Looking like a nervous werewolf to the villagers while the wolves saw an easy target brought the exile.",
        "Voting against the player whom all trusted made me the suspect of day {day}.",
    ),
    (LessonKind.WINNING_TACTIC, False): (),
}


def reflect(seen: Knowledge, skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """Lessons by list, each from this game; sometimes none. A bolder jester writes down more."""
    if random.random() < _NONE:
        return {}
    table, won = seen.table, seen.table.winner == JESTER
    talk = [said.actor for said in table.said if said.actor != seen.me]
    loud = max(dict.fromkeys(talk), key=talk.count, default="the loudest")
    facts = {
        "day": max((vote.day for vote in table.votes), default=1),
        "loud": loud,
        "votes": sum(vote.target == seen.me for vote in table.today),
    }
    lessons: dict[str, tuple[str, ...]] = {}
    for kind in LessonKind:
        bank = _BANK[kind, won]
        count = min(len(bank), int(random.random() < 0.7) + int(random.random() < 0.1 * max(skills.j, 0.0)))
        if count:
            lessons[kind.value] = tuple(text.format(**facts) for text in random.sample(bank, count))
    return lessons


_BASE = -1.3  # log-odds that a statement deceives if nothing is known about its speaker
_PARTNER = 1.5  # the same for a werewolf's statement, to its partners
_OTHER = -1.8  # the same for anyone else's statement, to werewolves
_CHARGE = 0.4  # for accusing someone: an honest player has less reason to
_STRANGE = 1.2  # for an odd statement
_WRONGED = 0.8  # for accusing the rater
_FELT = 0.5  # weight of v times belief
_GONE = 0.5  # the suspicion of those who were exiled
_FIRM = 0.2  # weight of v times the firmness of the words themselves

_CLAIMS = {
    SEER: re.compile(r"\bi(?: a|['’])m (?:the|your) seer\b|\bas (?:the|your) seer\b|\bmy role is (?:the )?seer\b"),
    DOCTOR: re.compile(
        r"\bi(?: a|['’])m (?:the|your) doctor\b|\bas (?:the|your) doctor\b|\bmy role is (?:the )?doctor\b|"
        r"\bi (?:have )?protected\b"
    ),
}
_ODD = re.compile(
    r"\b(?:exile me|vote for me|votes? on me|if i were (?:a|the) (?:were)?wolf|i(?: a|['’])m (?:a|the) werewolf|"
    r"i would not trust me|i forgot what i said|i take (?:it|that) back|i might have been out|nothing to hide|"
    r"no matter who goes)\b"
)
_JESTER = re.compile(r"\bjester\b")


def rate(seen: Knowledge, said: Heard, skills: Skills, random: Random) -> Assessment:
    """What a peer believes about the speaker and hears in the words; skills.b is added to the log-odds of the flag."""
    belief = believe(seen).get(said.actor, 0.0)
    sensitivity = max(skills.v, 0.0)
    strange = _STRANGE * said.odd
    if seen.evil:
        odds = (_PARTNER if said.actor in seen.partners else _OTHER) + strange
    else:
        felt = max(-3.0, min(3.0, belief))
        wronged = any(name == seen.me for name, _ in said.reading.accused)
        odds = _BASE + _FELT * sensitivity * felt + _WRONGED * wronged + strange
        odds += _CHARGE * bool(said.reading.accused) - _FIRM * sensitivity * said.reading.strength
    probability = chance(odds + skills.b)
    flag = random.random() < probability
    kind = Kind.NONE
    if flag:
        kind = Kind.STRATEGIC_DECEPTION if said.odd else suspected_kind(said.reading)
        if random.random() < 0.15 + 0.25 * chance(-skills.v):
            kind = random.choice([near for near in NEAR[kind] if near is not Kind.NONE])
    sure = 0.5 + 0.5 * abs(2 * probability - 1)
    confidence = round(min(0.99, max(0.3, random.gauss(sure - 0.05, 0.07))), 2)
    if seen.evil:  # a player who knows the wolves can still judge who seems to be one
        belief = public_suspicion(seen.table).get(said.actor, 0.0)
    seeming = chance(belief if abs(belief) >= SURE else sensitivity * belief + 0.4 * flag - 0.8)
    suspicion = round(min(1.0, max(0.0, random.gauss(seeming, 0.05))), 2)
    reason = random.choice(OTHERS[flag]).format(x=said.actor)
    return Assessment(flag, kind.value, confidence, suspicion, reason)


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """The role of each player, as the composition of the table allows: the most suspect are named as werewolves, the
    oddest as the jester, those who claim to be doctor or seer are believed; all others are villagers.
    """
    table = seen.table
    deal = Dealing(table.counts, seen.role, options)
    beliefs, jesters = believe(seen), jesterish(table)
    noise = {name: random.gauss(0.0, 1.0 / (1.0 + max(skills.v, 0.0))) for name in options}
    deal.give(WEREWOLF, [name for name in options if name in seen.partners or seen.results.get(name) == WEREWOLF])
    if table.winner == JESTER:
        deal.give(JESTER, table.exiled[-1:])
    deal.give(JESTER, sorted(options, key=lambda name: -(jesters[name] + 0.2 * noise[name])))
    for role in (SEER, DOCTOR):
        deal.give(role, [name for name in options if name in table.claiming(role)])
    cleared = {name for name, role in seen.results.items() if role != WEREWOLF} | set(table.killed)
    suspects = [name for name in options if name not in cleared]
    deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs.get(name, _GONE) + noise[name])))
    for role in (SEER, DOCTOR):  # whoever it is has not said so
        deal.give(role, sorted(options, key=lambda name: noise[name]))
    return deal.form(VILLAGER)


def _hear(event: Event, reading: MessageContent, names: tuple[str, ...]) -> Heard:
    role, odd, jesters = _overtones(event.text, names)
    claimed = role or (VILLAGER if reading.role == VILLAGER else "")
    place = event.actor or "", event.day, event.phase, event.index
    return Heard(*place, event.text, reading, claimed, odd, jesters)


@lru_cache(maxsize=2048)
def _overtones(text: str, names: tuple[str, ...]) -> tuple[str, bool, tuple[str, ...]]:
    """The special role that a statement claims; whether it is odd; the names that share a sentence with a jester."""
    lower = text.lower()
    role = next((role for role, pattern in _CLAIMS.items() if pattern.search(lower)), "")
    named = [sentence for sentence in lower.split(".") if _JESTER.search(sentence)]
    jesters = tuple(name for name in names if any(name.lower() in sentence for sentence in named))
    return role, _ODD.search(lower) is not None, jesters


def _place(ask: Ask, about: str) -> tuple[object, ...]:
    return ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, about


answer = Mind(
    Follower(WEREWOLF, _hear),
    WORDS,
    place=_place,
    leaning=lambda ask: (ask.game, ask.day, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.KILL: kill, AskKind.PROTECT: protect, AskKind.INVESTIGATE: investigate, AskKind.BID: bid},
    explain=explain,
    reflect=reflect,
).answer
