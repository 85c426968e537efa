"""An evaluation report as files: rows for programs, scores to recompute them from, text and figures."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.folders import replacing
from liescope.common.text import cell
from liescope.detectors.evaluation.figures import roc_and_calibration
from liescope.detectors.evaluation.report_text import markdown
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.rows import describe, metric_table
from liescope.detectors.evaluation.scores import per_detector, write_scores


def write_report(out: Path, evaluation: EvaluationResult) -> list[Path]:
    """Write report.md, report.json, report.csv, scores.parquet and a figure for each target; returns their
    paths.

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
    names = pl.col("detector", "split", "against").map_elements(cell, pl.String)
    (out / "report.csv").write_text(metric_table(evaluation.rows).with_columns(names).write_csv(), encoding="utf-8")
    figures = _figures(out, evaluation)
    (out / "report.md").write_text(markdown(evaluation, figures), encoding="utf-8")
    data = {
        "corpus": evaluation.corpus,
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
        **evaluation.to_json(),
    }
    (out / "report.json").write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return ["report.md", "report.json", "report.csv", "scores.parquet", *figures]


def _figures(out: Path, evaluation: EvaluationResult) -> list[str]:
    tables: dict[str, list[pl.DataFrame]] = {}
    for _, target, table in per_detector(evaluation.scores, evaluation.statements):
        part = evaluation.plan.evaluated(table)
        if describe(part)[2] not in (None, 0.0, 1.0):
            tables.setdefault(target, []).append(part.select("detector", "y", "score"))
    names = []
    for target, parts in tables.items():
        names.append(f"roc_calibration_{target}.png")
        roc_and_calibration(pl.concat(parts)).savefig(out / names[-1], dpi=120)
    return names
