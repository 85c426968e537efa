"""Turns to speak, used or not, found from the tables of a corpus."""

from __future__ import annotations

import polars as pl


def silent_turns(spoken: pl.DataFrame, games: pl.DataFrame) -> pl.DataFrame:
    """One row per turn to speak in rounds of discussion (game_id, day, speaker, speaker_model, speaker_role, silent).

    A silence leaves no statement; it is found as a player who was in the game in a round without speaking. Only games
    in which this finds as many silences as the game counted are used: games with other ways to get the floor drop out.
    spoken, games: those tables of a corpus.
    """
    talk = spoken.filter(pl.col("phase") == "discussion")
    rounds = talk.group_by("game_id", "day", "round").agg(
        speaker=pl.col("alive").explode(empty_as_null=False, keep_nulls=False).unique(), said=pl.col("speaker")
    )
    turns = rounds.explode("speaker", empty_as_null=False, keep_nulls=False).with_columns(
        silent=~pl.col("said").list.contains(pl.col("speaker"))
    )
    counted = turns.group_by("game_id").agg(derived=pl.col("silent").sum())
    sure = games.join(counted, on="game_id").filter(pl.col("derived") == pl.col("silences")).select("game_id", "seats")
    seats = (
        sure.explode("seats")
        .unnest("seats")
        .select("game_id", speaker="name", speaker_model="model", speaker_role="role")
    )
    found = turns.join(seats, on=["game_id", "speaker"]).sort("day", "round", "speaker")
    ordered = games.select("game_id").join(found, on="game_id", maintain_order="left_right")
    return ordered.select("game_id", "day", "speaker", "speaker_model", "speaker_role", "silent")
