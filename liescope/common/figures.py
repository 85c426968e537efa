"""The one style of all figures of reports, and how they become SVG.

A figure is `WIDTH` inches wide, its panels stand below each other, and no text is smaller than `SMALLEST` points.
Scaled to a phone (350 CSS pixels) such text is still 9 pixels high, and the same figure serves for print. It has dark
ink and a transparent background, so that a dark page can invert it.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

from liescope.common.colours import FAINT, INK, MUTED, SERIES, text_on
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure


Stroke = Literal["-", "--", ":", "-."]
WIDTH = 4.8  # inches
SMALLEST = 9.0  # points
LABEL = 24  # characters of a label on one line
_ACROSS = 54  # characters on a line across the figure

_STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "xtick.labelsize": SMALLEST,
    "ytick.labelsize": SMALLEST,
    "legend.fontsize": SMALLEST,
    "legend.frameon": False,
    "figure.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """The style, within a block or, as a decorator, within a function that draws."""
    from matplotlib import rc_context

    with rc_context(_STYLE):
        yield


def stacked(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """A figure with panels below each other. heights: of the panels, in inches."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(WIDTH, sum(heights) + 0.2), layout=ConstrainedLayoutEngine(w_pad=0.1))
    return figure, list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=list(heights)).flat)


def svg(figure: Figure, name: str) -> str:
    """The figure as SVG; text becomes shapes, so that it looks the same everywhere. The bytes are reproducible. Pages
    show each figure as an image of its own: different figures may use equal ids and classes.

    name: of the figure, from which matplotlib makes its ids.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    drawn = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        if engine := figure.get_layout_engine():  # done here, because savefig would draw everything twice
            FigureCanvasSVG(figure)
            figure.set_dpi(72)
            engine.execute(figure)
            figure.set_layout_engine(None)
        figure.savefig(drawn, format="svg", facecolor="none", metadata={"Date": None, "Creator": None})
    text = drawn.getvalue()
    return text[text.index("<svg") :]


def lines(text: str, width: int = LABEL, most: int = 3) -> str:
    """A label in lines of at most `width` characters, broken at spaces; a word that is longer also behind `-`, `/`, `_`
    and `:`. A label of more than `most` lines, or without a place to break, is cut in the middle.
    """
    rows = [""]
    for word in _cut(" ".join(plain(text).split()), width * most).split(" "):
        parts = re.findall(r"[^\-/_:]*[\-/_:]*", word)[:-1] if len(word) > width else [word]
        if rows[-1] and len(rows[-1]) + 1 + len(parts[0]) > width:
            rows.append("")
        rows[-1] += " " if rows[-1] else ""
        for part in parts:
            if rows[-1].strip() and len(rows[-1] + part) > width:
                rows.append("")
            rows[-1] += _cut(part, width)
    return "\n".join(row.strip() for row in rows).replace("$", r"\$")  # a dollar sign would start a formula


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 6]}…{text[-5:]}"


def name_panel(panel: Axes, text: str) -> None:
    """A name above a panel, from the left edge of the figure on."""
    if not text:
        return
    shown = lines(text, _ACROSS - 4)
    panel.set_title("\n" * shown.count("\n") + " ")  # keeps the space free
    named = panel.annotate(
        shown,
        (0, 1),
        xytext=(4, 5),
        xycoords=("figure fraction", "axes fraction"),
        textcoords="offset points",
        annotation_clip=False,
        weight="bold",
        size=10.5,
    )
    named.set_in_layout(False)


def name_axis(figure: Figure, text: str) -> None:
    """Say what the numbers below the last panel are, across the whole figure."""
    shown = lines(text, _ACROSS)
    figure.supxlabel(shown, size=10)
    _grow(figure, shown.count("\n") + 1)


def _grow(figure: Figure, rows: int) -> None:
    """Make room for as many rows of text around the panels."""
    figure.set_figheight(figure.get_figheight() + 0.18 * rows)


def whole_numbers(panel: Axes) -> None:
    """Ticks at whole numbers only below a panel."""
    from matplotlib.ticker import MaxNLocator

    panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def legend(figure: Figure, entries: Mapping[str, str], strokes: Mapping[str, Stroke] | None = None) -> None:
    """A legend above the panels. entries: the colour of each name; strokes: the line style of each, for lines."""
    from matplotlib.lines import Line2D

    names = [lines(name, 46) for name in entries]
    marks = [
        Line2D([], [], marker="" if strokes else "o", linestyle=(strokes or {}).get(name, ""), color=colour)
        for name, colour in entries.items()
    ]
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    abreast = max(1, min(len(names), _ACROSS // (longest + (7 if strokes else 5))))
    _grow(figure, sum(name.count("\n") for name in names) + -(-len(names) // abreast))
    figure.legend(marks, names, loc="outside upper left", ncols=abreast, borderpad=0, handletextpad=0.3)


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
    """Rows of dots with their intervals, in the given order, one panel a facet, the panels below each other; a facet
    without any number has none.

    axis: what the numbers are. colours: of each series, or of each label where there are no series (of models:
    `liescope.common.colours.model_colours`); a series without one gets the next of `SERIES`, a label dark ink.
    reference: a value to compare with, as a dotted line. limits: of the axis; without them, each panel has its own.
    """
    told = {dot.facet for dot in dots if dot.value is not None}
    dots = [dot for dot in dots if dot.facet in told] or dots
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


_LETTER, _DIGIT, _LINE_HIGH = (
    part * SMALLEST / 72 for part in (0.6, 0.53, 1.3)
)  # inches: their widths, a line's height
_ROW_LABEL, _COLUMN_LABEL, _TITLE = 18, 12, 36  # characters on one line


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One number of a matrix. lo, hi: its interval, None without one."""

    value: float
    lo: float | None = None
    hi: float | None = None

    @property
    def text(self) -> str:
        """The number, and its interval on a second line."""
        if self.lo is None or self.hi is None:
            return f"{self.value:z.2f}"
        between = "–" if min(self.lo, self.hi) >= 0 else " to "
        return f"{self.value:z.2f}\n{_short(self.lo)}{between}{_short(self.hi)}"


