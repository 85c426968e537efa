"""Metrics of the order of scores alone: no threshold is chosen, and a score may be any number."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from liescope.common.statistics import Floats, Weights
from liescope.detectors.evaluation.metrics import LEVELS, Scored

_CELLS = 2_000_000
MATCHED = {f"matched_recall_{name}": rate for name, rate in LEVELS.items()}


def rank_metrics(data: Scored, weights: Weights, rates: Mapping[str, float | Floats] = MATCHED) -> dict[str, Floats]:
    """`auroc`, `average_precision` and, by the names of `rates`, the recall at a realised false positive rate; each
    (draws,), NaN if a class is missing.

    AUROC counts ties half. Average precision is the sum of precision over the steps of recall, without interpolation,
    as in scikit-learn. Recall is read from the ROC curve of each weighting where exactly that share of its honest
    statements is flagged; within a tie, statements are flagged at random. rates: a number, or one for each draw.
    """
    names, draws = ("average_precision", *rates), len(weights)
    auroc, found = pooled_auroc(data, weights), {name: np.full(draws, np.nan) for name in names}
    if not len(data.y):
        return {"auroc": auroc, **found}
    _, block = np.unique(-data.score, return_inverse=True)
    blocks = int(block.max()) + 1
    counts = [_counts(block[rows], data.game[rows], (blocks, data.games)) for rows in (data.y, ~data.y)]
    every = {name: np.broadcast_to(rate, draws) for name, rate in rates.items()}
    step = max(1, _CELLS // blocks)
    for first in range(0, draws, step):
        part = slice(first, first + step)
        games = np.ascontiguousarray(weights[part].T, dtype=np.float64)
        lies, honest = (count @ games for count in counts)  # (blocks, draws), highest score first
        lies_above, honest_above = lies.cumsum(axis=0), honest.cumsum(axis=0)
        all_lies, all_honest = lies_above[-1], honest_above[-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = lies_above / np.maximum(lies_above + honest_above, 1)
            found["average_precision"][part] = (lies * precision).sum(axis=0) / all_lies
            for name, rate in every.items():
                flagged = _flagged(lies, honest, lies_above, honest_above, rate[part] * all_honest)
                found[name][part] = flagged / all_lies
        for values in found.values():
            values[part][(all_lies == 0) | (all_honest == 0)] = np.nan
    return {"auroc": auroc, **found}


def pooled_auroc(data: Scored, weights: Weights) -> Floats:
    """(draws,): the AUROC over statements of all games, ties half, NaN if a class is missing.

    The order of lies among themselves, and of honest statements, does not matter: only steps from lies down to the
    honest statements below them are counted, which are fewer the better the order is.
    """
    found = np.full(len(weights), np.nan)
    if not len(data.y):
        return found
    _, block = np.unique(-data.score, return_inverse=True)
    lies, honest = (np.bincount(block[rows], minlength=block.max() + 1) > 0 for rows in (data.y, ~data.y))
    tied, above_tied, above_honest = lies & honest, np.r_[False, (lies & honest)[:-1]], np.r_[False, honest[:-1]]
    step = (tied | above_tied | (lies & above_honest)).cumsum()
    steps = int(step[-1]) + 1
    counts = [_counts(step[block[rows]], data.game[rows], (steps, data.games)) for rows in (data.y, ~data.y)]
    below = np.where(np.bincount(step[tied], minlength=steps) > 0, 0.5, 1.0)[:, None]
    size = max(1, _CELLS // steps)
    for first in range(0, len(weights), size):
        part = slice(first, first + size)
        games = np.ascontiguousarray(weights[part].T, dtype=np.float64)
        lying, others = (count @ games for count in counts)  # (steps, draws), highest score first
        passed = others.cumsum(axis=0)
        with np.errstate(invalid="ignore"):
            right = (lying * (passed[-1] - passed + below * others)).sum(axis=0)
            found[part] = right / (lying.sum(axis=0) * passed[-1])
    return found


def within_games(data: Scored, weights: Weights) -> Floats:
    """(draws,): the AUROC within games, NaN where no game has both classes."""
    right, pairs = (weights @ np.column_stack(pairs_within(data))).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(right / pairs, dtype=np.float64)


def pairs_within(data: Scored) -> tuple[Floats, Floats]:
    """(pairs that are ranked right, ties half; pairs), each (games,): of a deceptive and an honest statement of one
    game. The first over the second is the AUROC within games, in which each game weighs by its number of pairs.
    """
    if not len(data.y):
        return np.zeros(data.games), np.zeros(data.games)
    own = data.game if data.own is None else data.own
    order = np.lexsort((data.score, own))
    y, score, own, game = data.y[order], data.score[order], own[order], data.game[order]
    new_game = np.r_[True, own[1:] != own[:-1]]
    block = (new_game | np.r_[True, score[1:] != score[:-1]]).cumsum() - 1
    honest_before = np.r_[0, (~y).cumsum()]
    first = np.searchsorted(block, np.arange(block[-1] + 2))
    below, tied = honest_before[first[:-1]], np.diff(honest_before[first])
    start = np.maximum.accumulate(np.where(new_game, np.arange(len(y)), 0))
    ends = np.append(np.flatnonzero(new_game)[1:], len(y))[new_game.cumsum() - 1]
    right = below[block] - honest_before[start] + tied[block] / 2
    against = honest_before[ends] - honest_before[start]
    won, pairs = (np.bincount(game, np.where(y, part, 0.0), data.games) for part in (right, against))
    return won.astype(np.float64), pairs.astype(np.float64)


def _counts(block: np.ndarray, game: np.ndarray, shape: tuple[int, int]) -> csr_array:
    return csr_array((np.ones(len(block)), (block, game)), shape=shape)


def _flagged(lies: Floats, honest: Floats, lies_above: Floats, honest_above: Floats, allowed: Floats) -> Floats:
    """(draws,): how many lies are flagged once `allowed` honest statements are, the block that crosses it in part."""
    draw = np.arange(lies.shape[1])
    # The small addend keeps a rate times a count from falling just short of the whole number that it means.
    full = (honest_above <= allowed + 1e-9).sum(axis=0)
    crossing = np.minimum(full, len(lies) - 1)
    before = np.where(full > 0, full - 1, 0)
    sure = np.where(full > 0, lies_above[before, draw], 0.0)
    spent = np.where(full > 0, honest_above[before, draw], 0.0)
    in_part = np.where(full < len(lies), (allowed - spent) / honest[crossing, draw] * lies[crossing, draw], 0.0)
    return np.asarray(sure + in_part, dtype=np.float64)
