"""Metrics of a binary scorer under weights, for many weightings at once: a bootstrap over games is one matrix product.

Weights are given per game, (draws, games): a row of ones is the plain metric, a row of multinomial counts a resample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = NDArray[np.float32]

BINS = 15
LEVELS = {"1pct": 0.01, "5pct": 0.05}
"""The false positive rates whose recall is reported, by their name within a metric."""

_CELLS = 4_000_000


@dataclass(frozen=True, slots=True)
class Scored:
    """n statements with label and score. y: (n,) bool; score: (n,) in [0, 1]; game: (n,) codes below games."""

    y: NDArray[np.bool_]
    score: Floats
    game: NDArray[np.int64]
    games: int


def rank_metrics(data: Scored, weights: Weights) -> tuple[Floats, Floats]:
    """AUROC and average precision, each (draws,), ties counted half and as one step; NaN if a class is missing.

    Average precision is the sum of precision over the steps of recall, without interpolation, as in scikit-learn.
    """
    draws = len(weights)
    auroc, precision = np.full(draws, np.nan), np.full(draws, np.nan)
    if not len(data.y):
        return auroc, precision
    order = np.argsort(-data.score, kind="stable")
    score, y, game = data.score[order], data.y[order], data.game[order]
    starts = np.flatnonzero(np.r_[True, score[1:] != score[:-1]])
    step = max(1, _CELLS // len(y))
    for first in range(0, draws, step):
        part = slice(first, first + step)
        w = weights[part][:, game].astype(np.float64)
        here = np.add.reduceat(w, starts, axis=1)
        positive = np.add.reduceat(w * y, starts, axis=1)
        above, above_positive = here.cumsum(axis=1), positive.cumsum(axis=1)
        all_positive = above_positive[:, -1]
        all_negative = above[:, -1] - all_positive
        # Negatives that score below a block, plus half of those that tie with it.
        below = all_negative[:, None] - (above - above_positive) + (here - positive) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            auroc[part] = (positive * below).sum(axis=1) / (all_positive * all_negative)
            share = np.where(above > 0, above_positive / above, 0.0)
            precision[part] = (positive * share).sum(axis=1) / all_positive
        missing = (all_positive == 0) | (all_negative == 0)
        auroc[part][missing] = np.nan
        precision[part][missing] = np.nan
    return auroc, precision


def threshold_at(y: NDArray[np.bool_], score: Floats, rate: float) -> float | None:
    """The lowest threshold at which at most `rate` of the honest statements score above it (strictly); None if
    there is no honest statement to choose it on.
    """
    honest = np.sort(score[~y])
    if not len(honest):
        return None
    # The small addend keeps 0.95 * 100 from becoming 95.00000000000001 and so going one step too far.
    return float(honest[int(np.ceil((1 - rate) * len(honest) - 1e-9)) - 1])


def flagged(score: Any, at: float) -> Any:
    """Which scores are flagged at a threshold: those above it. A score equal to the threshold is not, so that
    the false positive rate it was chosen for holds.
    """
    return score > at


def metrics(data: Scored, thresholds: Mapping[str, float | None], weights: Weights) -> dict[str, Floats]:
    """Every metric, each (draws,), NaN if it is not defined. thresholds: by the names of LEVELS.

    auroc, average_precision; recall_at_{level}_fpr and realised_fpr_at_{level} at the given thresholds; brier, the mean
    squared error of the probability; ece, the expected calibration error over 15 equal bins (Guo et al. 2017, eq. 3).
    """
    auroc, precision = rank_metrics(data, weights)
    found = {"auroc": auroc, "average_precision": precision}
    for name in LEVELS:
        at = thresholds.get(name)
        above = np.zeros(len(data.y), bool) if at is None else flagged(data.score, at)
        undefined = np.nan if at is None else 1.0
        found[f"recall_at_{name}_fpr"] = _mean(data, above, weights, data.y) * undefined
        found[f"realised_fpr_at_{name}"] = _mean(data, above, weights, ~data.y) * undefined
    found["brier"] = _mean(data, (data.score - data.y) ** 2, weights)
    found["ece"] = calibration_error(data, weights)
    return found


def calibration_error(data: Scored, weights: Weights, bins: int = BINS) -> Floats:
    """(draws,): the mean over statements of |share deceptive - mean score| of the bin each statement falls in."""
    bin_of = np.minimum((data.score * bins).astype(np.int64), bins - 1)
    gap = np.zeros((data.games, bins))
    np.add.at(gap, (data.game, bin_of), data.y - data.score)
    with np.errstate(invalid="ignore"):
        error = np.abs(weights @ gap).sum(axis=1) / (weights @ np.bincount(data.game, minlength=data.games))
    return np.asarray(error, dtype=np.float64)


def _mean(
    data: Scored, values: Floats | NDArray[np.bool_], weights: Weights, where: NDArray[np.bool_] | None = None
) -> Floats:
    """(draws,): weighted mean of values over the statements in `where`."""
    rows = np.ones(len(data.y), bool) if where is None else where
    total = np.bincount(data.game[rows], weights=values[rows].astype(np.float64), minlength=data.games)
    count = np.bincount(data.game[rows], minlength=data.games)
    with np.errstate(invalid="ignore"):
        return np.asarray((weights @ total) / (weights @ count), dtype=np.float64)
