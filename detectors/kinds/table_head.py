"""The linear head of the kinds that read a whole game: it weighs features so that tables come out as they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from liescope.common.errors import UsageError
from liescope.detectors.kinds.whole_game import Lesson
from liescope.detectors.view.posterior import Floats, Tables


def solve(features: Any, learned: Lesson, penalties: Floats) -> tuple[Floats, float]:
    """(weights, offset) with the largest likelihood less the L2 penalty. features: (candidates, features), sparse or
    dense, in the order of the lesson; penalties: (features,). The offset matters only where it is not known how many
    deceive; if no such table is learned from, it is the one that gives the candidates their prevalence. Raises
    UsageError.
    """
    from scipy.optimize import minimize

    rows, across = features, features.T if isinstance(features, np.ndarray) else features.T.tocsr()
    loose = bool((learned.tables.deceivers < 0).any())

    def loss(at: Floats) -> tuple[float, Floats]:
        weights, offset = at[:-1], at[-1]
        value, gradient = learned.tables.loss(rows @ weights + offset, learned.true, learned.false)
        back = np.append(across @ gradient + weights * penalties, gradient.sum() if loose else 0.0)
        return value + float(penalties @ weights**2) / 2, back

    found = minimize(loss, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    if not found.success:
        raise UsageError("the linear model did not converge; lower --strength so that the penalty is stronger")
    weights, offset = found.x[:-1], float(found.x[-1])
    return weights, offset if loose else prevalent(rows @ weights, learned.tables)


def prevalent(scores: Floats, tables: Tables) -> float:
    """The offset at which the mean probability is the share of those who deceive."""
    from scipy.optimize import brentq
    from scipy.special import expit

    share = float(tables.deceivers.sum() / len(scores))
    edge = float(np.abs(scores).max()) + 50
    if not 0 < share < 1:
        raise UsageError("all or none of the players deceive in these games; a detector needs both")
    return float(brentq(lambda offset: float(expit(scores + offset).mean()) - share, -edge, edge))
