"""Facts about talk that several analyses use: who investigates, who claims to have, who accuses whom."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.analyses.frames import Frames
from liescope.games.registry import WORDS
from liescope.labeling.accusing import accused

INVESTIGATION = "investigation"
_ACTED = pl.col("act") == INVESTIGATION


def said(frames: Frames) -> pl.DataFrame:
    """The statements, each once however many raters they have."""
    return frames.statements.unique("statement_id", keep="first", maintain_order=True)


def investigating_roles(frames: Frames) -> pl.DataFrame:
    """game, role: the roles that investigate in these games."""
    return frames.nights.filter(_ACTED).select("game", role="actor_role").unique()


def investigators(frames: Frames) -> pl.DataFrame:
    """One row for each seat that investigated.

    Columns: those of seats; since (the day of its first investigation); culprits (the deceivers of another team that
    it investigated, by name).
    """
    seats = frames.seats.select("game_id", target="name", _deceives="deceives", _team="team")
    acts = (
        frames.nights.filter(_ACTED)
        .select("game_id", "day", "target", name="actor")
        .join(seats, on=["game_id", "target"], how="left")
        .join(frames.seats.select("game_id", "name", "team"), on=["game_id", "name"])
        .with_columns(evil=pl.col("_deceives").fill_null(False) & (pl.col("team") != pl.col("_team")))
        .group_by("game_id", "name")
        .agg(since=pl.col("day").min(), culprits=pl.col("target").filter("evil").unique().sort())
    )
    return frames.seats.join(acts, on=["game_id", "name"])


def knowing(frames: Frames) -> pl.DataFrame:
    """The claims to know from an investigation: to have investigated, or to hold a role that investigates.

    Columns: those of claims; says: "investigation" or "role".
    """
    roles = investigating_roles(frames).rename({"role": "object"}).with_columns(_investigates=True)
    claims = frames.claims.filter(~pl.col("denied")).join(roles, on=["game", "object"], how="left")
    own = (
        (pl.col("kind") == "role") & (pl.col("subject") == pl.col("speaker")) & pl.col("_investigates").fill_null(False)
    )
    says = pl.when(pl.col("kind") == INVESTIGATION).then(pl.lit(INVESTIGATION)).when(own).then(pl.lit("role"))
    return claims.with_columns(says=says).drop_nulls("says").drop("_investigates")


def accusations(frames: Frames, statements: pl.DataFrame) -> pl.DataFrame:
    """Whom each of these statements accuses, as a fact or as an opinion (`liescope.labeling.accusing`).

    Columns: game_id, statement_id, day, place, speaker, accused; one row for each player accused. Games whose words for
    roles are not known have none.
    """
    readable = statements.filter(pl.col("game").is_in(list(WORDS)))
    names = dict(frames.seats.group_by("game_id").agg(pl.col("name").sort()).rows())
    whom = [
        sorted(accused(text, speaker, names[game_id], game))
        for game_id, game, speaker, text in readable.select("game_id", "game", "speaker", "text").iter_rows()
    ]
    columns = readable.select("game_id", "statement_id", "day", "place", "speaker")
    listed = columns.with_columns(accused=pl.Series(whom, dtype=pl.List(pl.String)))
    return listed.filter(pl.col("accused").list.len() > 0).explode("accused")
