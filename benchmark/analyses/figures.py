"""Helpers shared by the analyses' figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.cells import CELL, RATER
from liescope.benchmark.analyses.palette import COLOURS
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANEL_WIDTH, _PANELS_ABREAST = 3.6, 4
_SHORT = 15  # characters of a name where many are shown side by side


def canvas(panels: int, height: float) -> tuple[Figure, list[Axes]]:
    """A figure with this many panels, at most four in a row. height: of one panel, in inches."""
    from matplotlib.figure import Figure

    abreast = max(1, min(panels, _PANELS_ABREAST))
    rows = max(1, -(-panels // abreast))
    figure = Figure(figsize=(max(5.0, _PANEL_WIDTH * abreast), height * rows + 0.4), layout="constrained")
    every = list(figure.subplots(rows, abreast, squeeze=False).flat)
    for spare in every[panels:]:
        spare.set_axis_off()
    return figure, every[:panels]


def tidy(panel: Axes, legend: bool = False) -> None:
    """Remove lines that carry no information, and show the legend if there is one."""
    panel.spines[["top", "right"]].set_visible(False)
    if legend:
        panel.legend(frameon=False, fontsize=8)


def whole_numbers(panel: Axes) -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(integer=True))


def literal(text: str) -> str:
    """Literal text: a dollar sign would start a formula, and fonts lack control characters."""
    return " ".join(plain(text).split()).replace("$", r"\$")


def cell_names(cells: pl.DataFrame) -> list[str]:
    """A short name for each row: the model; the game, condition and rater if there are several; ON or OFF if a jester
    learns.

    cells: with the columns game, model and, where they matter, condition, rater and learning.
    """
    shown = [name for name in ("game", "condition", "rater") if name in cells.columns and cells[name].n_unique() > 1]
    learns = set(cells.filter("learning")["game"]) if "learning" in cells.columns else set()
    names = []
    for row in cells.iter_rows(named=True):
        parts = [row["model"], *(row[name] for name in shown if row[name])]
        if row["game"] in learns and row["learning"] is not None:
            parts.append("ON" if row["learning"] else "OFF")
        names.append(literal(", ".join(parts)))
    return names


def groups_of(table: pl.DataFrame, also: Sequence[str] = ()) -> tuple[list[str], pl.DataFrame]:
    """The columns that name a cell, including those given, and the cells of the table, in its order."""
    keys = [name for name in (*CELL, RATER, *also) if name in table.columns]
    return keys, table.select(keys).unique(maintain_order=True)


def rows_of(table: pl.DataFrame, cell: Mapping[str, object]) -> pl.DataFrame:
    """The rows of a table with these values; null matches null."""
    return table.filter([pl.col(name).eq_missing(pl.lit(value)) for name, value in cell.items()])


def bars_with_intervals(
    panel: Axes, table: pl.DataFrame, names: Sequence[str], value: str, colour: str | Sequence[str]
) -> None:
    """Horizontal bars, first row on top, with the interval of the columns lo and hi if there is one."""
    at = list(range(table.height))
    panel.barh(at, table[value].fill_null(0.0), color=colour, alpha=0.75, height=0.7)
    bounded = table.with_row_index("at").drop_nulls(["lo", "hi"])
    panel.hlines(bounded["at"], bounded["lo"], bounded["hi"], color=COLOURS["ink"], linewidth=1.2)
    panel.set_yticks(at, names, fontsize=8)
    panel.invert_yaxis()
    tidy(panel)


def stacked_bars(
    panel: Axes, names: Sequence[str], parts: Mapping[str, Sequence[float]], colours: Mapping[str, str]
) -> None:
    """Stacked horizontal bars, first row on top. parts: for each part, a value for each bar."""
    left = [0.0] * len(names)
    for part, values in parts.items():
        panel.barh(range(len(names)), values, left=left, color=colours[part], label=part, height=0.7)
        left = [start + value for start, value in zip(left, values, strict=True)]
    panel.set_yticks(range(len(names)), names, fontsize=8)
    panel.invert_yaxis()
    tidy(panel)
    abreast = 2 if max(map(len, parts), default=0) > _SHORT else max(1, len(parts))
    panel.figure.legend(frameon=False, fontsize=8, ncols=abreast, loc="outside lower center")
