"""The players of a corpus, and who is named among them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from liescope.detectors.view.transcript import KILLED
from liescope.games.registry import roles_of
from liescope.generate.corpus import collected, read


def who_spoke(source: str) -> pl.Expr:
    """Where words come from: what is imported is a model's, unless its log names a person."""
    return pl.col(source).replace("imported", "model")


def read_players(folder: Path, name: str) -> pl.DataFrame:
    """The players of all games of a corpus, in order of their games: corpus, game_id (with its corpus), game,
    speaker_model and source, as in the table of statements; player, deceives (null where it is not known), villager
    (whether its role is to know nothing) and killed (at night; whom the table votes out is not).
    """
    corpus, seat = pl.lit(name), pl.col("seat").struct
    games = collected(read(folder, "games").select("game_id", "game", seat="seats"), folder)
    bystanders = sorted(roles_of(lambda game: game.bystanders))
    seats = games.sort("game_id", maintain_order=True).explode("seat").drop_nulls("seat")
    return seats.select(
        corpus.alias("corpus"),
        pl.concat_str(corpus, pl.lit("/"), "game_id").alias("game_id"),
        "game",
        speaker_model=seat.field("model"),
        source=seat.field("source"),
        player=seat.field("name"),
        deceives=seat.field("deceives"),
        villager=seat.field("role").is_in(bystanders).fill_null(value=False),
        killed=seat.field("fate").eq(KILLED).fill_null(value=False),
    ).with_columns(who_spoke("source"))


def named(players: pl.DataFrame) -> pl.DataFrame:
    """Whom each table names, where it is known who deceives, and somebody does: the most suspect of those who were not
    killed. players: with `number` of the game and `score`. One row a game: number, right (the share of those who
    deceive among the equally most suspect), sure (the probability of the most suspect, those of the candidates taken
    together as who deceives), chance (that of naming at random) and candidates (how many).
    """
    known = players.filter(pl.col("deceives").is_null().any().over("game_id").not_())
    return _named(known.filter(~pl.col("killed")).with_columns(by=pl.col("game_id")))


def named_by_villagers(players: pl.DataFrame) -> pl.DataFrame:
    """The same from the seat of each villager who was not killed, who does not name itself: one row a villager."""
    alive = players.filter(~pl.col("killed"))
    seats = alive.filter("villager").select("game_id", by="player")
    others = alive.join(seats, on="game_id", maintain_order="left").filter(pl.col("player") != pl.col("by"))
    known = others.filter(pl.col("deceives").is_null().any().over("game_id").not_())
    return _named(known)


def _named(candidates: pl.DataFrame) -> pl.DataFrame:
    score, lies = pl.col("score"), pl.col("deceives").cast(pl.Float64)
    found = candidates.group_by("game_id", "by", maintain_order=True).agg(
        number=pl.col("number").first(),
        right=lies.filter(score == score.max()).mean(),
        sure=(score.max() * lies.sum() / score.sum()).fill_nan(0.0),
        chance=lies.mean(),
        candidates=pl.len(),
    )
    return found.filter((pl.col("chance") > 0) & (pl.col("chance") < 1)).drop("game_id", "by")