@style()
def matrices(
    facets: Mapping[str, Mapping[tuple[str, str], MatrixCell]],
    rows: Sequence[str],
    columns: Sequence[str],
    name: str,
    limits: tuple[float, float] = (0.0, 1.0),
    middle: float | None = None,
) -> Figure:
    """Matrices of the same rows and columns below each other, each named above it: cells by (row, column) with their
    numbers and intervals; where there is none, the place stays empty.

    name: what the numbers are, written at the colour bar, which runs from one of the `limits` to the other. middle: a
    value that parts two colours, such as 0.5 of an AUROC. Columns that do not fit beside each other go on in a panel
    below.
    """
    row_labels = [lines(row, _ROW_LABEL) for row in rows]
    heads = [lines(column, _COLUMN_LABEL) for column in columns]
    texts = [cell.text for cells in facets.values() for cell in cells.values()]
    room = WIDTH - _LETTER * _longest(row_labels) - 0.25
    panels_needed = -(-len(columns) // max(1, int(room / (_DIGIT * _longest([*texts, "0.000"]) + 0.06))))
    abreast = -(-len(columns) // panels_needed)
    turned = _longest(heads) * _LETTER > room / abreast
    above = (_LETTER * _longest(heads) if turned else _LINE_HIGH * _tallest(heads)) + 0.35 + 0.25 * ("" not in facets)
    row_height = max(2.6, _tallest(row_labels) + 0.6) * _LINE_HIGH
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
        panel.set(xlim=(-0.5, abreast - 0.5), ylim=(len(rows) - 0.5, -0.5))
        panel.set_title(lines(title, _TITLE))
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
    panel.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=fill, edgecolor="white", linewidth=1.5))
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
