"""Frames made by hand: rows with the columns that matter, all others null."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.analysis_registry import ANALYSES
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


def table_of(name: str) -> Callable[[Frames], pl.DataFrame]:
    """What makes the table of an analysis."""
    return _named(name).table


def figure_of(name: str, frames: Frames) -> Figure:
    """The figure of an analysis."""
    analysis = _named(name)
    assert analysis.plot is not None
    return analysis.plot(analysis.table(frames))


def _named(name: str) -> Analysis:
    return next(analysis for analysis in ANALYSES if analysis.name == name)
