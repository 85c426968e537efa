"""Numbers of several models with their uncertainty: who is ahead of whom, and on which rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.leads import chances_of_first

DRAWS = 2000
TAILS = (0.025, 0.975)  # of every interval

PAIRS = pl.Schema(
    {
        "model": pl.String,
        "other": pl.String,
        "chance": pl.Float64,
        "difference": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
    }
)


@dataclass(frozen=True, slots=True)
class Scores:
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


def pairs(scores: Scores) -> pl.DataFrame:
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


def ranks(scores: Scores) -> pl.DataFrame:
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
