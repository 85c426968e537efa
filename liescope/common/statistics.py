"""Intervals of figures from rows that come in independent groups: one rule for any number, in every room.

A group is what is drawn on its own: a game together with its siblings. Below two groups there is no interval.

Sums and what is made of them (`mean`, `difference`, `jackknife`): a share of units that are groups of their own has
Wilson's interval. Whatever has several rows in a group has an error from a jackknife over whole groups and Student's
quantile for as many groups as would weigh the same, on the scale of the figure: a share never leaves 0 to 1. A
difference joins the intervals of its sides as Newcombe does.

Figures that are no sums, such as an AUROC (`game_weights`, `estimate`): a figure is computed for all games and without
each of `GROUPS` groups of games in turn (without each game, where there are no more). Its interval is Student's on the
figure's own scale, with the jackknife's standard error (Efron and Tibshirani 1993, chapter 11). Two things widen it.
Where few games pull a figure to one side, that side reaches further, by Johnson's correction for skewness (1978). And
games that were not seen may be of another kind: the interval leaves room for as large a share of them as so many games
can miss, all at the far end of the span, as far as the figure lies near the other end, or fewer than twelve games, or
than half of them, decide it. If none of n games fools a detector, its lower end is .025^(1/n), that of Clopper and
Pearson for n of n. How often this holds: tests/performance/bench_intervals.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
_TAIL = (1 + LEVEL) / 2
_NORMAL = NormalDist().inv_cdf(_TAIL)

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.float32]
Bounds = tuple[float | None, float | None]
Estimate = tuple[float | None, float | None, float | None]
"""Value, lo, hi; all None if the figure is not defined, lo and hi None if too few games define it."""
Scale = tuple[float, float]
"""The least and the greatest value that a figure can have; infinite where there is none."""

PROPORTION: Scale = (0.0, 1.0)
CHANGE: Scale = (-1.0, 1.0)
POSITIVE: Scale = (0.0, math.inf)
REAL: Scale = (-math.inf, math.inf)

_TINY = 1e-12  # a smaller difference is rounding
_ERROR = 1e-9  # a smaller standard error is rounding


def expit(odds: npt.ArrayLike) -> Floats:
    """The probability of log-odds, without an overflow."""
    # As in `logit`, numpy alone: scipy.special takes longer to import than most of what is computed.
    x = np.asarray(odds, dtype=np.float64)
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1.0, small) / (1 + small))


def logit(probability: npt.ArrayLike, edge: float = 0.0) -> Floats:
    """The log-odds of a probability. edge: how far from 0 and 1 it is kept, where log-odds are infinite."""
    x = np.clip(np.asarray(probability, dtype=np.float64), edge, 1 - edge)
    return np.asarray(np.log(x) - np.log1p(-x))


def log_expit(odds: npt.ArrayLike) -> Floats:
    """The logarithm of a probability, of its log-odds."""
    return np.asarray(-np.logaddexp(0.0, -np.asarray(odds)))


def _quantile(groups: float, tail: float = _TAIL) -> float:
    """Student's quantile for so many groups."""
    from scipy.special import stdtrit

    return float(stdtrit(groups - 1, tail))


