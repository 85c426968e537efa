"""How scripted players of Werewolf think and talk: what they hear, rate and name, and where their draws come from.

Draws depend on the point in the game, not on the step, so that assessments, or lessons shown to a player, change
nothing else.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from random import Random

from liescope.games.core import AskKind, Assessment, Event, LessonKind
from liescope.games.script.grammar import Phrasebook
from liescope.games.script.hearing import MessageContent
from liescope.games.script.knowledge import Follower, Heard, Knowledge
from liescope.games.script.persona import SURE, Skills, chance
from liescope.games.script.player import Dealing, Mind, rated, suspected_kind
from liescope.games.taxonomy import DeceptionType as Kind
from liescope.games.werewolf.beliefs import (
    believe,
    bid,
    explain,
    intend,
    investigate,
    jesterish,
    kill,
    protect,
    public_suspicion,
    vote,
)
from liescope.games.werewolf.rules import DOCTOR, JESTER, SEER, VILLAGER, WEREWOLF

WORDS = Phrasebook.read(Path(__file__).with_suffix(".toml"))


_NONE = 0.2  # how often nothing is learned

_BANK = tomllib.loads(Path(__file__).with_name("lessons.toml").read_text("utf-8"))


def reflect(seen: Knowledge, skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """Lessons by list, each from this game; sometimes none. A bolder jester writes down more."""
    if random.random() < _NONE:
        return {}
    public, won = seen.public, seen.public.winner == JESTER
    talk = [said.actor for said in public.said if said.actor != seen.me]
    loud = max(dict.fromkeys(talk), key=talk.count, default="the loudest")
    facts = {
        "day": max((vote.day for vote in public.votes), default=1),
        "loud": loud,
        "votes": sum(vote.target == seen.me for vote in public.today),
    }
    lessons: dict[str, tuple[str, ...]] = {}
    for kind in LessonKind:
        bank = _BANK["won" if won else "lost"][kind.value]
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
_GONE = 0.5  # the suspicion of exiled players
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
    """A rating from beliefs about the speaker and from its words; skills.b is added to the log-odds of the flag."""
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
    if seen.evil:  # even a player who knows the wolves rates who seems to be one
        belief = public_suspicion(seen.public).get(said.actor, 0.0)
    return rated(
        said.actor,
        probability,
        Kind.STRATEGIC_DECEPTION if said.odd else suspected_kind(said.reading),
        0.15 + 0.25 * chance(-skills.v),
        lambda flag: belief if abs(belief) >= SURE else sensitivity * belief + 0.4 * flag - 0.8,
        random,
    )


def name_roles(seen: Knowledge, options: tuple[str, ...], skills: Skills, random: Random) -> dict[str, tuple[str, ...]]:
    """The role of each player, as the composition allows: the most suspect are named as werewolves, the
    oddest as the jester, those who claim to be doctor or seer are believed; all others are villagers.
    """
    public = seen.public
    deal = Dealing(seen, options)
    beliefs, jesters = believe(seen), jesterish(public)
    noise = {name: random.gauss(0.0, 1.0 / (1.0 + max(skills.v, 0.0))) for name in options}
    if public.winner == JESTER:
        deal.give(JESTER, public.exiled[-1:])
    deal.give(JESTER, sorted(options, key=lambda name: -(jesters[name] + 0.2 * noise[name])))
    for role in (SEER, DOCTOR):
        deal.give(role, [name for name in options if name in public.claiming(role)])
    cleared = {name for name, role in seen.results.items() if role != WEREWOLF} | set(public.killed)
    suspects = [name for name in options if name not in cleared]
    deal.give(WEREWOLF, sorted(suspects, key=lambda name: -(beliefs.get(name, _GONE) + noise[name])))
    for role in (SEER, DOCTOR):  # whoever holds it has not said so
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


answer = Mind(
    Follower(WEREWOLF, _hear),
    WORDS,
    place=lambda ask, about: (ask.game, ask.seat, ask.day, ask.phase.value, ask.round, ask.kind.value, about),
    leaning=lambda ask: (ask.game, ask.day, ask.seat),
    intend=intend,
    vote=vote,
    rate=rate,
    name_roles=name_roles,
    acts={AskKind.KILL: kill, AskKind.PROTECT: protect, AskKind.INVESTIGATE: investigate, AskKind.BID: bid},
    explain=explain,
    reflect=reflect,
).answer
