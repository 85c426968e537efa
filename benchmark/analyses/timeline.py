"""What changes within a game: self-tagged deception by day, suspicion by the place within the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import canvas, cell_names, faction_colour, tidy, whole_numbers
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import game_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THIRDS = ("early", "mid", "late")


def self_tagged_by_day(frames: Frames) -> pl.DataFrame:
    """The share of statements that speakers report as deceptive, by day (Appendix K.2, which counts days from 0).

    Columns: game, model, speaker_role, day, mean, lo, hi (bootstrap over games), n (statements), games.
    """
    return game_means(frames.statements, ["game", "model", "speaker_role", "day"], "label_self")


def position_thirds(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by the place of a statement within its day, all models together (Appendix K.3).

    third: early, mid or late, of the statements of that day. Columns: game, speaker_role, third, mean, lo, hi
    (bootstrap over games), n (ratings), games.
    """
    place = ((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2)
    names = place.replace_strict(dict(enumerate(THIRDS)), return_dtype=pl.String)
    thirds = frames.statements.select("statement_id", third=names)
    table = game_means(frames.ratings.join(thirds, on="statement_id"), ["game", "speaker_role", "third"], "suspicion")
    order = pl.col("third").replace_strict({name: at for at, name in enumerate(THIRDS)}, return_dtype=pl.Int64)
    return table.sort("game", "speaker_role", order)


def plot_self_tagged_by_day(table: pl.DataFrame) -> Figure:
    """A line for each role, one panel for each model."""
    groups = table.select("game", "model").unique(maintain_order=True)
    figure, panels = canvas(groups.height, 2.8)
    for (game, model), name, panel in zip(groups.iter_rows(), cell_names(groups), panels, strict=True):
        part = table.filter((pl.col("game") == game) & (pl.col("model") == model))
        for (role,), line in part.group_by("speaker_role", maintain_order=True):
            panel.plot(line["day"], line["mean"], "o-", color=faction_colour(str(role)), label=str(role), markersize=4)
        panel.set(ylim=(-0.02, 1.02), xlabel="day")
        panel.set_title(name, fontsize=8)
        whole_numbers(panel)
        tidy(panel, legend=panel is panels[0])
    return figure


def plot_position_thirds(table: pl.DataFrame) -> Figure:
    """A line for each role over the thirds of the day, one panel for each game."""
    games = table["game"].unique(maintain_order=True).to_list()
    figure, panels = canvas(len(games), 2.8)
    for game, panel in zip(games, panels, strict=True):
        for (role,), part in table.filter(pl.col("game") == game).group_by("speaker_role", maintain_order=True):
            places = [THIRDS.index(name) for name in part["third"]]
            panel.plot(places, part["mean"], "o-", color=faction_colour(str(role)), label=str(role), markersize=4)
        panel.set_xticks(range(len(THIRDS)), THIRDS)
        panel.set(ylim=(0, 1), ylabel="mean suspicion attracted")
        panel.set_title(game, fontsize=9)
        tidy(panel, legend=True)
    return figure


ANALYSES = (
    Analysis(
        "self_tagged_by_day",
        "Reported deception by day",
        "Appendix K.2",
        self_tagged_by_day,
        plot_self_tagged_by_day,
        "Whether a role lies more or less as the game goes on, by its own reports.",
    ),
    Analysis(
        "position_thirds",
        "Suspicion by the place within the day",
        "Appendix K.3",
        position_thirds,
        plot_position_thirds,
        "Whether those who speak late in a day are suspected more.",
    ),
)