def wilson(successes: float, n: float) -> Bounds:
    """Wilson's score interval of a share of independent units (Wilson 1927); (None, None) without any. Raises
    ValueError for successes outside 0 to n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials are impossible")
    if n == 0:
        return None, None
    return _score(successes / n, n, _NORMAL)


def joined(one: float, of_one: Bounds, two: float, of_two: Bounds, correlation: float = 0.0) -> Bounds:
    """Interval of a difference, first minus second, from the interval of each side (Newcombe 1998; Zou and Donner 2008
    for any figures). correlation: of the two figures, where both are of the same groups. It stays within what the two
    intervals allow; (None, None) where either side has none.
    """
    (lo_one, hi_one), (lo_two, hi_two) = of_one, of_two
    if lo_one is None or hi_one is None or lo_two is None or hi_two is None:
        return None, None
    down, up = (one - lo_one, hi_two - two), (hi_one - one, two - lo_two)
    below, above = (math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0)) for a, b in (down, up))
    return one - two - below, one - two + above


def fisher(r: float | None, n: int) -> Estimate:
    """(r, lo, hi) of a correlation over n independent pairs by Fisher's transformation; bounds are None below four
    pairs and where r is 1 or -1, for which it gives none.
    """
    if r is None or n < 4 or abs(r) >= 1 - _TINY:
        return r, None, None
    half = _NORMAL / math.sqrt(n - 3)
    return r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def laplace(events: Any, n: Any) -> tuple[Any, Any, Any]:
    """(mean, lo, hi) of a rate under a uniform prior: Laplace's rule, and the central interval of the Beta posterior.
    events of n: numbers or arrays.
    """
    from scipy.special import betaincinv

    lo, hi = (betaincinv(events + 1, n - events + 1, end) for end in (1 - _TAIL, _TAIL))
    return (events + 1) / (n + 2), lo, hi


def student(value: float, error: float, groups: float, scale: Scale = REAL) -> Bounds:
    """Student's interval of a figure on its scale. error: its standard error; groups: how many of equal weight stand
    behind it.

    Between two limits it is the score interval of as many trials as have this error, so that it never leaves them;
    above one limit the error is that of the logarithm. (None, None) below two groups, and without an error.
    """
    low, high = scale
    if groups < 2 - _TINY or error < _ERROR * max(1.0, abs(value)) or not low < value < high:
        return None, None
    reach = _quantile(groups)
    if math.isfinite(low) and math.isfinite(high):
        width = high - low
        share = (value - low) / width
        lo, hi = _score(share, share * (1 - share) / (error / width) ** 2, reach)
        return low + width * lo, low + width * hi
    if math.isfinite(low):
        factor = math.exp(min(reach * error / (value - low), 700.0))
        return low + (value - low) / factor, low + (value - low) * factor
    return value - reach * error, value + reach * error


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows added up by group, all of shape (groups,). counts: rows; sums, squares: of their values. A group without
    rows has zeros, so that two of these can speak of the same groups.
    """

    counts: Floats
    sums: Floats
    squares: Floats

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Rows:
        """Values that are groups of their own."""
        found = np.asarray(values, dtype=float)
        return cls(np.ones(len(found)), found, found**2)

    @property
    def mean(self) -> float:
        """Over all rows; not a number without any."""
        total = self.counts.sum()
        return float(self.sums.sum() / total) if total else math.nan

    def without_each(self) -> Floats:
        """The mean with each group left out, shape (groups,)."""
        rest = self.counts.sum() - self.counts
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((self.sums.sum() - self.sums) / rest)


def mean(rows: Rows, scale: Scale = PROPORTION) -> Bounds:
    """Interval of the mean over all rows. Wilson's where every row is a group of its own and has the least or the
    greatest value; else Student's with an error from a jackknife over groups. Where all groups agree it is that of
    `agreed`. Raises ValueError for a mean outside the scale.
    """
    there = rows.counts > 0
    counts, low, high = rows.counts[there], *scale
    if len(counts) < 2:
        return None, None
    middle, total = rows.mean, float(counts.sum())
    if not low - 1e-9 <= middle <= high + 1e-9:
        raise ValueError(f"a mean of {middle:g} is outside its scale, {low:g} to {high:g}")
    middle = min(max(middle, low), high)
    if scale == PROPORTION and (counts == 1).all() and abs(float(rows.squares.sum()) - middle * total) < 1e-9:
        return wilson(middle * total, total)
    groups, error = equal_weights(counts), math.sqrt(_jackknifed(rows.without_each()[there]))
    if error < _ERROR:
        return agreed(middle, groups, scale)
    return student(middle, error, groups, scale)


def agreed(value: float, groups: float, scale: Scale = PROPORTION) -> Bounds:
    """Interval of a figure on which so many groups of equal weight all agree: as large a part of others as Wilson's
    interval of none in so many leaves open may lie at either limit of the scale. (None, None) below two groups, and
    without two limits.
    """
    low, high = scale
    if groups < 2 or not math.isfinite(high - low):
        return None, None
    others = _score(0.0, groups, _NORMAL)[1]
    return value - others * (value - low), value + others * (high - value)


def difference(one: Rows, two: Rows) -> Bounds:
    """Interval of the difference of two means of values from 0 to 1, first minus second, of the same groups in the same
    order; a group may have rows on one side only.
    """
    if not one.counts.any() or not two.counts.any():
        return None, None
    return joined(one.mean, mean(one), two.mean, mean(two), _correlation(one, two))


def paired(one: Sequence[float], two: Sequence[float]) -> Bounds:
    """Interval of the mean difference of independent pairs of values from 0 to 1, first minus second: Newcombe's for
    pairs of shares (1998, method 10) where all values are 0 or 1, else Student's of the differences.
    """
    if set(one) | set(two) <= {0, 1}:
        return difference(Rows.of(one), Rows.of(two))
    return mean(Rows.of(np.subtract(one, two)), CHANGE)


