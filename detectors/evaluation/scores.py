"""From scores to figures. It takes only a table of scores and the statements' labels; nothing is scored here.

A score table has the columns statement_id, detector, target, score, fold: fold is the cross-validation fold that a
training statement was held out in, -1 for a statement scored by the finished detector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from liescope.common.errors import BadData
from liescope.detectors.evaluation.bootstrap import DRAWS, codes, estimate, game_weights
from liescope.detectors.evaluation.metrics import LEVELS, Scored, metrics, threshold_at
from liescope.detectors.examples import target_column

SCORES = {
    "statement_id": pl.String,
    "detector": pl.String,
    "target": pl.String,
    "score": pl.Float64,
    "fold": pl.Int32,
}
METRICS = {
    **dict.fromkeys(("detector", "target", "split", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
}
FINISHED = -1
CONTROL = "control:"
"""The prefix of the names of cheap scorers."""
THRESHOLDS_ON = {"train": "validation", "validation": "train", "test": "validation"}
"""The split whose games choose the thresholds for an evaluated split; never the games being evaluated."""

METRIC_NAMES = {
    "auroc": "AUROC",
    "average_precision": "average precision",
    "recall_at_1pct_fpr": "recall at 1% FPR",
    "realised_fpr_at_1pct": "realised FPR (for 1%)",
    "recall_at_5pct_fpr": "recall at 5% FPR",
    "realised_fpr_at_5pct": "realised FPR (for 5%)",
    "brier": "Brier score",
    "ece": "calibration error (ECE)",
    "auroc_minus_suspicion": "AUROC minus that of their suspicion",
    "auroc_minus_flag_rate": "AUROC minus that of their flags",
    "names_mafioso": "names the mafioso",
    "names_mafioso_minus_villager": "names the mafioso, minus the villager's vote",
    "villager_votes_mafioso": "votes for the mafioso",
}
"""What each metric is called in tables for people."""

Thresholds = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One figure. lo, hi: its 95% interval; value, lo, hi are None if it is not defined (a note says why)."""

    detector: str
    target: str
    split: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: int
    games: int
    prevalence: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ScoringPlan:
    """What to compute. hold_out: models whose statements get separate rows. frozen: thresholds, by detector, for
    detectors trained on another corpus; the others' are chosen on THRESHOLDS_ON[split].
    """

    split: str
    hold_out: tuple[str, ...] = ()
    draws: int = DRAWS
    seed: int = 0
    frozen: Mapping[str, Thresholds] = field(default_factory=dict)

    @property
    def threshold_split(self) -> str:
        return THRESHOLDS_ON[self.split]


@dataclass(frozen=True, slots=True)
class Figures:
    """Rows in a fixed order; notes: what could not be computed, and why; thresholds: by (detector, target)."""

    rows: tuple[MetricRow, ...]
    notes: tuple[str, ...]
    thresholds: Mapping[tuple[str, str], Thresholds]


def metric_table(rows: Sequence[MetricRow]) -> pl.DataFrame:
    """The rows as a frame: detector, target, split, metric, value, lo, hi, statements, games, prevalence."""
    return pl.DataFrame([row.to_json() for row in rows], schema=METRICS)


def score_table(
    ids: Sequence[str] | pl.Series,
    score: NDArray[np.float64],
    detector: str,
    target: str,
    fold: NDArray[np.int64] | None = None,
) -> pl.DataFrame:
    """Scores of one detector as a table. Raises BadData for a score that is not a probability."""
    if not np.all((score >= 0) & (score <= 1)):
        raise BadData(f"{detector} gave a score that is no probability; the model is damaged, train it again")
    return pl.DataFrame(
        {
            "statement_id": list(ids),
            "detector": [detector] * len(ids),
            "target": [target] * len(ids),
            "score": score,
            "fold": np.full(len(ids), FINISHED) if fold is None else fold,
        },
        schema=SCORES,
    )


