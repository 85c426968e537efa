"""What a player is called besides the name: in "Player 2: lime", both "lime" and "Player 2"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_NUMBERED = re.compile(r"(?P<number>[A-Za-z]+ ?#?\d+)(?:\s*[:–-]\s*|\s*\(\s*)(?P<own>[^\W\d_][\w '-]{0,30}?)\s*\)?")


def nicknames(names: Sequence[str]) -> Mapping[str, str]:
    """By what only one of the players can be called, that player's name; without the names themselves."""
    found = [
        (part, name) for name in dict.fromkeys(names) if (match := _NUMBERED.fullmatch(name)) for part in match.groups()
    ]
    often = Counter(part.casefold() for part in (*dict.fromkeys(names), *(part for part, _ in found)))
    return {part: name for part, name in found if often[part.casefold()] == 1}
