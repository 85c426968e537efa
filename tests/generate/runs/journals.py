"""What runs hold."""

from __future__ import annotations

from pathlib import Path

from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal


def records(run: Path) -> list[GameRecord]:
    with Journal.open(run) as journal:
        return list(journal.records())
