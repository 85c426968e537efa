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
_HEARS = {
    name: regex(re.sub(r"<(\w+)>", lambda part: str(_WORDS["parts"][part[1]]), "".join(pieces)))
    for name, pieces in _WORDS["patterns"].items()
}


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
    detective = "detective" in lower and _HEARS["detective"].search(lower)
    villager = not detective and _HEARS["harmless"].search(lower) and _HEARS["villager"].search(lower)
    return MessageContent(
        max(-MOST, min(MOST, CUE * firmness)),
        "detective" if detective else "villager" if villager else "",
        tuple(accused.items()),
        tuple(name for name in cleared if name not in accused),
        _HEARS["looked"].search(lower) is not None,
        _HEARS["plead"].search(lower) is not None,
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
    if not places and last and _HEARS["pronoun"].search(clause):
        weight = _weigh("", clause)
        if weight is not None:
            weighed.append((last, weight))
    for number, (begin, end) in enumerate(places):
        before = clause[places[number - 1][1] if number else 0 : begin]
        after = clause[end : places[number + 1][0] if number + 1 < len(places) else len(clause)]
        if number and _HEARS["retold"].match(before):
            continue  # what someone else said about this player
        last = known[clause[begin:end]]
        weight = _weigh(before, after)
        if weight is not None:
            weighed.append((last, weight))
    return _Clause(_tone(clause), tuple(weighed), last)


_cached = lru_cache(maxsize=8192)(_clause)  # cached: scripted players often repeat a clause


def _weigh(before: str, after: str) -> float | None:
    """The weight of an accusation in the words around a name, 0 if they clear it, None if they say nothing about it."""
    if against := _HEARS["against"].search(before):
        return 1.0 if against[0].startswith("vot") else 0.5
    if _HEARS["for"].search(before):
        return 0.0
    if _HEARS["clean"].search(after):
        return 0.5 if _HEARS["disbelief"].search(after) else 0.0
    if _HEARS["guilty"].search(after):
        return 1.0 if _HEARS["strong"].search(after) else 0.5
    return None
