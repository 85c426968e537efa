"""What a Jester's lesson is about: nine strategies (several each) and one theory-of-mind order, by rules.

The two axes are those of the Triadic Werewolf paper (sections 3.2 and 5.6, Appendix N); the definitions and the rules
are Liescope's own. The rules are lexical: they read only the words of the lesson, in English.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.labeling.lesson_words import (
    AUDIENCE,
    CONTRAST,
    DENIAL,
    FACTIONS,
    IDENTITY,
    LOOKED_AT_AS,
    ONLOOKERS,
    OTHERS_SEEN,
    PERCEPTION,
    READING,
    STRATEGIES,
)

CATEGORIES = {
    "wolf_mimicry": "act, talk or vote as a Werewolf would, so as to be taken for one",
    "inconsistency": "contradict oneself, change one's story or side, act without a pattern",
    "aggression": "attack openly: accuse, confront, press, escalate",
    "subtle_indirection": "steer without showing it: hint, deflect, redirect, stay vague or in the background",
    "passive_provocation": "draw suspicion by not acting: stay silent, evade, hesitate, leave a charge unanswered",
    "anti_jester_tells": "avoid what gives a Jester away: wanting the exile too plainly, or overacting",
    "vote_manipulation": "use one's own vote, or steer the votes of others",
    "meta_modeling": "reason about what the others expect, believe or will conclude, and play on it",
    "questioning": "ask questions, or answer with them",
}  # name -> definition, in the paper's order (Figure 4b)

ORDERS = {
    1: "says what to do, and not how it will be read",
    2: "is about how the others will see or judge the one who acts",
    3: "sets two factions against each other: being taken for one and not for another, or looking one way to these and "
    "another way to those",
}  # order -> definition; the highest that holds


@dataclass(frozen=True, slots=True)
class LessonTags:
    """categories: names of `CATEGORIES` in their order, possibly none; order: 1, 2 or 3."""

    categories: tuple[str, ...]
    order: int


def tag(text: str) -> LessonTags:
    """The tags of one lesson."""
    words = _plain(text)
    own = OTHERS_SEEN.sub(" ", words)
    about = {"wolf_mimicry": own}
    found = tuple(name for name in CATEGORIES if STRATEGIES[name].search(about.get(name, words)))
    return LessonTags(found, _order(own))


def _order(words: str) -> int:
    identities = {LOOKED_AT_AS[found["faction"]] for found in IDENTITY.finditer(words) if not found["aimed"]}
    if len(identities) > 1 and DENIAL.search(words):
        return 3
    if not PERCEPTION.search(words):
        return 1
    onlookers = {LOOKED_AT_AS[found["after"] or found["before"]] for found in ONLOOKERS.finditer(words)}
    if CONTRAST.search(words) and max(len(identities), len(onlookers)) > 1:
        return 3
    return 3 if len(_factions(READING, words)) > 1 or len(_factions(AUDIENCE, words)) > 1 else 2


def _factions(pattern: re.Pattern[str], words: str) -> set[str]:
    """The distinct factions that a pattern's groups name."""
    return {FACTIONS[name] for found in pattern.finditer(words) for name in found.groups() if name}


_DASHES = str.maketrans({"‐": "-", "‑": "-", "’": "'", "‘": "'"})


def _plain(text: str) -> str:
    """Lower case on one line, with one kind of hyphen and apostrophe, and "wolf" for "werewolf"."""
    words = " ".join(text.lower().translate(_DASHES).split())
    return re.sub(r"\bwerewol(?=f|ves)", "wol", words)
