"""An evaluation report as files: rows for programs, scores to recompute them from, a text, a page and figures."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from liescope.common.colours import MUTED, model_colours
from liescope.common.errors import BadData, UsageError
from liescope.common.figures import literal, stacked, style, svg
from liescope.common.folders import replacing
from liescope.common.reading import read_text
from liescope.common.report.contents import Section
from liescope.common.report.html import page_html
from liescope.common.text import cell
from liescope.detectors.evaluation.report_text import markdown, page
from liescope.detectors.evaluation.result import EvaluationResult
from liescope.detectors.evaluation.rows import describe, metric_table
from liescope.detectors.evaluation.scores import CONTROL, per_detector, write_scores

_BINS = 10


@style()
def roc_and_calibration(table: pl.DataFrame) -> Figure:
    """table: detector, y, score of the evaluated statements. Controls are drawn in grey; each point of the
    calibration curve is a tenth of the statements, ordered by score.
    """
    figure, (roc, calibration) = stacked([4.6, 4.6])
    colours = model_colours(name for name in table["detector"].unique(maintain_order=True) if not _control(name))
    diagonal: dict[str, Any] = {"color": "0.8", "linewidth": 1, "linestyle": ":"}
    for axes in (roc, calibration):
        axes.plot([0, 1], [0, 1], **diagonal)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
    for detector in table["detector"].unique(maintain_order=True):
        mine = table.filter(pl.col("detector") == detector)
        control = _control(detector)
        stroke: dict[str, Any] = {"color": colours.get(detector, MUTED), "linewidth": 2}
        if control:
            stroke |= {"linewidth": 1, "linestyle": "--"}
        named = {label for label in roc.get_legend_handles_labels()[1] if control}
        roc.plot(
            *_roc(mine), label=None if "controls" in named else "controls" if control else literal(detector), **stroke
        )
        if not control:
            calibration.plot(*_calibration(mine), marker="o", label=literal(detector), color=colours[detector])
    roc.set(xlabel="false positive rate", ylabel="recall", title="ROC")
    calibration.set(xlabel="mean score", ylabel="share deceptive", title="Calibration")
    for axes in (roc, calibration):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower right")
    return figure


def _control(detector: str) -> bool:
    return detector.startswith(CONTROL)


def _roc(table: pl.DataFrame) -> tuple[list[float], list[float]]:
    steps = table.group_by("score").agg(positive=pl.col("y").sum(), all=pl.len()).sort("score", descending=True)
    positive = np.r_[0, steps["positive"].to_numpy().cumsum()]
    negative = np.r_[0, steps["all"].to_numpy().cumsum()] - positive
    return (negative / max(negative[-1], 1)).tolist(), (positive / max(positive[-1], 1)).tolist()


def _calibration(table: pl.DataFrame) -> tuple[list[float], list[float]]:
    parts = [part for part in np.array_split(table.sort("score").select("score", "y").to_numpy(), _BINS) if len(part)]
    return [float(part[:, 0].mean()) for part in parts], [float(part[:, 1].mean()) for part in parts]


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
