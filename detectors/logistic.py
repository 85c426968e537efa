"""The logistic head that two detectors share, and how to read it from an untrusted file.

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
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.detectors.detector import TRAIN_AGAIN

# skops lists scikit-learn's estimators, which looks into every package of it, and one of these would load torch.
_WRAPPER = "sklearn.externals.array_api_compat.torch"
if "torch" in sys.modules:
    import skops.io
else:
    sys.modules[_WRAPPER] = None  # type: ignore[assignment]  # not to be imported
    try:
        import skops.io
    finally:
        del sys.modules[_WRAPPER]

_LARGEST = 2**30  # bytes; a TF-IDF of 24,000 features takes 20 MB


def logistic(strength: float, seed: int = 0) -> LogisticRegression:
    """Logistic regression without class weights, so that its probabilities stay calibrated. strength: scikit-learn's C,
    the inverse of the L2 penalty.
    """
    return LogisticRegression(C=strength, max_iter=2000, random_state=seed)


def scaled_logistic(strength: float, seed: int = 0) -> Pipeline:
    """An unfitted pipeline for features of any size: `scale`, `head`."""
    return Pipeline([("scale", StandardScaler()), ("head", logistic(strength, seed))])


def fit_quietly(model: Any, features: Any, y: NDArray[np.bool_]) -> None:
    """Fit; raises UsageError if the solver stops before it has converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(features, y)
        except ConvergenceWarning as error:
            raise UsageError(
                "the logistic regression did not converge; lower --strength so that the penalty is stronger"
            ) from error


def dump(model: Any, path: Path) -> None:
    """Write a fitted pipeline as a skops file."""
    skops.io.dump(model, path)


@contextmanager
def opened(path: Path) -> Iterator[Pipeline]:
    """The pipeline in a skops file that holds only types skops trusts by default.

    Any error while it is read, or used inside the block, is raised as BadData with the path.
    """
    if not path.is_file():
        raise BadData(f"{path} is missing, so the model folder is damaged; train the detector again")
    with Reading(path, TRAIN_AGAIN):
        _check_size(path)
        if unknown := skops.io.get_untrusted_types(file=path):
            raise BadData(f"{path} holds types that a detector of Liescope never has: {', '.join(unknown[:5])[:200]}")
        saved = skops.io.load(path, trusted=[])
        if not isinstance(saved, Pipeline):
            raise TypeError(f"it holds a {type(saved).__name__}, not a pipeline")
        yield saved


def restore_logistic(fresh: LogisticRegression, learned: Any, features: int) -> None:
    """Copy the learned numbers of a logistic regression into an unfitted one. Raises ValueError if they do not fit."""
    if list(learned.classes_) != [False, True]:
        raise ValueError("its classes are not honest and deceptive")
    fresh.classes_ = np.array([False, True])
    fresh.coef_ = numbers(learned.coef_, (1, features))
    fresh.intercept_ = numbers(learned.intercept_, (1,))
    fresh.n_features_in_ = features


def restore_scaled(fresh: Pipeline, saved: Pipeline, features: int) -> None:
    """The same for a pipeline of `scaled_logistic`."""
    scale, learned = fresh["scale"], saved["scale"]
    for part in ("mean_", "scale_", "var_"):
        setattr(scale, part, numbers(getattr(learned, part), (features,)))
    if not (scale.scale_ > 0).all():
        raise ValueError("its features are divided by 0")
    scale.n_features_in_ = features
    restore_logistic(fresh["head"], saved["head"], features)


def numbers(values: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """An array of finite floats of that shape. Raises ValueError."""
    found = np.array(values)
    if found.dtype.kind != "f" or found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"it holds {found.dtype} {found.shape} where finite numbers of shape {shape} belong")
    return found


def _check_size(path: Path) -> None:
    """skops stores without compression: it did not write a file that claims to unpack to far more than its size."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    size = path.stat().st_size
    if size > _LARGEST or unpacked > size + 2**20:
        raise BadData(f"{path} unpacks to {unpacked / 1e6:,.0f} MB, which no detector needs; it is not opened")
