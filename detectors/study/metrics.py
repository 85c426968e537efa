"""The metrics: declared once, each with what computes it, and tables, reports and comparisons follow from that.

A metric is computed for many weightings of the games at once, (weights, games): a row of ones is the
plain metric, a row with some zeros leaves those games out.

Rankings need no threshold, and a score may be any number. A threshold is chosen on games other than those it is
evaluated on. The usual calibration error is never 0, even for scores that are right: chance alone separates the share
of lies in a bin from its mean score. Kumar, Liang and Ma (2019, "Verified uncertainty calibration", section 5) subtract
from each bin's squared gap what chance adds to it on average. They treat statements as independent; here games are, so
the variance between games is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.statistics import PROPORTION, REAL, Bools, Estimate, Floats, Scale, Weights, share

LEVELS = {"1pct": 0.01, "5pct": 0.05}
"""The false positive rates whose recall is reported, by their name within a metric."""
MATCHED = {f"matched_recall_{name}": rate for name, rate in LEVELS.items()}
DECISION = "macro_f1"
"""The name of the threshold that parts deceptive from honest."""
Thresholds = Mapping[str, float | None]
"""By the names of LEVELS, and DECISION."""
NO_THRESHOLDS: Thresholds = dict.fromkeys((*LEVELS, DECISION))
DIFFERENCE = "_difference"
OF_SHUFFLES, SHARE = "auroc_of_shuffles", "share"
WITHIN, POOLED = "auroc_within", "auroc"
"""The ranking within games, by which scorers are judged, and the one over statements of all games, which also rewards
knowing in which games many deceive."""
_BINS = 15
_CELLS = 2_000_000
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scored:
    """n statements with label and score. y: (n,) bool; score: (n,) floats; game: (n,) codes below `games` of the units
    left out together: games, or families of games that share a beginning; own: (n,) codes of the units within which
    statements are compared: the games themselves, or the tasks of conversations; None if both are the same; cuts: by
    the names of `Thresholds`, each statement's threshold, (n,); alike: whether tasks get equal weight.
    """

    y: Bools
    score: Floats
    game: Codes
    games: int
    own: Codes | None = None
    cuts: Mapping[str, float | Floats | None] = field(default_factory=dict)
    alike: bool = False


def within_games(data: Scored, weights: Weights) -> Floats:
    """(weights,): the AUROC within games or other units, NaN if none has both classes. Each unit weighs by its number
    of pairs, or all weigh the same so that no large one dominates.
    """
    if data.own is not None and len(np.unique(data.own)) < len(np.unique(data.game)):
        right, pairs = _pairs_of_tasks(data, data.own, weights)
    else:
        right, pairs = (weights @ np.column_stack(pairs_within(data))).T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(right / pairs, dtype=np.float64)


def pairs_within(data: Scored) -> tuple[Floats, Floats]:
    """(correctly ranked pairs, ties half; pairs), each (games,): of a deceptive and an honest statement of one
    game. The first over the second is the AUROC within games, in which each game weighs by its number of pairs.
    """
    own = data.game if data.own is None else data.own
    rank = pl.DataFrame({"own": own, "score": data.score}).select(pl.col("score").rank().over("own")).to_series()
    lies, honest = (np.bincount(own, rows)[own] for rows in (data.y, ~data.y))
    # honest statements ranked below, as by Mann and Whitney
    ahead = np.where(data.y, rank.to_numpy() - (lies + 1) / 2, 0.0)
    return tuple(np.bincount(data.game, each, data.games) for each in (ahead, data.y * honest))  # type: ignore[return-value]


def _pairs_of_tasks(data: Scored, task: Codes, weights: Weights) -> tuple[Floats, Floats]:
    """`pairs_within`, each (weights,), for units that hold several games: here a pair can join two games."""
    right = pairs = np.zeros(len(weights))
    for code in np.unique(task):
        mine = task == code
        part = Scored(data.y[mine], data.score[mine], data.game[mine], data.games)
        lies, honest = (weights @ np.bincount(part.game[rows], minlength=data.games) for rows in (part.y, ~part.y))
        both = np.sign(lies * honest) if data.alike else (lies * honest).astype(np.float64)
        right = right + np.where(both > 0, np.nan_to_num(pooled_auroc(part, weights)) * both, 0.0)
        pairs = pairs + both
    return right, pairs


def pooled_auroc(data: Scored, weights: Weights) -> Floats:
    """(weights,): the AUROC over statements of all games, ties half, NaN if a class is missing."""
    return rank_metrics(data, weights, {})[POOLED]


def rank_metrics(data: Scored, weights: Weights, rates: Mapping[str, float | Floats] = MATCHED) -> dict[str, Floats]:
    """`auroc`, `average_precision` and, by the names of `rates`, the recall at a realised false positive rate; each
    (weights,), NaN if a class is missing.

    AUROC counts ties half. Average precision is the sum of precision over the steps of recall, without interpolation,
    as in scikit-learn. Recall is read from the ROC curve of each weighting where exactly that share of its honest
    statements is flagged; within a tie, statements are flagged at random. rates: a number, or one for each weighting.
    """
    found = {name: np.full(len(weights), np.nan) for name in (POOLED, "average_precision", *rates)}
    from scipy.sparse import csr_array

    every = {name: np.broadcast_to(rate, len(weights)) for name, rate in rates.items()}
    _, block = np.unique(-data.score, return_inverse=True)
    shape = int(block.max(initial=0)) + 1, data.games
    counts = [csr_array((np.ones(rows.sum()), (block[rows], data.game[rows])), shape) for rows in (data.y, ~data.y)]
    size = max(1, _CELLS // shape[0])
    for part in (slice(first, first + size) for first in range(0, len(weights) if len(block) else 0, size)):
        games = np.ascontiguousarray(weights[part].T, dtype=np.float64)
        lies, honest = (count @ games for count in counts)  # (blocks, weights), highest score first
        caught, passed = (np.vstack([np.zeros(rows.shape[1]), rows.cumsum(axis=0)]) for rows in (lies, honest))
        with np.errstate(invalid="ignore", divide="ignore"):
            behind, precision = passed[-1] - (passed[1:] + passed[:-1]) / 2, caught / np.maximum(caught + passed, 1)
            found[POOLED][part] = (lies * behind).sum(axis=0) / (caught[-1] * passed[-1])
            found["average_precision"][part] = (lies * precision[1:]).sum(axis=0) / caught[-1]
            for name, rate in every.items():
                wanted = np.round(rate[part] * passed[-1], 9)  # keeps .05 of 100 from falling just short of 5
                read = [np.interp(*each) for each in zip(wanted, passed.T, caught.T, strict=True)]
                found[name][part] = read / caught[-1]
        for values in found.values():
            values[part][(caught[-1] == 0) | (passed[-1] == 0)] = np.nan
    return found


def brier(data: Scored, weights: Weights) -> Floats:
    """(weights,): the mean squared error of the probability."""
    return share((data.score - data.y) ** 2, np.ones(len(data.y)), data.game, weights)


def squared_error(data: Scored, weights: Weights, bins: int = _BINS) -> Floats:
    """(weights,): the squared gap between share of lies and mean score, averaged over bins of equally many statements,
    less what chance adds to it; not defined for fewer than two games.

    A bin's gap is a sum over games. Its square minus the squares of its summands, times G / (G - 1), has the square of
    the expected gap as its mean for G independent games.
    """
    if data.games < 2:
        return np.full(len(weights), np.nan)
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


def root(square: Estimate) -> Estimate:
    """The root of a square that chance can bring below 0."""
    value, lo, hi = (None if one is None else max(one, 0.0) ** 0.5 for one in square)
    return value, lo, hi


def choose_thresholds(y: Bools, score: Floats) -> Thresholds:
    """Every threshold, chosen on these statements; None if a class that it needs is missing: honest, or any."""
    return {**{name: threshold_at(y, score, rate) for name, rate in LEVELS.items()}, DECISION: best_threshold(y, score)}


def threshold_at(y: Bools, score: Floats, rate: float) -> float | None:
    """The lowest threshold that at most `rate` of the honest score above (strictly); None without honest ones."""
    honest = np.sort(score[~y])
    # The small addend keeps 0.95 * 100 from becoming 95.00000000000001 and so going one step too far.
    return float(honest[int(np.ceil((1 - rate) * len(honest) - 1e-9)) - 1]) if len(honest) else None


def best_threshold(y: Bools, score: Floats) -> float | None:
    """The threshold with the largest macro F1, the highest of several; None if a class is missing."""
    if not len(y) or y.all() or not y.any():
        return None
    found, block = np.unique(score, return_inverse=True)
    lies, honest = (np.bincount(block[rows], minlength=len(found)) for rows in (y, ~y))
    if found[0] > 0:  # just below the lowest score everything is flagged; a threshold is never below 0
        found, lies, honest = np.r_[np.nextafter(found[0], 0), found], np.r_[0, lies], np.r_[0, honest]
    fn, tn = lies.cumsum(), honest.cumsum()
    tp, fp = fn[-1] - fn, tn[-1] - tn
    macro = (_f1(tp, fp, fn) + _f1(tn, fn, fp)) / 2
    return float(found[np.flatnonzero(macro == macro.max())[-1]])


def flagged(score: Any, at: float | Floats) -> Any:
    """The scores above a threshold; one equal to it is not flagged, so that its false positive rate holds."""
    return score > at


def decision_metrics(data: Scored, weights: Weights) -> dict[str, Floats]:
    """Each (weights,), NaN where a threshold or a class is missing.

    recall_at_{level}_fpr, realised_fpr_at_{level} and g_mean2_at_{level}_fpr; at the threshold DECISION: macro_f1, the
    mean of the F1 of both classes, lie_f1, that of lies, balanced_accuracy, the mean recall, and g_mean2.
    """
    found: dict[str, Floats] = {}
    for level in LEVELS:
        recall, fpr = rates(data, data.cuts.get(level), weights)
        found |= {f"recall_at_{level}_fpr": recall, f"realised_fpr_at_{level}": fpr}
        found[f"g_mean2_at_{level}_fpr"] = g_mean_squared(recall, fpr)
    recall, fpr = rates(data, data.cuts.get(DECISION), weights)
    lies, honest = (weights @ np.bincount(data.game[rows], minlength=data.games) for rows in (data.y, ~data.y))
    tp, fp = recall * lies, fpr * honest
    lie_f1 = _f1(tp, fp, lies - tp)
    macro = (lie_f1 + _f1(honest - fp, lies - tp, fp)) / 2
    both = {"balanced_accuracy": (recall + 1 - fpr) / 2, "g_mean2": g_mean_squared(recall, fpr)}
    return {**found, DECISION: macro, "lie_f1": lie_f1, **both}


def g_mean_squared(recall: Any, fpr: Any) -> Any:
    """The squared geometric mean of both recalls (Kubat and Matwin 1997): .25 for a coin, 0 if all are called alike."""
    return recall * (1 - fpr)


def rates(data: Scored, at: float | Floats | None, weights: Weights) -> tuple[Floats, Floats]:
    """(recall, false positive rate), each (weights,), at one threshold, or one for each statement."""
    if at is None:
        return np.full(len(weights), np.nan), np.full(len(weights), np.nan)
    above = np.asarray(flagged(data.score, at))
    recall, fpr = (share(above * rows, rows.astype(float), data.game, weights) for rows in (data.y, ~data.y))
    return recall, fpr


def _f1(tp: NDArray[Any], fp: NDArray[Any], fn: NDArray[Any]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(2 * tp / (2 * tp + fp + fn), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Metric:
    """words: its name in tables for people; of: what computes it from scores, over the rows of `game_weights`, alone,
    or together with others by name; needs: the threshold that it uses; compared: whether scorers are compared by it;
    span: what values it can have; paired: of games with both classes; rooted: whether its square is computed.
    """

    name: str
    words: str
    of: Callable[[Scored, Weights], Floats | Mapping[str, Floats]] | None = None
    needs: str = ""
    compared: bool = False
    span: Scale = PROPORTION
    paired: bool = False
    rooted: bool = False

    def difference(self) -> Scale:
        """The possible values of a difference of two."""
        low, high = self.span
        return low - high, high - low


METRICS = (
    Metric(WITHIN, "AUROC within games", within_games, compared=True, paired=True),
    Metric(POOLED, "AUROC, pooled", rank_metrics, compared=True),
    Metric("average_precision", "average precision", rank_metrics, compared=True),
    Metric("matched_recall_1pct", "recall at a realised FPR of 1%", rank_metrics, compared=True),
    Metric("matched_recall_5pct", "recall at a realised FPR of 5%", rank_metrics, compared=True),
    Metric("recall_at_1pct_fpr", "recall (threshold for 1%)", decision_metrics, "1pct"),
    Metric("realised_fpr_at_1pct", "realised FPR (for 1%)", decision_metrics, "1pct"),
    Metric("g_mean2_at_1pct_fpr", "g-mean² (threshold for 1%)", decision_metrics, "1pct"),
    Metric("recall_at_5pct_fpr", "recall (threshold for 5%)", decision_metrics, "5pct"),
    Metric("realised_fpr_at_5pct", "realised FPR (for 5%)", decision_metrics, "5pct"),
    Metric("g_mean2_at_5pct_fpr", "g-mean² (threshold for 5%)", decision_metrics, "5pct"),
    Metric("macro_f1", "macro F1", decision_metrics, DECISION, compared=True),
    Metric("lie_f1", "lie F1", decision_metrics, DECISION, compared=True),
    Metric("balanced_accuracy", "balanced accuracy", decision_metrics, DECISION, compared=True),
    Metric("g_mean2", "g-mean²", decision_metrics, DECISION, compared=True),
    Metric("brier", "Brier score", brier, compared=True),
    Metric("calibration_error", "calibration error (debiased)", squared_error, span=REAL, rooted=True),
    Metric(OF_SHUFFLES, "AUROC of shuffled labels, mean and range"),
    Metric(SHARE, "share"),
    Metric("recall", "recall"),
    Metric("false_positive_rate", "false positive rate"),
    Metric("deceptive_covered", "deceptive ones covered"),
    Metric("honest_covered", "honest ones covered"),
    Metric("abstained", "abstained"),
    Metric("answered_accuracy", "right where it answers"),
    Metric("names_mafioso", "names the mafioso", compared=True),
    Metric("player_auroc_within", "AUROC of players within games", paired=True),
    Metric("player_auroc", "AUROC of players, pooled"),
)
METRIC = {metric.name: metric for metric in METRICS}
HEADLINE = tuple(metric.name for metric in METRICS if metric.of)
"""Those of scores, which have a column in the main table."""
ANY_SCORE = tuple(name for name in HEADLINE if not METRIC[name].rooted)
"""Those of scores that need not be probabilities."""


def measure(data: Scored, weights: Weights, names: Sequence[str]) -> dict[str, Floats]:
    """Metrics of scores, by name, each (weights,)."""
    found = dict[str, Floats]()
    for name in names:
        if name not in found and (of := METRIC[name].of):
            made = of(data, weights)
            found |= made if isinstance(made, Mapping) else {name: made}
    return {name: found[name] for name in names if name in found}


def words_of(metric: str, within: str = "games") -> str:
    """A metric's name, or a difference's, in tables for people. within: the units within which pairs are formed; "" if
    the AUROC is over all pairs. A metric of another version, in a report from elsewhere, goes by its own name.
    """
    name = metric.removesuffix(DIFFERENCE)
    words = (METRIC[name].words if name in METRIC else name).replace("within games", f"within {within or 'groups'}")
    words = words if within else words.replace(", pooled", "")
    return words + (", difference" if name != metric else "")
