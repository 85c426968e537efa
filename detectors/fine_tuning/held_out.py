"""Which statements are kept aside to choose the best epoch: those of a model that is never heard in training."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.examples import Example

Rows = NDArray[np.int64]
_FEWEST_GAMES, _FEWEST_MODELS, _LARGEST_PART = 10, 3, 0.5


def held_out_rows(
    examples: Sequence[Example],
    y: NDArray[np.bool_],
    groups: NDArray[np.str_],
    share: float,
    seed: int,
    whole_games: bool = False,
) -> tuple[Rows, Rows]:
    """(rows to learn from, rows of other games to choose the epoch on; none if there are fewer than ten games).

    Where three models or more speak, the second are one model's statements and the first none of it, because the epoch
    that is best on models heard before is often too late for others. share: of the games; whole_games: the second are
    all statements of games in which that model speaks, and the first those of games in which it does not.
    """
    from sklearn.model_selection import GroupShuffleSplit

    rows = np.arange(len(y))
    games = np.unique(groups)
    if share == 0 or len(games) < _FEWEST_GAMES:
        return rows, rows[:0]
    models = np.array([example.speaker_model for example in examples])
    draw = np.random.default_rng(seed)
    if len(np.unique(models)) >= _FEWEST_MODELS:
        for model in draw.permutation(np.unique(models)):
            own = models == model
            chosen = draw.permutation(np.unique(groups[own]))[: math.ceil(share * len(games))]
            aside = np.isin(groups, chosen)
            if whole_games:
                own = np.isin(groups, groups[own])
            learn, check = rows[~own & ~aside], rows[own & aside]
            if own.mean() <= _LARGEST_PART and _both(y[learn]) and _both(y[check]):
                return learn, check
    learn, check = next(GroupShuffleSplit(1, test_size=share, random_state=seed).split(rows, groups=groups))
    return learn, check


def _both(y: NDArray[np.bool_]) -> bool:
    return bool(y.any() and not y.all())
