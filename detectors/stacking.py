"""Stacking: what each of several detectors says, weighed by what it was worth on games it had not seen.

A logistic regression over the members' log-odds with weights that are not negative (Wolpert 1992, "Stacked
generalization"; Breiman 1996, "Stacked regressions"). Where it is no better than their mean, the mean is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from liescope.detectors.view.posterior import Bools, Floats, Tables

_HELD_BACK = 1.0  # L2 penalty on the distance from the mean, so that weights stay finite


@dataclass(frozen=True, slots=True)
class Answers:
    """What members say, and what is true. logits: (rows, members); tables: how the rows sit together; true, false:
    (rows,) who is known to deceive, and who not to.
    """

    logits: Floats
    tables: Tables
    true: Bools
    false: Bools


class Stack(BaseModel):
    """A weight for each member, and an offset, which matters where it is not known how many of a table deceive."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    weights: tuple[Annotated[float, Field(ge=0)], ...]
    offset: float = 0.0

    def __call__(self, logits: Floats) -> Floats:
        """(rows,) log-odds. logits: (rows, members)."""
        return np.asarray(logits @ np.array(self.weights) + self.offset)

    def loss(self, answers: Answers) -> float:
        """Minus the log-likelihood of what is true."""
        return answers.tables.loss(self(answers.logits), answers.true, answers.false)[0]

    @classmethod
    def mean(cls, members: int) -> Self:
        """The mean of the members' log-odds: the normalised geometric mean of their odds."""
        return cls(weights=(1 / members,) * members)

    @classmethod
    def chosen(cls, folds: Sequence[Answers], members: int) -> Self:
        """The stack of answers out of fold, if it has a lower log loss on each fold, fitted on the others, than the
        mean has; else the mean. folds: the answers of each fold, none for the mean.
        """
        floor = cls.mean(members)
        if len(folds) < 2:
            return floor
        stacked = sum(cls.fitted([*folds[:at], *folds[at + 1 :]], members).loss(fold) for at, fold in enumerate(folds))
        return cls.fitted(folds, members) if stacked < sum(map(floor.loss, folds)) else floor

    @classmethod
    def fitted(cls, folds: Sequence[Answers], members: int) -> Self:
        """The weights, none negative, and the offset with the largest likelihood of all answers."""
        from scipy.optimize import minimize

        def loss(at: Floats) -> tuple[float, Floats]:
            apart = at[:-1] - 1 / members
            value, slope = _HELD_BACK * float(apart @ apart) / 2, np.append(_HELD_BACK * apart, 0.0)
            for fold in folds:
                more, gradient = fold.tables.loss(fold.logits @ at[:-1] + at[-1], fold.true, fold.false)
                value, slope = value + more, slope + np.append(fold.logits.T @ gradient, gradient.sum())
            return value, slope

        start = np.append(np.full(members, 1 / members), 0.0)
        bounds = [(0.0, None)] * members + [(None, None)]
        found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x.tolist()
        return cls(weights=tuple(found[:-1]), offset=found[-1])
