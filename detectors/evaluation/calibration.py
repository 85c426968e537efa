"""Whether a score means what it says: the Brier score and a calibration error without the bias of small bins.

The usual calibration error is never 0, even for scores that are right: chance alone parts the share of lies in a bin
from its mean score. Kumar, Liang and Ma (2019, "Verified uncertainty calibration", section 5) subtract from the square
of each bin's gap what chance adds to it on average. They take statements as independent draws; here games are, so what
is subtracted is the variance between games.
"""

from __future__ import annotations

import numpy as np

from liescope.common.statistics import Estimate, Floats, Weights, share, turned
from liescope.detectors.evaluation.metrics import Scored

BINS = 15


def brier(data: Scored, weights: Weights) -> Floats:
    """(draws,): the mean squared error of the probability."""
    return share((data.score - data.y) ** 2, np.ones(len(data.y)), data.game, weights)


def calibration_error(data: Scored, weights: Weights, bins: int = BINS) -> Estimate:
    """The root of the debiased squared calibration error, over bins of equally many statements; 0 if chance explains
    all of it. Not defined for fewer than two games.

    Resamples of games scatter around the biased error of the sample, because that is the truth of the world they are
    drawn from: the interval is the basic one, turned around that value on the scale of squares.
    """
    if data.games < 2:
        return None, None, None
    debiased, biased = squared_errors(data, weights, bins)
    value = float(debiased[0])
    low, high = turned(debiased, float(biased[0]))
    root = [float(np.sqrt(max(number, 0.0))) for number in (value, min(low, value), max(high, value))]
    return root[0], root[1], root[2]


def squared_errors(data: Scored, weights: Weights, bins: int = BINS) -> tuple[Floats, Floats]:
    """(debiased, biased), each (draws,): the squared gap between share of lies and mean score, averaged.

    A bin's gap is a sum over games. Its square minus the squares of its summands, times G / (G - 1), has the square of
    the expected gap as its mean for G independent games.
    """
    _, kind_of, counts = np.unique(data.score, return_inverse=True, return_counts=True)
    middle = counts.cumsum() - counts / 2
    bin_of = np.minimum((middle / len(data.y) * bins).astype(np.int64), bins - 1)[kind_of]
    gap, count = np.zeros((data.games, bins)), np.zeros((data.games, bins))
    np.add.at(gap, (data.game, bin_of), data.y - data.score)
    np.add.at(count, (data.game, bin_of), 1)
    total, squares, statements = weights @ gap, weights @ gap**2, weights @ count
    scale = statements * statements.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        biased = np.where(scale > 0, total**2 / scale, 0.0)
        debiased = np.where(scale > 0, (total**2 - squares) / scale, 0.0) * data.games / (data.games - 1)
    return debiased.sum(axis=1), biased.sum(axis=1)
