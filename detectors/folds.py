"""Cross-validation by game: every statement is scored by a detector that saw no statement of its game."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def fold_of(y: NDArray[np.bool_], groups: NDArray[np.str_], folds: int, seed: int) -> Rows:
    """(n,): the fold each statement is held out in, the same for all statements of a game."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(n_splits=folds, shuffle=True, random_state=seed)
    fold = np.empty(len(y), dtype=np.int64)
    for number, (_, held_out) in enumerate(splitter.split(np.zeros(len(y)), y, groups)):
        fold[held_out] = number
    return fold


def out_of_fold(fold: Rows, fit_predict: Callable[[Rows, Rows, int], NDArray[np.float64]]) -> NDArray[np.float64]:
    """(n,) scores. fit_predict(learn, held_out, fold) fits on the rows `learn` and scores the rows `held_out`."""
    score = np.empty(len(fold))
    for number in np.unique(fold):
        held_out = np.flatnonzero(fold == number)
        score[held_out] = fit_predict(np.flatnonzero(fold != number), held_out, int(number))
    return score
