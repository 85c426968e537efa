"""What was played: the facts of the games that every other table rests on."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.frames import CELL, Frames


def configuration(frames: Frames) -> pl.DataFrame:
    """Who sat at the table and what was measured, for each cell (Table 22, as far as the games themselves show it).

    Columns: game, model, learning, seating, source, judge, roster ("6 villager, 2 werewolf, …"), games, statements,
    rated (share of statements with at least one usable rating), longest (days).
    """
    keys = [*CELL, "seating", "source", "judge", "roster"]
    roster = (
        frames.seats.group_by("game_id", "role")
        .len()
        .sort("game_id", pl.col("len"), "role", descending=[False, True, False])
        .group_by("game_id", maintain_order=True)
        .agg(roster=pl.format("{} {}", "len", "role").str.join(", "))
    )
    said = frames.statements.group_by("game_id").agg(
        statements=pl.len().cast(pl.Int64), rated=(pl.col("peer_ratings") > 0).sum().cast(pl.Int64)
    )
    games = frames.games.join(roster, on="game_id", how="left").join(said, on="game_id", how="left")
    return (
        games.group_by(keys)
        .agg(
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
        "Table 22",
        configuration,
        note="Facts of the games; the settings that they were played with stand under the runs.",
    ),
)
