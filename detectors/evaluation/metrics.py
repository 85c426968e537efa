"""The metrics, declared once: tables, reports and comparisons are made of this declaration.

A metric of a scorer is computed for many weightings of the games at once, (draws, games): a row of ones is the plain
metric, a row of multinomial counts is a resample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from liescope.common.statistics import PROPORTION, REAL, Bools, Floats, Scale

LEVELS = {"1pct": 0.01, "5pct": 0.05}
"""The false positive rates whose recall is reported, by their name within a metric."""
DECISION = "macro_f1"
"""The name of the threshold that parts deceptive from honest."""
DIFFERENCE = "_difference"
WITHIN, POOLED = "auroc_within", "auroc"
"""The ranking within games, by which scorers are judged, and the one over statements of all games, which also rewards
knowing in which games many deceive."""


@dataclass(frozen=True, slots=True)
class Scored:
    """n statements with label and score. y: (n,) bool; score: (n,) floats; game: (n,) codes below `games` of what is
    resampled: games, those that share a beginning as one; own: (n,) codes of the games themselves, None if they are
    the same.
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
    Metric("recall", "recall"),
    Metric("false_positive_rate", "false positive rate"),
    Metric("recall_at_players_fpr", "recall at the players' FPR", compared=True),
    Metric("accuracy", "accuracy"),
    Metric("alpha", "agreement (Krippendorff's alpha)", span=REAL),
    Metric("people_fpr", "people's FPR"),
    Metric("recall_at_people_fpr", "recall at people's FPR"),
    Metric("people_at_people_fpr", "people's recall there"),
    Metric("lead_at_people_fpr", "lead over people at their FPR", span=(-1.0, 1.0)),
    Metric("own_fpr", "own FPR"),
    Metric("recall_at_own_fpr", "recall at own FPR"),
    Metric("people_at_own_fpr", "people's recall at that FPR"),
    Metric("lead_at_own_fpr", "lead over people at own FPR", span=(-1.0, 1.0)),
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
)
METRIC = {metric.name: metric for metric in METRICS}


def words_of(metric: str) -> str:
    """What a metric, or a difference of it, is called in tables for people."""
    name = metric.removesuffix(DIFFERENCE)
    return METRIC[name].words + (", difference" if name != metric else "")
