"""What is learned about judges: how far to believe each answer, and how several become one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Self

import numpy as np
from pydantic import Field

from liescope.common.reading import Strict
from liescope.common.statistics import Bools, Floats, log_expit, logit
from liescope.detectors.judge.prompt import Criterion

_EDGE = 0.0025  # probabilities are kept so far from 0 and 1


def _fitted(odds: Floats, y: Bools, mean: Floats, fixed: Bools) -> Floats:
    """(k + 1,): the weights of log-odds, (n, k), none below 0, and the offset under which they fit labels, (n,), best.
    With few labels they stay near `mean`, (k,), and 0: those of normal priors, whose standard deviations are the means
    themselves, and 1. fixed: weights, (k,), that stay there.
    """
    from scipy.optimize import minimize

    sign, start = np.where(y, 1.0, -1.0), np.append(mean, 0.0)

    def loss(at: Floats) -> float:
        far = (((at[:-1] - mean) / mean) ** 2).sum() + at[-1] ** 2
        return float(far / 2 - log_expit(sign * (odds @ at[:-1] + at[-1])).sum())

    bounds = [(one, one) if stays else (0, 100) for one, stays in zip(mean, fixed, strict=True)]
    return np.asarray(minimize(loss, start, bounds=[*bounds, (-100, 100)], method="L-BFGS-B").x)


class PlattScaling(Strict):
    """Platt scaling: the log-odds of an answer, times slope, plus intercept (Platt 1999). A slope below 0 is not
    learned.
    """

    slope: Annotated[float, Field(ge=0, le=100)] = 1.0
    intercept: Annotated[float, Field(ge=-100, le=100)] = 0.0

    @classmethod
    def fitted(cls, probability: Floats, y: Bools) -> Self:
        """The scaling under which probabilities, (n,), NaN for none, fit labels, (n,), best. With few answers it stays
        near slope 1 and intercept 0.
        """
        read = ~np.isnan(probability)
        odds = cls().log_odds(probability[read])[:, None]
        slope, intercept = _fitted(odds, y[read], np.ones(1), np.zeros(1, dtype=bool)) if read.any() else (1.0, 0.0)
        return cls(slope=float(slope), intercept=float(intercept))

    def log_odds(self, probability: Floats) -> Floats:
        return np.asarray(self.slope * logit(np.clip(probability, _EDGE, 1 - _EDGE)) + self.intercept)


class LearnedModel(Strict):
    """What was learned about one judge. calibrations, weights: by criterion; offset: of the weighted sum of calibrated
    log-odds; stated: whether the model states numbers, None if it was not asked.
    """

    calibrations: tuple[PlattScaling, ...]
    weights: tuple[Annotated[float, Field(ge=0, le=100)], ...]
    offset: Annotated[float, Field(ge=-100, le=100)] = 0.0
    stated: bool | None = None

    @classmethod
    def before(cls, criteria: Sequence[Criterion]) -> Self:
        """Without answers: the mean of all criteria, by the weights that are given."""
        given = np.array([one.weight or 1.0 for one in criteria] or [1.0])
        return cls(calibrations=(PlattScaling(),) * len(given), weights=tuple((given / given.sum()).tolist()))

    def learned(self, told: Floats, y: Bools, fixed: Bools) -> Self:
        """Of answers, (n, criteria), NaN for none. fixed: the criteria whose weights are given."""
        scales = tuple(PlattScaling.fitted(column, y) for column in told.T)
        found = self.model_copy(update={"calibrations": scales})
        odds, mean, read = found.by_criterion(told), np.array(self.weights), ~np.isnan(told).all(1)
        if len(mean) == 1 or not read.any():
            return found
        odds = np.where(np.isnan(odds), mean_odds(odds, mean)[:, None], odds)[read]
        *weights, offset = _fitted(odds, y[read], mean, fixed).tolist()
        return found.model_copy(update={"weights": tuple(weights), "offset": offset})

    def by_criterion(self, told: Floats) -> Floats:
        """(n, criteria): the calibrated log-odds of answers."""
        return np.column_stack([one.log_odds(column) for one, column in zip(self.calibrations, told.T, strict=True)])

    def log_odds(self, told: Floats) -> Floats:
        """(n,): of all criteria together; those without an answer leave it to the others, NaN where there is none."""
        weights = np.array(self.weights)
        return np.asarray(mean_odds(self.by_criterion(told), weights) * weights.sum() + self.offset)


def mean_odds(values: Floats, weights: Floats) -> Floats:
    """(n,): the weighted mean of each row without its NaNs; NaN for one of nothing else."""
    had = ~np.isnan(values)
    total = had @ weights
    mean = np.nansum(values * weights, axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(had.any(1), mean, np.nan))


def agreement(odds: Floats) -> str:
    """How far judges agree, in words: Cohen's kappa (1960) of their verdicts, averaged over pairs. odds: (n, judges),
    above 0 for deceptive, NaN for none.
    """
    found = list[float]()
    for pair in combinations(odds.T, 2):
        both = np.column_stack(pair)
        one, other = (both[~np.isnan(both).any(1)] > 0).T
        chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()) if len(one) else 1.0
        if chance < 1:
            found.append(((one == other).mean() - chance) / (1 - chance))
    if not found:
        return "whose verdicts are all the same"
    return f"whose verdicts agree with a kappa of {np.mean(found):.2f}"
