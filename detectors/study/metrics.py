"""The metrics: declared once, so that tables, reports and comparisons are made of this declaration, and computed.

A metric of a scorer is computed for many weightings of the games at once, (weights, games): a row of ones is the
plain metric, a row with some zeros leaves those games out.

Rankings need no threshold, and a score may be any number. A threshold is chosen on games other than those it is
evaluated on. The usual calibration error is never 0, even for scores that are right: chance alone parts the share of
lies in a bin from its mean score. Kumar, Liang and Ma (2019, "Verified uncertainty calibration", section 5) subtract
from the square of each bin's gap what chance adds to it on average. They take statements as independent; here
games are, so what is subtracted is the variance between games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy.sparse import csr_array

from liescope.common.statistics import PROPORTION, REAL, Bools, Estimate, Floats, Scale, Weights, estimate, share

LEVELS = {"1pct": 0.01, "5pct": 0.05}
"""The false positive rates whose recall is reported, by their name within a metric."""
DECISION = "macro_f1"
"""The name of the threshold that parts deceptive from honest."""
DIFFERENCE = "_difference"
OF_SHUFFLES = "auroc_of_shuffles"
SHARE, ASSOCIATION = "share", "cramers_v"
WITHIN, POOLED = "auroc_within", "auroc"
"""The ranking within games, by which scorers are judged, and the one over statements of all games, which also rewards
knowing in which games many deceive."""


@dataclass(frozen=True, slots=True)
class Scored:
    """n statements with label and score. y: (n,) bool; score: (n,) floats; game: (n,) codes below `games` of what is
    left out as one: games, those that share a beginning together; own: (n,) codes of what is compared with its like
    alone: the games themselves, or the tasks of conversations; None if they are the same.
    """

    y: Bools
    score: Floats
    game: npt.NDArray[np.int64]
    games: int
    own: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """words: its name in tables for people; headline: whether it has a column in the main table; compared: whether
    scorers are compared by it; span: what values it can have; paired: whether it rests on games with both classes.
    """

    name: str
    words: str
    headline: bool = False
    compared: bool = False
    span: Scale = PROPORTION
    paired: bool = False

    def difference(self) -> Scale:
        """What values a difference of two can have."""
        low, high = self.span
        return low - high, high - low


METRICS = (
    Metric(WITHIN, "AUROC within games", headline=True, compared=True, paired=True),
    Metric(POOLED, "AUROC, pooled", headline=True, compared=True),
    Metric("auroc_centred", "AUROC centred", headline=True, compared=True),
    Metric("average_precision", "average precision", headline=True, compared=True),
    Metric("matched_recall_1pct", "recall at a realised FPR of 1%", headline=True, compared=True),
    Metric("matched_recall_5pct", "recall at a realised FPR of 5%", headline=True, compared=True),
    Metric("recall_at_1pct_fpr", "recall (threshold for 1%)", headline=True),
    Metric("realised_fpr_at_1pct", "realised FPR (for 1%)", headline=True),
    Metric("recall_at_5pct_fpr", "recall (threshold for 5%)", headline=True),
    Metric("realised_fpr_at_5pct", "realised FPR (for 5%)", headline=True),
    Metric("macro_f1", "macro F1", headline=True, compared=True),
    Metric("lie_f1", "lie F1", headline=True, compared=True),
    Metric("balanced_accuracy", "balanced accuracy", headline=True, compared=True),
    Metric("brier", "Brier score", headline=True, compared=True),
    Metric("calibration_error", "calibration error (debiased)", headline=True),
    Metric("offset", "offset of the score, in log-odds", span=REAL),
    Metric(OF_SHUFFLES, "AUROC of shuffled labels, mean and range"),
    Metric(SHARE, "share"),
    Metric(ASSOCIATION, "Cramér's V"),
    Metric("recall", "recall"),
    Metric("false_positive_rate", "false positive rate"),
    Metric("recall_at_players_fpr", "recall at the players' FPR", compared=True),
    Metric("alpha", "agreement (Krippendorff's alpha)", span=REAL),
    Metric("agreement", "share of the others' answers that agree"),
    Metric("agreed_recall", "recall by agreement alone"),
    Metric("agreed_false_positive_rate", "FPR by agreement alone"),
    Metric("observers", "observers an item", span=REAL),
    Metric("error_correlation", "correlation of their errors", span=REAL),
    Metric("effective_observers", "independent observers they are worth", span=REAL),
    Metric("deceptive_covered", "deceptive ones covered"),
    Metric("honest_covered", "honest ones covered"),
    Metric("players_covered", "no deceiver ruled out"),
    Metric("suspects", "suspects", span=REAL),
    Metric("abstained", "abstained"),
    Metric("answered_accuracy", "right where it answers"),
    Metric("top1", "most suspect deceives"),
    Metric("names_mafioso", "names the mafioso", compared=True),
    Metric("player_auroc_within", "AUROC of players within games", paired=True),
    Metric("player_auroc", "AUROC of players, pooled"),
    Metric("names_deceiver", "most suspect deceives"),
    Metric("names_deceiver_half", "the surer half"),
    Metric("names_deceiver_villager", "in a villager's seat"),
    Metric("names_deceiver_villager_half", "its surer half"),
    Metric("auroc_main", "AUROC by which each is judged"),
)
METRIC = {metric.name: metric for metric in METRICS}
HEADLINE = tuple(metric.name for metric in METRICS if metric.headline)


def words_of(metric: str, within: str = "games") -> str:
    """What a metric, or a difference of it, is called in tables for people. within: what pairs are made within; "" for
    nothing, where the AUROC is over all pairs.
    """
    name = metric.removesuffix(DIFFERENCE)
    words = METRIC[name].words.replace("within games", f"within {within}" if within else "within groups")
    words = words if within else words.replace(", pooled", "")
    return words + (", difference" if name != metric else "")


BINS = 15


def brier(data: Scored, weights: Weights) -> Floats:
    """(weights,): the mean squared error of the probability."""
    return share((data.score - data.y) ** 2, np.ones(len(data.y)), data.game, weights)


def calibration_error(data: Scored, weights: Weights, bins: int = BINS) -> Estimate:
    """The root of the debiased squared calibration error, over bins of equally many statements; 0 if chance explains
    all of it. Not defined for fewer than two games. Its interval is that of the square.
    """
    if data.games < 2:
        return None, None, None
    value, lo, hi = estimate(squared_error(data, weights, bins), data.games, REAL)
    return _root(value), _root(lo), _root(hi)


def _root(square: float | None) -> float | None:
    """Of a square that chance can bring below 0."""
    return None if square is None else math.sqrt(max(square, 0.0))


def squared_error(data: Scored, weights: Weights, bins: int = BINS) -> Floats:
    """(weights,): the squared gap between share of lies and mean score, averaged, less what chance adds to it.

    A bin's gap is a sum over games. Its square minus the squares of its summands, times G / (G - 1), has the square of
    the expected gap as its mean for G independent games.
    """
    _, kind_of, counts = np.unique(data.score, return_inverse=True, return_counts=True)
    middle = counts.cumsum() - counts / 2
    bin_of = np.minimum((middle / len(data.y) * bins).astype(np.int64), bins - 1)[kind_of]
    gap, count = np.zeros((data.games, bins)), np.zeros((data.games, bins))
    np.add.at(gap, (data.game, bin_of), data.y - data.score)
    np.add.at(count, (data.game, bin_of), 1)
    total, squares, statements = weights @ gap, weights @ gap**2, weights @ count
    scale = statements * statements.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        debiased = np.where(scale > 0, (total**2 - squares) / scale, 0.0) * data.games / (data.games - 1)
    return np.asarray(debiased.sum(axis=1))


AnyFloats = NDArray[np.floating[Any]]
Thresholds = Mapping[str, float | None]
"""By the names of LEVELS, and DECISION."""
NO_THRESHOLDS: Thresholds = dict.fromkeys((*LEVELS, DECISION))
NEEDS_THRESHOLD = {
    **{level: (f"recall_at_{level}_fpr", f"realised_fpr_at_{level}") for level in LEVELS},
    DECISION: ("macro_f1", "lie_f1", "balanced_accuracy"),
}
"""The metrics that each threshold is for."""


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


def flagged(score: Any, at: float | Floats) -> Any:
    """Which scores are flagged at a threshold: those above it. A score equal to the threshold is not, so that
    the false positive rate it was chosen for holds.
    """
    return score > at


def decision_metrics(data: Scored, cuts: Mapping[str, Floats | None], weights: Weights) -> dict[str, Floats]:
    """Each (weights,), NaN where a threshold or a class is missing. cuts: by the names of `Thresholds`, that of each
    statement, (n,).

    recall_at_{level}_fpr and realised_fpr_at_{level}; at the threshold DECISION: macro_f1, the mean of the F1 of both
    classes, lie_f1, the F1 of deceptive statements, and balanced_accuracy, the mean recall of both classes.
    """
    found: dict[str, Floats] = {}
    for level in LEVELS:
        recall, fpr = rates(data, cuts.get(level), weights)
        found |= {f"recall_at_{level}_fpr": recall, f"realised_fpr_at_{level}": fpr}
    recall, fpr = rates(data, cuts.get(DECISION), weights)
    lies = weights @ np.bincount(data.game[data.y], minlength=data.games)
    honest = weights @ np.bincount(data.game[~data.y], minlength=data.games)
    tp, fp = recall * lies, fpr * honest
    found["lie_f1"] = _f1(tp, fp, lies - tp)
    found["macro_f1"] = (found["lie_f1"] + _f1(honest - fp, lies - tp, fp)) / 2
    found["balanced_accuracy"] = (recall + 1 - fpr) / 2
    return found


def rates(data: Scored, at: float | Floats | None, weights: Weights) -> tuple[Floats, Floats]:
    """(recall, false positive rate), each (weights,), of what is flagged at a threshold, or at one a statement."""
    if at is None:
        return np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    above = np.asarray(flagged(data.score, at))
    recall, fpr = (share(above * rows, rows.astype(float), data.game, weights) for rows in (data.y, ~data.y))
    return recall, fpr


def _f1(tp: AnyFloats, fp: AnyFloats, fn: AnyFloats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * tp / (2 * tp + fp + fn), dtype=np.float64)


_CELLS = 2_000_000
MATCHED = {f"matched_recall_{name}": rate for name, rate in LEVELS.items()}


def rank_metrics(data: Scored, weights: Weights, rates: Mapping[str, float | Floats] = MATCHED) -> dict[str, Floats]:
    """`auroc`, `average_precision` and, by the names of `rates`, the recall at a realised false positive rate; each
    (weights,), NaN if a class is missing.

    AUROC counts ties half. Average precision is the sum of precision over the steps of recall, without interpolation,
    as in scikit-learn. Recall is read from the ROC curve of each weighting where exactly that share of its honest
    statements is flagged; within a tie, statements are flagged at random. rates: a number, or one for each weighting.
    """
    names, rows = ("average_precision", *rates), len(weights)
    auroc, found = pooled_auroc(data, weights), {name: np.full(rows, np.nan) for name in names}
    if not len(data.y):
        return {"auroc": auroc, **found}
    _, block = np.unique(-data.score, return_inverse=True)
    blocks = int(block.max()) + 1
    counts = [_counts(block[rows], data.game[rows], (blocks, data.games)) for rows in (data.y, ~data.y)]
    every = {name: np.broadcast_to(rate, rows) for name, rate in rates.items()}
    step = max(1, _CELLS // blocks)
    for first in range(0, rows, step):
        part = slice(first, first + step)
        games = np.ascontiguousarray(weights[part].T, dtype=np.float64)
        lies, honest = (count @ games for count in counts)  # (blocks, weights), highest score first
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
    """(weights,): the AUROC over statements of all games, ties half, NaN if a class is missing.

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
        lying, others = (count @ games for count in counts)  # (steps, weights), highest score first
        passed = others.cumsum(axis=0)
        with np.errstate(invalid="ignore"):
            right = (lying * (passed[-1] - passed + below * others)).sum(axis=0)
            found[part] = right / (lying.sum(axis=0) * passed[-1])
    return found


