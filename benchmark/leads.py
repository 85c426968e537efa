"""Whether a best may be named: from 95% of the probability on; otherwise who is still in the running."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from liescope.benchmark.capability.backend import Array

SURE = 0.95
_NAMED = 5  # of those in the running


def chances_of_first(draws: Array) -> Array:
    """The chance of each to be highest, shared among equals: shape (names,). draws: shape (draws, names)."""
    top = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((top / top.sum(axis=1, keepdims=True)).mean(axis=0))


def settled(chances: Array) -> int | None:
    """The place of the one that may be named as the best, None while there is none."""
    place = int(chances.argmax())
    return place if chances[place] >= SURE else None


def in_the_running(names: Sequence[str], chances: Array) -> str:
    """The likeliest to be first, as many as together have 95% of the probability: "a 60%, b 30% and c 7%"."""
    order = np.argsort(-chances, kind="stable")
    several = order[: int(np.searchsorted(np.cumsum(chances[order]), SURE - 1e-9)) + 1]
    parts = [f"{names[at]} {percent(float(chances[at]))}" for at in several[:_NAMED]]
    if others := list(several[_NAMED:]):
        share = percent(float(chances[others].sum()))
        parts.append(f"{len(others)} {'other' if len(others) == 1 else 'others, together'} {share}")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(chance: float) -> str:
    """A probability in words; nothing that was drawn is certain."""
    if chance > 0.99:
        return "more than 99%"
    return f"{chance:.0%}" if chance >= 0.01 else "less than 1%"
