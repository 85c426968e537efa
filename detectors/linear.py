"""The logistic head that two detectors share, and its safe file."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import skops.io
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from skops.io.exceptions import UntrustedTypesFoundException

from liescope.common.errors import BadData, UsageError


def logistic(strength: float, seed: int = 0) -> LogisticRegression:
    """Logistic regression without class weights, so that its probabilities stay calibrated. strength: scikit-learn's C,
    the inverse of the L2 penalty.
    """
    return LogisticRegression(C=strength, max_iter=2000, random_state=seed)


def fit_quietly(model: Any, features: Any, y: NDArray[np.bool_]) -> None:
    """Fit; raises UsageError when the solver stops before it has converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model.fit(features, y)
        except ConvergenceWarning as error:
            raise UsageError(
                "the logistic regression did not converge; lower --strength so that the penalty is stronger"
            ) from error


def deceptive_last(model: Any, features: Any) -> NDArray[np.float64]:
    """(n, 2) probabilities of honest and deceptive."""
    return np.asarray(model.predict_proba(features), dtype=np.float64)


def dump(model: Any, path: Path) -> None:
    skops.io.dump(model, path)


def load(path: Path) -> Any:
    """Read a skops file that holds only types that skops trusts by itself. Raises BadData."""
    if not path.is_file():
        raise BadData(f"{path} is missing, so the model folder is damaged; train the detector again")
    try:
        unknown = skops.io.get_untrusted_types(file=path)
        if unknown:
            raise BadData(f"{path} holds types that a detector of Liescope never has: {', '.join(unknown[:5])}")
        return skops.io.load(path, trusted=[])
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError, UntrustedTypesFoundException) as error:
        raise BadData(f"{path} cannot be read ({error}); train the detector again") from error
