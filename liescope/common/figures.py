"""The one style of all figures of reports, and how they become SVG.

A figure is `WIDTH` inches wide, its panels stand below each other, and no text is smaller than `SMALLEST` points.
Scaled to a phone (350 CSS pixels) such text is still 9 pixels high, and the same figure serves for print.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from liescope.common.colours import FAINT, INK, MUTED
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.8  # inches
SMALLEST = 9.0  # points
LABEL = 24  # characters of a label on one line

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

    figure = Figure(figsize=(WIDTH, sum(heights) + 0.2), layout="constrained")
    return figure, list(figure.subplots(len(heights), 1, squeeze=False, height_ratios=list(heights)).flat)


def svg(figure: Figure, name: str) -> str:
    """The figure as SVG; text becomes shapes, so that it looks the same everywhere. The bytes are reproducible.

    name: of the figure, different for each figure of a page.
    """
    from matplotlib import rc_context

    drawn = io.StringIO()
    with rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return drawn.getvalue()


def literal(text: str) -> str:
    """Text that a figure shows as it is: a dollar sign would start a formula, and fonts lack control characters."""
    return " ".join(plain(text).split()).replace("$", r"\$")


def lines(text: str, width: int = LABEL, most: int = 3) -> str:
    """A label in lines of at most `width` characters, broken at spaces or behind `-`, `/`, `_`, `:` and `,` only. What
    is longer than `most` lines, or has no place to break, is cut in its middle.
    """
    rows = [""]
    for part in re.findall(r"[^\s\-/_:,]*[\-/_:,]*\s*", _cut(" ".join(plain(text).split()), width * most)):
        if rows[-1] and len((rows[-1] + part).rstrip()) > width:
            rows.append("")
        rows[-1] += _cut(part, width)
    return "\n".join(literal(row) for row in rows)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 6]}…{text[-5:]}"


def whole_numbers(panel: Axes, axis: str = "x") -> None:
    """Ticks at whole numbers only, on one axis."""
    from matplotlib.ticker import MaxNLocator

    (panel.xaxis if axis == "x" else panel.yaxis).set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
