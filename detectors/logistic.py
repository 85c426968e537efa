"""Logistic regressions: learned with scipy's L-BFGS, saved as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.reading import Reading
from liescope.common.statistics import Bools, Floats, expit

TRAIN_AGAIN = "train the detector again"
"""What to do about a model folder that is damaged."""


def one_thread() -> Any:
    """A context with BLAS on one thread: for products as small as those of L-BFGS, two take 200 times as long."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


def fit_logistic(features: Any, y: Bools, strength: float) -> tuple[Floats, float]:
    """(weights, offset) with the least log loss and L2 penalty, without class weights, so that its probabilities stay
    calibrated. features: (n, width), dense or of scipy; strength: scikit-learn's C, the inverse of the penalty. It
    stops by the same rule as scikit-learn's LogisticRegression. Raises UsageError if it does not converge.
    """
    from scipy.optimize import minimize

    n, across, penalty = len(y), features.T, 1 / (strength * len(y))

    def loss(at: Floats) -> tuple[float, Floats]:
        weights, odds = at[:-1], features @ at[:-1] + at[-1]
        gap = (expit(odds) - y) / n
        value = (np.logaddexp(0, odds) - y * odds).sum() / n + penalty * (weights @ weights) / 2
        return float(value), np.append(across @ gap + penalty * weights, gap.sum())

    how = {"maxiter": 2000, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
    with one_thread():
        found = minimize(loss, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options=how)
    if not found.success:
        raise UsageError("the logistic regression did not converge; lower --strength so that the penalty is stronger")
    return found.x[:-1], float(found.x[-1])


def write_numbers(path: Path, values: Any) -> None:
    """Write an array as .npy."""
    np.save(path, values, allow_pickle=False)


def read_numbers(path: Path, shape: tuple[int, ...]) -> Floats:
    """The array of a .npy file, of that shape. Raises BadData."""
    with Reading(path, TRAIN_AGAIN):
        return numbers(np.load(path, allow_pickle=False), shape)


def numbers(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of finite floats of that shape. Raises ValueError."""
    found = np.array(values)
    if found.dtype.kind != "f" or found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"it holds {found.dtype} {found.shape} where finite numbers of shape {shape} belong")
    return found


def two_columns(score: Floats) -> Floats:
    """(n, 2): the probabilities of honest and of deceptive. score: (n,), of deceptive."""
    return np.column_stack([1 - score, score])


@dataclass(frozen=True, slots=True)
class ScaledLogistic:
    """A logistic regression on features of any size. mean, spread, weights: (features,)."""

    mean: Floats
    spread: Floats
    weights: Floats
    offset: float

    @classmethod
    def learned(cls, features: NDArray[Any], y: Bools, strength: float) -> Self:
        """Raises UsageError."""
        mean, spread = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
        spread[spread == 0] = 1.0
        weights, offset = fit_logistic((features - mean) / spread, y, strength)
        return cls(mean, spread, weights, offset)

    def odds(self, features: NDArray[Any]) -> Floats:
        """(n,): log-odds of deception."""
        return np.asarray((features - self.mean) / self.spread @ self.weights + self.offset)

    def write(self, path: Path) -> None:
        rows = ((self.mean, 0.0), (self.spread, 1.0), (self.weights, self.offset))
        write_numbers(path, np.stack([np.append(one, last) for one, last in rows]))

    @classmethod
    def read(cls, path: Path, features: int) -> Self:
        """Raises BadData."""
        mean, spread, weights = read_numbers(path, (3, features + 1))
        with Reading(path, TRAIN_AGAIN):
            if not (spread > 0).all():
                raise ValueError("its features are divided by 0")
        return cls(mean[:-1], spread[:-1], weights[:-1], float(weights[-1]))
