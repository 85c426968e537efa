"""Folds: by game, so that every statement is scored by a detector that saw no statement of its game, or by any other
unit to hold out, such as a speaking model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools, Floats

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


def out_of_fold(fold: Rows, fit_predict: Callable[[Rows, Rows, int], Floats]) -> Floats:
    """(n,) scores. fit_predict(learn, held_out, fold) fits on the rows `learn` and scores the rows `held_out`."""
    score = np.empty(len(fold))
    for number in np.unique(fold):
        held_out = np.flatnonzero(fold == number)
        score[held_out] = fit_predict(np.flatnonzero(fold != number), held_out, int(number))
    return score


def by_unit(units: NDArray[np.str_], games: NDArray[np.str_], y: Bools, rows: Rows) -> list[tuple[Rows, Rows]]:
    """(rows to fit on, rows to score), a third of the units and their games out each time; folds with both classes."""
    found = []
    for away in _dealt(units[rows]):
        out = rows[np.isin(units[rows], away)]
        rest = rows[~np.isin(games[rows], np.unique(games[out]))]
        found.append((rest, out))
    return [fold for fold in found if all(_both(y[side]) for side in fold)]


def by_game(games: NDArray[np.str_], y: Bools, rows: Rows, seed: int) -> list[tuple[Rows, Rows]]:
    """`by_unit` with games as units; none if a class occurs in only one game."""
    most = min(len(np.unique(games[rows][y[rows] == label])) for label in (True, False))
    if most < 2:
        return []
    fold = fold_of(y[rows], games[rows], min(_INNER_FOLDS, most), seed)
    found = [(rows[fold != number], rows[fold == number]) for number in np.unique(fold)]
    return [fold for fold in found if all(_both(y[side]) for side in fold)]


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


def _dealt(units: NDArray[np.str_]) -> Iterator[list[str]]:
    """The units in `_INNER_FOLDS` groups with about equally many statements."""
    names, counts = np.unique(units, return_counts=True)
    groups: list[list[str]] = [[] for _ in range(min(_INNER_FOLDS, len(names)))]
    sizes = [0] * len(groups)
    for at in np.argsort(-counts, kind="stable"):
        smallest = sizes.index(min(sizes))
        groups[smallest].append(str(names[at]))
        sizes[smallest] += int(counts[at])
    return iter(groups)


def _both(y: Bools) -> bool:
    return bool(y.any() and not y.all())
