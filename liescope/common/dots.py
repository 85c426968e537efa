"""Dots with intervals: the figure for a few numbers of each of several things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING

from liescope.common.colours import FAINT, INK, MUTED, SERIES
from liescope.common.figures import legend, name_axis, name_panel, stacked, style
from liescope.common.rows import rows_for, set_rows, total

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW, _SERIES, _MARGIN = 0.18, 0.14, 0.55  # inches: a row, a dot among several, around a panel


@dataclass(frozen=True, slots=True)
class Dot:
    """One number. label: its row; value: None where it is not defined; lo, hi: its interval, None without one.

    series: which of several dots of the row it is, named in the legend; facet: its panel, named above it.
    """

    label: str
    value: float | None
    lo: float | None = None
    hi: float | None = None
    series: str = ""
    facet: str = ""


@style()
def dots_with_intervals(
    dots: Sequence[Dot],
    axis: str,
    colours: Mapping[str, str] | None = None,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """Rows of dots with their intervals, in the given order, one panel a facet, the panels below each other.

    axis: what the numbers are. colours: of each series, or of each label where there are no series (of models:
    `liescope.common.colours.model_colours`); a series without one gets the next of `SERIES`, a label dark ink.
    reference: a value to compare with, as a dotted line. limits: of the axis; without them, each panel has its own.
    """
    facets = list(dict.fromkeys(dot.facet for dot in dots)) or [""]
    series = list(dict.fromkeys(dot.series for dot in dots))
    several = series not in ([], [""])
    given = {**dict(zip(series if several else (), cycle(SERIES), strict=False)), **(colours or {})}
    parts = [[dot for dot in dots if dot.facet == facet] for facet in facets]
    rows_of = [rows_for((dot.label for dot in part), max(_SERIES * len(series), _ROW)) for part in parts]
    figure, panels = stacked([_MARGIN + total(rows) for rows in rows_of])
    for facet, part, rows, panel in zip(facets, parts, rows_of, panels, strict=True):
        if reference is not None:
            panel.axvline(reference, color=MUTED, linewidth=1, linestyle=":")
        for dot in part:
            row = rows[dot.label]
            place = row.top + row.height * (series.index(dot.series) + 1) / (len(series) + 1)
            _dot(panel, dot, place, given.get(dot.series if several else dot.label, INK))
        set_rows(panel, rows)
        panel.grid(axis="x")
        name_panel(panel, facet)
        if several:
            between = [row.bottom for row in rows.values()][:-1]
            panel.hlines(between, 0, 1, FAINT, transform=panel.get_yaxis_transform())
        if limits:
            panel.set_xlim(*limits)
    name_axis(figure, axis)
    if several:
        legend(figure, {name: given[name] for name in series})
    return figure


def _dot(panel: Axes, dot: Dot, place: float, colour: str) -> None:
    if dot.value is None:
        return
    if dot.lo is not None and dot.hi is not None:
        panel.hlines([place], [dot.lo], [dot.hi], color=colour, linewidth=1.8)
    panel.plot([dot.value], [place], "o", color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.6)
