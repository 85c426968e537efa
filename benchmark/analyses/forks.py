"""What a lie changes: recorded games, continued from one moment with different texts said there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, in_order, told
from liescope.benchmark.analyses.analysis_figures import Dots, spelt
from liescope.benchmark.analyses.conditions_of_play import GAME, PLAYERS, RATER, chosen
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero
from liescope.benchmark.capability.counts import schema
from liescope.common.statistics import CHANGE, Rows, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = {"won": "its side wins", "votes": "the others' votes for it", "suspicion": "the others' suspicion of it"}
_AT = ("run", "siblings", "fork_step", "fork_seat")
_MOMENT = (*GAME, *_AT)
_CAUSES = ("label_claim", "label_self")
"""Labels of what was said, by the log and by its speaker. The others are no property of the words: a role is the same
for all texts of a moment, the peers' flags are what the words brought about.
"""
_LIES = schema(
    "text game condition rater measure label",
    "number after_lies after_honest difference lo hi",
    "text unit",
    "count units pairs moments games",
)


def fork_lies(frames: Frames) -> pl.DataFrame:
    """The effect of lying at a moment: groups that lied at a moment against groups that said something honest
    there, over all moments.

    Only groups whose continuations all say the same count, under the label that most of them have. label:
    label_claim or label_self. Differences are taken between continuations with one number at one moment, which draw the
    same random numbers, then averaged over each moment, over each recorded game, and over games. measure: won (the
    replayed seat's side wins), votes (the share of the others' votes, in the ballots after the moment, for that seat;
    drawn votes do not count), suspicion (the mean of the ratings of what was said at the moment). unit: what the
    interval (Student's) treats as independent: recorded games; with one game, its moments, so that it speaks for that
    game alone; with one moment, continuations, so that it speaks for these texts at that moment.

    Columns: game, condition, rater ("players" for won and votes), measure, label, after_lies, after_honest, difference,
    lo, hi, unit, units (how many), pairs, moments, games (recorded games).
    """
    group = [*_AT, "fork_group"]
    labels = _labels(frames).unpivot(_CAUSES, index=group, variable_name="label", value_name="lie").drop_nulls("lie")
    pair = [*GAME, RATER, "measure", "label", *_AT, "turn"]
    means = _endings(frames).join(labels, on=group).group_by(*pair, "lie").agg(pl.col("value").mean())
    lies, honest = (means.filter(pl.col("lie") == lie).drop("lie") for lie in (True, False))
    both = lies.join(honest, on=pair, suffix="_honest").sort(*pair)
    keys = [*GAME, RATER, "measure", "label"]
    found = [(*key, *_pooled(part)) for key, part in both.group_by(keys, maintain_order=True)]
    return pl.DataFrame(found, _LIES, orient="row").sort(keys)


def _pooled(pairs: pl.DataFrame) -> tuple[Any, ...]:
    """The figures of a row of `fork_lies`."""
    each = pairs.with_columns(less=pl.col("value") - pl.col("value_honest"))
    figures = pl.col("value", "value_honest", "less").mean()
    moments = each.group_by(_AT).agg(figures).sort(_AT)
    games = moments.group_by("siblings").agg(figures).sort("siblings")
    unit, of = next(
        (name, rows)
        for name, rows in (("games", games), ("moments", moments), ("continuations", each))
        if rows.height > 1 or name == "continuations"
    )
    counts = each.height, moments.height, games.height
    after, honest, middle = (float(games[name].to_numpy().mean()) for name in ("value", "value_honest", "less"))
    return after, honest, middle, *mean(Rows.of(of["less"]), CHANGE), unit, of.height, *counts


def _endings(frames: Frames) -> pl.DataFrame:
    """How each continuation ended for the replayed seat: game_id, the columns of a moment, fork_group,
    turn, rater, measure and value; in order of play.
    """
    games = frames.games.filter(pl.col("fork_seat").is_not_null()).sort("turn", "game_id")
    games = games.select("game_id", *_MOMENT, "fork_group", "turn", "fork_event")
    won = frames.seats.select("game_id", "won", fork_seat="name")
    said = _said(frames, games)
    moments = said.group_by(_AT).agg(pl.col("_day").first(), pl.col("ballot").first())
    votes = chosen(frames.votes).select("game_id", "day", "target", "voter", _ballot="ballot")
    later = (pl.col("day") > pl.col("_day")) | (
        (pl.col("day") == pl.col("_day")) & (pl.col("_ballot") >= pl.col("ballot"))
    )
    shares = (
        games.join(moments, on=list(_AT))
        .join(votes, on="game_id")
        .filter(later & (pl.col("voter") != pl.col("fork_seat")))
        .group_by("game_id")
        .agg(value=(pl.col("target") == pl.col("fork_seat")).mean())
    )
    rated = (
        said.select("game_id", "statement_id")
        .unique()
        .join(frames.ratings.select("statement_id", RATER, "suspicion"), on="statement_id")
        .group_by("game_id", RATER)
        .agg(value=pl.col("suspicion").mean())
    )
    parts = [
        games.join(won, on=["game_id", "fork_seat"]).with_columns(value=pl.col("won").cast(pl.Float64)),
        games.join(shares, on="game_id"),
        games.join(rated, on="game_id"),
    ]
    columns = ["game_id", *_MOMENT, "fork_group", "turn", RATER, "measure", "value"]
    named = [
        part.with_columns(measure=pl.lit(name), **({} if name == "suspicion" else {RATER: pl.lit(PLAYERS)}))
        for name, part in zip(MEASURES, parts, strict=True)
    ]
    found = pl.concat([part.select(columns) for part in named]).drop_nulls("value")
    return found.sort(*_AT, in_order("measure", MEASURES), RATER, "turn", "game_id")


def _said(frames: Frames, games: pl.DataFrame) -> pl.DataFrame:
    """The statements made at the moments, with the day and the next ballot of the day."""
    place = pl.format("{}:{}", "game_id", "fork_event")
    at = games.select(*_AT, "fork_group", statement_id=place)
    return (
        frames.statements.join(at, on="statement_id")
        .filter(pl.col("speaker") == pl.col("fork_seat"))
        .with_columns(_day="day", ballot=pl.when(pl.col("phase").is_in(["voting", "defence"])).then(2).otherwise(1))
    )


def _labels(frames: Frames) -> pl.DataFrame:
    """The labels of each group that says the same in all continuations: `_AT`, fork_group and `_CAUSES`."""
    games = frames.games.filter(pl.col("fork_seat").is_not_null())
    said = _said(frames, games).filter(pl.col("text").n_unique().over(*_AT, "fork_group") == 1)
    return said.group_by(*_AT, "fork_group").agg(pl.col(name).drop_nulls().mode().sort().first() for name in _CAUSES)


def plot_fork_lies(table: pl.DataFrame) -> Figure:
    """A panel for each measure, a row for each label."""
    panels = [
        MEASURES[measure] + (f", rated by {rater}" if rater != PLAYERS else "")
        for measure, rater in table.select("measure", RATER).iter_rows()
    ]
    return Dots("a lie less an honest statement", spelt("label"), panels, reference=0)(table)


ANALYSES_OF_FORKS: tuple[Analysis, ...] = (
    told("fork_lies", fork_lies, plot_fork_lies, interval=Interval.STUDENT, corrections=(Zero(draws=("units",)),)),
)
