"""Whether bidding for the floor pays for the jester."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.intervals import game_means
from liescope.games.werewolf import JESTER

_METRICS = ("average_bid", "first_bid", "highest_bid")


def jester_bids(frames: Frames) -> pl.DataFrame:
    """What the jester bids in games it won and lost: per game its mean bid, its first and its highest (Table 11).

    Games in which the jester never bid are left out; a bid that could not be read counts as the 0 that the rules made
    of it. Columns: game, model, learning, won, metric, mean (over games), lo, hi (bootstrap over games), games.
    """
    won = frames.games.select("game_id", won=pl.col("winner") == JESTER)
    per_game = (
        frames.bids.filter(pl.col("role") == JESTER)
        .group_by(*CELL, "game_id", maintain_order=True)
        .agg(
            average_bid=pl.col("bid").mean(),
            first_bid=pl.col("bid").first().cast(pl.Float64),
            highest_bid=pl.col("bid").max().cast(pl.Float64),
        )
        .join(won, on="game_id")
    )
    rows = per_game.unpivot(_METRICS, index=[*CELL, "game_id", "won"], variable_name="metric")
    return game_means(rows, [*CELL, "won", "metric"], "value").drop("n")


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "jester_bids",
        "The jester's bids and its wins",
        "Table 11",
        jester_bids,
        note="Bids run from 0 to 10; compare games won with games lost within a cell.",
    ),
)
