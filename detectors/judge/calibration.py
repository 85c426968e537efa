"""What is learned about a judge, and how several answers become one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Self

import numpy as np
from pydantic import Field

from liescope.common.reading import Strict
from liescope.common.statistics import Bools, Floats, log_expit, logit
from liescope.detectors.judge.prompt import Criterion

EDGE = 0.0025
"""How far the probabilities that judges say are kept from 0 and 1."""


class LearnedModel(Strict):
    """How the answers of one judge become log-odds: theirs, by criterion, times weights, plus an offset; of one answer,
    Platt scaling (Platt 1999). No weight is below 0. stated: whether the model states numbers, None if it was not
    asked.
    """

    weights: Annotated[tuple[Annotated[float, Field(ge=0, le=100)], ...], Field(min_length=1)]
    offset: Annotated[float, Field(ge=-100, le=100)] = 0.0
    stated: bool | None = None

    @classmethod
    def learned(cls, criteria: Sequence[Criterion], told: Floats, y: Bools) -> Self:
        """The weights under which answers, (n, criteria), NaN for none, fit labels, (n,), best. With few they stay near
        the mean: those of normal priors, whose standard deviations are the means themselves, and 1 for the offset.
        """
        from scipy.optimize import minimize

        given = [one.weight for one in criteria] or [None]
        mean = np.array([one or 1.0 for one in given])
        mean /= mean.sum()
        odds, read = logit(told, EDGE), ~np.isnan(told).all(1)
        odds = np.where(np.isnan(odds), mean_odds(odds, mean)[:, None], odds)[read]
        sign = np.where(y[read], 1.0, -1.0)

        def loss(at: Floats) -> float:
            far = ((at[:-1] / mean - 1) ** 2).sum() + at[-1] ** 2
            return float(far / 2 - log_expit(sign * (odds @ at[:-1] + at[-1])).sum())

        bounds = [(0, 100) if one is None else (at, at) for one, at in zip(given, mean, strict=True)]
        found = minimize(loss, np.append(mean, 0.0), bounds=[*bounds, (-100, 100)], method="L-BFGS-B").x.tolist()
        return cls(weights=tuple(found[:-1]), offset=found[-1])

    def log_odds(self, told: Floats) -> Floats:
        """(n,): of all criteria together; one without an answer leaves it to the others, NaN where there is none."""
        weights = np.array(self.weights)
        return np.asarray(mean_odds(logit(told, EDGE), weights) * weights.sum() + self.offset)


def mean_odds(values: Floats, weights: Floats | None = None) -> Floats:
    """(n,): the weighted mean of each row without its NaNs; NaN for one of nothing else."""
    had, weights = ~np.isnan(values), np.ones(values.shape[1]) if weights is None else weights
    total = had @ weights
    mean = np.nansum(values * weights, axis=1) / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(had.any(1), mean, np.nan))


def agreement(odds: Floats) -> str:
    """How far judges agree: Cohen's kappa (1960) of their verdicts, averaged over pairs. odds: (n, judges), above 0 for
    deceptive, NaN for none.
    """
    from sklearn.metrics import cohen_kappa_score

    found = list[float]()
    for pair in combinations(odds.T, 2):
        both = np.column_stack(pair)
        verdicts = both[~np.isnan(both).any(1)] > 0
        if verdicts.any() and not verdicts.all():
            found.append(cohen_kappa_score(*verdicts.T))
    return f"whose verdicts agree with a kappa of {np.mean(found):.2f}" if found else "whose verdicts are all the same"
