"""Dots with intervals: the figure for a few numbers of each of several things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liescope.common.colours import FAINT, INK, MUTED, model_colours
from liescope.common.figures import legend, lines, name_axis, name_panel, stacked, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW, _SERIES, _MARGIN = 0.2, 0.13, 0.65  # inches: a line of a label, a dot among several, around a panel


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

    axis: what the numbers are. colours: of each series, or of each label where there is one series; what has none gets
    the colour of a model of that name if it is a series (`liescope.common.colours.model_colours`), else dark ink.
    reference: a value to compare with, as a dotted line. limits: of the axis; without them, each panel has its own.
    """
    facets = list(dict.fromkeys(dot.facet for dot in dots)) or [""]
    series = list(dict.fromkeys(dot.series for dot in dots))
    heights = [_height([dot for dot in dots if dot.facet == facet], len(series)) for facet in facets]
    figure, panels = stacked(heights)
    several = series not in ([], [""])
    given = {**(model_colours(series) if several else {}), **(colours or {})}
    for facet, panel in zip(facets, panels, strict=True):
        here = [dot for dot in dots if dot.facet == facet]
        labels = list(dict.fromkeys(dot.label for dot in here))
        if reference is not None:
            panel.axvline(reference, color=MUTED, linewidth=1, linestyle=":")
        for dot in here:
            place = labels.index(dot.label) + _shift(series.index(dot.series), len(series))
            _dot(panel, dot, place, given.get(dot.series if several else dot.label, INK))
        panel.set_yticks(range(len(labels)), [lines(label) for label in labels])
        panel.set_ylim(len(labels) - 0.4, -0.6)
        panel.tick_params(axis="y", length=0)
        panel.spines["left"].set_visible(False)
        panel.grid(axis="x")
        name_panel(panel, facet)
        if several:
            panel.hlines(
                [row + 0.5 for row in range(len(labels) - 1)], 0, 1, FAINT, transform=panel.get_yaxis_transform()
            )
        if limits:
            panel.set_xlim(*limits)
    name_axis(figure, axis)
    if several:
        legend(figure, {name: given[name] for name in series})
    return figure


def _height(dots: Sequence[Dot], series: int) -> float:
    """Of a panel, in inches."""
    rows = {dot.label: max(_ROW * (lines(dot.label).count("\n") + 1), _SERIES * series) + 0.08 for dot in dots}
    return _MARGIN + sum(rows.values())


def _shift(place: int, of: int) -> float:
    return 0.0 if of < 2 else 0.64 * (place / (of - 1) - 0.5)


def _dot(panel: Axes, dot: Dot, place: float, colour: str) -> None:
    if dot.value is None:
        return
    if dot.lo is not None and dot.hi is not None:
        panel.hlines([place], [dot.lo], [dot.hi], color=colour, linewidth=1.8)
    panel.plot([dot.value], [place], "o", color=colour, markersize=5.5, markeredgecolor="white", markeredgewidth=0.6)
