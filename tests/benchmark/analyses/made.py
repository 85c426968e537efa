"""Frames made by hand: rows with the columns that matter, all others null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import polars as pl

from liescope.benchmark.analyses.frames import SCHEMAS, Frames

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


def made(**tables: Rows) -> Frames:
    """Frames with these rows. What every row has: game, condition, model, learning off, day 1, rater."""
    frames = {}
    for field in fields(Frames):
        schema = SCHEMAS[field.name]
        rows = [{**_COMMON, "family": row.get("game_id"), **row} for row in tables.get(field.name, ())]
        frames[field.name] = pl.DataFrame([{name: row.get(name) for name in schema} for row in rows], schema)
    return Frames(**frames)
