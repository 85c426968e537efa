"""Numbers of several models with their uncertainty: who is ahead of whom, and on which rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl
from scipy.special import ndtri

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.results import SURE, chances_of_first

DRAWS = 2000
TAILS = (0.025, 0.975)  # of every interval

PAIRS = pl.Schema(
    {
        **dict.fromkeys(("model", "other"), pl.String()),
        **dict.fromkeys(("chance", "difference", "lo", "hi"), pl.Float64()),
    }
)


@dataclass(frozen=True, slots=True)
class JointScores:
    """A number for each of several models, higher is better. names: of the models; draws: of the joint distribution
    of their numbers, shape (draws, models).
    """

    names: Sequence[str]
    draws: Array

    @property
    def mean(self) -> Array:
        """Shape (models,)."""
        return np.asarray(self.draws.mean(axis=0))

    def interval(self) -> tuple[Array, Array]:
        """Both ends of the central 95% interval, each of shape (models,)."""
        lo, hi = np.quantile(self.draws, TAILS, axis=0)
        return lo, hi

    def order(self) -> list[int]:
        """The places of the models, highest mean first."""
        return [int(at) for at in np.argsort(-self.mean, kind="stable")]

    def ahead(self) -> Array:
        """The chance that one model's number is higher than another's, ties counted half: shape (models, models)."""
        columns = [(self.draws > other[:, None]) + 0.5 * (self.draws == other[:, None]) for other in self.draws.T]
        return np.stack([column.mean(axis=0) for column in columns], axis=1)


def pairs(scores: JointScores) -> pl.DataFrame:
    """Every ordered pair of models, columns of PAIRS: the chance that `model` is ahead of `other`, and the mean of the
    difference of their numbers with its central 95% interval. Highest mean first.
    """
    chance = scores.ahead()
    rows = []
    for one in scores.order():
        gap = scores.draws[:, [one]] - scores.draws
        lo, hi = np.quantile(gap, TAILS, axis=0)
        rows += [
            (scores.names[one], scores.names[at], chance[one, at], gap[:, at].mean(), lo[at], hi[at])
            for at in scores.order()
            if at != one
        ]
    return pl.DataFrame(rows, PAIRS, orient="row")


def ranks(scores: JointScores) -> pl.DataFrame:
    """One row a model, highest mean first: model, rank (its mean over the draws, 1 is best), lo, hi (central 95%
    interval), best (the chance that no other is higher; shared among equals).
    """
    from scipy.stats import rankdata

    drawn = rankdata(-scores.draws, axis=1)
    lo, hi = np.quantile(drawn, TAILS, axis=0, method="inverted_cdf")
    ends = {"lo": np.floor(lo).astype(np.int64), "hi": np.ceil(hi).astype(np.int64)}
    table = pl.DataFrame(
        {"model": list(scores.names), "rank": drawn.mean(axis=0), **ends, "best": chances_of_first(scores.draws)}
    )
    return table[scores.order()]


LEAST = 5  # models below which a rank correlation has no interval
TAU = pl.Schema(
    {
        **dict.fromkeys(("one", "other"), pl.String()),
        "models": pl.Int64(),
        **dict.fromkeys(("tau", "lo", "hi"), pl.Float64()),
    }
)


def ranked(methods: Mapping[str, JointScores]) -> pl.DataFrame:
    """One row a model, in the order of the first method: model, and its rank by each method, 1 is best, null if the
    method has no number for it.
    """
    table = pl.DataFrame({"model": list(dict.fromkeys(name for one in methods.values() for name in _best_first(one)))})
    for method, scores in methods.items():
        names = _best_first(scores)
        placed = pl.DataFrame({"model": names, method: range(1, len(names) + 1)})
        table = table.join(placed, on="model", how="left", maintain_order="left")
    return table


def taus(methods: Mapping[str, JointScores]) -> pl.DataFrame:
    """Kendall's tau-b between every two methods over the models that both have, columns of TAU.

    lo, hi: its 95% interval over models, by Fisher's transformation with the variance 0.437 / (models - 4) (Fieller,
    Hartley and Pearson 1957); null below five models, and where tau is 1 or -1. Pairs without two models are left out.
    """
    from scipy.stats import kendalltau

    rows = []
    for (one, first), (other, second) in combinations(methods.items(), 2):
        shared = [name for name in first.names if name in second.names]
        if len(shared) < 2:
            continue
        tau = float(kendalltau(_means(first, shared), _means(second, shared)).statistic)
        lo = hi = None
        if len(shared) >= LEAST and abs(tau) < 1 - 1e-9:
            half = float(ndtri(0.975)) * np.sqrt(0.437 / (len(shared) - 4))
            lo, hi = (float(np.tanh(np.arctanh(tau) + side)) for side in (-half, half))
        rows.append((one, other, len(shared), tau if np.isfinite(tau) else None, lo, hi))
    return pl.DataFrame(rows, TAU, orient="row")


def conflicts(methods: Mapping[str, JointScores]) -> pl.DataFrame:
    """Pairs of models that one method orders with a chance above 0.95 and another the other way around: ahead, behind,
    then for each method the chance that `ahead` is ahead, null if the method lacks one of them. Which of the two is
    called ahead follows the method that is surest. Widest disagreement first.
    """
    names = sorted({name for scores in methods.values() for name in scores.names})
    chances = np.full((len(methods), len(names), len(names)), np.nan)
    for table, scores in zip(chances, methods.values(), strict=True):
        places = [names.index(name) for name in scores.names]
        table[np.ix_(places, places)] = scores.ahead()
    rows = []
    for one, other in combinations(range(len(names)), 2):
        found = chances[:, one, other]
        known = found[~np.isnan(found)]
        if len(known) < 2 or not known.min() < 0.5 < known.max():
            continue
        if 1 - known.min() > known.max():
            one, other, found, known = other, one, 1 - found, 1 - known
        if known.max() > SURE:
            rows.append((names[one], names[other], *(None if np.isnan(chance) else float(chance) for chance in found)))
    rows.sort(key=lambda row: min(part for part in row[2:] if part is not None))
    schema = {"ahead": pl.String, "behind": pl.String, **dict.fromkeys(methods, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row")


def _best_first(scores: JointScores) -> list[str]:
    return [scores.names[at] for at in scores.order()]


def _means(scores: JointScores, names: list[str]) -> list[float]:
    found = dict(zip(scores.names, scores.mean, strict=True))
    return [float(found[name]) for name in names]
