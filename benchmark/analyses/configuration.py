"""What was played: the facts about the games behind every other table."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, RATER
from liescope.benchmark.analyses.frames import Frames


def configuration(frames: Frames) -> pl.DataFrame:
    """Who played and what was measured, for each cell (Table 22, as far as the games show it).

    Columns: game, condition, model, learning, rater (who reported and rated: "players" or a judge), seating, source,
    roster ("6 villager, 2 werewolf, …"), lineups (different assignments of models to roles), games, statements,
    rated (share of statements with at least one usable rating), longest (days).
    """
    keys = [*CELL, RATER, "seating", "source", "roster"]
    roster = (
        frames.seats.group_by("game_id", "role")
        .len()
        .sort("game_id", pl.col("len"), "role", descending=[False, True, False])
        .group_by("game_id", maintain_order=True)
        .agg(roster=pl.format("{} {}", "len", "role").str.join(", "))
    )
    said = frames.statements.group_by("game_id", RATER).agg(
        statements=pl.len().cast(pl.Int64), rated=(pl.col("peer_ratings") > 0).sum().cast(pl.Int64)
    )
    games = frames.games.join(roster, on="game_id", how="left").join(said, on="game_id", how="left")
    return (
        games.group_by(keys)
        .agg(
            lineups=pl.col("lineup").n_unique().cast(pl.Int64),
            games=pl.len().cast(pl.Int64),
            statements=pl.col("statements").sum(),
            rated=pl.col("rated").sum() / pl.col("statements").sum(),
            longest=pl.col("days").max(),
        )
        .sort(keys)
    )


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "configuration",
        "What was played",
        configuration,
        source="Table 22",
        note="Facts about the games; their settings are at the end of the page.",
    ),
)
