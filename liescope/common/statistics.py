"""Intervals of shares, means and differences from rows that come in independent groups: one rule for any number.

A group is what is drawn on its own: a game together with its siblings. A share of units that are groups of their own
has Wilson's interval. Whatever has several rows in a group has an error from a jackknife over whole groups and
Student's quantile for as many groups as would weigh the same, on the scale of the figure: a share never leaves 0 to 1.
A difference joins the intervals of its sides as Newcombe does. Below two groups there is no interval. How often these
intervals hold the truth is measured by `tests/performance/bench_intervals.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr, stdtrit

LEVEL = 0.95

Floats = npt.NDArray[np.float64]
Bounds = tuple[float | None, float | None]
Scale = tuple[float, float]
"""The least and the greatest value that a figure can have; infinite where there is none."""

PROPORTION: Scale = (0.0, 1.0)
CHANGE: Scale = (-1.0, 1.0)
POSITIVE: Scale = (0.0, math.inf)
REAL: Scale = (-math.inf, math.inf)

_TINY = 1e-12


def wilson(successes: float, n: float, level: float = LEVEL) -> Bounds:
    """Wilson's score interval of a share of independent units (Wilson 1927); (None, None) without any. Raises
    ValueError for successes outside 0 to n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials are impossible")
    if n == 0:
        return None, None
    return _score(successes / n, n, _normal(level))


def newcombe(one: int, n_one: int, two: int, n_two: int, level: float = LEVEL) -> Bounds:
    """Interval of the difference of two independent shares, first minus second, from their Wilson intervals
    (Newcombe 1998, method 10); (None, None) where either has no trials.
    """
    if not n_one or not n_two:
        return None, None
    return joined(one / n_one, wilson(one, n_one, level), two / n_two, wilson(two, n_two, level))


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


def fisher(r: float | None, n: int, level: float = LEVEL) -> tuple[float | None, float | None, float | None]:
    """(r, lo, hi) of a correlation over n independent pairs by Fisher's transformation; bounds are None below four
    pairs and where r is 1 or -1, for which it gives none.
    """
    if r is None or n < 4 or abs(r) >= 1 - _TINY:
        return r, None, None
    half = _normal(level) / math.sqrt(n - 3)
    return r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def student(value: float, error: float, groups: float, scale: Scale = REAL, level: float = LEVEL) -> Bounds:
    """Student's interval of a figure on its scale. error: its standard error; groups: how many of equal weight stand
    behind it.

    Between two limits it is the score interval of as many trials as have this error, so that it never leaves them;
    above one limit the error is that of the logarithm. (None, None) below two groups, and without an error.
    """
    low, high = scale
    if groups < 2 - _TINY or error < 1e-9 * max(1.0, abs(value)) or not low < value < high:
        return None, None
    reach = float(stdtrit(groups - 1, 0.5 + level / 2))
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


def mean(rows: Rows, scale: Scale = PROPORTION, level: float = LEVEL) -> Bounds:
    """Interval of the mean over all rows. Wilson's where every row is a group of its own and has the least or the
    greatest value; else Student's with an error from a jackknife over groups. At a limit of the scale it is Wilson's
    of as many trials as groups; where all groups agree on a figure between the limits there is none, since they do not
    show how groups differ. Raises ValueError for a mean outside the scale.
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
        return wilson(middle * total, total, level)
    groups = equal_weights(counts)
    if middle in scale and groups >= 2:
        lo, hi = _score((middle - low) / (high - low), groups, _normal(level))
        return low + (high - low) * lo, low + (high - low) * hi
    return student(middle, math.sqrt(_jackknifed(rows.without_each()[there])), groups, scale, level)


def difference(one: Rows, two: Rows, scale: Scale = PROPORTION, level: float = LEVEL) -> Bounds:
    """Interval of the difference of two means, first minus second, of the same groups in the same order; a group may
    have rows on one side only. scale: of each mean.
    """
    if not one.counts.any() or not two.counts.any():
        return None, None
    bounds = [mean(side, scale, level) for side in (one, two)]
    return joined(one.mean, bounds[0], two.mean, bounds[1], _correlation(one, two))


def paired(one: Sequence[float], two: Sequence[float], scale: Scale = PROPORTION, level: float = LEVEL) -> Bounds:
    """Interval of the mean difference of independent pairs, first minus second: Newcombe's for pairs of shares (1998,
    method 10) where all values are the least or the greatest, else Student's of the differences.
    """
    low, high = scale
    if set(one) | set(two) <= {low, high}:
        return difference(Rows.of(one), Rows.of(two), scale, level)
    return mean(Rows.of(np.subtract(one, two)), (low - high, high - low), level)


def jackknife(
    table: Floats, figure: Callable[[Floats], Floats], scale: Scale = REAL, level: float = LEVEL
) -> tuple[float | None, float | None, float | None]:
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
    return value, *student(value, math.sqrt(_jackknifed(left)), len(groups), scale, level)


def p_value(value: float, bounds: Bounds, groups: float, level: float = LEVEL) -> float | None:
    """The two-sided p of no difference that belongs to an interval: below 1 - level exactly where the interval leaves
    zero out. Between, it takes the side of the interval towards zero for Student's, of as many groups. None without an
    interval or below two groups.
    """
    lo, hi = bounds
    if lo is None or hi is None or groups < 2:
        return None
    room = value - lo if value > 0 else hi - value
    if room <= 0:
        return None
    reach = float(stdtrit(groups - 1, 0.5 + level / 2))
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


def equal_weights(counts: Floats) -> float:
    """How many groups of equal weight would weigh as unevenly together as these."""
    return float(counts.sum() ** 2 / (counts**2).sum())


def _jackknifed(left: Floats) -> float:
    """The variance of a figure from its values with each group left out."""
    return float((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum())


def _correlation(one: Rows, two: Rows) -> float:
    """Of two means of the same groups; towards zero by what chance alone gives so many groups."""
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


def _normal(level: float) -> float:
    return float(ndtri(0.5 + level / 2))
