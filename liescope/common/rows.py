"""Rows of a figure, each as high as its label needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from liescope.common.figures import lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE, _BETWEEN = 0.18, 0.08  # inches: a line of a label, space between rows


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row of a panel whose y axis is in inches from the top."""

    label: str
    top: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2

    @property
    def bottom(self) -> float:
        return self.top + self.height


def rows_for(labels: Iterable[str], least: float) -> dict[str, FigureRow]:
    """A row for each label, in order. least: inches that its content needs."""
    rows: dict[str, FigureRow] = {}
    top = 0.0
    for name in dict.fromkeys(labels):
        label = lines(name)
        height = max(_LINE * (label.count("\n") + 1), least) + _BETWEEN
        rows[name] = FigureRow(label, top, height)
        top += height
    return rows


def total(rows: dict[str, FigureRow]) -> float:
    """Inches of all rows together."""
    return sum(row.height for row in rows.values())


def set_rows(panel: Axes, rows: dict[str, FigureRow]) -> None:
    """Give the panel its rows, first on top, with their labels."""
    panel.set_yticks([row.middle for row in rows.values()], [row.label for row in rows.values()])
    panel.set_ylim(total(rows) or 1.0, 0)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