def evaluate_scores(scores: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan) -> Figures:
    """Every statement-level figure of every detector in a score table.

    statements: statement_id, game_id, split, speaker_model and the label columns, of at least the evaluated split and
    the split that chooses the thresholds. Statements with a null label are left out. All detectors of a target
    share the same resamples of games.
    """
    rows: list[MetricRow] = []
    notes: list[str] = []
    thresholds: dict[tuple[str, str], Thresholds] = {}
    for detector, target, table in per_detector(scores, statements):
        if detector in plan.frozen:
            chosen = plan.frozen[detector]
        else:
            others = table.filter(pl.col("split") == plan.threshold_split)
            chosen = choose_thresholds(others)
        thresholds[detector, target] = chosen
        evaluated = table.filter(pl.col("split") == plan.split)
        for name, part in _slices(evaluated, plan):
            found, why = _figures(part, chosen, plan)
            shared = describe(part)
            rows += [MetricRow(detector, target, name, metric, *found[metric], *shared) for metric in found]
            notes += [f"{detector}, {target}, {name}: {reason}" for reason in why]
    return Figures(tuple(rows), tuple(notes), thresholds)


def write_scores(scores: pl.DataFrame, path: Path) -> None:
    """Write a score table as Parquet. Raises OSError."""
    pq.write_table(scores.to_arrow(), path, compression="zstd")


def per_detector(scores: pl.DataFrame, statements: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """(detector, target, table) in the order of the score table; table: the labelled statements with score and y."""
    for detector, target in scores.select("detector", "target").unique(maintain_order=True).iter_rows():
        label = pl.col(target_column(target))
        mine = scores.filter((pl.col("detector") == detector) & (pl.col("target") == target))
        table = mine.join(statements.with_columns(y=label), on="statement_id", how="inner", maintain_order="right")
        yield detector, target, table.filter(pl.col("y").is_not_null())


def choose_thresholds(table: pl.DataFrame) -> Thresholds:
    """The thresholds by the names of LEVELS; None if the table has no honest statement."""
    y, score = table["y"].to_numpy().astype(bool), table["score"].to_numpy()
    return {name: threshold_at(y, score, rate) for name, rate in LEVELS.items()}


def scored(table: pl.DataFrame) -> Scored:
    game, games = codes(table["game_id"].to_numpy())
    return Scored(table["y"].to_numpy().astype(bool), table["score"].to_numpy(), game, games)


def describe(table: pl.DataFrame) -> tuple[int, int, float | None]:
    """(statements, games, prevalence) of a table with y."""
    prevalence = table["y"].mean()
    return table.height, table["game_id"].n_unique(), float(prevalence) if isinstance(prevalence, float) else None


def _slices(table: pl.DataFrame, plan: ScoringPlan) -> Iterator[tuple[str, pl.DataFrame]]:
    yield plan.split, table
    if plan.hold_out:
        yield f"{plan.split}:held-out", table.filter(pl.col("speaker_model").is_in(list(plan.hold_out)))


def _figures(
    table: pl.DataFrame, chosen: Thresholds, plan: ScoringPlan
) -> tuple[dict[str, tuple[float | None, float | None, float | None]], list[str]]:
    why: list[str] = []
    if table.is_empty():
        why.append("no scored statement has this label")
    elif table["y"].n_unique() == 1:
        label = "deceptive" if table["y"][0] else "honest"
        why.append(f"all {table.height} statements are {label}, so nothing that compares the two classes is defined")
    if any(at is None for at in chosen.values()):
        why.append(f"no honest statement of {plan.threshold_split} has a score, so there is no threshold")
    data = scored(table)
    found = metrics(data, chosen, game_weights(data.games, plan.draws, plan.seed))
    return {metric: estimate(values) for metric, values in found.items()}, why


def scripted_warning(sources: Collection[str]) -> str:
    """The warning that must go with figures based on scripted words; "" if there are none."""
    if "scripted" not in sources:
        return ""
    if len(sources) == 1:
        return "The words are scripted: scripted text is not model text, and nothing here is a finding about models."
    return "Some of the words are scripted: scripted text is not model text, and figures over all of them mix the two."
