"""One fit over the counts of all reports: the only scale on which models of different reports can be compared."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import polars as pl

from liescope.benchmark.counting.counts import PLAYERS, SCHEMA, tally
from liescope.benchmark.counting.independence import too_alike
from liescope.benchmark.fitting import FitResult, fit
from liescope.benchmark.leaderboard.inputs import Entry
from liescope.benchmark.reporting.data import ReportData
from liescope.common.errors import LiescopeError


def counted(entries: Sequence[Entry]) -> dict[str, pl.DataFrame]:
    """The counts of each report that has some, by its name: condition and the columns of `counting.counts.SCHEMA`."""
    return {
        entry.name: entry.data.cells for entry in entries if isinstance(entry.data, ReportData) and entry.data.counts
    }


def union(counts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """All counts added up."""
    return tally(pl.concat([pl.DataFrame(schema=SCHEMA), *(part.select(list(SCHEMA)) for part in counts)]))


def joint_fit(entries: Sequence[Entry], draws: int, tune: int, seed: int) -> tuple[FitResult | None, str]:
    """The fit of all counts together, or None and why there is none."""
    counts = counted(entries)
    if len(counts) < 2:
        return None, "fewer than two reports hold counts of games"
    if reason := _overlap(entries):
        return None, reason
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "counts.csv"
            union(list(counts.values())).write_csv(path)
            return fit(path, draws=draws, tune=tune, seed=seed), ""
    except LiescopeError as error:
        return None, str(error)


def _overlap(entries: Sequence[Entry]) -> str:
    """Which two reports count the same games, "" if none do as far as they tell."""
    for one, other in combinations([entry for entry in entries if isinstance(entry.data, ReportData)], 2):
        assert isinstance(one.data, ReportData)
        assert isinstance(other.data, ReportData)
        shared = len(set(one.data.games.ids) & set(other.data.games.ids))
        if shared:
            return f"{one.name} and {other.name} share {shared} games, which would count twice"
        keys = [*PLAYERS, "mafia_wins", "games"]
        if one.data.counts and union([one.data.cells]).select(keys).equals(union([other.data.cells]).select(keys)):
            return f"{one.name} and {other.name} hold the same counts, which would count twice"
    alike = too_alike(counted(entries))
    return f"{alike[0].sentence}, and the same games would count twice" if alike else ""
