"""Confidence intervals by resampling games: statements of one game are not independent draws.

One rule for every figure of a detector. A figure is computed for many weightings of the games: all of them once, random
resamples, and without each of `GROUPS` groups of games in turn (without each game, where there are no more). Its 95%
interval is Student's t around it on the scale of log-odds, with the standard error of the resamples or of the groups
left out (the jackknife), whichever is larger, and less the jackknife's estimate of its bias (Efron and Tibshirani 1993,
chapters 10 and 11). Percentiles of resamples alone are too narrow for few games or figures near 1:
tests/performance/bench_auroc_intervals.py counts how often either holds the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from liescope.detectors.evaluation.metrics import SHARE, Floats, Span, Weights

DRAWS = 1000
LEVEL = 0.95
GROUPS = 50
"""The number of groups of games that are left out in turn."""

Estimate = tuple[float | None, float | None, float | None]
"""Value, lo, hi; all None if the figure is not defined, lo and hi None if too few games or resamples define it."""

_TAIL = (1 + LEVEL) / 2
_NORMAL = NormalDist()


@lru_cache(maxsize=24)
def game_weights(games: int, draws: int, seed: int) -> Weights:
    """(1 + draws + GROUPS, games): a row of ones, how often each game occurs in each resample of the games, and ones
    but for the games of each group. Read only.

    Equal arguments give equal resamples, so that two scorers of the same games are compared pair by pair.
    """
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(games, np.full(games, 1 / games), size=draws) if games else np.zeros((draws, 0))
    left_out = rng.permutation(games)[None, :] % GROUPS != np.arange(GROUPS)[:, None]
    weights = np.vstack([np.ones((1, games)), drawn, left_out]).astype(np.float32)
    weights.flags.writeable = False
    return weights


def resampled(values: Floats) -> Floats:
    """The part of a figure over the rows of `game_weights` that is of random resamples and is defined."""
    drawn = values[1:-GROUPS]
    return np.asarray(drawn[np.isfinite(drawn)], dtype=np.float64)


def estimate(values: Floats, games: int, span: Span = SHARE) -> Estimate:
    """Value and interval of a figure. values: over the rows of `game_weights`; games: how many games it rests on, those
    that share a beginning as one; span: its smallest and largest possible value.

    Without two games there is no interval, nor where half of the resamples leave the figure undefined. At either end
    of the span, where resamples are all alike, it is Wilson's for so many games.
    """
    value = float(values[0])
    if not np.isfinite(value):
        return None, None, None
    pivot = _Pivot.of(values, games, span)
    return (value, None, None) if pivot is None else (value, *pivot.interval(_TAIL, _TAIL))


def worst(cells: Sequence[tuple[Floats, int]], span: Span = SHARE) -> tuple[int, Estimate]:
    """Which of several figures is the smallest, with an interval of the smallest true one that allows for its having
    been picked. cells: (values, games) of each, over the same resamples; at least one, all defined.

    The upper end is the smallest of upper ends that hold for all cells at once (the largest deviation of each
    resample); the lower end the smallest of the single ones, since the worst true cell is one of them.
    """
    at = int(np.argmin([values[0] for values, _ in cells]))
    value = float(cells[at][0][0])
    pivots = [pivot for values, games in cells if (pivot := _Pivot.of(values, games, span)) is not None]
    if len(pivots) < len(cells):
        return at, (value, None, None)
    together = np.stack([values[1:-GROUPS] - values[0] for values, _ in cells])
    spread = np.nanstd(together, axis=1, keepdims=True)
    below = np.where(spread > 0, -together / np.where(spread > 0, spread, 1.0), 0.0)
    most = np.nanmax(np.where(np.isfinite(below), below, -np.inf), axis=0)
    tail = max(_TAIL, _NORMAL.cdf(float(np.quantile(most, _TAIL))))
    ends = [pivot.interval(_TAIL, min(tail, 1 - 1e-9)) for pivot in pivots]
    return at, (value, min(lo for lo, _ in ends), min(hi for _, hi in ends))


@dataclass(frozen=True, slots=True)
class _Pivot:
    """What an interval is made of. value: the figure; centre, error: on the scale of log-odds, or the figure's own
    where its span has no ends; an infinite centre: at an end of the span.
    """

    value: float
    centre: float
    error: float
    games: int
    span: Span

    @classmethod
    def of(cls, values: Floats, games: int, span: Span) -> _Pivot | None:
        """None where there is no interval."""
        drawn, every = resampled(values), values.size - 1 - GROUPS
        if games < 2 or len(drawn) < max(2, every / 2):
            return None
        value, left_out = float(values[0]), values[-GROUPS:][np.isfinite(values[-GROUPS:])]
        at, others, slope = _scaled(value, left_out, span)
        if not np.isfinite(at):
            return cls(value, at, 0.0, games, span)
        groups = min(games, GROUPS)
        apart = others - at
        if np.isfinite(apart).all():
            bias = (groups - 1) / groups * apart.sum()
        else:  # without some group, the figure is at an end of its span
            apart, bias = (left_out - value) * slope, 0.0
        jackknife = np.sqrt((groups - 1) / groups * max((apart**2).sum() - apart.sum() ** 2 / groups, 0.0))
        error = max(float(jackknife), float(drawn.std()) * slope * np.sqrt(games / (games - 1)))
        return cls(value, at - float(np.clip(bias, -error, error)), error, games, span)

    def interval(self, below: float, above: float) -> tuple[float, float]:
        """(lo, hi) with these one-sided levels; it never leaves out its own value."""
        low, high = self.span
        if not np.isfinite(self.centre):
            reach = _NORMAL.inv_cdf(above if self.centre < 0 else below) ** 2
            inner = (high - low) * reach / (self.games + reach)
            return (low, low + inner) if self.centre < 0 else (high - inner, high)
        reaches = stdtrit(self.games - 1, np.array([below, above])) * self.error
        ends = np.array([self.centre - reaches[0], self.centre + reaches[1]])
        if np.isfinite(high - low):
            ends = low + (high - low) * expit(ends)
        return min(float(ends[0]), self.value), max(float(ends[1]), self.value)


def _scaled(value: float, others: Floats, span: Span) -> tuple[float, Floats, float]:
    """A figure, and what it is elsewhere, on the scale of its interval, and the slope of that scale there."""
    low, high = span
    if not np.isfinite(high - low):
        return value, others, 1.0
    share, rest = ((np.clip(number, low, high) - low) / (high - low) for number in (value, others))
    slope = 1 / (share * (1 - share) * (high - low)) if 0 < share < 1 else np.inf
    return float(logit(share)), logit(rest), float(slope)


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
