"""Counts of what a user names: folders of runs, files of counts, or both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.counts import Counts, add, count_games
from benchmark.tables import read_counts
from games.errors import UsageError
from generate.journal import read_runs


def load_counts(paths: Sequence[Path]) -> Counts:
    """The games of all paths, added up: a folder is a run, anything else a CSV file.

    Raises UsageError where a path is named twice or no game is left to count, BadData where one cannot be read.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("the same run or file is named twice; its games would count double")
    parts = [
        count_games(record for _, record, _ in read_runs([path])) if path.is_dir() else read_counts(path)
        for path in paths
    ]
    counts = add(parts)
    if counts.cells.is_empty():
        reasons = "; ".join(f"{count} because {reason}" for reason, count in sorted(counts.excluded.items()))
        raise UsageError(f"no game can be counted{f': {reasons}' if reasons else ', there are none'}")
    return counts
