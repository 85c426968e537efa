"""Games as tidy frames: one row for each game, seat, statement, rating, vote, night act, bid, lesson and guess."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any

import polars as pl

from liescope.benchmark.analyses.cells import prepare
from liescope.benchmark.analyses.rows import game_rows
from liescope.benchmark.analyses.schemas import OPINIONS, SCHEMAS
from liescope.common.errors import BadData
from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Status

__all__ = ["SCHEMAS", "Frames", "load_frames"]


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames of a set of finished games; the columns of each stand in `SCHEMAS`.

    What happened stands once for each game; what somebody thought of it (statements with the reports on them, ratings,
    ranks, guesses, tags) once for each rater: "players", or the name of a judge.

    model: of a row about a seat, the model in that seat (statements and ratings: the speaker's; votes: the voter's); of
    a game, the one model in all seats, or `cells.MIXED`. lineup: the model of each role, roles in alphabetical order,
    as in "A | B | A" for detective, mafioso and villager (several models of a role: "A+B"). condition: what tells the
    game's settings from those of the other games of the set, "" where nothing does. learning: the jester of the game's
    cell learns. turn: the game's number in its cell, from 0. day: from 1. days: those that came to a vote, which the
    last one does not where a game ends at night. drawn: the rules chose, since the reply held nothing usable or nobody
    was asked. suspicion_rank: of a vote's target among the living others in the voter's own running suspicion, 1 for
    the most suspected, ties averaged. fate: alive, killed or exiled. position: of the statement within its day, from 1.
    """

    games: pl.DataFrame
    seats: pl.DataFrame
    statements: pl.DataFrame
    ratings: pl.DataFrame
    votes: pl.DataFrame
    ranks: pl.DataFrame
    nights: pl.DataFrame
    bids: pl.DataFrame
    lessons: pl.DataFrame
    guesses: pl.DataFrame
    tags: pl.DataFrame


def load_frames(records: Iterable[GameRecord], pool: bool = False) -> Frames:
    """Frames of the finished ones among the games, in one pass. A game may come several times, each time with other
    raters. pool: games of different settings are one condition.

    Raises BadData where two records of one game differ in what happened.
    """
    rows: dict[str, list[dict[str, Any]]] = {field.name: [] for field in fields(Frames)}
    seen: dict[str, str] = {}
    for record in records:
        if record.status is not Status.DONE or record.outcome is None:
            continue
        log = _log(record)
        again = record.game_id in seen
        if seen.setdefault(record.game_id, log) != log:
            raise BadData(f"two records of the game {record.game_id} tell different games; analyse them one at a time")
        for name, row in game_rows(record):
            if name in OPINIONS or not again:
                rows[name].append(row)
    frames = {name: pl.DataFrame(rows[name], SCHEMAS[name], orient="row") for name in rows}
    return Frames(**prepare(frames, pool))


def _log(record: GameRecord) -> str:
    """A hash of who sat where and of what was said and voted."""
    public = [
        (event.index, event.kind.value, event.actor, event.target, event.text)
        for event in record.events
        if event.kind in (EventKind.STATEMENT, EventKind.VOTE)
    ]
    return sha256(repr((record.seats, public)).encode("utf-8", "surrogatepass")).hexdigest()
