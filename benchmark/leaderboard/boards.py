"""The boards as frames: scores of models by report, and detectors by their worst cell."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.leaderboard.inputs import Entry, EvaluationData, TransferData
from liescope.benchmark.reporting.data import ReportData
from liescope.detectors.evaluation.metrics import POOLED, WITHIN
from liescope.detectors.evaluation.populations import HELD_OUT, SPEAKER

_NUMBERS = [f"{name}{end}" for name in PARAMETERS for end in ("", "_lo", "_hi")]
SCORES = pl.Schema(
    {**dict.fromkeys(("report", "condition", "model"), pl.String), **dict.fromkeys(_NUMBERS, pl.Float64)}
)
DETECTORS = pl.Schema(
    {
        **dict.fromkeys(("report", "detector", "kind", "target", "by", "protocol", "worst_cell"), pl.String),
        **dict.fromkeys(("worst", "worst_lo", "worst_hi", "mean", "mean_lo", "mean_hi"), pl.Float64),
    }
)
EVALUATED = "evaluated on one corpus"
"""The kind of a detector of `evaluate`; transfer names its own, online and retrospective."""
OVER_GAMES = ", pooled over games"
"""Added to the kind where a report has no AUROC within games: the pooled one rewards knowing in which many deceive."""


def scores(entries: Sequence[Entry]) -> pl.DataFrame:
    """m, d and v of each model in each report: columns of SCORES, null where a model never held the role. Scores of
    different reports, or of different conditions, have different zeros and units.
    """
    rows = []
    for entry in entries:
        if isinstance(entry.data, ReportData):
            for fitted in entry.data.fits:
                for scored in fitted.models:
                    found = (getattr(scored, name) for name in PARAMETERS)
                    numbers = [part for one in found for part in ((one.mean, one.lo, one.hi) if one else (None,) * 3)]
                    rows.append((entry.name, fitted.condition, scored.model, *numbers))
    return pl.DataFrame(rows, SCORES, orient="row")


def detectors(entries: Sequence[Entry]) -> pl.DataFrame:
    """Every detector of each report with its worst cell by AUROC within games: columns of DETECTORS, the highest
    of these first.

    Of transfer: the unit on which it does worst. Of evaluate: the model whose statements it ranks worst; mean is then
    its AUROC on all statements, those of models held out of training where there are any.
    """
    rows = []
    for entry in entries:
        if isinstance(entry.data, TransferData):
            rows += _transferred(entry.name, entry.data)
        elif isinstance(entry.data, EvaluationData):
            rows += _evaluated(entry.name, entry.data)
    return pl.DataFrame(rows, DETECTORS, orient="row").sort("worst", descending=True, nulls_last=True)


def _transferred(name: str, data: TransferData) -> list[tuple[object, ...]]:
    target = ", ".join(dict.fromkeys(data.targets.values()))
    within = any(row.metric == WITHIN for row in data.headline)
    return [
        (
            *(name, row.detector, row.kind if within else row.kind + OVER_GAMES, target, row.by, row.protocol),
            f"{row.train} → {row.test}" if row.worst is not None else None,
            *(row.worst, row.worst_lo, row.worst_hi, row.mean, row.mean_lo, row.mean_hi),
        )
        for row in data.headline
        if row.metric == (WITHIN if within else POOLED)
    ]


def _evaluated(name: str, data: EvaluationData) -> list[tuple[object, ...]]:
    ranked = [row for row in data.rows if row.against is None and row.value is not None]
    within = any(row.metric == WITHIN and row.detector in data.models for row in ranked)
    aurocs = [row for row in ranked if row.metric == (WITHIN if within else POOLED)]
    kind = EVALUATED if within else EVALUATED + OVER_GAMES
    rows: list[tuple[object, ...]] = []
    for detector, target in dict.fromkeys((row.detector, row.target) for row in aurocs if row.detector in data.models):
        mine = [row for row in aurocs if (row.detector, row.target) == (detector, target)]
        speakers = [row for row in mine if SPEAKER in row.split]
        wholes = [row for row in mine if SPEAKER not in row.split]
        whole = next((row for row in wholes if row.split.endswith(HELD_OUT)), wholes[0] if wholes else None)
        worst = min(speakers, key=lambda row: row.value or 0.0, default=None)
        rows.append(
            (
                *(name, detector, kind, target, "model", whole.split if whole else None),
                worst.split.partition(SPEAKER)[2] if worst else None,
                *((worst.value, worst.lo, worst.hi) if worst else (None,) * 3),
                *((whole.value, whole.lo, whole.hi) if whole else (None,) * 3),
            )
        )
    return rows
