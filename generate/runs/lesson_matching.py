"""What embeddings of lessons miss (whether one denies the other, names different roles or says the opposite), and the
masking of players' names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache, partial

_NEGATION = re.compile(
    r"\b(?:not|never|no|nobody|nothing|neither|nor|none|avoid(?:s|ed|ing)?|without|stop(?:s|ped|ping)?|refrain\w*|cannot"
    r"|instead of|rather than|less|refus\w+|hardly)\b|n't\b"
)
_NOT_ONLY = re.compile(r"\bnot (?:only|just)\b|\bno matter\b|\bno longer than\b|\bwhether or not\b")
_OPPOSITES = (
    ("early|earlier|soon|immediately|first|begin\\w*|start\\w*", "late|later|last|end|finally"),
    ("high|higher|loud\\w*|more|often|always|strong\\w*", "low|lower|quiet\\w*|fewer|rarely|seldom|weak\\w*"),
    ("before", "after"),
    ("accus\\w+|attack\\w*|oppose\\w*|against", "defend\\w*|protect\\w*|support\\w*"),
    ("trust(?:ed|s)?", "distrust\\w*|suspect\\w*"),
    ("win\\w*|won", "lose\\w*|lost"),
)
_AXES = tuple(tuple(re.compile(rf"\b(?:{side})\b") for side in sides) for sides in _OPPOSITES)
_ROLES = re.compile(r"\b(?:were)?(wolf|wolv|villager|village|town|doctor|seer|detective|mafios|mafia|jester)")
_SAME_ROLE = {"wolv": "wolf", "village": "villager", "town": "villager", "mafia": "mafios"}
_WORDS_TOO = frozenset({"will", "may", "mark", "bill", "rob", "sue", "grant", "drew", "chase", "pat"})
_SEVERAL = re.compile(r"\banother player((?:, another player)*),? (?:and|or) another player\b")


def opposed(one: str, other: str) -> bool:
    """Whether two lessons of one kind cannot mean the same, however similar their words: one denies what the other
    advises, they are about different roles, or one contains the opposite of a word in the other ("early", "late").
    """
    first, second = _marks(one), _marks(other)
    if first.denied != second.denied:
        return True
    if first.roles and second.roles and first.roles != second.roles:
        return True
    return any({mine, theirs} == {0, 1} for mine, theirs in zip(first.sides, second.sides, strict=True))


class _Marks:
    """denied: an odd number of negations; roles: those named; sides: 0 or 1 for each pair of opposites, else None."""

    def __init__(self, text: str) -> None:
        words = " ".join(text.lower().replace("’", "'").split())
        self.denied = len(_NEGATION.findall(_NOT_ONLY.sub(" ", words))) % 2 == 1
        self.roles = {_SAME_ROLE.get(role, role) for role in _ROLES.findall(words)}
        self.sides = [_side(words, *axis) for axis in _AXES]


@lru_cache(maxsize=4096)
def _marks(text: str) -> _Marks:
    return _Marks(text)


def _side(words: str, one: re.Pattern[str], other: re.Pattern[str]) -> int | None:
    found = bool(one.search(words)), bool(other.search(words))
    return None if found[0] == found[1] else int(found[1])


def without_names(text: str, names: Iterable[str], own: str | None = None) -> str:
    """The text with the author's own name as "me" and every other player's as "another player". A name that is also a
    word ("Will") stays at the beginning of a sentence.
    """
    for name in sorted(names, key=len, reverse=True):
        said = "me" if name == own else "another player"
        found = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        text = found.sub(partial(_unnamed, name=name, said=said), text)
    return _SEVERAL.sub("other players", text)


def _unnamed(match: re.Match[str], name: str, said: str) -> str:
    before = match.string[: match.start()].rstrip(" \"'“‘(*")
    begins = not before or before[-1] in ".!?\n"
    if begins and name.lower() in _WORDS_TOO:
        return match.group()
    return said[:1].upper() + said[1:] if begins else said
