"""An evaluation report as files: rows for programs, scores to recompute them from, a text, a page and figures."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from liescope.common.errors import BadData, UsageError
from liescope.common.figures import svg
from liescope.common.folders import replacing
from liescope.common.reading import read_text
from liescope.common.report.contents import Section
from liescope.common.report.html import page_html
from liescope.common.text import cell
from liescope.detectors.evaluation.figures import roc_and_calibration
from liescope.detectors.evaluation.report_text import markdown, page
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.rows import describe, metric_table
from liescope.detectors.evaluation.scores import per_detector, write_scores

_CURVES = "roc_calibration_"
_ALT = "above, recall against the false positive rate; below, the share of lies against the score; a line a detector"


def write_report(out: Path, evaluation: EvaluationResult) -> list[Path]:
    """Write report.html, report.md, report.json, report.csv, scores.parquet and a figure for each target; returns their
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
    """Raises UsageError if `out` holds anything but a report of an evaluation."""
    if out.exists() and not _is_report(out) and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists and is not a report of an evaluation; choose another --out")


def check_replaceable(out: Path, corpus: str, models: Collection[str], judged: bool) -> str:
    """The note on a report of the same detectors on the same corpus that `out` holds and that is to be replaced; "" if
    it holds none. Raises UsageError for a report of anything else, or one with chat models where none is asked now.
    """
    if not _is_report(out):
        return ""
    try:
        old = json.loads(read_text(out / "report.json"))
    except (BadData, ValueError, RecursionError):
        old = None
    held = old if isinstance(old, dict) else {}
    same = held.get("corpus") == corpus and set(held.get("models") or ()) == set(models)
    if not same or (held.get("judges") and not judged):
        raise UsageError(f"{out} holds another evaluation; add --overwrite to replace it, or choose another --out")
    return f"{out} held an evaluation of the same detectors on the same corpus, which is replaced"


def _is_report(out: Path) -> bool:
    return (out / "report.json").is_file() and (out / "scores.parquet").is_file()


def _write(out: Path, evaluation: EvaluationResult) -> list[str]:
    write_scores(evaluation.scores, out / "scores.parquet")
    names = pl.col("detector", "split", "against").map_elements(cell, pl.String)
    (out / "report.csv").write_text(metric_table(evaluation.rows).with_columns(names).write_csv(), encoding="utf-8")
    curves = _curves(evaluation)
    for name, figure in curves.items():
        figure.savefig(out / f"{name}.png", dpi=120)
    figures = [f"{name}.png" for name in curves]
    (out / "report.md").write_text(markdown(evaluation, figures), encoding="utf-8")
    drawn = [
        Section(name, f"ROC and calibration: {name.removeprefix(_CURVES)}", figure=svg(figure, name), figure_alt=_ALT)
        for name, figure in curves.items()
    ]
    (out / "report.html").write_text(page_html(page(evaluation, drawn)), encoding="utf-8")
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
    return ["report.html", "report.md", "report.json", "report.csv", "scores.parquet", *figures]


def _curves(evaluation: EvaluationResult) -> dict[str, Figure]:
    """The ROC and calibration curves of each target that has both classes, by the name of their file."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for _, target, table in per_detector(evaluation.scores, evaluation.statements):
        part = evaluation.plan.evaluated(table)
        if describe(part)[2] not in (None, 0.0, 1.0):
            tables.setdefault(target, []).append(part.select("detector", "y", "score"))
    return {_CURVES + target: roc_and_calibration(pl.concat(parts)) for target, parts in tables.items()}
