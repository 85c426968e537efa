"""Claims in a statement that a game's log can check, found by rules. A first set: plain role and guilt claims."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """kind: role, investigation, innocence, guilt or vote; subject: the player it is about (the speaker for a vote);
    value: a role, a team ("mafia", "town"), "" for an investigation without a result, or the vote's target;
    quote: the words it was read from.
    """

    kind: str
    subject: str
    value: str
    quote: str


@lru_cache(maxsize=65536)
def find_claims(text: str, speaker: str, names: tuple[str, ...]) -> tuple[FoundClaim, ...]:
    """The claims in a statement, in the order of its words."""
    found: list[FoundClaim] = []
    for match in re.finditer(r"\bI(?:'m| am) (?:just )?(?:the|a) (detective|villager|mafioso)\b", text):
        found.append(FoundClaim("role", speaker, match[1], match[0]))
    others = "|".join(re.escape(name) for name in names if name != speaker)
    if others:
        for match in re.finditer(rf"\b({others}) is (?:the mafioso|mafia)\b", text):
            found.append(FoundClaim("guilt", match[1], "mafia", match[0]))
    return tuple(found)
