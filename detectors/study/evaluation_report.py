"""The report of an evaluation: what it says, its figures, and the rows and scores behind them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from liescope.common.colours import MUTED, model_colours
from liescope.common.errors import BadData, UsageError
from liescope.common.figures import literal, stacked, style, svg
from liescope.common.reading import read_text
from liescope.common.report.contents import Report, Section
from liescope.common.report.files import is_report
from liescope.data_cards.tables import TARGETS
from liescope.detectors.study.evaluation_sections import SPLIT_WORDS, headline_figure, how, notes, target_sections
from liescope.detectors.study.figures import describe, figure_table
from liescope.detectors.study.findings import units
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scores import CONTROL, per_detector, scripted_warning


def report(evaluation: EvaluationResult) -> Report:
    """The report: the figures of each target, its curves, and how all was made."""
    first = evaluation.targets[0]
    curves = _curves(evaluation)
    sections = [
        replace(section, chapter=_chapter(target))
        for target in evaluation.targets
        for section in target_sections(evaluation, target)
    ]
    drawn = [
        Section(
            name,
            f"ROC and calibration: {name.removeprefix(_CURVES)}",
            figure=svg(figure, name),
            figure_alt=_ALT,
            picture=f"{name}.png",
        )
        for name, figure in curves.items()
    ]
    closing = [notes(evaluation)] if evaluation.notes else []
    return Report(
        title=_title(evaluation),
        findings=tuple(found.words for found in evaluation.findings),
        figure=headline_figure(evaluation, first),
        figure_alt=f"AUROC for {first}, a panel for each population and a row for each detector and, in grey, control",
        notes=_warnings(evaluation),
        meta=f"Intervals are over whole {units(evaluation).games}; seed {evaluation.plan.seed}.",
        sections=(*sections, *drawn, how(evaluation), *closing),
        tables={"report": figure_table(evaluation.rows)},
        files={
            "report.json": _data(evaluation),
            "scores.parquet": evaluation.scores,
            **{f"{name}.png": figure for name, figure in curves.items()},
        },
    )


def _title(evaluation: EvaluationResult) -> str:
    names = [*evaluation.models, *(judge.name for judge in evaluation.judges)]
    who = f"How well {names[0]} does" if len(names) == 1 else "How well detectors do"
    return f"{who} on corpus {evaluation.corpus} ({SPLIT_WORDS[evaluation.plan.split]})"


def _chapter(target: str) -> str:
    return f"Target {target}: {TARGETS[target].meaning}"


def _warnings(evaluation: EvaluationResult) -> tuple[str, ...]:
    return tuple(filter(None, [*evaluation.warnings, scripted_warning(evaluation.sources)]))


_BINS = 10


@style()
def roc_and_calibration(table: pl.DataFrame) -> Figure:
    """table: scorer, y, score of the evaluated statements. Controls are drawn in grey; each point of the
    calibration curve is a tenth of the statements, ordered by score.
    """
    figure, (roc, calibration) = stacked([4.6, 4.6])
    colours = model_colours(name for name in table["scorer"].unique(maintain_order=True) if not _control(name))
    diagonal: dict[str, Any] = {"color": "0.8", "linewidth": 1, "linestyle": ":"}
    for axes in (roc, calibration):
        axes.plot([0, 1], [0, 1], **diagonal)
        axes.set_xlim(-0.01, 1.01)
        axes.set_ylim(-0.01, 1.01)
        axes.set_aspect("equal")
    for detector in table["scorer"].unique(maintain_order=True):
        mine = table.filter(pl.col("scorer") == detector)
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


def check_replaceable(out: Path, corpus: str, models: Collection[str], judged: bool) -> str:
    """The note on a report of the same detectors on the same corpus that `out` holds and that is to be replaced; "" if
    it holds none. Raises UsageError for a report of anything else, or one with chat models where none is asked now.
    """
    if not is_report(out):
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


def _data(evaluation: EvaluationResult) -> dict[str, Any]:
    return {
        "thresholds_on": evaluation.plan.threshold_split,
        "hold_out": list(evaluation.plan.hold_out),
        "seed": evaluation.plan.seed,
        "sources": list(evaluation.sources),
        "thresholds": [
            {"scorer": detector, "target": target, **chosen}
            for (detector, target), chosen in evaluation.thresholds.items()
        ],
        "models": evaluation.models,
        **evaluation.to_json(),
    }


def _curves(evaluation: EvaluationResult) -> dict[str, Figure]:
    """The ROC and calibration curves of each target that has both classes, by the name of their file."""
    tables: dict[str, list[pl.DataFrame]] = {}
    for _, target, table in per_detector(evaluation.scores, evaluation.statements):
        part = evaluation.plan.evaluated(table)
        if describe(part)[2] not in (None, 0.0, 1.0):
            tables.setdefault(target, []).append(part.select("scorer", "y", "score"))
    return {_CURVES + target: roc_and_calibration(pl.concat(parts)) for target, parts in tables.items()}
