"""Whom players vote for: the werewolves on day 1, votes and suspicion, and how far votes agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, Differences, Means, Shares, long, told
from liescope.benchmark.analyses.analysis_figures import SHARE, Curves, Dots, cell_names, of_game, spelt
from liescope.benchmark.analyses.conditions_of_play import CELL, GAME, MODEL, RATER, chosen, last_ballots, united_roles
from liescope.benchmark.analyses.frames import Frames
from liescope.common.colours import COLOURS
from liescope.games.core import Phase
from liescope.games.werewolf.rules import JESTER, WEREWOLF, WEREWOLVES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FIRST_DAY = {
    "unanimous": "all werewolves vote for one player",
    "voted_jester": "a werewolf votes for the jester",
    "voted_partner": "a werewolf votes for its partner",
    "wolves_won": "the werewolves win after voting for the jester",
}
_COORDINATION = ("wolf_unanimity", "wolf_votes_jester", "consensus")
_BALLOTS = {1: "first ballot", 2: "revote"}


def _werewolves_first_day(frames: Frames) -> pl.DataFrame:
    """A row for each ballot of day 1 with a werewolf's vote, in games with a jester: whether all werewolves voted for
    one player, if two or more voted; whether one voted for the jester or a werewolf; whether they won, if one voted for
    the jester.
    """
    triadic = frames.games.filter("triadic").select("game_id", wolves_won=pl.col("winner") == WEREWOLVES)
    wolves = chosen(frames.votes).filter((pl.col("voter_role") == WEREWOLF) & (pl.col("day") == 1))
    jester = (pl.col("target_role") == JESTER).any()
    games = (
        wolves.join(triadic, on="game_id")
        .group_by(*CELL, "ballot", "game_id", "family")
        .agg(
            unanimous=pl.when(pl.len() > 1).then(pl.col("target").n_unique() == 1),
            voted_jester=jester,
            voted_partner=(pl.col("target_role") == WEREWOLF).any(),
            wolves_won=pl.when(jester).then(pl.col("wolves_won").first()),
        )
    )
    return long(games, tuple(_FIRST_DAY))


def _targets(frames: Frames) -> pl.DataFrame:
    """Every vote that counted and was chosen, once for each role of the game: whether it went to that role."""
    keys = ["game", "condition", "learning"]
    roles = frames.seats.select(*keys, target_role="role").unique()
    rows = chosen(last_ballots(frames)).rename({"target_role": "voted"}).join(roles, on=keys, how="inner")
    return rows.with_columns(hit=pl.col("voted") == pl.col("target_role"))


def _agreeing(frames: Frames) -> pl.DataFrame:
    """How far the votes of a day agree, by ballot (Appendix K.4, which counts days from 0).

    wolf_unanimity: whether all living players of the roles that know each other (see `united_roles`) vote for the same
    player, where two or more do. wolf_votes_jester: whether one of their votes goes to a jester, on days when one is
    alive. consensus: the largest share of all votes on one player. Drawn votes do not count.
    """
    keys = [*MODEL, "ballot", "day", "game_id", "family"]
    of_game = frames.games.select("game_id", model="model")
    votes = chosen(frames.votes).drop("model").join(of_game, on="game_id")
    killers = votes.join(united_roles(), left_on=["game", "voter_role"], right_on=["game", "role"], how="semi")
    united = killers.group_by(keys).agg(
        metric=pl.lit("wolf_unanimity"),
        value=pl.when(pl.len() > 1).then((pl.col("target").n_unique() == 1).cast(pl.Float64)),
    )
    last_day = pl.when(pl.col("fate") == "alive").then(pl.lit(math.inf)).otherwise(_LAST_DAY)
    jesters = frames.seats.filter(pl.col("role") == JESTER).group_by("game_id").agg(last_day=last_day.max())
    jester = (
        killers.join(jesters, on="game_id")
        .filter(pl.col("day") <= pl.col("last_day"))
        .select(*keys, metric=pl.lit("wolf_votes_jester"), value=(pl.col("target_role") == JESTER).cast(pl.Float64))
    )
    consensus = (
        votes.group_by(*keys, "target")
        .agg(votes=pl.len())
        .group_by(keys)
        .agg(metric=pl.lit("consensus"), value=pl.col("votes").max() / pl.col("votes").sum())
    )
    return pl.concat([united, jester, consensus])


_VOTED_OUT = pl.when(pl.col("fate") == "exiled").then(pl.col("day_out"))
_LAST_DAY = pl.when(pl.col("fate") != "alive").then(pl.coalesce(_VOTED_OUT, pl.col("day_out") - 1)).alias("last_day")
"""The last day on which a seat could vote and be voted for; null if it lived to the end."""


ANALYSES_OF_VOTES: tuple[Analysis, ...] = (
    told(
        "wolf_votes_first_day",
        Shares(_werewolves_first_day, "value", (*CELL, "ballot", "metric"), order={"metric": _FIRST_DAY}, alike=True),
        Dots(
            "share of games",
            facets=spelt("metric", _FIRST_DAY),
            series=spelt("ballot", _BALLOTS),
            colours={"first ballot": COLOURS["blue"], "revote": COLOURS["orange"]},
            limits=SHARE,
        ),
    ),
    told(
        "vote_ranks",
        # 1 is the most suspected of the living others, ties averaged; every ballot counts, drawn votes do not.
        Means(
            lambda frames: chosen(frames.ranks),
            "suspicion_rank",
            (*CELL, RATER, "voter_role"),
            (1.0, math.inf),
            alike=True,
        ),
        Dots(
            "mean rank of the vote's target; 1: most suspected",
            facets=of_game("voter_role"),
            colours="model",
            reference=1,
        ),
    ),
    told("vote_targets", Means(_targets, "hit", (*CELL, "voter_role", "target_role"), alike=True)),
    told(
        "coordination",
        # Cells with and without learning are pooled, as in the paper. n: ballots; for wolf_votes_jester votes.
        Means(_agreeing, "value", (*MODEL, "metric", "ballot", "day"), order={"metric": _COORDINATION}),
        Curves(
            "day",
            ("day", "share of votes"),
            cell_names,
            spelt("metric"),
            "model",
            where=pl.col("ballot") == pl.col("ballot").max().over("game"),
        ),
    ),
)


def honest_votes(frames: Frames) -> pl.DataFrame:
    """The votes that counted and were chosen, of players whose role does not deceive.

    Columns: game_id, family, day, those of `CELL` (model: the voter's), voter_role, hit (it is for a deceiver), chance
    (the share of such players among the living others).
    """
    seats = frames.seats.drop_nulls("deceives").with_columns(_LAST_DAY)
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
    chance = table["chance"].round(6).unique()
    even = chance.item() if len(chance) == 1 else None
    axis = "share of votes for one whose role deceives"
    return Dots(axis, facets=of_game("voter_role"), colours="model", reference=even, limits=SHARE)(table)


ANALYSES_OF_ACCURACY: tuple[Analysis, ...] = (
    told(
        "vote_accuracy",
        Means(
            honest_votes,
            "hit",
            (*CELL, "voter_role"),
            also={"chance": pl.col("chance").mean()},  # share of deceivers among the living others, over these votes
            alike=True,
        ),
        plot_vote_accuracy,
    ),
)


def last_words(frames: Frames) -> pl.DataFrame:
    """One row for each role with a voter in the last ballot of a game with a known winner: game_id, family, game,
    condition, role, won (the role's side), last (the role had the last word).

    The last word is the last turn to speak before the ballot, used or not: the rules may draw turns, but who is heard
    last also depends on silences. In games with talk outside discussions, it is the last statement of that day's
    discussion.
    """
    ballots = last_ballots(frames).filter(pl.col("day") == pl.col("day").max().over("game_id"))
    voters = ballots.select("game_id", "day", role="voter_role").unique()
    talk = frames.statements.unique("statement_id", maintain_order=True)
    in_discussion = pl.col("phase") == Phase.DISCUSSION.value
    elsewhere = talk.filter(~in_discussion).select("game_id").unique()
    turns = frames.games.drop_nulls("last_speaker").join(elsewhere, on="game_id", how="anti")
    said = talk.filter(in_discussion).join(ballots.select("game_id", "day").unique(), on=["game_id", "day"])
    heard = said.group_by("game_id").agg(pl.col("speaker").sort_by("position").last())
    speakers = heard.join(turns.select("game_id", "last_speaker"), on="game_id", how="left").select(
        "game_id", name=pl.coalesce("last_speaker", "speaker")
    )
    seats = frames.seats.drop_nulls("won")
    last = seats.join(speakers, on=["game_id", "name"]).select("game_id", _last="role")
    sides = seats.group_by("game_id", "family", *GAME, "role").agg(pl.col("won").any())
    return (
        sides.join(voters, on=["game_id", "role"], how="semi")
        .join(last, on="game_id")
        .select("game_id", "family", *GAME, "role", "won", last=pl.col("role") == pl.col("_last"))
        .sort("game_id", "role")
    )


ANALYSES_OF_LAST_WORD: tuple[Analysis, ...] = (
    told(
        "last_word",
        # advantage: as in the paper, relative to all games of the role, including those in which it spoke last
        Differences(
            last_words,
            "won",
            (*GAME, "role"),
            "last",
            "last",
            "not_last",
            also={"advantage": pl.col("won").filter("last").mean() - pl.col("won").mean()},
        ),
        Dots("win rate, last minus not last", "role", reference=0, limits=(-1.02, 1.02)),
    ),
)