def jackknife(table: Floats, figure: Callable[[Floats], Floats], scale: Scale = REAL) -> Estimate:
    """(value, lo, hi) of a figure of summed numbers, with an error from a jackknife over groups.

    table: numbers to add up, shape (groups, numbers), a group without any left out; figure: from sums, shape
    (sums, numbers), to values, shape (sums,), NaN where not defined. No bounds where a single group decides whether the
    figure is defined.
    """
    groups = table[(table != 0).any(axis=1)]
    total = table.sum(axis=0, keepdims=True)
    value = float(figure(total)[0])
    if math.isnan(value):
        return None, None, None
    left = figure(total - groups) if len(groups) > 1 else np.full(1, math.nan)
    if np.isnan(left).any():
        return value, None, None
    return value, *student(value, math.sqrt(_jackknifed(left)), len(groups), scale)


def p_value(value: float, bounds: Bounds, groups: float) -> float | None:
    """The two-sided p of no difference that belongs to an interval: below 1 - `LEVEL` exactly where the interval leaves
    zero out. Between, it takes the side of the interval towards zero for Student's, of as many groups. None without an
    interval or below two groups.
    """
    lo, hi = bounds
    if lo is None or hi is None or groups < 2:
        return None
    room = value - lo if value > 0 else hi - value
    if room <= 0:
        return None
    reach = _quantile(groups)
    from scipy.special import stdtr

    return float(2 * stdtr(groups - 1, -reach * abs(value) / room))


def holm(p: list[float | None]) -> list[float | None]:
    """The p-values corrected for their number (Holm 1979); None stays and does not count."""
    known = sorted((value, at) for at, value in enumerate(p) if value is not None)
    found: list[float | None] = [None] * len(p)
    so_far = 0.0
    for place, (value, at) in enumerate(known):
        so_far = max(so_far, min(1.0, (len(known) - place) * value))
        found[at] = so_far
    return found


def kappa(tables: Floats) -> tuple[Floats, Floats]:
    """(the share of pairs that agree, Cohen's kappa) of tables of counts, shape (..., labels, labels): how many pairs
    have each first label (rows) and second (columns). NaN without pairs; kappa also where chance alone, two independent
    columns with these shares (Cohen 1960), would agree fully.
    """
    pairs, both = tables.sum(axis=(-2, -1)), tables.sum(axis=-1) * tables.sum(axis=-2)
    with np.errstate(invalid="ignore"):
        raw, chance = np.trace(tables, axis1=-2, axis2=-1) / pairs, both.sum(axis=-1) / pairs**2
    return raw, (raw - chance) / np.where(chance < 1, 1 - chance, np.nan)


