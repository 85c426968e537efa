"""How an observer's suspicion of a speaker moves with each rating: exponential smoothing.

Triadic Werewolf paper, section 3, after the WOLF engine: new = 0.7 times the rating + 0.3 times the old, from 0.5.
"""

from __future__ import annotations

START = 0.5
WEIGHT = 0.7


def smooth(old: float, rating: float) -> float:
    """The suspicion after one rating. Inputs and result are in [0, 1]; raises ValueError otherwise."""
    if not (0.0 <= old <= 1.0 and 0.0 <= rating <= 1.0):
        raise ValueError(f"suspicion and ratings lie between 0 and 1; got {old!r} and {rating!r}")
    return WEIGHT * rating + (1 - WEIGHT) * old
