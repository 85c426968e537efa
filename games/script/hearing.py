"""What a scripted listener reads in a public statement: who it accuses or clears, what it claims, how firm it is.

Nothing but the words counts. Firmness is read from cues that anyone can hear (reasons and certainty on one side,
hedging and pleading on the other), regardless of the speaker and of what produced the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from liescope.common.text import regex

CUE = 0.5  # what one cue adds to or subtracts from the strength
MOST = 2.5  # no statement is stronger or weaker than this
_CACHED_LENGTH = 200

_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _any(phrases: Sequence[str]) -> str:
    return "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))


_CUES = regex(rf"\b(?:(?P<shaky>{_any(_WORDS['shaky'])})|{_any(_WORDS['firm'])})\b")
_CLAUSE = regex(r"[.!?;,:…\n]+|\s[–—-]\s|\bbut\b|\bwhile\b|\bso\b")
_MORE = r"(?:\W+\w+){0,2}?\W+"
_DETECTIVE = regex(
    r"\bi(?: a|')m (?:indeed )?(?:the|a|your|our) (?:\w+ )?detective\b|\bas (?:the|your) detective\b|"
    r"\bdetective here\b|\bi was dealt the detective\b|\bmy role is (?:the )?detective\b|\bi was the detective\b"
)
_VILLAGER = regex(
    rf"\bi(?: a|')m (?:just |only |simply )?(?:a|another|one of the)(?:{_MORE}|\W+)villagers?\b|"
    r"\bi(?: a|')m (?:not the mafioso|innocent|with the town|town)\b|\bmy role is (?:a )?(?:plain )?villager\b|"
    r"\bas a (?:\w+ )?villager\b|\bvillager here\b"
)
_HARMLESS = regex("villager|innocent|town|not the mafioso")  # every match of _VILLAGER contains this
_LOOKED = regex(r"\bi (?:have |did )?(?:investigated?|checked|looked into)\b|\bmy (?:investigation|check)\b")
_PRONOUN = regex(r"\b(?:they|them|their|he|him|his|she|her|the story)(?:'re|'s)?\b")
_NOT = r"(?:not|isn't|aren't|wasn't|never|no|can't be|cannot be|nothing)"
_GUILTY = regex(
    r"\b(?:mafioso|mafia|(?:were)?wol(?:f|ves)|guilty|killers?|who killed|lying|liar|lied|lies|"
    r"made (?:that|it|this) up|invented|suspicious|"
    r"suspect|hiding|dodg\w+|deflect\w+|evasive|shifty|nervous|fishy|odd|off|too quiet|too quick|kept silent|stalling|"
    r"hardly said|told us nothing|and then another|same story twice|changed? (?:\w+ )?(?:story|tune)|avoid\w*|"
    r"(?:doesn't|does not) (?:add up|fit)|(?:don't|do not) buy|has to go|should go|pushing)\b"
)
_STRONG = regex(
    r"\b(?:mafioso|mafia|(?:were)?wol(?:f|ves)|guilty|killers?|who killed|lying|liar|lied|"
    r"made (?:that|it|this) up|invented)\b"
)
_CLEAN = regex(
    rf"\b(?:innocent|clean|cleared|trustworthy|trust|believe|honest|town|on our side|villager|genuine|"
    rf"makes sense|is right|agree|with me|credible|"
    rf"{_NOT} (?:\w+ )?(?:the |a )?(?:mafioso|mafia|(?:were)?wolf|guilty|lying))\b"
)
_DISBELIEF = regex(r"\b(?:don't|can't|do not|cannot|hardly)\b")
_AGAINST = regex(
    r"\b(?:(?<!not )vot(?:e|ing|es)(?: is| goes)?(?: for| on| against| out| to)?|suspect|suspicious of|"
    r"(?<!no )(?<!without a )doubt|accuse|blame|(?<!not )arrest|(?<!not )exile|against|eyes on|"
    r"pressure on|wary of|worried about|"
    r"(?:don't|do not|can't|cannot|not|hardly|never)(?: \w+)? (?:trust|believe|buy|agree with)|problem with|"
    r"heard nothing from|look (?:\w+ )?at)(?: \w+)?\W*$"
)
_FOR = regex(r"\b(?:agree with|trust|believe|vouch for|side with|stand with|(?:i'm|am) with|defend|back|follow)\W*$")
_RETOLD = regex(
    r"\W*(?:\w+ )?(?:wants|accus\w+|says|said|claims|claimed|thinks|told|went after|pointing at|put|suspects|blames|"
    r"vote[ds]|brought up)\b"
)
_PLEAD = regex(r"\b(?:trust me|believe me|please|beg|regret|heart|hurts?|friends?|fair|let me down|shame|alone)\b")


@dataclass(frozen=True, slots=True)
class MessageContent:
    """strength: within ±MOST. role: "detective", "villager" or "" (the role that the speaker claims). accused: each
    name with a weight in (0, 1]; cleared: names called innocent or agreed with. report: the speaker reports its own
    investigation. pleads: an appeal to feelings.
    """

    strength: float
    role: str
    accused: tuple[tuple[str, float], ...]
    cleared: tuple[str, ...]
    report: bool
    pleads: bool


@lru_cache(maxsize=4096)
def tone(text: str) -> int:
    """Cues of firmness in a text minus cues of doubt, with every occurrence of a phrase counted."""
    return _tone(text.lower())


def _tone(lower: str) -> int:
    return sum([-1 if match.lastgroup else 1 for match in _CUES.finditer(lower)])


@lru_cache(maxsize=512)
def _names(names: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    pattern = _any(tuple(name.lower() for name in names))
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)"), {name.lower(): name for name in names}


@lru_cache(maxsize=2048)
def read(text: str, names: tuple[str, ...]) -> MessageContent:
    """Read a statement made among players of these names."""
    lower = text.lower().replace("’", "'")  # models write both apostrophes
    firmness, last = 0, ""
    accused: dict[str, float] = {}
    cleared: dict[str, None] = {}
    for clause in _CLAUSE.split(lower):
        part = (_cached if len(clause) <= _CACHED_LENGTH else _clause)(clause, names, last)
        firmness, last = firmness + part.tone, part.last
        for name, weight in part.weighed:
            if weight:
                accused[name] = max(accused.get(name, 0.0), weight)
            else:
                cleared[name] = None
    detective = "detective" in lower and _DETECTIVE.search(lower)
    villager = not detective and _HARMLESS.search(lower) and _VILLAGER.search(lower)
    return MessageContent(
        max(-MOST, min(MOST, CUE * firmness)),
        "detective" if detective else "villager" if villager else "",
        tuple(accused.items()),
        tuple(name for name in cleared if name not in accused),
        _LOOKED.search(lower) is not None,
        _PLEAD.search(lower) is not None,
    )


@dataclass(frozen=True, slots=True)
class _Clause:
    """The content of one clause. weighed: names with the weight of an accusation, 0 for those cleared; last: the player
    that a pronoun in the next clause means.
    """

    tone: int
    weighed: tuple[tuple[str, float], ...]
    last: str


def _clause(clause: str, names: tuple[str, ...], last: str) -> _Clause:
    """Read a clause. last: the player named last before it, or "" """
    find, known = _names(names)
    weighed: list[tuple[str, float]] = []
    places = [match.span() for match in find.finditer(clause)]
    if not places and last and _PRONOUN.search(clause):
        weight = _weigh("", clause)
        if weight is not None:
            weighed.append((last, weight))
    for number, (begin, end) in enumerate(places):
        before = clause[places[number - 1][1] if number else 0 : begin]
        after = clause[end : places[number + 1][0] if number + 1 < len(places) else len(clause)]
        if number and _RETOLD.match(before):
            continue  # what someone else said about this player
        last = known[clause[begin:end]]
        weight = _weigh(before, after)
        if weight is not None:
            weighed.append((last, weight))
    return _Clause(_tone(clause), tuple(weighed), last)


_cached = lru_cache(maxsize=8192)(_clause)  # cached: scripted players often repeat a clause


def _weigh(before: str, after: str) -> float | None:
    """The weight of an accusation in the words around a name, 0 if they clear it, None if they say nothing about it."""
    if against := _AGAINST.search(before):
        return 1.0 if against[0].startswith("vot") else 0.5
    if _FOR.search(before):
        return 0.0
    if _CLEAN.search(after):
        return 0.5 if _DISBELIEF.search(after) else 0.0
    if _GUILTY.search(after):
        return 1.0 if _STRONG.search(after) else 0.5
    return None
