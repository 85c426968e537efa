"""What an analysis is: a function of the frames of a set of games to a tidy table, and what must be known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval
from liescope.benchmark.analyses.needs import Need

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. To add one, put it in the `ANALYSES` of its module; a new module takes one line in `registry`.

    name: of its CSV file; title: its heading; table: the function; plot: draws the figure of a table that has rows.
    needs: what games must hold for it, checked before the function is called (`liescope.benchmark.analyses.needs`);
    otherwise: why the table is empty where all of that is there. interval: what the columns lo and hi of the table are.
    source: the table or figure of the Triadic Werewolf paper that it corresponds to, "" for none. note: how to read it,
    one sentence. main: it belongs in the short report, report.md.
    """

    name: str
    title: str
    table: Callable[[Frames], pl.DataFrame]
    plot: Callable[[pl.DataFrame], Figure] | None = None
    needs: tuple[Need, ...] = ()
    otherwise: str = "no game holds what it counts"
    interval: Interval = Interval.NONE
    source: str = ""
    note: str = ""
    main: bool = False

    def lacks(self, frames: Frames) -> list[str]:
        """What the games lack for it, each as a clause; empty where the function can be called."""
        return [lack for need in self.needs if (lack := need(frames))]
