"""Counts of what a user names: folders of runs, files of counts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from liescope.benchmark.counts import PLAYERS, Counts, add, count_games
from liescope.benchmark.identification import leave_out
from liescope.benchmark.tables import read_counts
from liescope.common.errors import UnknownName, UsageError
from liescope.generate.runs.journal import read_runs


def load_counts(paths: Sequence[Path], without: Sequence[str] = ()) -> Counts:
    """The games of all paths, added up: a folder is a run, anything else a CSV file. without: models whose games are
    left out, and counted as excluded.

    Raises UsageError where a path is named twice or no game is left to count, BadData where one cannot be read, and
    UnknownName for a model that is not there.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("the same run or file is named twice; its games would count double")
    parts = [
        count_games(record for _, record, _ in read_runs([path])) if path.is_dir() else read_counts(path)
        for path in paths
    ]
    counts = add(parts)
    for model in without:
        counts = _without(counts, model)
    if counts.cells.is_empty():
        reasons = "; ".join(f"{count} because {reason}" for reason, count in sorted(counts.excluded.items()))
        raise UsageError(f"no game can be counted{f': {reasons}' if reasons else ', there are none'}")
    return counts


def _without(counts: Counts, model: str) -> Counts:
    kept = leave_out(counts.cells, model)
    games = int(counts.cells["games"].sum()) - int(kept["games"].sum())
    if not games:
        raise UnknownName("model", model, set().union(*(counts.cells[column] for column in PLAYERS)))
    return replace(counts, cells=kept, excluded={**counts.excluded, f"{model} played in them": games})
