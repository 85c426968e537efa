"""What players left to the rules: turns passed in silence, votes and other choices drawn for unusable replies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.figures import cell_names, dots, of_game
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.games.drawn import DRAWN

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROW = ["game_id", "family", *CELL, "role", "kind", "holds"]


def mishaps(frames: Frames) -> pl.DataFrame:
    """How often a model leaves a turn unused or a choice to the rules, by role; models that never did are left out.

    Columns: game, condition, model, learning, role, kind (silent turns, deliberate or not; for unusable replies, drawn
    votes, drawn night acts and bids set to 0), mean (the share of such turns or choices), lo, hi (over
    games), n (turns or choices), games. Silent turns are of games in which they follow from who spoke in which round.
    """
    asked = frames.nights.filter(pl.col("fallback") != DRAWN).drop_nulls("actor")
    parts = [
        frames.turns.with_columns(role="speaker_role", kind=pl.lit("silent turns"), holds="silent"),
        frames.votes.with_columns(role="voter_role", kind=pl.lit("drawn votes"), holds="drawn"),
        asked.with_columns(role="actor_role", kind=pl.lit("drawn night acts"), holds="drawn"),
        frames.bids.with_columns(kind=pl.lit("bids set to 0"), holds="drawn"),
    ]
    rows = pl.concat([part.select(_ROW) for part in parts])
    some = rows.filter(pl.col("holds").any().over([*CELL, "role", "kind"]))
    return game_means(some, [*CELL, "role", "kind"], "holds").sort("game", "condition", "kind", "role", *CELL[2:])


def plot_mishaps(table: pl.DataFrame) -> Figure:
    """One panel per kind, a row a cell, a dot a role."""
    return dots(table, "mean", "share of turns or choices", cell_names(table), "kind", of_game(table, "role"))


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "mishaps",
        "Silences, drawn votes and other choices left to the rules",
        mishaps,
        plot_mishaps,
        otherwise="as far as the sources say, every turn was used, and no choice was left to the rules",
        interval=Interval.MEANS,
        note="A model whose replies cannot be read is judged by what the rules did for it. Roles in which a model "
        "never did so are left out.",
    ),
)
