"""Curves over days, thirds of a day, or the games of a cell; where there are many, what is typical of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.figures import SHARE, Names, names_of
from liescope.common.colours import FAINT, INK
from liescope.common.figures import Stroke, legend, name_axis, name_panel, stacked, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 6  # curves that a panel shows as they are
_HEIGHT = 2.1  # inches of a panel
_STYLES: tuple[Stroke, ...] = ("-", "--", ":", "-.")
_TYPICAL = "median of the cells, middle half shaded"


def curves(
    table: pl.DataFrame,
    x: str,
    value: str,
    facets: Names,
    series: Names,
    colours: Mapping[str, str],
    axes: tuple[str, str],
    ticks: Sequence[str] = (),
) -> Figure:
    """A curve for each series over the whole numbers of column x, a panel a facet, with the band of the columns lo and
    hi if the table has them. Of more than six in a panel only the median, the middle half, the lowest and the highest.

    axes: the names of x and y, y from 0 to 1; ticks: names of 0, 1, 2… on x instead of the numbers.
    """
    bounds = [] if "lo" not in table.columns else ["lo", "hi"]
    named = table.select(pl.col(x).alias("x"), pl.col(value).alias("y"), *bounds).with_columns(
        facet=pl.Series(names_of(table, facets), dtype=pl.String),
        series=pl.Series(names_of(table, series), dtype=pl.String),
    )
    parts = named.partition_by("facet", maintain_order=True)
    figure, panels = stacked([_HEIGHT] * len(parts))
    shades, strokes = {_TYPICAL: INK, **colours}, _strokes(named["series"].unique(maintain_order=True), colours)
    entries: dict[str, None] = {}
    for part, panel in zip(parts, panels, strict=True):
        drawn = (_many if part["series"].n_unique() > MOST else _few)(panel, part, colours, strokes)
        entries |= dict.fromkeys(drawn)
        name_panel(panel, part["facet"].item(0))
        panel.set(ylim=SHARE, ylabel=axes[1])
        panel.grid(axis="y")
        if ticks:
            panel.set_xticks(range(len(ticks)), ticks)
        else:
            whole_numbers(panel)
    name_axis(figure, axes[0])
    legend(figure, {name: shades[name] for name in entries}, {_TYPICAL: "-", **strokes})
    return figure


def _strokes(series: Iterable[str], colours: Mapping[str, str]) -> dict[str, Stroke]:
    """The line style of each series: a different one for each that shares a colour."""
    used: Counter[str] = Counter()
    found: dict[str, Stroke] = {}
    for name in series:
        found[name] = _STYLES[used[colours[name]] % len(_STYLES)]
        used[colours[name]] += 1
    return found


def _few(panel: Axes, table: pl.DataFrame, colours: Mapping[str, str], strokes: Mapping[str, Stroke]) -> list[str]:
    """Draw each curve; returns their names."""
    names = table["series"].unique(maintain_order=True).to_list()
    for name in names:
        line = table.filter(pl.col("series") == name).sort("x")
        panel.plot(line["x"], line["y"], strokes[name], marker="o", color=colours[name], markersize=4, linewidth=1.6)
        if "lo" in table.columns:
            bounded = line.drop_nulls(["lo", "hi"])
            panel.fill_between(bounded["x"], bounded["lo"], bounded["hi"], color=colours[name], alpha=0.12, linewidth=0)
    return names


def _many(panel: Axes, table: pl.DataFrame, colours: Mapping[str, str], strokes: Mapping[str, Stroke]) -> list[str]:
    """Draw what is typical of the curves, and the lowest and the highest; returns their names."""
    y = pl.col("y")
    typical = table.group_by("x").agg(y.median(), lo=y.quantile(0.25), hi=y.quantile(0.75)).sort("x")
    panel.fill_between(typical["x"], typical["lo"], typical["hi"], color=FAINT, linewidth=0)
    panel.plot(typical["x"], typical["y"], "o-", color=INK, markersize=4, linewidth=2.2)
    ranked = table.group_by("series", maintain_order=True).agg(y.mean()).sort("y", maintain_order=True)["series"]
    ends = [ranked.item(0), ranked.item(-1)]
    for name in ends:
        line = table.filter(pl.col("series") == name).sort("x")
        panel.plot(line["x"], line["y"], strokes[name], marker="o", color=colours[name], markersize=3, linewidth=1.2)
    return [_TYPICAL, *ends]
