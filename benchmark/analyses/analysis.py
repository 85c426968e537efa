"""What an analysis is: a function of the frames of a set of games to a tidy table, and the figure drawn from that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.frames import Frames

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis.

    name: of its CSV file; title: its heading; source: the paper's table or figure; table: a frame with the right
    columns and no rows where the games lack what it needs; plot: the figure of a table that has rows; note: how to
    read it, one sentence.
    """

    name: str
    title: str
    source: str
    table: Callable[[Frames], pl.DataFrame]
    plot: Callable[[pl.DataFrame], Figure] | None = None
    note: str = ""
