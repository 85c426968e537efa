"""From a table to a figure: names and colours of its rows, dots with intervals, stacked bars, matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from liescope.benchmark.analyses.conditions_of_play import MIXED, POOLED, RATER, side_colour
from liescope.benchmark.capability.counts import stated
from liescope.common.colours import INK, model_colours
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Names = str | Sequence[str] | Callable[[pl.DataFrame], Sequence[str]]
"""The names of a table's rows: a column, a text for every row, or a function that makes them; "" for none."""
Colours = Mapping[str, str] | Literal["model", "side"] | None
"""The colour of each series, or row without series: by its name, its model, or the side of the role that it names."""
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
    if names == "":
        return [""] * table.height
    if isinstance(names, str):
        return [str(name) for name in table[names]]
    return [str(name) for name in (names(table) if callable(names) else names)]


def of_game(column: str) -> Callable[[pl.DataFrame], list[str]]:
    """A column of roles or factions, with the game if there are several."""

    def named(table: pl.DataFrame) -> list[str]:
        if table["game"].n_unique() == 1:
            return names_of(table, column)
        return [f"{game}: {name}" for game, name in table.select("game", column).iter_rows()]

    return named


def spelt(column: str, words: Mapping[Any, str] | None = None) -> Callable[[pl.DataFrame], list[str]]:
    """A column in words: those for its values, or its values without underscores."""
    return lambda table: [words[name] if words else str(name).replace("_", " ") for name in table[column]]


def side_colours(table: pl.DataFrame, column: str) -> dict[str, str]:
    """The colour of each role or faction in a column."""
    return {name: side_colour(game, name) for game, name in table.select("game", column).iter_rows()}


def _colours(table: pl.DataFrame, colours: Colours, names: Names) -> Mapping[str, str] | None:
    """The colour of each name."""
    if colours == "model":
        of_models = {**model_colours(table["model"]), POOLED: INK, MIXED: INK}
        return {name: of_models[model] for name, model in zip(names_of(table, names), table["model"], strict=True)}
    if colours == "side":
        return side_colours(table, str(names))
    return colours


def rows_of(table: pl.DataFrame, cell: Mapping[str, object]) -> pl.DataFrame:
    """The rows of a table with these values; null matches null."""
    return table.filter([pl.col(name).eq_missing(pl.lit(value)) for name, value in cell.items()])


def stated_conditions(table: pl.DataFrame) -> list[str]:
    """The condition of each row, "" if the table has only one."""
    return [stated(name) for name in table["condition"]] if "condition" in table.columns else [""] * table.height


def _bounds(table: pl.DataFrame, value: str) -> list[tuple[float | None, float | None]]:
    ends = [f"{value}_lo", f"{value}_hi"] if f"{value}_lo" in table.columns else ["lo", "hi"]
    return table.select(ends).rows() if ends[0] in table.columns else [(None, None)] * table.height


@dataclass(frozen=True, slots=True)
class Dots:
    """A dot for each row of a table, with the interval of its columns lo and hi, or those behind the name of the value,
    if it has them.

    Parameters
    ----------
    axis
        What the figures are.
    rows, facets, series
        The names of each row's line, panel and series.
    colours, reference, limits
        As in `dots_with_intervals`.
    value
        The column of the figures; rate, mean or difference if empty.
    where
        Which rows of the table are shown, all if None.
    """

    axis: str
    rows: Names = cell_names
    facets: Names = cell_names
    series: Names = ""
    colours: Colours = None
    reference: float | None = None
    limits: tuple[float, float] | None = None
    value: str = ""
    where: pl.Expr | None = None

    def __call__(self, table: pl.DataFrame) -> Figure:
        table = table if self.where is None else table.filter(self.where)
        value = self.value or next(name for name in ("rate", "mean", "difference") if name in table.columns)
        named = (names_of(table, names) for names in (self.rows, self.series, self.facets))
        drawn = [
            Dot(label, number, lo, hi, series, panel)
            for label, series, panel, number, (lo, hi) in zip(*named, table[value], _bounds(table, value), strict=True)
        ]
        colours = _colours(table, self.colours, self.series if any(dot.series for dot in drawn) else self.rows)
        return dots_with_intervals(drawn, self.axis, colours, self.reference, self.limits)


