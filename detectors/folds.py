"""Folds: by game, so that every statement is scored by a detector that saw no statement of its game, or by any other
unit to hold out, such as a speaking model.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools

Rows = NDArray[np.int64]
_INNER_FOLDS = 3
_FEWEST_GAMES, _FEWEST_MODELS, _LARGEST_PART = 10, 3, 0.5


def fold_of(y: Bools, groups: NDArray[np.str_], folds: int, seed: int) -> Rows:
    """(n,): the fold each statement is held out in, the same for all statements of a game, balanced by class as far as
    the games allow: greedily, the most one-sided games first, as scikit-learn's StratifiedGroupKFold deals.
    """
    _, group = np.unique(groups, return_inverse=True)
    order = np.arange(group.max() + 1)
    np.random.RandomState(seed).shuffle(order)
    counts = np.stack([np.bincount(group[y == label], minlength=len(order)) for label in (False, True)], axis=1)[order]
    total, dealt = counts.sum(axis=0), np.zeros((folds, 2))
    fold = np.empty(len(order), dtype=np.int64)
    for at in np.argsort(-counts.std(axis=1), kind="stable"):
        tried = dealt + np.eye(folds)[:, :, None] * counts[at]
        uneven, sizes = (tried / total).std(axis=1).mean(axis=1).tolist(), dealt.sum(axis=1).tolist()
        best = 0
        for one in range(1, folds):
            # the tolerances of np.isclose, by which scikit-learn breaks ties
            level = math.isclose(uneven[one], uneven[best], rel_tol=1e-5, abs_tol=1e-8)
            if uneven[one] < uneven[best] or (level and sizes[one] < sizes[best]):
                best = one
        dealt[best] += counts[at]
        fold[order[at]] = best
    return fold[group]


def leaving_out(units: NDArray[np.str_], games: NDArray[np.str_], y: Bools, seed: int) -> list[tuple[Rows, Rows]]:
    """(rows to fit on, rows to score), each time leaving out a third of the units, which may be games, and every game
    they are in. Folds that lack a class on either side are left out.
    """
    if not _both(y):
        return []
    fold = fold_of(y, units, min(_INNER_FOLDS, len(np.unique(units))), seed)
    away = [fold == number for number in np.unique(fold)]
    found = [(np.flatnonzero(~np.isin(games, games[out])), np.flatnonzero(out)) for out in away]
    return [sides for sides in found if all(_both(y[side]) for side in sides)]


def held_out_rows(
    models: NDArray[np.str_], y: Bools, groups: NDArray[np.str_], share: float, seed: int
) -> tuple[Rows, Rows]:
    """(rows to learn from, rows of other games to choose the epoch on; none if there are fewer than ten games).

    Where at least three models speak, one of them speaks in each of the held-out games, and nowhere in the others,
    because the best epoch for models heard in training is often too late for new ones. share: of the games; models:
    (n,) who speaks.
    """
    from sklearn.model_selection import GroupShuffleSplit

    rows = np.arange(len(y))
    games = np.unique(groups)
    if share == 0 or len(games) < _FEWEST_GAMES:
        return rows, rows[:0]
    draw = np.random.default_rng(seed)
    if len(np.unique(models)) >= _FEWEST_MODELS:
        for model in draw.permutation(np.unique(models)):
            own = models == model
            chosen = draw.permutation(np.unique(groups[own]))[: math.ceil(share * len(games))]
            aside = np.isin(groups, chosen)
            learn, check = rows[~own & ~aside], rows[aside]
            if own.mean() <= _LARGEST_PART and _both(y[learn]) and _both(y[check]):
                return learn, check
    learn, check = next(GroupShuffleSplit(1, test_size=share, random_state=seed).split(rows, groups=groups))
    return learn, check


def _both(y: Bools) -> bool:
    return bool(y.any() and not y.all())
