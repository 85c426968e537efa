"""Two pictures, one below the other: the ROC curve and the calibration curve."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from liescope.common.colours import MUTED, model_colours
from liescope.common.figures import literal, stacked, style
from liescope.detectors.evaluation.scores import CONTROL

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