@dataclass(frozen=True, slots=True)
class Bars:
    """Horizontal bars of shares, one for each name of a row, a part for each row of the table; a panel a facet. value:
    the column of the shares.
    """

    value: str
    axis: str
    parts: Names
    colours: Mapping[str, str] | Callable[[pl.DataFrame], Mapping[str, str]]
    rows: Names = cell_names
    facets: Names = ""

    def __call__(self, table: pl.DataFrame) -> Figure:
        colours = self.colours(table) if callable(self.colours) else self.colours
        named = table.select(pl.col(self.value).fill_null(0.0).alias("value")).with_columns(
            row=pl.Series(names_of(table, self.rows)),
            facet=pl.Series(names_of(table, self.facets)),
            part=pl.Series(names_of(table, self.parts)),
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
        name_axis(figure, self.axis)
        legend(figure, {part: colours[part] for part in named["part"].unique(maintain_order=True)})
        return figure


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix for each facet, with intervals where the table has lo and hi. value: the column; name: what the numbers
    are; limits, middle: as in `matrices`, the largest difference either way if not given.
    """

    value: str
    name: str
    rows: Names
    columns: Names
    facets: Names = cell_names
    limits: tuple[float, float] | None = (0, 1)

    def __call__(self, table: pl.DataFrame) -> Figure:
        row_names, column_names, titles = (names_of(table, names) for names in (self.rows, self.columns, self.facets))
        cells: dict[str, dict[tuple[str, str], MatrixCell]] = {title: {} for title in titles}
        numbers = zip(titles, row_names, column_names, table[self.value], _bounds(table, self.value), strict=True)
        for title, row, column, number, (lo, hi) in numbers:
            cells[title][row, column] = MatrixCell(number, lo, hi)
        down, across = list(dict.fromkeys(row_names)), list(dict.fromkeys(column_names))
        # columns in the order of the rows
        across.sort(key=lambda name: down.index(name) if name in down else len(down))
        if self.limits:
            return matrices(cells, down, across, self.name, self.limits)
        furthest = max(0.05, *(abs(number) for number in table[self.value].drop_nulls()))
        return matrices(cells, down, across, self.name, (-furthest, furthest), 0)


_HEIGHT = 2.1  # inches of a panel
_STYLES: tuple[Stroke, ...] = ("-", "--", ":", "-.")


@dataclass(frozen=True, slots=True)
class Curves:
    """A curve for each series over the whole numbers of column x, a panel a facet, with the band of the columns lo and
    hi if the table has them.

    axes: the names of x and y, y from 0 to 1; ticks: names of 0, 1, 2… on x instead of the numbers; where: which rows
    of the table are shown, all if None.
    """

    x: str
    axes: tuple[str, str]
    series: Names
    facets: Names = cell_names
    colours: Colours = "side"
    value: str = "mean"
    ticks: Sequence[str] = ()
    where: pl.Expr | None = None

    def __call__(self, table: pl.DataFrame) -> Figure:
        table = table if self.where is None else table.filter(self.where)
        colours = _colours(table, self.colours, self.series) or {}
        bounds = [] if "lo" not in table.columns else ["lo", "hi"]
        named = table.select(pl.col(self.x).alias("x"), pl.col(self.value).alias("y"), *bounds).with_columns(
            facet=pl.Series(names_of(table, self.facets), dtype=pl.String),
            series=pl.Series(names_of(table, self.series), dtype=pl.String),
        )
        parts = named.partition_by("facet", maintain_order=True)
        figure, panels = stacked([_HEIGHT] * len(parts))
        strokes = _strokes(named["series"].unique(maintain_order=True), colours)
        for part, panel in zip(parts, panels, strict=True):
            _draw(panel, part, colours, strokes)
            name_panel(panel, part["facet"].item(0))
            panel.set(ylim=SHARE, ylabel=self.axes[1])
            panel.grid(axis="y")
            if self.ticks:
                panel.set_xticks(range(len(self.ticks)), self.ticks)
            else:
                whole_numbers(panel)
        name_axis(figure, self.axes[0])
        legend(figure, {name: colours[name] for name in strokes}, strokes)
        return figure


def _strokes(series: Iterable[str], colours: Mapping[str, str]) -> dict[str, Stroke]:
    """The line style of each series: a different one for each that shares a colour."""
    used: Counter[str] = Counter()
    found: dict[str, Stroke] = {}
    for name in series:
        found[name] = _STYLES[used[colours[name]] % len(_STYLES)]
        used[colours[name]] += 1
    return found


def _draw(panel: Axes, table: pl.DataFrame, colours: Mapping[str, str], strokes: Mapping[str, Stroke]) -> None:
    for line in table.sort("x").partition_by("series", maintain_order=True):
        name = line["series"].item(0)
        panel.plot(line["x"], line["y"], strokes[name], marker="o", color=colours[name], markersize=4, linewidth=1.6)
        if "lo" in table.columns:
            bounded = line.drop_nulls(["lo", "hi"])
            panel.fill_between(bounded["x"], bounded["lo"], bounded["hi"], color=colours[name], alpha=0.12, linewidth=0)


DRAWN = 24  # models or names that a figure has room for
