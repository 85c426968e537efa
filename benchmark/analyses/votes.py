"""Whom players vote for: the werewolves on day 1, votes and suspicion, and how far votes agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import (
    BALLOTS,
    MINI_MAFIA,
    RANKS,
    SAID,
    SIDES_KNOWN,
    VOTES,
    WINNERS,
    Analysis,
    dealt,
)
from liescope.benchmark.analyses.analysis_figures import SHARE, by_model, cell_names, curves, dots, of_game
from liescope.benchmark.analyses.conditions_of_play import CELL, GAME, MODEL, RATER, chosen, last_ballots
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means, share_difference, shares
from liescope.benchmark.analyses.sides import united_roles
from liescope.common.colours import COLOURS
from liescope.games.core import Phase
from liescope.games.werewolf import JESTER, WEREWOLF, WEREWOLVES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_METRICS = {
    "unanimous": "all werewolves vote for one player",
    "voted_jester": "a werewolf votes for the jester",
    "voted_partner": "a werewolf votes for its partner",
    "wolves_won": "the werewolves win after voting for the jester",
}
_FIRST_DAY = tuple(_METRICS)


def wolf_votes_first_day(frames: Frames) -> pl.DataFrame:
    """The werewolves' votes on day 1, in the first ballot and in the revote (Table 14, Figure 12a).

    Each is a share of games with a jester in which a werewolf voted that day: unanimous (all werewolves for the same
    player; only games where two or more voted count), voted_jester and voted_partner (at least one of them did), and
    wolves_won, of the games in which one voted for the jester. Drawn votes do not count.

    Columns: game, condition, model (the werewolves'), learning, ballot (1 first, 2 revote), metric, count, games, rate,
    lo, hi (Wilson's interval).
    """
    triadic = frames.games.filter("triadic").select("game_id", wolves_won=pl.col("winner") == WEREWOLVES)
    wolves = chosen(frames.votes).filter((pl.col("voter_role") == WEREWOLF) & (pl.col("day") == 1))
    games = (
        wolves.join(triadic, on="game_id")
        .group_by(*CELL, "ballot", "game_id", "family")
        .agg(
            unanimous=pl.when(pl.len() > 1).then(pl.col("target").n_unique() == 1),
            voted_jester=(pl.col("target_role") == JESTER).any(),
            voted_partner=(pl.col("target_role") == WEREWOLF).any(),
            wolves_won=pl.when((pl.col("target_role") == JESTER).any()).then(pl.col("wolves_won").first()),
        )
    )
    long = games.unpivot(_FIRST_DAY, index=["family", *CELL, "ballot"], variable_name="metric").drop_nulls("value")
    counts = long.with_columns(count=pl.col("value").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    place = pl.col("metric").replace_strict({name: at for at, name in enumerate(_FIRST_DAY)}, return_dtype=pl.Int64)
    return shares(counts, [*CELL, "ballot", "metric"], "count", "games").sort(*CELL, "ballot", place)


def vote_ranks(frames: Frames) -> pl.DataFrame:
    """How closely votes follow suspicion: the mean rank of the target in the voter's running suspicion (Figure 12b).

    1 is the most suspected of the living others, ties averaged; every ballot counts, drawn votes do not. Columns: game,
    condition, model (the voter's), learning, rater, voter_role, mean, lo, hi (over games), n (votes), games.
    """
    return game_means(chosen(frames.ranks), [*CELL, RATER, "voter_role"], "suspicion_rank", (1.0, math.inf))


def vote_targets(frames: Frames) -> pl.DataFrame:
    """Which role votes for which: of a role's votes in the last ballot of each day, the share that goes to each role.

    Drawn votes do not count.

    Columns: game, condition, model (the voter's), learning, voter_role, target_role, mean (the share), lo, hi
    (over games), n (votes of the voter's role), games.
    """
    keys = ["game", "condition", "learning"]
    roles = frames.seats.select(*keys, target_role="role").unique()
    rows = chosen(last_ballots(frames)).rename({"target_role": "voted"}).join(roles, on=keys, how="inner")
    rows = rows.with_columns(hit=pl.col("voted") == pl.col("target_role"))
    return game_means(rows, [*CELL, "voter_role", "target_role"], "hit")


_COORDINATION = ("wolf_unanimity", "wolf_votes_jester", "consensus")


def coordination(frames: Frames) -> pl.DataFrame:
    """How far the votes of a day agree, by ballot (Appendix K.4, which counts days from 0).

    wolf_unanimity: whether all living players of the roles that know each other (werewolves, mafiosos; see `sides`)
    vote for the same player, where two or more do.
    wolf_votes_jester: the share of their votes that goes to a jester, on days when one is alive. consensus: the
    largest share of all votes on one player. Cells with and without learning are pooled, as in the paper. Drawn votes
    do not count.

    Columns: game, condition, model, metric, ballot (1 first, 2 revote), day, mean, lo, hi (over games), n
    (ballots; for wolf_votes_jester votes), games.
    """
    keys = [*MODEL, "ballot", "day"]
    of_game = frames.games.select("game_id", model="model")
    votes = chosen(frames.votes).drop("model").join(of_game, on="game_id")
    killers = votes.join(united_roles(), left_on=["game", "voter_role"], right_on=["game", "role"], how="semi")
    united = killers.group_by(*keys, "game_id", "family").agg(
        metric=pl.lit("wolf_unanimity"),
        value=pl.when(pl.len() > 1).then((pl.col("target").n_unique() == 1).cast(pl.Float64)),
    )
    voted_out = pl.when(pl.col("fate") == "exiled").then(pl.col("day_out"))
    last_day = (
        pl.when(pl.col("fate") == "alive")
        .then(pl.lit(math.inf))
        .otherwise(pl.coalesce(voted_out, pl.col("day_out") - 1))
    )
    jesters = frames.seats.filter(pl.col("role") == JESTER).group_by("game_id").agg(last_day=last_day.max())
    jester = (
        killers.join(jesters, on="game_id")
        .filter(pl.col("day") <= pl.col("last_day"))
        .select(
            *keys,
            "game_id",
            "family",
            metric=pl.lit("wolf_votes_jester"),
            value=(pl.col("target_role") == JESTER).cast(pl.Float64),
        )
    )
    consensus = (
        votes.group_by(*keys, "game_id", "family", "target")
        .agg(votes=pl.len())
        .group_by(*keys, "game_id", "family")
        .agg(metric=pl.lit("consensus"), value=pl.col("votes").max() / pl.col("votes").sum())
    )
    table = game_means(pl.concat([united, jester, consensus]), [*keys, "metric"], "value")
    place = pl.col("metric").replace_strict({name: at for at, name in enumerate(_COORDINATION)}, return_dtype=pl.Int64)
    table = table.sort(*MODEL, place, "ballot", "day")
    return table.select(*MODEL, "metric", "ballot", "day", "mean", "lo", "hi", "n", "games")


def plot_wolf_votes_first_day(table: pl.DataFrame) -> Figure:
    """A panel a metric, a row a cell: the first ballot and the revote."""
    ballots = ["first ballot" if ballot == 1 else "revote" for ballot in table["ballot"]]
    metrics = [_METRICS[metric] for metric in table["metric"]]
    colours = {"first ballot": COLOURS["blue"], "revote": COLOURS["orange"]}
    return dots(table, "rate", "share of games", cell_names(table), metrics, ballots, colours, limits=SHARE)


def plot_vote_ranks(table: pl.DataFrame) -> Figure:
    """One panel per voter role, a row a cell."""
    cells, roles = cell_names(table), of_game(table, "voter_role")
    axis = "mean rank of the vote's target; 1: most suspected"
    return dots(table, "mean", axis, cells, roles, colours=by_model(table, cells), reference=1)


def plot_coordination(table: pl.DataFrame) -> Figure:
    """For the ballots that counted: one panel per metric, one curve per model over the days."""
    table = table.filter(pl.col("ballot") == pl.col("ballot").max().over("game"))
    models, metrics = cell_names(table), [metric.replace("_", " ") for metric in table["metric"]]
    return curves(table, "day", "mean", metrics, models, by_model(table, models), ("day", "share of votes"))


ANALYSES_OF_VOTES: tuple[Analysis, ...] = (
    Analysis(
        "wolf_votes_first_day",
        "Werewolves' votes on day 1, before and after the revote",
        wolf_votes_first_day,
        plot_wolf_votes_first_day,
        needs=(dealt(JESTER), VOTES),
        otherwise="no werewolf chose its vote on day 1",
        interval=Interval.SHARES,
        source="Table 14, Figure 12a",
        note="A vote that exiles the jester loses the werewolves the game; shares are of games.",
        main=True,
        corrections=(Alike(("learning", "ballot", "metric"), "rate"),),
    ),
    Analysis(
        "vote_ranks",
        "Votes and suspicion",
        vote_ranks,
        plot_vote_ranks,
        needs=(RANKS,),
        interval=Interval.MEANS,
        source="Figure 12b",
        note="Mean rank of the vote's target in the voter's own suspicion; 1: always the most suspected.",
        main=True,
        corrections=(Alike(("learning", "rater", "voter_role")),),
    ),
    Analysis(
        "vote_targets",
        "Who votes for whom",
        vote_targets,
        needs=(VOTES,),
        interval=Interval.MEANS,
        source="section 5.4",
        note="Of the votes that one role casts in the last ballot of a day, the share that goes to each role.",
        corrections=(Alike(("learning", "voter_role", "target_role")),),
    ),
    Analysis(
        "coordination",
        "Unanimity and consensus by day",
        coordination,
        plot_coordination,
        needs=(VOTES,),
        interval=Interval.MEANS,
        source="Appendix K.4",
        note="Only some games reach the later days, so a trend over days mixes change with selection.",
    ),
)


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


ANALYSES_OF_ACCURACY: tuple[Analysis, ...] = (
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


LAST, NOT_LAST, ALL = "last", "not last", "all games"
GAIN, ADVANTAGE = "last - not last", "last - all games"
_MEASURES = (LAST, NOT_LAST, ALL, GAIN, ADVANTAGE)


def last_word(frames: Frames) -> pl.DataFrame:
    """How often a role's side wins where the role spoke last before the last ballot of the game (section 4.2).

    A role counts in the games in which it has a voter in that ballot. Columns: game, condition, role, measure ("last",
    "not last", "all games", "last - not last", and "last - all games", the advantage of the paper), wins, games, rate,
    lo, hi (Wilson's interval; of a difference Newcombe's). The second difference is the first times the share of games
    in which the role was not last, and so are its bounds.
    """
    sides = last_words(frames)
    keys = [*GAME, "role"]
    last = pl.col("last")
    counts = sides.with_columns(wins=pl.col("won").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    each = ((LAST, last), (NOT_LAST, ~last), (ALL, pl.lit(True)))
    parts = [counts.filter(where).with_columns(measure=pl.lit(name)) for name, where in each]
    rates = shares(pl.concat(parts), [*keys, "measure"], "wins", "games")
    found = []
    for key, part in counts.group_by(keys, maintain_order=True):
        one, other = part.filter(last), part.filter(~last)
        if one.height and other.height:
            gain = share_difference(one, other, "wins", "games")
            rest = other.height / part.height
            found.append((*key, GAIN, None, None, *gain))
            found.append((*key, ADVANTAGE, None, None, *(None if one is None else one * rest for one in gain)))
    place = pl.col("measure").replace_strict({name: at for at, name in enumerate(_MEASURES)}, return_dtype=pl.Int64)
    return pl.concat([rates, pl.DataFrame(found, rates.schema, orient="row")]).sort(*keys, place)


def last_words(frames: Frames) -> pl.DataFrame:
    """One row for each role with a voter in the last ballot of a game with a known winner: game_id, family, game,
    condition, role, won (the role's side), last (the role had the last word).

    The last word is the last turn to speak before the ballot, used or not: rules may draw turns, but who is heard last
    also depends on who is silent. In games that speak at other times than in discussion, it is the last statement of
    that day's discussion.
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


def plot_last_word(table: pl.DataFrame) -> Figure:
    """A row a role: its rate with the last word, and without."""
    rates = table.filter(pl.col("measure").is_in([LAST, NOT_LAST]))
    colours = {LAST: COLOURS["orange"], NOT_LAST: COLOURS["blue"]}
    axis = "share of games that the role's side won"
    return dots(rates, "rate", axis, "role", cell_names(rates), "measure", colours)


ANALYSES_OF_LAST_WORD: tuple[Analysis, ...] = (
    Analysis(
        "last_word",
        "The last word before the vote",
        last_word,
        plot_last_word,
        needs=(SAID, BALLOTS, WINNERS),
        otherwise="nobody spoke before the last vote of a game",
        interval=Interval.SHARES_AND_DIFFERENCE,
        source="section 4.2",
        paper=MINI_MAFIA,
        note="How often a role's side wins if the role speaks last before the last vote. Where rules draw the order of "
        "speakers, the difference is an effect of the order; where players bid for the floor, it also shows who bids.",
        main=True,
    ),
)
