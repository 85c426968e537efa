"""How well people agree on yes or no, where not everybody judges everything."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.evaluation.metrics import Bools, Floats, Weights


def alpha(item: NDArray[np.int64], yes: Bools, game: NDArray[np.int64], weights: Weights) -> Floats:
    """(draws,): Krippendorff's alpha for two values: 1 for perfect agreement, 0 for chance; NaN where no item has two
    answers, or where all of them are alike. item, yes, game: of each answer.

    Krippendorff (2019), Content Analysis, chapter 12: 1 - D_observed / D_expected over the answers of the items that
    have at least two; an item's pairs weigh 1 / (answers - 1).
    """
    answers = np.bincount(item).astype(float)
    flags = np.bincount(item, weights=yes.astype(float))
    first = np.unique(item, return_index=True)[1]
    pairable = answers >= 2
    split = np.where(pairable, 2 * flags * (answers - flags) / np.maximum(answers - 1, 1), 0.0)
    games = weights.shape[1]
    pairs, ones, every = (
        weights @ np.bincount(game[first], weights=np.where(pairable, column, 0.0), minlength=games)
        for column in (split, flags, answers)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = 2 * ones * (every - ones) / (every - 1)
        return np.asarray(1 - pairs / expected, dtype=np.float64)
