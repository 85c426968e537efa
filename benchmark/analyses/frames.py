"""Games as tidy frames: one row for each game, seat, statement, rating, vote, night act, bid, lesson and guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from liescope.benchmark.analyses.rows import game_rows
from liescope.benchmark.analyses.schemas import CELL, SCHEMAS
from liescope.games.record import GameRecord, Status

__all__ = ["CELL", "SCHEMAS", "Frames", "load_frames"]


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a set of finished games; the columns of each stand in `SCHEMAS`.

    model: who plays the game: the one model in every seat, or else the model of each role, roles in alphabetical order,
    as in "A | B | A" for detective, mafioso and villager (several models of a role: "A+B"). learning: the jester of the
    game's cell learns. turn: the game's number in its cell, from 0. day: from 1. days: those that came to a vote, which
    the last one does not where a game ends at night. drawn: the rules had to choose, since
    the reply held nothing usable. suspicion_rank: of the target among the living others in the voter's own running
    suspicion, 1 for the most suspected, ties averaged; null without ratings. fate: alive, killed or exiled. position:
    of the statement within its day, from 1.
    """

    games: pl.DataFrame
    seats: pl.DataFrame
    statements: pl.DataFrame
    ratings: pl.DataFrame
    votes: pl.DataFrame
    nights: pl.DataFrame
    bids: pl.DataFrame
    lessons: pl.DataFrame
    guesses: pl.DataFrame
    tags: pl.DataFrame


def load_frames(records: Iterable[GameRecord]) -> Frames:
    """Frames of the finished ones among the games, in one pass."""
    rows: dict[str, list[dict[str, Any]]] = {field.name: [] for field in fields(Frames)}
    for record in records:
        if record.status is Status.DONE and record.outcome is not None:
            for name, row in game_rows(record):
                rows[name].append(row)
    return Frames(**{name: pl.DataFrame(rows[name], SCHEMAS[name], orient="row") for name in rows})
