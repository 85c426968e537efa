"""How the werewolves lost, and how the jester ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import cell_names, stacked_bars
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, shares
from liescope.benchmark.analyses.jester_games import jester_games
from liescope.benchmark.analyses.needs import dealt
from liescope.benchmark.analyses.sides import NOBODY
from liescope.common.colours import COLOURS
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CATEGORIES = ("A", "B", "C", "D", "W")
_WORDS = {
    "A": "A: jester voted out, a wolf voted for it on day 1",
    "B": "B: wolves killed the jester, villagers won",
    "C": "C: jester voted out otherwise",
    "D": "D: villagers won otherwise",
    "W": "W: wolves won",
    NOBODY: "nobody won",
}
_COLOURS = dict(
    zip(_WORDS, (COLOURS[n] for n in ("vermillion", "orange", "yellow", "blue", "ink", "grey")), strict=True)
)
ENDINGS = ("alive", "killed", "exiled")
_SHADES = dict(zip(ENDINGS, (COLOURS["blue"], COLOURS["vermillion"], COLOURS["orange"]), strict=True))


def wolf_losses(frames: Frames) -> pl.DataFrame:
    """How each game with a jester ended for the werewolves (Table 6, section 5.4, Appendix F.4).

    The rule: W the werewolves won. A the jester won, and at least one werewolf voted for it in the revote of day 1. The
    day of its exile does not matter: the printed counts of A are those of Table 8, which needs only that vote and the
    win, and Llama's exceed the games that its jester can have won on day 1 (Appendix F.1). C the jester won otherwise.
    B the villagers won and a jester was killed at night. D the villagers won otherwise. "nobody": the days ran out.
    Each game is counted once; votes drawn by the rules do not count as a werewolf's.

    Columns: game, condition, model (the jester's), learning, A, B, C, D, W, nobody, games (their sum).
    """
    won, wolf = pl.col("jester_won"), pl.col("wolf_voted_jester").fill_null(False)
    category = (
        pl.when("werewolves_won")
        .then(pl.lit("W"))
        .when(won & wolf)
        .then(pl.lit("A"))
        .when(won)
        .then(pl.lit("C"))
        .when(pl.col("villagers_won") & pl.col("jester_killed"))
        .then(pl.lit("B"))
        .when("villagers_won")
        .then(pl.lit("D"))
        .otherwise(pl.lit(NOBODY))
    )
    games = jester_games(frames).with_columns(category=category)
    counts = {name: (pl.col("category") == name).sum().cast(pl.Int64) for name in (*CATEGORIES, NOBODY)}
    return games.group_by(CELL).agg(**counts, games=pl.len().cast(pl.Int64)).sort(CELL)


def jester_fate(frames: Frames) -> pl.DataFrame:
    """The jester's fate: alive, killed at night, or exiled (Figure 13b).

    Columns: game, condition, model, learning, fate, jesters, n (jesters dealt), rate, lo, hi (Wilson's interval; null
    if a game deals several jesters, whose fates are not independent).
    """
    seats = frames.seats.filter(pl.col("role") == JESTER)
    grid = pl.DataFrame({"ending": ENDINGS}, {"ending": pl.String})
    rows = seats.join(grid, how="cross").with_columns(
        jesters=(pl.col("fate") == pl.col("ending")).fill_null(False).cast(pl.Int64), n=pl.lit(1, pl.Int64)
    )
    table = shares(rows.drop("fate").rename({"ending": "fate"}), [*CELL, "fate"], "jesters", "n")
    place = pl.col("fate").replace_strict({name: at for at, name in enumerate(ENDINGS)}, return_dtype=pl.Int64)
    games = seats.group_by(CELL).agg(_games=pl.col("game_id").n_unique())
    alone = pl.when(pl.col("n") == pl.col("_games")).then(pl.col("lo", "hi"))
    return table.join(games, on=CELL, how="left").with_columns(alone).drop("_games").sort(*CELL, place)


def plot_wolf_losses(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    counts = [name for name in _WORDS if table[name].sum()]
    index = [name for name in table.columns if name not in _WORDS]
    rows = table.unpivot(counts, index=index, variable_name="ending", value_name="count")
    rows = rows.with_columns(share=pl.col("count") / pl.col("games"))
    endings = [_WORDS[name] for name in rows["ending"]]
    return stacked_bars(
        rows,
        "share",
        "share of games",
        cell_names(rows),
        [""] * rows.height,
        endings,
        {_WORDS[name]: colour for name, colour in _COLOURS.items()},
    )


def plot_jester_fate(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    return stacked_bars(table, "rate", "share of jesters", cell_names(table), [""] * table.height, "fate", _SHADES)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "wolf_losses",
        "How the werewolves lost",
        wolf_losses,
        plot_wolf_losses,
        needs=(dealt(JESTER),),
        source="Table 6",
        note="A and B are the werewolves' own doing: a vote for the jester on day 1, or killing it at night. In C no "
        "werewolf chose to vote for it on day 1 (random votes for unusable replies do not count); one may have later.",
        main=True,
    ),
    Analysis(
        "jester_fate",
        "How the jester ended",
        jester_fate,
        plot_jester_fate,
        needs=(dealt(JESTER),),
        interval=Interval.UNITS,
        source="Figure 13b",
        note="Only an exiled jester wins; killing it at night costs the werewolves a kill.",
        main=True,
        corrections=(Alike(("learning", "fate"), "rate", draws=("n",)),),
    ),
)
