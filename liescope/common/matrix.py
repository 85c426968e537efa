"""A matrix of numbers with their intervals, coloured by value, for example train against test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liescope.common.colours import INK, text_on
from liescope.common.figures import SMALLEST, WIDTH, lines, stacked, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

_LETTER, _DIGIT, _LINE = (part * SMALLEST / 72 for part in (0.6, 0.53, 1.3))  # inches: their widths, a line's height
_ROW_LABEL, _COLUMN_LABEL, _TITLE = 18, 12, 36  # characters on one line


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One number of a matrix. lo, hi: its interval, None without one. framed: drawn with a frame, as for a diagonal."""

    value: float
    lo: float | None = None
    hi: float | None = None
    framed: bool = False

    @property
    def text(self) -> str:
        """The number, and its interval on a second line."""
        if self.lo is None or self.hi is None:
            return f"{self.value:z.2f}"
        between = "–" if min(self.lo, self.hi) >= 0 else " to "
        return f"{self.value:z.2f}\n{_short(self.lo)}{between}{_short(self.hi)}"


@style()
def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[str, str], MatrixCell],
    name: str,
    limits: tuple[float, float] = (0.0, 1.0),
    middle: float | None = None,
    row_axis: str = "",
    column_axis: str = "",
) -> Figure:
    """Cells by (row, column) with their numbers and intervals; where there is none, the place stays empty.

    name: what the numbers are, written at the colour bar, which runs from one of the `limits` to the other. middle: a
    value that parts two colours, such as 0.5 of an AUROC. row_axis, column_axis: what rows and columns are. Columns
    that do not fit beside each other go on in a panel below.
    """
    return matrices({"": cells}, rows, columns, name, limits, middle, row_axis, column_axis)


@style()
def matrices(
    facets: Mapping[str, Mapping[tuple[str, str], MatrixCell]],
    rows: Sequence[str],
    columns: Sequence[str],
    name: str,
    limits: tuple[float, float] = (0.0, 1.0),
    middle: float | None = None,
    row_axis: str = "",
    column_axis: str = "",
) -> Figure:
    """Several matrices of the same rows and columns below each other, each named above it; see `matrix`."""
    row_labels = [lines(row, _ROW_LABEL) for row in rows]
    heads = [lines(column, _COLUMN_LABEL) for column in columns]
    texts = [cell.text for cells in facets.values() for cell in cells.values()]
    room = WIDTH - _LETTER * _longest(row_labels) - (0.5 if row_axis else 0.25)
    panels_needed = -(-len(columns) // max(1, int(room / (_DIGIT * _longest([*texts, "0.000"]) + 0.06))))
    abreast = -(-len(columns) // panels_needed)
    turned = _longest(heads) * _LETTER > room / abreast
    above = (_LETTER * _longest(heads) if turned else _LINE * _tallest(heads)) + 0.35 + 0.25 * ("" not in facets)
    row_height = max(2.6, _tallest(row_labels) + 0.6) * _LINE
    parts = [
        (title, cells, range(at, min(at + abreast, len(columns))))
        for title, cells in facets.items()
        for at in range(0, len(columns), abreast)
    ]
    figure, panels = stacked([row_height * len(rows) + above + 0.6 / len(parts)] * len(parts))
    colours = _colours(limits, middle)
    for (title, cells, part), panel in zip(parts, panels, strict=True):
        for y, row in enumerate(rows):
            for x, at in enumerate(part):
                if cell := cells.get((row, columns[at])):
                    _draw(panel, x, y, cell, colours)
        panel.set(xlim=(-0.5, abreast - 0.5), ylim=(len(rows) - 0.5, -0.5), xlabel=column_axis, ylabel=row_axis)
        panel.set_title(lines(title, _TITLE))
        panel.xaxis.set_label_position("top")
        panel.set_xticks(range(len(part)), [heads[at] for at in part], rotation=90 if turned else 0)
        panel.set_yticks(range(len(rows)), row_labels)
        panel.tick_params(length=0, labeltop=True, labelbottom=False)
        panel.spines[:].set_visible(False)
    bar = figure.colorbar(colours, ax=panels, location="bottom", aspect=40, pad=0.02, label=name)
    bar.outline.set_visible(False)
    return figure


def _colours(limits: tuple[float, float], middle: float | None) -> ScalarMappable:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize, TwoSlopeNorm

    if middle is None:
        return ScalarMappable(Normalize(*limits, clip=True), "cividis")
    return ScalarMappable(TwoSlopeNorm(middle, *limits), "PuOr")


def _draw(panel: Axes, x: int, y: int, cell: MatrixCell, colours: ScalarMappable) -> None:
    import numpy as np
    from matplotlib.patches import Rectangle

    fill = colours.to_rgba(np.array([cell.value]))[0]
    edge, width = (INK, 2.0) if cell.framed else ("white", 1.5)
    place = (x - 0.48, y - 0.47)
    panel.add_patch(
        Rectangle(place, 0.96, 0.94, facecolor=fill, edgecolor=edge, linewidth=width, zorder=1 + cell.framed)
    )
    panel.text(x, y, cell.text, ha="center", va="center", color=text_on(tuple(fill[:3])), size=SMALLEST, zorder=3)


def _short(value: float) -> str:
    """A number without the zero before its point."""
    shown = f"{value:z.2f}"
    return shown.replace("0.", ".", 1) if abs(value) < 1 else shown


def _longest(texts: Sequence[str]) -> int:
    """Characters of the longest line."""
    return max((len(line) for text in texts for line in text.split("\n")), default=0)


def _tallest(texts: Sequence[str]) -> int:
    """Lines of the text with most of them."""
    return max((text.count("\n") + 1 for text in texts), default=1)