def equal_weights(counts: Floats) -> float:
    """How many groups of equal weight would weigh as unevenly together as these."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def _jackknifed(left: Floats) -> float:
    """The variance of a figure from its values with each group left out."""
    return float((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())


def _correlation(one: Rows, two: Rows) -> float:
    """The correlation of two means of the same groups, shrunk by what chance alone gives so many groups."""
    moved = []
    for side in (one, two):
        left = side.without_each()
        moved.append(np.where(np.isfinite(left) & (side.counts > 0), left - side.mean, 0.0))
    spread = math.sqrt(float((moved[0] ** 2).sum() * (moved[1] ** 2).sum()))
    shared = int(((one.counts > 0) & (two.counts > 0)).sum())
    if spread < _TINY or shared < 2:
        return 0.0
    found = float((moved[0] * moved[1]).sum()) / spread
    return max(found - 2 / shared, 0.0) if found > 0 else max(found, -1.0)


def _score(share: float, n: float, reach: float) -> tuple[float, float]:
    """The score interval of a share of n trials."""
    room = reach * reach / n
    middle = (share + room / 2) / (1 + room)
    half = reach / (1 + room) * math.sqrt(share * (1 - share) / n + room / (4 * n))
    lo = 0.0 if share <= 0 else max(0.0, middle - half)
    return lo, 1.0 if share >= 1 else min(1.0, middle + half)


GROUPS = 50
"""The number of groups of games that are left out in turn."""

_FEW = 12
"""Where fewer games than this, or than half of them, decide a figure, games that were not seen count: in full where
half as few do."""


@lru_cache(maxsize=24)
def game_weights(games: int, seed: int) -> Weights:
    """(1 + GROUPS, games): a row of ones, and ones but for the games of each group; where there are fewer games than
    groups, each game is one, and the last rows leave nothing out. Read only.

    Equal arguments give equal groups, so that two scorers of the same games are compared pair by pair.
    """
    group = np.random.default_rng(seed).permutation(games) % GROUPS
    left_out = group[None, :] != np.arange(GROUPS)[:, None]
    weights = np.vstack([np.ones((1, games)), left_out]).astype(np.float32)
    weights.flags.writeable = False
    return weights


def estimate(values: Floats, games: int, span: Scale = PROPORTION) -> Estimate:
    """Value and interval of a figure. values: over the rows of `game_weights`; games: how many games it rests on, those
    that share a beginning as one; span: its smallest and largest possible value.

    Without two games there is no interval, nor where one group decides whether the figure is defined.
    """
    value = float(values[0])
    if not np.isfinite(value):
        return None, None, None
    spread = Spread.of(values, games)
    return (value, None, None) if spread is None else (value, spread.end(*span), spread.end(*span[::-1]))


def worst(cells: Sequence[tuple[Floats, int]], span: Scale = PROPORTION) -> tuple[int, Estimate]:
    """Which of several figures is the smallest, with an interval of the smallest true one that allows for its having
    been picked. cells: (values, games) of each; at least one, all defined.

    The upper end is the smallest of upper ends that hold for all cells at once (Šidák 1967: at least so often where
    cells share games); the lower end the smallest of the single ones, since the worst true cell is one of them.
    """
    at = int(np.argmin([values[0] for values, _ in cells]))
    spreads = [spread for values, games in cells if (spread := Spread.of(values, games)) is not None]
    if len(spreads) < len(cells):
        return at, (float(cells[at][0][0]), None, None)
    low = min(spread.end(*span) for spread in spreads)
    high = min(spread.end(*span[::-1], _TAIL ** (1 / len(cells))) for spread in spreads)
    return at, (float(cells[at][0][0]), low, high)


@dataclass(frozen=True, slots=True)
class Spread:
    """How a figure moves as groups of games are left out in turn. error: its standard error; lean: the sum of cubes
    over that of squares, positive where few games pull it down; deciding: how many games, or groups, decide it, 0 where
    all agree.
    """

    value: float
    error: float
    lean: float
    deciding: float
    games: int

    @classmethod
    def of(cls, values: Floats, games: int) -> Spread | None:
        """None below two games, and where leaving a group out leaves the figure undefined."""
        moved = values[1:] - values[0]
        if games < 2 or not np.isfinite(moved).all():
            return None
        moved = np.where(np.abs(moved) < _TINY, 0.0, moved)
        squares, cubes, fourths = ((moved**power).sum() for power in (2, 3, 4))
        groups = min(games, GROUPS)
        error = math.sqrt((groups - 1) / groups * squares)
        if not error:
            return cls(float(values[0]), 0.0, 0.0, 0.0, games)
        return cls(float(values[0]), error, float(cubes / squares), float(squares**2 / fourths), games)

    def end(self, limit: float, other: float, tail: float = _TAIL) -> float:
        """The end of the interval on the side of one limit of the span, with a one-sided level."""
        side = 1 if limit < other else -1
        room, rest = abs(self.value - limit), abs(other - self.value)
        reach = _quantile(min(self.games, GROUPS), tail)
        out = reach * self.error + max(side * self.lean, 0.0) * (2 * reach**2 + 1) / 6
        if math.isfinite(room + rest):
            unseen = room * (1 - (1 - tail) ** (1 / self.games))
            few = min(_FEW, self.games / 2)
            counts = max((room - rest) / (room + rest), few / max(self.deciding, few / 2) - 1)
            out = max(out, unseen * counts)
        return limit if out >= room else self.value - side * out


def codes(games: npt.NDArray[np.str_]) -> tuple[npt.NDArray[np.int64], int]:
    """Games numbered from 0, and how many there are."""
    names, numbers = np.unique(games, return_inverse=True)
    return numbers.astype(np.int64), len(names)


def share(part: Floats, whole: Floats, game: npt.NDArray[np.int64], weights: Weights) -> Floats:
    """(weights,): the weighted sum of `part` over that of `whole`, each given for units that lie in games."""
    games = weights.shape[1]
    above, below = (weights @ np.bincount(game, weights=column, minlength=games) for column in (part, whole))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(above / below, dtype=np.float64)