def within_games(data: Scored, weights: Weights, alike: bool = False) -> Floats:
    """(weights,): the AUROC within games, or within what else is compared alone, NaN where none has both classes. Each
    weighs by its number of pairs. alike: tasks count alike, so that no large one speaks for all.
    """
    if data.own is not None and len(np.unique(data.own)) < len(np.unique(data.game)):
        return _within_tasks(data, data.own, weights, alike)
    right, pairs = (weights @ np.column_stack(pairs_within(data))).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(right / pairs, dtype=np.float64)


def _within_tasks(data: Scored, task: npt.NDArray[np.int64], weights: Weights, alike: bool) -> Floats:
    """The same where what is compared holds several games, so that its pairs are of two games."""
    right = pairs = np.zeros(len(weights))
    for code in np.unique(task):
        mine = task == code
        part = Scored(data.y[mine], data.score[mine], data.game[mine], data.games)
        lies, honest = (weights @ np.bincount(part.game[rows], minlength=data.games) for rows in (part.y, ~part.y))
        both = np.sign(lies * honest) if alike else (lies * honest).astype(np.float64)
        right = right + np.where(both > 0, np.nan_to_num(pooled_auroc(part, weights)) * both, 0.0)
        pairs = pairs + both
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
    """(weights,): how many lies are flagged once `allowed` honest statements are, the block that crosses it in part."""
    draw = np.arange(lies.shape[1])
    # The small addend keeps a rate times a count from falling just short of the whole number that it means.
    full = (honest_above <= allowed + 1e-9).sum(axis=0)
    crossing = np.minimum(full, len(lies) - 1)
    before = np.where(full > 0, full - 1, 0)
    sure = np.where(full > 0, lies_above[before, draw], 0.0)
    spent = np.where(full > 0, honest_above[before, draw], 0.0)
    in_part = np.where(full < len(lies), (allowed - spent) / honest[crossing, draw] * lies[crossing, draw], 0.0)
    return np.asarray(sure + in_part, dtype=np.float64)
