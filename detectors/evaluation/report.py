"""An evaluation report as files: rows for programs, scores to recompute them from, text and figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.folders import replacing
from liescope.common.text import cell
from liescope.data_cards.cards import markdown as md
from liescope.detectors.evaluation.figures import roc_and_calibration
from liescope.detectors.evaluation.run import EvaluationResult
from liescope.detectors.evaluation.scores import (
    METRIC_NAMES,
    MetricRow,
    describe,
    metric_table,
    per_detector,
    scripted_warning,
    write_scores,
)

_TARGETS = {
    "role": "the speaker's hidden role aims to deceive the others",
    "claim": "a claim in the statement is a lie",
    "self": "the speaker reported having deceived",
    "peer": "most of the others thought it deceptive",
}
HEADLINE = (
    "auroc",
    "average_precision",
    "recall_at_1pct_fpr",
    "realised_fpr_at_1pct",
    "recall_at_5pct_fpr",
    "realised_fpr_at_5pct",
    "brier",
    "ece",
)


def write_report(out: Path, evaluation: EvaluationResult) -> list[Path]:
    """Write report.json, report.csv, report.md, scores.parquet and a figure for each target; returns their paths.

    The folder appears once it is complete, and replaces an older report. Raises UsageError if `out` holds
    something else or cannot be written.
    """
    check_report_folder(out)
    try:
        with replacing(out, "report of an evaluation", _is_report) as folder:
            names = _write(folder, evaluation)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{out} cannot be written ({why}); make room for it or choose another --out") from error
    return [out / name for name in names]


def check_report_folder(out: Path) -> None:
    """Raises UsageError if a report may not be written to `out`."""
    if out.exists() and not _is_report(out) and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a report of an evaluation; choose another --out")


def _is_report(out: Path) -> bool:
    return (out / "report.json").is_file() and (out / "scores.parquet").is_file()


def _write(out: Path, evaluation: EvaluationResult) -> list[str]:
    write_scores(evaluation.scores, out / "scores.parquet")
    names = pl.col("detector", "split").map_elements(cell, pl.String)
    (out / "report.csv").write_text(metric_table(evaluation.rows).with_columns(names).write_csv(), encoding="utf-8")
    figures = _figures(out, evaluation)
    (out / "report.md").write_text(markdown(evaluation, figures), encoding="utf-8")
    data = {
        "corpus": evaluation.corpus,
        "split": evaluation.plan.split,
        "thresholds_on": evaluation.plan.threshold_split,
        "hold_out": list(evaluation.plan.hold_out),
        "draws": evaluation.plan.draws,
        "seed": evaluation.plan.seed,
        "sources": list(evaluation.sources),
        "thresholds": [
            {"detector": detector, "target": target, **chosen}
            for (detector, target), chosen in evaluation.figures.thresholds.items()
        ],
        "models": evaluation.models,
        "notes": list(evaluation.notes),
        "rows": [row.to_json() for row in evaluation.rows],
    }
    (out / "report.json").write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return ["report.md", "report.json", "report.csv", "scores.parquet", *figures]


def markdown(evaluation: EvaluationResult, figures: Sequence[str] = ()) -> str:
    """The report as Markdown."""
    plan = evaluation.plan
    lines = [f"# Detectors on {md(evaluation.corpus)}, split {plan.split}", ""]
    if warning := scripted_warning(evaluation.sources):
        lines += [f"> **{warning}**", ""]
    lines += [
        f"Every figure has a 95% interval from {plan.draws} resamples of whole games (seed {plan.seed}). Thresholds "
        f"for 1% and 5% false positives were chosen on {plan.threshold_split} (for a detector trained on another "
        "corpus: on that corpus's validation split); realised rates are shown next to them. `control:` rows are cheap "
        "scorers under the same protocol; a detector that does not beat them has learned no more than they know. "
        "`control:shuffled` is one shuffle, and its interval is over games alone: on words unlike those it was trained "
        "on, one shuffle can lean either way.",
        "",
    ]
    for target in dict.fromkeys(row.target for row in evaluation.rows):
        mine = [row for row in evaluation.rows if row.target == target]
        lines += [f"## Target {target}: {_TARGETS[target]}", ""]
        main = [row for row in mine if is_headline(row)]
        for split in dict.fromkeys(row.split for row in main):
            lines += _headline([row for row in main if row.split == split], split)
        beside = [row for row in mine if row not in main]
        if beside:
            lines += _beside(beside)
    lines += [f"![ROC and calibration]({name})" for name in figures]
    if evaluation.notes:
        lines += ["", "## What could not be computed, and what was left out", ""]
        lines += [f"- {md(note)}" for note in evaluation.notes]
    return "\n".join(lines) + "\n"


def _headline(rows: Sequence[MetricRow], split: str) -> list[str]:
    first = rows[0]
    share = "not defined" if first.prevalence is None else f"{first.prevalence:.1%}"
    lines = [
        f"### {md(split)}: {first.statements:,} statements of {first.games:,} games, {share} deceptive",
        "",
        f"| detector | {' | '.join(METRIC_NAMES[metric] for metric in HEADLINE)} |",
        f"|---|{'---|' * len(HEADLINE)}",
    ]
    for detector in dict.fromkeys(row.detector for row in rows):
        cells = {row.metric: figure(row) for row in rows if row.detector == detector}
        lines.append(f"| {md(detector)} | {' | '.join(cells.get(metric, '') for metric in HEADLINE)} |")
    return [*lines, ""]


def _beside(rows: Sequence[MetricRow]) -> list[str]:
    lines = [
        "### Compared with the players",
        "",
        "On rated statements both score the same statements: `rated-by-villagers` is the fair comparison, since "
        "villagers know no more than the words; `rated-by-all` counts the mafioso and the detective too, who know who "
        "deceives. In the villager's seat both name one of the living others; differences are detector minus players, "
        "paired by game; chance is what naming at random would reach. `control:detective_claim` names whoever claims "
        "least to be the detective or to have investigated: a detector that does no better may have learned only that.",
        "",
        "| who | where | figure | value | statements | games | prevalence or chance |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        chance = "" if row.prevalence is None else f"{row.prevalence:.3f}"
        who, where = md(row.detector), md(row.split)
        cells = (who, where, METRIC_NAMES[row.metric], figure(row), f"{row.statements:,}", f"{row.games:,}", chance)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def figure(row: MetricRow) -> str:
    """A figure with its interval, as shown in tables."""
    if row.value is None:
        return "–"
    return f"{row.value:.3f}" if row.lo is None else f"{row.value:.3f} [{row.lo:.3f}, {row.hi:.3f}]"


def is_headline(row: MetricRow) -> bool:
    """Whether a row is for all statements of a split, not a comparison with the players."""
    return row.metric in HEADLINE and ":rated" not in row.split


def _figures(out: Path, evaluation: EvaluationResult) -> list[str]:
    tables: dict[str, list[pl.DataFrame]] = {}
    for _, target, table in per_detector(evaluation.scores, evaluation.statements):
        part = table.filter(pl.col("split") == evaluation.plan.split)
        if describe(part)[2] not in (None, 0.0, 1.0):
            tables.setdefault(target, []).append(part.select("detector", "y", "score"))
    names = []
    for target, parts in tables.items():
        names.append(f"roc_calibration_{target}.png")
        roc_and_calibration(pl.concat(parts)).savefig(out / names[-1], dpi=120)
    return names
