"""The equilibrium of a zero-sum game that two sides play once, and of several the one of maximum entropy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog, minimize

from liescope.benchmark.capability.backend import Array

_CLOSE = 1e-7  # of the payoffs' range
_LEAST = 1e-12  # of a probability, so that its logarithm is finite


def equilibrium(payoff: Array) -> tuple[Array, Array, float]:
    """(the rows' strategy, the columns' strategy, value) of the zero-sum game in which the row player gets
    payoff[row, column] and the column player loses it.

    Strategies are probabilities of the rows and columns; neither side gains by another choice. Where several
    equilibria exist, each side's is the one of maximum entropy, so that equals are treated equally (Balduzzi et al.
    2018, "Re-evaluating evaluation", Proposition 4).
    """
    rows, columns, value = _vertices(payoff)
    close = _CLOSE * float(np.ptp(payoff)) + _LEAST
    open_rows = payoff @ columns > value - close  # the others are worse against this column strategy: never played
    open_columns = rows @ payoff < value + close
    if (open_rows == (rows > _LEAST)).all() and (open_columns == (columns > _LEAST)).all():
        return rows, columns, value  # strictly complementary vertices: the only equilibrium
    return (
        _most_even(payoff, rows, open_rows, value - close),
        _most_even(-payoff.T, columns, open_columns, -value - close),
        value,
    )


def _vertices(payoff: Array) -> tuple[Array, Array, float]:
    """Some equilibrium, by linear programming: maximise the value that the rows' strategy secures."""
    rows, columns = payoff.shape
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-payoff.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs-ds",
    )
    mixed = (np.maximum(part, 0) for part in (found.x[:-1], -found.ineqlin.marginals))
    one, other = (part / part.sum() for part in mixed)
    return one, other, float(found.x[-1])


def _most_even(payoff: Array, start: Array, open_rows: npt.NDArray[np.bool_], secured: float) -> Array:
    """The strategy of maximum entropy over the open rows that secures as much against every column."""
    part = payoff[open_rows]
    if len(part) == 1:
        return start
    found = minimize(
        lambda x: float(x @ np.log(x)),
        np.maximum(start[open_rows], _LEAST),
        jac=lambda x: np.log(x) + 1,
        bounds=[(_LEAST, 1.0)] * len(part),
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda x: x @ part - secured, "jac": lambda _: part.T},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    even = np.zeros(len(start))
    even[open_rows] = found.x / found.x.sum()
    return even
