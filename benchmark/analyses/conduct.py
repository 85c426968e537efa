"""Whether bidding for the floor pays for the jester."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import BIDS, KILLS, MINI_MAFIA, PROTECTIONS, SAID, Analysis, dealt
from liescope.benchmark.analyses.analysis_figures import (
    SHARE,
    by_model,
    by_side,
    cell_names,
    curves,
    dots,
    of_game,
    stacked_bars,
)
from liescope.benchmark.analyses.conditions_of_play import CELL, MODEL, chosen, jester_games
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means, shares
from liescope.common.colours import COLOURS
from liescope.common.statistics import POSITIVE
from liescope.games.core import Phase
from liescope.games.record import DRAWN
from liescope.games.werewolf import JESTER
from liescope.labeling.label import CUT_NOTES, LOST_TEXT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_METRICS = ("average_bid", "first_bid", "highest_bid")
_WON = {True: "jester won", False: "jester lost"}
_COLOURS = {_WON[True]: COLOURS["orange"], _WON[False]: COLOURS["grey"]}


def jester_bids(frames: Frames) -> pl.DataFrame:
    """The jester's bids in games it won and lost: its mean, first and highest bid of each game (Table 11).

    Games in which the jester never bid are left out; an unreadable bid counts as 0, as in the rules.

    Columns: game, condition, model (the jester's), learning, won, metric, mean (over games), lo, hi (over
    games), games.
    """
    won = frames.games.select("game_id", won=pl.col("winner") == JESTER)
    per_game = (
        frames.bids.filter(pl.col("role") == JESTER)
        .group_by(*CELL, "game_id", "family", maintain_order=True)
        .agg(
            average_bid=pl.col("bid").mean(),
            first_bid=pl.col("bid").first().cast(pl.Float64),
            highest_bid=pl.col("bid").max().cast(pl.Float64),
        )
        .join(won, on="game_id")
    )
    rows = per_game.unpivot(_METRICS, index=[*CELL, "game_id", "family", "won"], variable_name="metric")
    return game_means(rows, [*CELL, "won", "metric"], "value", (0.0, 10.0)).drop("n")


def plot_jester_bids(table: pl.DataFrame) -> Figure:
    """One panel per metric (Figure 10a): for each cell, the games that the jester won and did not win."""
    metrics = [metric.replace("_", " ") for metric in table["metric"]]
    won = [_WON[won] for won in table["won"]]
    return dots(table, "mean", "bid, from 0 to 10", cell_names(table), metrics, won, _COLOURS, limits=(-0.3, 10.3))


ANALYSES_OF_BIDDING: tuple[Analysis, ...] = (
    Analysis(
        "jester_bids",
        "The jester's bids and its wins",
        jester_bids,
        plot_jester_bids,
        needs=(dealt(JESTER), BIDS),
        otherwise="no jester bid for the floor",
        interval=Interval.MEANS,
        source="Table 11, Figure 10a",
        note="Bids run from 0 to 10; compare games won with games lost within a cell.",
    ),
)


SELF = "self"


def doctor_targets(frames: Frames) -> pl.DataFrame:
    """Whom doctors protect: themselves, or players of which role (Table 10, Figure 8a, Appendix C).

    Columns: game, condition, model (the doctor's), learning, target ("self" or a role), protections, n (of the cell),
    mean, lo, hi (over games).
    """
    acts = chosen(frames.nights).filter(pl.col("act") == "protection")
    own = pl.col("actor") == pl.col("target")
    return _shares(acts.with_columns(kind=pl.when(own).then(pl.lit(SELF)).otherwise("target_role")), "protections")


def victims(frames: Frames) -> pl.DataFrame:
    """Which roles those who kill at night attack, whether or not the doctor saved the victim (Figure 8b, Appendix C).

    Victims that the rules drew without asking anybody, as in Mini-Mafia, do not count. Columns: game, condition, model
    (of the player who decided), learning, target (a role), attacks, n (of the cell), mean, lo, hi (over
    games), died.
    """
    kills = chosen(frames.nights).filter(pl.col("act") == "kill").with_columns(kind=pl.col("target_role"))
    died = kills.group_by(*CELL, target="kind").agg(died=pl.col("died").sum().cast(pl.Int64))
    return _shares(kills, "attacks").join(died, on=[*CELL, "target"], how="left", maintain_order="left")


def doctor_prediction(frames: Frames) -> pl.DataFrame:
    """How often a living doctor protects the werewolves' chosen victim, by day (Appendix K.4).

    Protecting itself when it is the victim counts. Columns: game, condition, model (the doctor's), day, mean, lo, hi
    (over games), n (protections), games.
    """
    kills = frames.nights.filter(pl.col("act") == "kill").select("game_id", "day", victim="target")
    acts = chosen(frames.nights).filter(pl.col("act") == "protection").join(kills, on=["game_id", "day"])
    rows = acts.with_columns(hit=pl.col("target") == pl.col("victim"))
    return game_means(rows, [*MODEL, "day"], "hit")


def _shares(acts: pl.DataFrame, count: str) -> pl.DataFrame:
    """The share of each kind among a cell's acts. acts: one row per act, with the column kind."""
    kinds = acts.select(*CELL, target="kind").unique()
    rows = acts.join(kinds, on=CELL).with_columns(hit=pl.col("kind") == pl.col("target_right"))
    table = game_means(rows, [*CELL, "target_right"], "hit").rename({"target_right": "target"})
    counts = acts.group_by(*CELL, target="kind").agg(pl.len().cast(pl.Int64).alias(count))
    table = table.join(counts, on=[*CELL, "target"], how="left", maintain_order="left")
    return table.select(*CELL, "target", count, "n", "mean", "lo", "hi")


def plot_targets(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    others = table.filter(pl.col("target") != SELF)
    colours = {SELF: COLOURS["purple"], **by_side(others, "target")}
    return stacked_bars(table, "mean", "share of nights", cell_names(table), [""] * table.height, "target", colours)


def plot_doctor_prediction(table: pl.DataFrame) -> Figure:
    """One curve per model over the days."""
    cells, axes = cell_names(table), ("day", "share of nights")
    return curves(table, "day", "mean", [""] * table.height, cells, by_model(table, cells), axes)


ANALYSES_OF_NIGHTS: tuple[Analysis, ...] = (
    Analysis(
        "doctor_targets",
        "Whom the doctor protects",
        doctor_targets,
        plot_targets,
        needs=(PROTECTIONS,),
        interval=Interval.MEANS,
        source="Table 10, Figure 8a",
        note="A doctor that mostly protects itself does not predict whom the werewolves will attack.",
    ),
    Analysis(
        "victims",
        "Whom the killers attack at night",
        victims,
        plot_targets,
        needs=(KILLS,),
        interval=Interval.MEANS,
        source="Figure 8b",
        note="Attacks by the victim's role; those who died were not protected.",
    ),
    Analysis(
        "doctor_prediction",
        "Does the doctor protect the victim?",
        doctor_prediction,
        plot_doctor_prediction,
        needs=(PROTECTIONS,),
        otherwise="nobody was attacked on a night when a doctor chose",
        interval=Interval.MEANS,
        source="Appendix K.4",
        note="The share of a living doctor's nights on which it protected the player the werewolves had chosen.",
    ),
)


_BALLOTS = (Phase.VOTING.value, Phase.REVOTE.value)


def jester_silence(frames: Frames) -> pl.DataFrame:
    """How often the jester wins if it spoke on day 1, and if it did not (Appendix D and F.1).

    The paper calls silence on day 1 a certain sign of a lost game. The reason of a vote does not count as speaking:
    everybody gives one. Games in which the jester died before it could speak are left out. Columns: game, condition,
    model (the jester's), learning, spoke, wins, games, rate, lo, hi (Wilson's interval over games).
    """
    jesters = frames.seats.filter(pl.col("role") == JESTER)
    died = jesters.filter((pl.col("fate") == "killed") & (pl.col("day_out") == 1)).select("game_id")
    talk = frames.statements.filter(
        (pl.col("speaker_role") == JESTER) & (pl.col("day") == 1) & ~pl.col("phase").is_in(_BALLOTS)
    )
    spoke = talk.select("game_id", spoke=True).unique()
    games = jester_games(frames).join(died, on="game_id", how="anti").join(spoke, on="game_id", how="left")
    counts = games.with_columns(
        pl.col("spoke").fill_null(False), wins=pl.col("jester_won").cast(pl.Int64), games=pl.lit(1, pl.Int64)
    )
    return shares(counts, [*CELL, "spoke"], "wins", "games")


def plot_jester_silence(table: pl.DataFrame) -> Figure:
    """A row a cell: games in which the jester was silent on day 1, and others."""
    series = ["spoke on day 1" if spoke else "silent on day 1" for spoke in table["spoke"]]
    colours = {"spoke on day 1": COLOURS["blue"], "silent on day 1": COLOURS["orange"]}
    axis = "share of games that the jester won"
    return dots(table, "rate", axis, cell_names(table), [""] * table.height, series, colours, limits=SHARE)


ANALYSES_OF_SILENCE: tuple[Analysis, ...] = (
    Analysis(
        "jester_silence",
        "The jester's silence on day 1",
        jester_silence,
        plot_jester_silence,
        needs=(dealt(JESTER),),
        otherwise="every jester died before it could speak",
        interval=Interval.SHARES,
        source="Appendix F.1",
        note="In the paper every jester of one model that was silent on day 1 lost.",
    ),
)


_ROW = ["game_id", "family", *CELL, "role", "kind", "holds"]


def mishaps(frames: Frames) -> pl.DataFrame:
    """How often a model leaves a turn unused or a choice to the rules, by role; models that never did are left out.

    Columns: game, condition, model, learning, role, kind (silent turns, deliberate or not; for unusable replies, drawn
    votes, drawn night acts and bids set to 0), mean (the share of such turns or choices), lo, hi (over
    games), n (turns or choices), games. Silent turns are of games in which they follow from who spoke in which round.
    """
    asked = frames.nights.filter(pl.col("fallback") != DRAWN).drop_nulls("actor")
    parts = [
        frames.turns.with_columns(role="speaker_role", kind=pl.lit("silent turns"), holds="silent"),
        frames.votes.with_columns(role="voter_role", kind=pl.lit("drawn votes"), holds="drawn"),
        asked.with_columns(role="actor_role", kind=pl.lit("drawn night acts"), holds="drawn"),
        frames.bids.with_columns(kind=pl.lit("bids set to 0"), holds="drawn"),
    ]
    rows = pl.concat([part.select(_ROW) for part in parts])
    some = rows.filter(pl.col("holds").any().over([*CELL, "role", "kind"]))
    return game_means(some, [*CELL, "role", "kind"], "holds").sort("game", "condition", "kind", "role", *CELL[2:])


def plot_mishaps(table: pl.DataFrame) -> Figure:
    """One panel per kind, a row a cell, a dot a role."""
    return dots(table, "mean", "share of turns or choices", cell_names(table), "kind", of_game(table, "role"))


ANALYSES_OF_MISHAPS: tuple[Analysis, ...] = (
    Analysis(
        "mishaps",
        "Silences, drawn votes and other choices left to the rules",
        mishaps,
        plot_mishaps,
        otherwise="as far as the sources say, every turn was used, and no choice was left to the rules",
        interval=Interval.MEANS,
        note="A model whose replies cannot be read is judged by what the rules did for it. Roles in which a model "
        "never did so are left out.",
    ),
)


_LENGTH = pl.col("text").str.len_chars()
_KEYS = [*CELL, "speaker_role"]
_LOSSES = {
    "cut at the limit": pl.col("truncated"),
    "seems cut by its source": ~pl.col("truncated")
    & pl.col("read_notes").list.set_intersection(CUT_NOTES).list.len().gt(0),
    "lost": pl.col("read_notes").list.contains(LOST_TEXT),
}


def statement_lengths(frames: Frames) -> pl.DataFrame:
    """Characters a statement, by model and role; those without text are left out (Appendix A.1 sets a limit of 200).

    Columns: game, condition, model, learning, speaker_role, mean, lo, hi (over games), median, longest, n
    (statements), games.
    """
    said = _said(frames).filter(~_LOSSES["lost"]).with_columns(characters=_LENGTH)
    spread = said.group_by(_KEYS).agg(median=pl.col("characters").median(), longest=pl.col("characters").max())
    table = game_means(said, _KEYS, "characters", POSITIVE).join(spread, on=_KEYS, how="left", maintain_order="left")
    return table.select(*_KEYS, "mean", "lo", "hi", "median", pl.col("longest").cast(pl.Int64), "n", "games")


def cut_statements(frames: Frames) -> pl.DataFrame:
    """The share of statements that are not whole, by model and role; those that made none are left out.

    Columns: game, condition, model, learning, speaker_role, loss (cut at the limit: by the rules, for everybody at the
    table; seems cut by its source: as the notes of reading say; lost: no word is left), mean (the share), lo, hi
    (over games), n (statements), games.
    """
    flags = [flag.fill_null(False).alias(loss) for loss, flag in _LOSSES.items()]
    said = _said(frames).select("game_id", "family", *_KEYS, *flags)
    rows = said.unpivot(list(_LOSSES), index=["game_id", "family", *_KEYS], variable_name="loss", value_name="holds")
    some = rows.filter(pl.col("holds").any().over([*_KEYS, "loss"]))
    return game_means(some, [*_KEYS, "loss"], "holds")


def _said(frames: Frames) -> pl.DataFrame:
    """The statements, each once, whoever rated them."""
    return frames.statements.unique("statement_id", maintain_order=True)


def plot_statement_lengths(table: pl.DataFrame) -> Figure:
    """One panel per role, a row a cell."""
    cells, roles = cell_names(table), of_game(table, "speaker_role")
    return dots(table, "mean", "characters a statement", cells, roles, colours=by_model(table, cells))


def plot_cut_statements(table: pl.DataFrame) -> Figure:
    """One panel per kind of loss, a row a cell, a dot a role."""
    return dots(table, "mean", "share of statements", cell_names(table), "loss", of_game(table, "speaker_role"))


ANALYSES_OF_LENGTHS: tuple[Analysis, ...] = (
    Analysis(
        "statement_lengths",
        "Lengths of statements",
        statement_lengths,
        plot_statement_lengths,
        needs=(SAID,),
        otherwise="the text of every statement was lost",
        interval=Interval.MEANS,
        source="Appendix A.1",
        paper=MINI_MAFIA,
        note="In characters, as the others at the table heard them; statements without text are left out.",
        corrections=(Alike(("learning", "speaker_role")),),
    ),
    Analysis(
        "cut_statements",
        "Statements that are not whole",
        cut_statements,
        plot_cut_statements,
        needs=(SAID,),
        otherwise="every statement is whole",
        interval=Interval.MEANS,
        source="Appendix A.1",
        paper=MINI_MAFIA,
        note="Cut at the limit of the rules, cut in what the source published as far as its marks tell, or lost whole. "
        "Models without any are left out.",
    ),
)
