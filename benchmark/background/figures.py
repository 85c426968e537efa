"""Figures of the background method: a tidy frame in, a Figure out. Where there are several conditions, the frames have
the column condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.background.agreement import PARAMETER
from liescope.benchmark.counting.counts import stated
from liescope.common.colours import model_colours
from liescope.common.dots import Dot, dots_with_intervals

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 150  # of one figure


def rates_figure(rates: pl.DataFrame, models: Sequence[str]) -> Figure:
    """Win rates of one capability with their intervals, a panel a background (Figures 11 to 13).

    rates: as of `liescope.benchmark.background.scores.win_rates`; models: the order of the rows. Backgrounds beyond
    about 150 rows are not shown.
    """
    shown = rates["background"].unique().sort().head(max(1, _ROWS // len(models)))
    order = pl.DataFrame({"model": models}).with_row_index("place")
    rows = rates.join(order, on="model").filter(pl.col("background").is_in(shown.implode()))
    rows = rows.sort("background", "place", maintain_order=True)
    dots = [_dot(row, "rate", "lo", "hi", f"against {row['background']}") for row in rows.iter_rows(named=True)]
    return _drawn(dots, "win rate with its 95% interval", limits=(0, 1))


def scores_figure(scores: pl.DataFrame) -> Figure:
    """z-scores with their intervals, a panel a capability; scores: as of
    `liescope.benchmark.background.scores.background_scores`.
    """
    dots = [_dot(row, "z", "z_lo", "z_hi", f"To {row['capability']}") for row in scores.iter_rows(named=True)]
    return _drawn(dots, "z-score with its 95% interval", reference=0)


def exponential_figure(scores: pl.DataFrame) -> Figure:
    """Exponential scores with one standard deviation to either side, as published, a panel a capability (Figure 10);
    scores: as for `scores_figure`.
    """
    ends = scores.with_columns(lo=pl.col("score") - pl.col("score_sd"), hi=pl.col("score") + pl.col("score_sd"))
    dots = [_dot(row, "score", "lo", "hi", f"To {row['capability']}") for row in ends.iter_rows(named=True)]
    return _drawn(dots, "exp(z), with a standard deviation to either side", reference=1)


def agreement_figure(both: pl.DataFrame) -> Figure:
    """The scores of both methods on each other's side, a panel a capability (Figures 7 to 9); both: as of
    `liescope.benchmark.background.agreement.beside`.
    """
    dots = [
        Dot(row["model"], row["value"], row["lo"], row["hi"], row["method"], _panel(row))
        for row in both.iter_rows(named=True)
    ]
    return dots_with_intervals(dots, "standard deviations from the mean over models, with 95% intervals", reference=0)


def _panel(row: Mapping[str, Any]) -> str:
    condition = f", {stated(row['condition'])}" if "condition" in row else ""
    return f"To {row['capability']}: {PARAMETER[row['capability']]} and z{condition}"


def _dot(row: Mapping[str, Any], value: str, lo: str, hi: str, panel: str) -> Dot:
    series = stated(row["condition"]) if "condition" in row else ""
    return Dot(row["model"], row[value], row[lo], row[hi], series, panel)


def _drawn(
    dots: Sequence[Dot], axis: str, reference: float | None = None, limits: tuple[float, float] | None = None
) -> Figure:
    colours = None if any(dot.series for dot in dots) else model_colours(dot.label for dot in dots)
    return dots_with_intervals(dots, axis, colours, reference, limits)
