"""How games run: their length, and what changes over the games of a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import (
    bars_with_intervals,
    canvas,
    cell_names,
    faction_colour,
    tidy,
    whole_numbers,
)
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.intervals import game_means
from liescope.benchmark.analyses.outcomes import against, wins_by

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def halves(frames: Frames) -> pl.DataFrame:
    """Win rates in the first and the second half of a cell's games, by turn (Table 13, Figure 10c).

    Of an odd number of games the middle one belongs to the second half. Games without a turn, and cells of one game,
    are left out. Columns: game, model, learning, faction, rate_first, games_first, rate_second, games_second,
    difference (second minus first), lo, hi (Newcombe's interval), overall.
    """
    games = frames.games.drop_nulls("turn").with_columns(
        place=pl.struct("turn", "game_id").rank("ordinal").over(CELL), of=pl.len().over(CELL)
    )
    games = games.filter(pl.col("of") > 1).with_columns(late=2 * pl.col("place") > pl.col("of") - pl.col("of") % 2)
    wins = wins_by(frames, [*CELL, "late"], games)
    keys = [*CELL, "faction"]
    whole = wins.group_by(keys).agg(overall=pl.col("wins").sum() / pl.col("games").sum())
    table = against(wins, keys, "late", "second", "first")
    return table.join(whole, on=keys, how="left", maintain_order="left")


def game_length(frames: Frames) -> pl.DataFrame:
    """Days of debate that a game lasts, by who won it (Figure 6, which counts day rounds); a last night counts none.

    Columns: game, model, learning, winner, mean, lo, hi (bootstrap over games), shortest, median, longest, games.
    """
    keys = [*CELL, "winner"]
    spread = frames.games.group_by(keys).agg(
        shortest=pl.col("days").min(), median=pl.col("days").median(), longest=pl.col("days").max()
    )
    table = game_means(frames.games, keys, "days").join(spread, on=keys, how="left", maintain_order="left")
    return table.select(*keys, "mean", "lo", "hi", "shortest", "median", "longest", "games")


def survival(frames: Frames) -> pl.DataFrame:
    """The share of a role's seats that live to the end, by the game's number in its cell (Appendix K.5).

    Cells with and without learning are pooled, as in the paper. Columns: game, model, role, turn (from 0), mean, lo, hi
    (bootstrap over games), n (seats), games.
    """
    return game_means(frames.seats.drop_nulls("turn"), ["game", "model", "role", "turn"], "survived")


def plot_game_length(table: pl.DataFrame) -> Figure:
    """Mean length with its interval by winner, one panel a cell."""
    cells = table.select(CELL).unique(maintain_order=True)
    figure, panels = canvas(cells.height, height=2.4)
    longest: Any = table["longest"].max()
    for cell, name, panel in zip(cells.iter_rows(), cell_names(cells), panels, strict=True):
        part = table.filter(pl.all_horizontal(pl.col(k) == v for k, v in zip(CELL, cell, strict=True)))
        colours = [faction_colour(winner) for winner in part["winner"]]
        bars_with_intervals(panel, part, part["winner"].to_list(), "mean", colours)
        panel.set(xlim=(0, longest + 0.5), title=name, xlabel="days")
    return figure


def plot_survival(table: pl.DataFrame) -> Figure:
    """A line a role over the games of a cell, one panel a model."""
    models = table.select("game", "model").unique(maintain_order=True)
    figure, panels = canvas(models.height, height=2.8)
    for (game, model), name, panel in zip(models.iter_rows(), cell_names(models), panels, strict=True):
        part = table.filter((pl.col("game") == game) & (pl.col("model") == model))
        for (role,), line in part.group_by("role", maintain_order=True):
            line = line.sort("turn")
            panel.plot(line["turn"] + 1, line["mean"], marker="o", markersize=3, label=role, color=faction_colour(role))
        panel.set(ylim=(-0.03, 1.03), title=name, xlabel="game of the cell", ylabel="share that survives")
        whole_numbers(panel)
        tidy(panel, legend=True)
    return figure


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "halves",
        "First half against second half of a cell",
        "Table 13",
        halves,
        note="A trend in cells without learning is drift, not learning: compare the two.",
    ),
    Analysis(
        "game_length",
        "Length of games by winner",
        "Figure 6",
        game_length,
        plot_game_length,
        "Mean number of days that came to a vote, with a 95% interval from resampling games.",
    ),
    Analysis(
        "survival",
        "Survival by role and game of the cell",
        "Appendix K.5",
        survival,
        plot_survival,
        "A line that rises or falls over the games of a cell is drift that learning may explain, or may not.",
    ),
)
