"""Logistic regressions, and how to read one from an untrusted file.

Only numbers and words are read from such a file. They are copied into estimators made here from the detector's own
options, so that no setting in the file (a pattern, a file name to read, a function) takes effect.
"""

from __future__ import annotations

import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import TRAIN_AGAIN

_WRAPPER = "sklearn.externals.array_api_compat.torch"
_LARGEST = 2**30  # bytes; a TF-IDF of 24,000 features takes 20 MB


def logistic(strength: float, seed: int = 0) -> Any:
    """Logistic regression without class weights, so that its probabilities stay calibrated. strength: scikit-learn's C,
    the inverse of the L2 penalty.
    """
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=2000, random_state=seed)


def scaled_logistic(strength: float, seed: int = 0) -> Any:
    """An unfitted pipeline for features of any size: `scale`, `head`."""
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    return Pipeline([("scale", StandardScaler()), ("head", logistic(strength, seed))])


def one_thread() -> Any:
    """A context in which BLAS keeps to one thread: L-BFGS asks it for products so small that to wake a second thread
    takes two hundred times as long.
    """
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")


def fit_quietly(model: Any, features: Any, y: Bools) -> None:
    """Fit; raises UsageError if the solver stops before it has converged."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(features, y)
        except ConvergenceWarning as error:
            raise UsageError(
                "the logistic regression did not converge; lower --strength so that the penalty is stronger"
            ) from error


def dump(model: Any, path: Path) -> None:
    """Write a fitted pipeline as a skops file."""
    _skops().dump(model, path)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The pipeline in a skops file that holds only types skops trusts by default.

    Any error while it is read, or used inside the block, is raised as BadData with the path.
    """
    from sklearn.pipeline import Pipeline

    if not path.is_file():
        raise BadData(f"{path} is missing, so the model folder is damaged; {TRAIN_AGAIN}")
    with Reading(path, TRAIN_AGAIN):
        _check_size(path)
        if unknown := _skops().get_untrusted_types(file=path):
            raise BadData(f"{path} holds types that a detector of Liescope never has: {', '.join(unknown[:5])[:200]}")
        saved = _skops().load(path, trusted=[])
        if not isinstance(saved, Pipeline):
            raise TypeError(f"it holds a {type(saved).__name__}, not a pipeline")
        yield saved


def restore_logistic(fresh: Any, learned: Any, features: int) -> None:
    """Copy the learned numbers of a logistic regression into an unfitted one. Raises ValueError if they do not fit."""
    if list(learned.classes_) != [False, True]:
        raise ValueError("its classes are not honest and deceptive")
    fresh.classes_ = np.array([False, True])
    fresh.coef_ = numbers(learned.coef_, (1, features))
    fresh.intercept_ = numbers(learned.intercept_, (1,))
    fresh.n_features_in_ = features


def read_scaled(path: Path, features: int, strength: float, seed: int = 0) -> Any:
    """The fitted `scaled_logistic` in a skops file. Raises BadData."""
    found = scaled_logistic(strength, seed)
    with opened(path) as saved:
        scale, learned = found["scale"], saved["scale"]
        for part in ("mean_", "scale_", "var_"):
            setattr(scale, part, numbers(getattr(learned, part), (features,)))
        if not (scale.scale_ > 0).all():
            raise ValueError("its features are divided by 0")
        scale.n_features_in_ = features
        restore_logistic(found["head"], saved["head"], features)
    return found


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


def _skops() -> Any:
    """skops lists scikit-learn's estimators, which looks into every package of it; one of these would load torch."""
    hidden = "torch" not in sys.modules
    if hidden:
        sys.modules[_WRAPPER] = None  # type: ignore[assignment]  # not to be imported
    try:
        import skops.io
    finally:
        if hidden:
            del sys.modules[_WRAPPER]
    return skops.io


def _check_size(path: Path) -> None:
    """skops stores without compression: it did not write a file that claims to unpack to far more than its size."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    size = path.stat().st_size
    if size > _LARGEST or unpacked > size + 2**20:
        raise BadData(f"{path} unpacks to {unpacked / 1e6:,.0f} MB, which no detector needs; it is not opened")
