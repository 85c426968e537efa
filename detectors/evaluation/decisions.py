"""Metrics at a threshold, and how a threshold is chosen: on games other than those it is evaluated on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools, Floats, Weights, share
from liescope.detectors.evaluation.metrics import DECISION, LEVELS, Scored

AnyFloats = NDArray[np.floating[Any]]
Thresholds = Mapping[str, float | None]
"""By the names of LEVELS, and DECISION."""
NO_THRESHOLDS: Thresholds = dict.fromkeys((*LEVELS, DECISION))


def choose_thresholds(y: Bools, score: Floats) -> Thresholds:
    """Every threshold that statements allow to choose; None if they lack honest ones, or for DECISION either class."""
    return {**{name: threshold_at(y, score, rate) for name, rate in LEVELS.items()}, DECISION: best_threshold(y, score)}


def threshold_at(y: Bools, score: Floats, rate: float) -> float | None:
    """The lowest threshold at which at most `rate` of the honest statements score above it (strictly); None if
    there is no honest statement to choose it on.
    """
    honest = np.sort(score[~y])
    if not len(honest):
        return None
    # The small addend keeps 0.95 * 100 from becoming 95.00000000000001 and so going one step too far.
    return float(honest[int(np.ceil((1 - rate) * len(honest) - 1e-9)) - 1])


def best_threshold(y: Bools, score: Floats) -> float | None:
    """The threshold with the largest macro F1, the highest of several; None if a class is missing."""
    if not len(y) or y.all() or not y.any():
        return None
    order = np.argsort(-score, kind="stable")
    ranked, lies = score[order], y[order]
    # Flagged: everything above a score, so all that stands before the first statement with that score; or everything.
    start = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    if ranked[-1] > 0:  # nothing below 0 is a threshold
        start, ranked = np.r_[start, len(ranked)], np.r_[ranked, np.nextafter(ranked[-1], 0)]
    tp, fp = (np.r_[0, rows.cumsum()][start].astype(np.float64) for rows in (lies, ~lies))
    fn, tn = np.count_nonzero(lies) - tp, np.count_nonzero(~lies) - fp
    macro = (_f1(tp, fp, fn) + _f1(tn, fn, fp)) / 2
    return float(ranked[start[int(np.argmax(macro))]])


def flagged(score: Any, at: float) -> Any:
    """Which scores are flagged at a threshold: those above it. A score equal to the threshold is not, so that
    the false positive rate it was chosen for holds.
    """
    return score > at


def decision_metrics(data: Scored, thresholds: Thresholds, weights: Weights) -> dict[str, Floats]:
    """Each (draws,), NaN where a threshold or a class is missing.

    recall_at_{level}_fpr and realised_fpr_at_{level}; at the threshold DECISION: macro_f1, the mean of the F1 of both
    classes, lie_f1, the F1 of deceptive statements, and balanced_accuracy, the mean recall of both classes.
    """
    found: dict[str, Floats] = {}
    for level in LEVELS:
        recall, fpr = rates(data, thresholds.get(level), weights)
        found |= {f"recall_at_{level}_fpr": recall, f"realised_fpr_at_{level}": fpr}
    recall, fpr = rates(data, thresholds.get(DECISION), weights)
    lies = weights @ np.bincount(data.game[data.y], minlength=data.games)
    honest = weights @ np.bincount(data.game[~data.y], minlength=data.games)
    tp, fp = recall * lies, fpr * honest
    found["lie_f1"] = _f1(tp, fp, lies - tp)
    found["macro_f1"] = (found["lie_f1"] + _f1(honest - fp, lies - tp, fp)) / 2
    found["balanced_accuracy"] = (recall + 1 - fpr) / 2
    return found


def rates(data: Scored, at: float | None, weights: Weights) -> tuple[Floats, Floats]:
    """(recall, false positive rate) of what is flagged at a threshold, each (draws,)."""
    if at is None:
        return np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    above = flagged(data.score, at)
    recall, fpr = (share(above * rows, rows.astype(float), data.game, weights) for rows in (data.y, ~data.y))
    return recall, fpr


def _f1(tp: AnyFloats, fp: AnyFloats, fn: AnyFloats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * tp / (2 * tp + fp + fn), dtype=np.float64)
