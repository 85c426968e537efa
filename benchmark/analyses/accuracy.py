"""How often those who do not deceive vote for one who does, against the chance of the ballot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import SHARE, by_model, cell_names, dots, of_game
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.jester_games import chosen, last_ballots
from liescope.benchmark.analyses.needs import SIDES_KNOWN, VOTES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def vote_accuracy(frames: Frames) -> pl.DataFrame:
    """The share of a role's votes that name a player whose role deceives, by the voter's model (section 3.2).

    Votes in the last ballot of each day, by voters whose role does not deceive; drawn votes do not count. Columns:
    game, condition, model, learning, voter_role, mean (the share), lo, hi (over games), n (votes), games,
    chance (the share of such players among the living others, the mean over these votes).
    """
    keys = [*CELL, "voter_role"]
    votes = honest_votes(frames)
    chance = votes.group_by(keys).agg(pl.col("chance").mean())
    return game_means(votes, keys, "hit").join(chance, on=keys, how="left", maintain_order="left")


def honest_votes(frames: Frames) -> pl.DataFrame:
    """The votes that counted and were chosen, of players whose role does not deceive.

    Columns: game_id, family, day, those of `CELL` (model: the voter's), voter_role, hit (it is for one whose role
    does), chance (the share of such players among the living others).
    """
    voted_out = pl.when(pl.col("fate") == "exiled").then(pl.col("day_out"))
    last_day = pl.when(pl.col("fate") != "alive").then(pl.coalesce(voted_out, pl.col("day_out") - 1))
    seats = frames.seats.drop_nulls("deceives").with_columns(last_day=last_day)
    votes = chosen(last_ballots(frames)).drop_nulls("target")
    days = votes.select("game_id", "day").unique()
    living = (
        days.join(seats, on="game_id")
        .filter(pl.col("last_day").is_null() | (pl.col("day") <= pl.col("last_day")))
        .group_by("game_id", "day")
        .agg(chance=pl.col("deceives").sum() / (pl.len() - 1))
    )
    side = seats.select("game_id", "name", "deceives")
    return (
        votes.join(side.rename({"deceives": "_own"}), left_on=["game_id", "voter"], right_on=["game_id", "name"])
        .filter(~pl.col("_own"))
        .join(side.rename({"deceives": "hit"}), left_on=["game_id", "target"], right_on=["game_id", "name"])
        .join(living, on=["game_id", "day"])
        .select("game_id", "family", "day", *CELL, "voter_role", pl.col("hit", "chance").cast(pl.Float64))
    )


def plot_vote_accuracy(table: pl.DataFrame) -> Figure:
    """One panel per role, a row a cell; a line at chance where it is the same for all."""
    cells, roles = cell_names(table), of_game(table, "voter_role")
    chance = table["chance"].round(6).unique()
    even = chance.item() if len(chance) == 1 else None
    axis = "share of votes for one whose role deceives"
    return dots(table, "mean", axis, cells, roles, colours=by_model(table, cells), reference=even, limits=SHARE)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "vote_accuracy",
        "Votes for a player who deceives",
        vote_accuracy,
        plot_vote_accuracy,
        needs=(VOTES, SIDES_KNOWN),
        otherwise="nobody whose role does not deceive chose a vote",
        interval=Interval.MEANS,
        source="section 3.2",
        paper=MINI_MAFIA,
        note="The dotted line, and the column chance, are votes at random among the living others. Roles that know who "
        "deceives have nothing to find out.",
        main=True,
        corrections=(Alike(("learning", "voter_role")),),
    ),
)
