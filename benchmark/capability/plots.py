"""Pictures of a fit: a tidy frame in, a Figure out. Nothing is saved or shown here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.capability.sentences import shown_parameters
from liescope.benchmark.counting.counts import stated
from liescope.common.colours import COLOURS, MUTED, model_colours
from liescope.common.figures import Dot, dots_with_intervals, legend, name_axis, stacked, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "m": "m: deceives as the mafioso",
    "d": "d: discloses as the detective",
    "v": "v: responds as the villager",
    "b": "b: leans to the mafia as the villager",
}


def forest(table: pl.DataFrame) -> Figure:
    """Scores with their intervals, a panel each for m, d and v, models in the order of the table; a dot for each
    condition.

    table: `liescope.benchmark.capability.results.scores`, with the column condition where there are several.
    """
    dots = [
        Dot(
            row["model"],
            row[name],
            row[f"{name}_lo"],
            row[f"{name}_hi"],
            series=stated(row["condition"]) if "condition" in row else "",
            facet=TITLES[name],
        )
        for name in shown_parameters(table)
        for row in table.iter_rows(named=True)
    ]
    series = {dot.series for dot in dots} - {""}
    colours = None if series else model_colours(table["model"])
    axis = "posterior mean with its 95% interval"
    return dots_with_intervals(dots, axis, colours, reference=0)


@style()
def predictive(cells: pl.DataFrame) -> Figure:
    """Observed against predicted win rate of the mafia, one point per cell; orange if outside the interval.

    cells: as `liescope.benchmark.capability.results.predictions` gives it.
    """
    figure, (panel,) = stacked([4.6])
    panel.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":")
    entries = {}
    for inside, colour, words in (
        (True, COLOURS["blue"], "inside its interval"),
        (False, COLOURS["vermillion"], "outside its interval"),
    ):
        part = cells.filter(pl.col("inside") == inside)
        if part.height:
            panel.vlines(part["predicted"], part["lo"], part["hi"], color=colour, linewidth=1, alpha=0.35)
            panel.plot(part["predicted"], part["observed"], "o", color=colour, markersize=4)
            entries[f"{words}: {part.height}"] = colour
    panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", ylabel="observed win rate of the mafia")
    name_axis(figure, "predicted win rate of the mafia; lines: 95% intervals")
    legend(figure, entries)
    return figure
