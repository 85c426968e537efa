"""From a table to a figure: names and colours of its rows, dots with intervals, stacked bars, matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.conditions_of_play import MIXED, POOLED, RATER
from liescope.benchmark.analyses.sides import side_colour
from liescope.common.colours import FAINT, INK, model_colours
from liescope.common.figures import (
    Dot,
    MatrixCell,
    Stroke,
    dots_with_intervals,
    legend,
    matrices,
    name_axis,
    name_panel,
    rows_for,
    set_rows,
    stacked,
    total,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure
if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Names = str | Sequence[str]
"""What names each row of a table: a column, or a text for every row."""
SHARE = (-0.02, 1.02)
_BAR = 0.2  # inches


def cell_names(cells: pl.DataFrame) -> list[str]:
    """A short name for each row: the model; the game, condition and rater if there are several; ON or OFF if a jester
    learns.

    cells: with the columns game, model and, where they matter, condition, rater and learning.
    """
    shown = [name for name in ("game", "condition", RATER) if name in cells.columns and cells[name].n_unique() > 1]
    learns = set(cells.filter("learning")["game"]) if "learning" in cells.columns else set()
    names = []
    for row in cells.iter_rows(named=True):
        parts = [row["model"]] if "model" in row else []
        parts += [f"rated by {row[name]}" if name == RATER else row[name] for name in shown if row[name]]
        if row["game"] in learns and row["learning"] is not None:
            parts.append("ON" if row["learning"] else "OFF")
        names.append(", ".join(parts))
    return names


def names_of(table: pl.DataFrame, names: Names) -> list[str]:
    """The text for each row."""
    return [str(name) for name in (table[names] if isinstance(names, str) else names)]


def of_game(table: pl.DataFrame, column: str) -> list[str]:
    """A column of roles or factions, with the game if there are several."""
    if table["game"].n_unique() == 1:
        return names_of(table, column)
    return [f"{game}: {name}" for game, name in table.select("game", column).iter_rows()]


def by_side(table: pl.DataFrame, column: str, names: Names = "") -> dict[str, str]:
    """The colour of each role or faction in a column, by its name or by other names of the rows."""
    pairs = table.select("game", column).iter_rows()
    return {name: side_colour(*pair) for name, pair in zip(names_of(table, names or column), pairs, strict=True)}


def by_model(table: pl.DataFrame, names: Names) -> dict[str, str]:
    """The colour of each row's model, by the names of the rows."""
    colours = {**model_colours(table["model"]), POOLED: INK, MIXED: INK}
    return {name: colours[model] for name, model in zip(names_of(table, names), table["model"], strict=True)}


def rows_of(table: pl.DataFrame, cell: Mapping[str, object]) -> pl.DataFrame:
    """The rows of a table with these values; null matches null."""
    return table.filter([pl.col(name).eq_missing(pl.lit(value)) for name, value in cell.items()])


def dots(
    table: pl.DataFrame,
    value: str,
    axis: str,
    rows: Names,
    facets: Names,
    series: Names | None = None,
    colours: Mapping[str, str] | None = None,
    reference: float | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """A dot for each row of the table, with the interval of its columns lo and hi if it has them.

    rows, facets, series: their names; the rest as in `dots_with_intervals`.
    """
    bounds = table.select("lo", "hi").rows() if "lo" in table.columns else [(None, None)] * table.height
    labels, panels = names_of(table, rows), names_of(table, facets)
    shown = [""] * table.height if series is None else names_of(table, series)
    drawn = [
        Dot(label, number, lo, hi, one, panel)
        for label, number, (lo, hi), one, panel in zip(labels, table[value], bounds, shown, panels, strict=True)
    ]
    return dots_with_intervals(drawn, axis, colours, reference, limits)


def stacked_bars(
    table: pl.DataFrame, value: str, axis: str, rows: Names, facets: Names, parts: Names, colours: Mapping[str, str]
) -> Figure:
    """Horizontal bars of shares, one for each row name, a part for each row of the table; a panel a facet."""
    named = table.select(pl.col(value).fill_null(0.0).alias("value")).with_columns(
        row=pl.Series(names_of(table, rows)),
        facet=pl.Series(names_of(table, facets)),
        part=pl.Series(names_of(table, parts)),
    )
    panels_of = named.partition_by("facet", maintain_order=True)
    bars_of = [rows_for(part["row"], _BAR) for part in panels_of]
    figure, panels = stacked([0.55 + total(bars) for bars in bars_of])
    for shown, bars, panel in zip(panels_of, bars_of, panels, strict=True):
        left = dict.fromkeys(bars, 0.0)
        for row, part, share in shown.select("row", "part", "value").iter_rows():
            panel.barh(bars[row].middle, share, _BAR, left[row], color=colours[part], edgecolor="white")
            left[row] += share
        set_rows(panel, bars)
        panel.set_xlim(0, 1)
        name_panel(panel, shown["facet"].item(0))
    name_axis(figure, axis)
    legend(figure, {part: colours[part] for part in named["part"].unique(maintain_order=True)})
    return figure


def matrix_of(
    table: pl.DataFrame,
    value: str,
    name: str,
    rows: Names,
    columns: Names,
    facets: Names,
    limits: tuple[float, float],
    middle: float | None = None,
) -> Figure:
    """A matrix for each facet, with intervals where the table has lo and hi. name: what the numbers are."""
    bounds = table.select("lo", "hi").rows() if "lo" in table.columns else [(None, None)] * table.height
    row_names, column_names, titles = (names_of(table, names) for names in (rows, columns, facets))
    cells: dict[str, dict[tuple[str, str], MatrixCell]] = {title: {} for title in titles}
    for title, row, column, number, (lo, hi) in zip(titles, row_names, column_names, table[value], bounds, strict=True):
        cells[title][row, column] = MatrixCell(number, lo, hi)
    down, across = list(dict.fromkeys(row_names)), list(dict.fromkeys(column_names))
    across.sort(key=lambda name: down.index(name) if name in down else len(down))  # the same names in the same order
    return matrices(cells, down, across, name, limits, middle)


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
