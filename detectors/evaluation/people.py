"""What people who read games said of statements and of players, from the runs that hold their answers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UsageError
from liescope.detectors.evaluation.crowd import observer
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from liescope.labeling.label import rating_rows

_LEAST = 0.51  # how sure a flag is at least, so that a guess still leans to its side
_RATINGS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("statement_id", "game_id", "observer_model", "observer_role"), pl.String),
    "flag": pl.Boolean,
    "confidence": pl.Float64,
}
_PLAYERS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("game_id", "observer_model", "observer_role", "name", "model"), pl.String),
    "models": pl.List(pl.String),
    "y": pl.Boolean,
    "score": pl.Float64,
    "days": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class Answers:
    """statements: statement_id, game_id, observer, yes, and as score the probability that the statement deceives: how
    sure the flag is, or what is left of 1. players: game_id, observer, name, with the model in the seat, all models of
    the game, and y, whether the player deceives; score: how likely it seemed; days: how many were read, 0 for all.
    """

    statements: pl.DataFrame
    players: pl.DataFrame


def read_people(runs: Sequence[str | os.PathLike[str]]) -> Answers:
    """The answers of the people whose runs these are.

    Raises UsageError for a run that people did not judge, or two of one person; BadData for a run that cannot be read.
    """
    ratings: list[dict[str, Any]] = []
    players: list[dict[str, Any]] = []
    seen: dict[str, Path] = {}
    for run in map(Path, runs):
        with Journal.open(run) as journal:
            if "read" not in journal.plan:
                raise UsageError(f"{run} holds no answers of a person; `liescope serve --judge` makes such runs")
            person = str(journal.plan.get("judge"))
            if person in seen:
                raise UsageError(f"{run} and {seen[person]} hold the answers of one person; give each person once")
            seen[person] = run
            days = int(journal.plan["read"].get("days", 0))
            for record in journal.records():
                ratings += [{name: getattr(row, name) for name in _RATINGS} for row in rating_rows(record)]
                players += [{**row, "days": days} for row in _suspected(record)]
    who = observer("observer_model", "observer_role")
    sure = pl.col("confidence").fill_null(1.0).clip(_LEAST, 1.0)
    flagged = pl.DataFrame(ratings, schema=_RATINGS).filter(pl.col("flag").is_not_null())
    return Answers(
        flagged.select(
            "statement_id",
            "game_id",
            observer=who,
            yes="flag",
            score=pl.when("flag").then(sure).otherwise(1 - sure),
        ).sort("statement_id", "observer"),
        pl.DataFrame(players, schema=_PLAYERS)
        .select("game_id", "name", "model", "models", "y", "score", "days", observer=who)
        .sort("game_id", "name", "observer"),
    )


def _suspected(record: GameRecord) -> list[dict[str, Any]]:
    """What the judge of a record said of its players at the end, where it is known who deceives."""
    seats = {seat.name: seat for seat in record.seats}
    judge = record.meta.get("judge", "")
    return [
        {
            "game_id": record.game_id,
            "observer_model": judge,
            "observer_role": seats[event.actor].role if event.actor else "",
            "name": name,
            "model": seats[name].model,
            "models": [seat.model for seat in record.seats],
            "y": seats[name].deceives,
            "score": share,
        }
        for event in record.events
        if event.kind is EventKind.SUSPICION and event.data.get("judge") == judge
        for name, share in event.data.get("suspicion", {}).items()
        if seats[name].deceives is not None
    ]
