"""Confidence intervals by resampling games: statements of one game are not independent draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.evaluation.metrics import Floats, Weights

DRAWS = 1000
LEVEL = 0.95


def game_weights(games: int, draws: int, seed: int) -> Weights:
    """(draws + 1, games) float32: a row of ones, then how often each game occurs in each resample of the games."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(games, np.full(games, 1 / games), size=draws) if games else np.zeros((draws, 0))
    return np.vstack([np.ones((1, games)), drawn]).astype(np.float32)


def interval(draws: Floats) -> tuple[float | None, float | None]:
    """The percentile interval of the draws that are defined; (None, None) if fewer than half are."""
    defined = draws[np.isfinite(draws)]
    if len(defined) < max(2, len(draws) / 2):
        return None, None
    lo, hi = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(lo), float(hi)


def estimate(values: Floats) -> tuple[float | None, float | None, float | None]:
    """Value, lo, hi from a metric over the rows of `game_weights`; None if it is not defined."""
    if not np.isfinite(values[0]):
        return None, None, None
    return float(values[0]), *interval(values[1:])


def codes(games: NDArray[np.str_]) -> tuple[NDArray[np.int64], int]:
    """Games numbered from 0, and how many there are."""
    names, numbers = np.unique(games, return_inverse=True)
    return numbers.astype(np.int64), len(names)
