"""Frames made by hand: rows with the columns that matter, and games of which only what a table counts is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.frames import Frames, frames_of, part_frames
from liescope.games.record import GameRecord
from liescope.games.werewolf.rules import JESTER, VILLAGERS, WEREWOLF, WEREWOLVES
from liescope.generate.corpus.open import tables_of

SCHEMAS = {name: dict(frame.schema) for name, frame in part_frames(tables_of([])).items()}
"""The columns of each frame with their types."""


def load_frames(records: Iterable[GameRecord], pool: bool = False) -> Frames:
    """Frames of the finished ones among recorded games, each as often as it was rated."""
    parts: list[list[GameRecord]] = []
    times: Counter[str] = Counter()
    for record in records:
        if times[record.game_id] == len(parts):
            parts.append([])
        parts[times[record.game_id]].append(record)
        times[record.game_id] += 1
    return frames_of([tables_of(part) for part in parts], pool)


Rows = Sequence[Mapping[str, Any]]
_COMMON = {
    "game": "werewolf",
    "condition": "",
    "model": "m",
    "learning": False,
    "day": 1,
    "rater": "players",
    "observer_seat_model": "m",
}


def column_wise(**columns: Any) -> Rows:
    """Rows of which each column is given: a list, or what is the same in every row."""
    count = next(len(values) for values in columns.values() if isinstance(values, list))
    return [
        {name: values[at] if isinstance(values, list) else values for name, values in columns.items()}
        for at in range(count)
    ]


def made(**tables: Rows) -> Frames:
    """Frames with these rows. What every row has: game, condition, model, learning off, day 1, rater."""
    frames = {}
    for field in fields(Frames):
        schema = SCHEMAS[field.name]
        rows = [{**_COMMON, "family": row.get("game_id"), **row} for row in tables.get(field.name, ())]
        frames[field.name] = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema)
    return Frames(**frames)


def table_of(name: str) -> Callable[[Frames], pl.DataFrame]:
    """What makes the table of an analysis."""
    return next(analysis.table for analysis in ANALYSES if analysis.name == name)


@dataclass(frozen=True)
class Counted:
    """One game. fate, day_out: the jester's; wolf_vote: a werewolf voted for it in the revote of day 1."""

    winner: str
    model: str = "model"
    learning: bool = False
    turn: int | None = None
    seating: str = "fixed"
    triadic: bool = True
    fate: str = "alive"
    day_out: int | None = None
    wolf_vote: bool | None = None


def counted(games: Iterable[Counted]) -> Frames:
    """Frames with games, seats (one for each faction) and one werewolf's vote on day 1, all other frames empty."""
    rows: dict[str, list[dict[str, Any]]] = {"games": [], "seats": [], "votes": []}
    for number, game in enumerate(games):
        common = {
            **{"game_id": f"g{number}", "game": "werewolf" if game.triadic else "dyadic-werewolf"},
            **{"model": game.model, "learning": game.learning, "turn": game.turn},
        }
        facts = {"seating": game.seating, "triadic": game.triadic, "winner": game.winner, "days": 1}
        rows["games"].append({**common, **facts})
        for role, team in (("villager", VILLAGERS), (WEREWOLF, WEREWOLVES), (JESTER, JESTER))[: 2 + game.triadic]:
            fate, day = (game.fate, game.day_out) if role == JESTER else ("alive", None)
            rows["seats"].append({**common, "role": role, "team": team, "fate": fate, "day_out": day})
        if game.wolf_vote is not None:
            target = JESTER if game.wolf_vote else "villager"
            rows["votes"].append(
                {**common, "ballot": 2, "voter_role": WEREWOLF, "target": target, "target_role": target}
            )
    return made(**rows)
