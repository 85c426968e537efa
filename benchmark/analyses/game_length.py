"""The length of games, and what changes over the games of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, MODEL
from liescope.benchmark.analyses.corrections import Zero
from liescope.benchmark.analyses.curves import curves
from liescope.benchmark.analyses.figures import by_model, by_side, cell_names, dots, of_game
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import TURNS
from liescope.benchmark.analyses.outcomes import against, wins_by
from liescope.common.figures import whole_numbers
from liescope.common.statistics import POSITIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIFTHS = ("first", "second", "third", "fourth", "fifth")


def halves(frames: Frames) -> pl.DataFrame:
    """Win rates in the first and the second half of a cell's games, by turn (Table 13).

    Of an odd number of games the middle one belongs to the second half. Games without a turn, and cells of one game,
    are left out. Columns: game, condition, model, learning, faction, rate_first, games_first, rate_second,
    games_second, difference (second minus first), lo, hi (Newcombe's interval), overall.
    """
    games = _in_order(frames)
    games = games.filter(pl.col("of") > 1).with_columns(late=2 * pl.col("place") > pl.col("of") - pl.col("of") % 2)
    wins = wins_by(frames, [*CELL, "late"], games)
    keys = [*CELL, "faction"]
    whole = wins.group_by(keys).agg(overall=pl.col("wins").sum() / pl.col("games").sum())
    table = against(wins, keys, "late", "second", "first")
    return table.join(whole, on=keys, how="left", maintain_order="left")


def cumulative_wins(frames: Frames) -> pl.DataFrame:
    """Win rates over the first games of a cell, up to each of them (Figure 10c).

    Columns: game, condition, model, learning, faction, place (of the game in its cell, from 1), wins (in the games up
    to this one), games, rate.
    """
    games = _in_order(frames).filter(pl.col("of") > 1)
    factions = games.join(frames.seats.select("game_id", faction="team").unique(), on="game_id")
    won = (pl.col("winner") == pl.col("faction")).cast(pl.Int64)
    keys = [*CELL, "faction", "place"]
    counts = factions.group_by(keys).agg(wins=won.sum(), games=pl.len().cast(pl.Int64)).sort(keys)
    table = counts.with_columns(pl.col("wins", "games").cum_sum().over([*CELL, "faction"]))
    return table.with_columns(rate=pl.col("wins") / pl.col("games")).with_columns(pl.col("place").cast(pl.Int64))


def _in_order(frames: Frames) -> pl.DataFrame:
    """The games whose turn is known, with the columns place (of the game in its cell, from 1; a cell of the plan has
    one line-up) and of (games in that cell).
    """
    cell = [*CELL, "lineup"]
    return frames.games.drop_nulls("turn").with_columns(
        place=pl.struct("turn", "game_id").rank("ordinal").over(cell), of=pl.len().over(cell)
    )


def game_length(frames: Frames) -> pl.DataFrame:
    """How many days of debate a game lasts, by winner (Figure 6, which counts day rounds), without a final night.

    Columns: game, condition, model, learning, winner, mean, lo, hi (over games), shortest, median, longest,
    games.
    """
    keys = [*CELL, "winner"]
    spread = frames.games.group_by(keys).agg(
        shortest=pl.col("days").min(), median=pl.col("days").median(), longest=pl.col("days").max()
    )
    table = game_means(frames.games, keys, "days", POSITIVE).join(spread, on=keys, how="left", maintain_order="left")
    return table.select(*keys, "mean", "lo", "hi", "shortest", "median", "longest", "games")


def survival(frames: Frames) -> pl.DataFrame:
    """The share of a role's seats that survive to the end, by the game's number in its cell (Appendix K.5).

    Cells with and without learning are pooled, as in the paper. Columns: game, condition, model, role, turn (from 0),
    mean, lo, hi (over games), n (seats), games.
    """
    return game_means(frames.seats.drop_nulls("turn"), [*MODEL, "role", "turn"], "survived")


def plot_cumulative_wins(table: pl.DataFrame) -> Figure:
    """One panel per faction of each game, one curve per cell over its games."""
    cells = cell_names(table)
    axes = ("game of the cell", "share won so far")
    return curves(table, "place", "rate", of_game(table, "faction"), cells, by_model(table, cells), axes)


def plot_game_length(table: pl.DataFrame) -> Figure:
    """Mean length with its interval by winner, one panel per cell."""
    longest: Any = table["longest"].max()
    colours = by_side(table, "winner")
    figure = dots(table, "mean", "days", "winner", cell_names(table), colours=colours, limits=(0, longest + 0.5))
    for panel in figure.axes:
        whole_numbers(panel)
    return figure


def plot_survival(table: pl.DataFrame) -> Figure:
    """One curve per role over the fifths of a cell's games, one panel per model."""
    fifth = (pl.col("turn") * 5 // (pl.col("turn").max().over(MODEL) + 1)).cast(pl.Int64)
    seats = table.group_by(*MODEL, "role", fifth=fifth, maintain_order=True).agg(
        mean=(pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()
    )
    axes = ("fifths of the cell's games, in order", "share that survives")
    return curves(seats, "fifth", "mean", cell_names(seats), "role", by_side(seats, "role"), axes, FIFTHS)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "halves",
        "First half against second half of a cell",
        halves,
        needs=(TURNS,),
        otherwise="no cell has two games",
        interval=Interval.DIFFERENCE,
        source="Table 13",
        note="A trend in cells without learning is drift, not learning: compare the two.",
        corrections=(Zero(draws=("games_first", "games_second")),),
    ),
    Analysis(
        "cumulative_wins",
        "Wins over the games of a cell",
        cumulative_wins,
        plot_cumulative_wins,
        needs=(TURNS,),
        otherwise="no cell has two games",
        source="Figure 10c",
        note="The share won up to each game; the first games say little, and neighbouring values are not independent.",
    ),
    Analysis(
        "game_length",
        "Length of games by winner",
        game_length,
        plot_game_length,
        interval=Interval.MEANS,
        source="Figure 6",
        note="Mean number of days that came to a vote.",
    ),
    Analysis(
        "survival",
        "Survival by role and game of the cell",
        survival,
        plot_survival,
        needs=(TURNS,),
        interval=Interval.MEANS,
        source="Appendix K.5",
        note="A line that rises or falls over the games of a cell is drift, which learning may or may not explain.",
    ),
)
