"""Confidence intervals by resampling games: statements of one game are not independent draws."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.evaluation.metrics import Floats, Weights

DRAWS = 1000
LEVEL = 0.95

Estimate = tuple[float | None, float | None, float | None]
"""Value, lo, hi; all None if the figure is not defined, lo and hi None if too few resamples define it."""

_NORMAL = NormalDist()


@lru_cache(maxsize=24)
def game_weights(games: int, draws: int, seed: int) -> Weights:
    """(draws + 1, games): a row of ones, then how often each game occurs in each resample of the games. Read only.

    Equal arguments give equal resamples, so that two scorers of the same games are compared pair by pair.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(games, np.full(games, 1 / games), size=draws) if games else np.zeros((draws, 0))
    weights = np.vstack([np.ones((1, games)), drawn]).astype(np.float32)
    weights.flags.writeable = False
    return weights


def estimate(values: Floats) -> Estimate:
    """Value and interval of a metric over the rows of `game_weights`.

    The interval is the bias-corrected percentile interval (Efron and Tibshirani 1993, eq. 14.9 and 14.10 with an
    acceleration of 0). It is widened where it must be, so that it never leaves out its own value.
    """
    value = float(values[0])
    if not np.isfinite(value):
        return None, None, None
    draws = values[1:][np.isfinite(values[1:])]
    if len(draws) < max(2, (len(values) - 1) / 2):
        return value, None, None
    below = (draws < value).mean() + (draws == value).mean() / 2
    bias = _NORMAL.inv_cdf(float(np.clip(below, 1 / (len(draws) + 1), 1 - 1 / (len(draws) + 1))))
    reach = _NORMAL.inv_cdf((1 + LEVEL) / 2)
    lo, hi = np.quantile(draws, [_NORMAL.cdf(2 * bias - reach), _NORMAL.cdf(2 * bias + reach)])
    return value, min(float(lo), value), max(float(hi), value)


def codes(games: NDArray[np.str_]) -> tuple[NDArray[np.int64], int]:
    """Games numbered from 0, and how many there are."""
    names, numbers = np.unique(games, return_inverse=True)
    return numbers.astype(np.int64), len(names)


def share(part: Floats, whole: Floats, game: NDArray[np.int64], weights: Weights) -> Floats:
    """(draws,): the weighted sum of `part` over that of `whole`, each given for units that lie in games."""
    games = weights.shape[1]
    above, below = (weights @ np.bincount(game, weights=column, minlength=games) for column in (part, whole))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below, dtype=np.float64)


def at_share(sure: Floats, right: Floats, answered: float, weights: Weights) -> Floats:
    """(draws,): the mean of `right` over this share of the games, most sure first; equally sure ones count in part."""
    order = np.argsort(-sure, kind="stable")
    ahead = weights[:, order].cumsum(axis=1, dtype=np.float64)
    _, tied = np.unique(-sure[order], return_inverse=True)
    last = np.searchsorted(tied, tied, side="right") - 1
    first = np.searchsorted(tied, tied, side="left")
    before = np.where(first > 0, ahead[:, first - 1], 0.0)
    group = ahead[:, last] - before
    wanted = answered * ahead[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.clip(np.where(group > 0, (wanted - before) / group, 0.0), 0.0, 1.0)
        counted = part * weights[:, order]
        return np.asarray((counted @ right[order]) / counted.sum(axis=1), dtype=np.float64)
