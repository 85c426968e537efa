"""Facts about games with a jester that several analyses use, one row per game."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.frames import Frames
from liescope.games.werewolf import JESTER, VILLAGERS, WEREWOLF, WEREWOLVES

_KEYS = ["game_id", "family", *CELL, "turn", "seating"]


def jester_games(frames: Frames) -> pl.DataFrame:
    """One row for each game that deals a jester.

    Columns: game_id, game, condition, learning, turn, seating; model (the jester's; several joined by "+"); and as
    booleans jester_won, villagers_won, werewolves_won; jester_killed (at night); jester_exiled_first (on day 1);
    wolf_voted_jester (at least one werewolf voted for a jester in the ballot of day 1 that counted, the revote, and
    the vote was its own; null if none voted that day).
    """
    games = frames.games.filter("triadic").select(
        *_KEYS,
        jester_won=pl.col("winner") == JESTER,
        villagers_won=pl.col("winner") == VILLAGERS,
        werewolves_won=pl.col("winner") == WEREWOLVES,
    )
    jesters = (
        frames.seats.filter(pl.col("role") == JESTER)
        .group_by("game_id")
        .agg(
            _jester=pl.col("model").unique().sort().str.join("+"),
            jester_killed=(pl.col("fate") == "killed").any(),
            jester_exiled_first=((pl.col("fate") == "exiled") & (pl.col("day_out") == 1)).any(),
        )
    )
    votes = (
        chosen(last_ballots(frames))
        .filter((pl.col("voter_role") == WEREWOLF) & (pl.col("day") == 1))
        .group_by("game_id")
        .agg(wolf_voted_jester=(pl.col("target_role") == JESTER).any())
    )
    games = games.join(jesters, on="game_id", how="left").join(votes, on="game_id", how="left")
    return games.with_columns(model=pl.coalesce("_jester", "model")).drop("_jester").sort(*CELL, "game_id")


def chosen(acts: pl.DataFrame) -> pl.DataFrame:
    """The votes or night acts that players chose, not drawn by the rules."""
    return acts.filter(~pl.col("drawn").fill_null(False))


def last_ballots(frames: Frames) -> pl.DataFrame:
    """The votes that counted: those of each day's last ballot."""
    last = pl.col("ballot").max().over("game_id", "day")
    return frames.votes.filter(pl.col("ballot") == last)
