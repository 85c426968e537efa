"""How a ballot ends: from the votes to how likely each player is to be voted out. Ties that the rules break at random
give shares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from liescope.games.one_night import NEEDED

Tally = Callable[[Sequence[str]], Mapping[str, float]]


def plurality(votes: Sequence[str]) -> dict[str, float]:
    """Whoever has the most votes, one of those who tie (Mafia)."""
    top = _most(votes)
    return dict.fromkeys(top, 1 / len(top)) if top else {}


def strict_majority(votes: Sequence[str]) -> dict[str, float]:
    """Whoever has more than half of the votes, or nobody (Werewolf). Every living player votes."""
    return {name: 1.0 for name, count in Counter(votes).items() if 2 * count > len(votes)}


def all_with_most(votes: Sequence[str]) -> dict[str, float]:
    """All who have the most votes, if those are enough (one-night werewolf)."""
    top = _most(votes)
    return dict.fromkeys(top, 1.0) if votes.count(top[0] if top else "") >= NEEDED else {}


def _most(votes: Sequence[str]) -> list[str]:
    counts = Counter(votes)
    return [name for name, count in counts.items() if count == max(counts.values())]
