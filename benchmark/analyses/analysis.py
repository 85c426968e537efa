"""Declares an analysis: a function from the frames of a set of games to a tidy table, and facts about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.corrections import SMALLER, Correction
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval
from liescope.benchmark.analyses.needs import Need

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRIADIC = "Triadic Werewolf paper"
MINI_MAFIA = "Mini-Mafia paper"


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. To add one, put it in the `ANALYSES` of its module; a new module takes one line in `registry`.

    name: of its CSV file; title: its heading; table: the function; plot: draws the figure of a non-empty table.
    needs: what the games must contain, checked before the function is called (`liescope.benchmark.analyses.needs`);
    otherwise: why the table can still be empty. interval: what the columns lo and hi of the table are.
    source: the corresponding table, figure or section of the paper, "" for none; paper: which one, `TRIADIC` or
    `MINI_MAFIA`. note: how to read it, in one sentence. main: include it in the short report, report.md. shown: how
    many rows the page has, 0 for those of any table; the file has all. corrections: how rows are read, against zero
    or against each other, and so what is added for their number (`liescope.benchmark.analyses.corrections`).
    """

    name: str
    title: str
    table: Callable[[Frames], pl.DataFrame]
    plot: Callable[[pl.DataFrame], Figure] | None = None
    needs: tuple[Need, ...] = ()
    otherwise: str = "no game contains what it counts"
    interval: Interval = Interval.NONE
    source: str = ""
    paper: str = TRIADIC
    note: str = ""
    main: bool = False
    shown: int = 0
    corrections: tuple[Correction, ...] = ()

    def found(self, frames: Frames) -> pl.DataFrame:
        """The table with the columns that its corrections add."""
        table = self.table(frames)
        for correction in self.corrections if table.height else ():
            table = correction.added(table)
        return table

    def caption(self, table: pl.DataFrame) -> str:
        """What lo, hi and p of a table found are; "" without any."""
        words = [correction.words(table) for correction in self.corrections]
        return " ".join(filter(None, (self.interval.caption, *words, SMALLER if words else "")))

    @property
    def cited(self) -> str:
        """The source with its paper, as in "Table 7 of the Triadic Werewolf paper"; "" without one."""
        return f"{self.source} of the {self.paper}" if self.source else ""

    def lacks(self, frames: Frames) -> list[str]:
        """What the games lack, each as a clause; empty if the function can be called."""
        return [lack for need in self.needs if (lack := need(frames))]
