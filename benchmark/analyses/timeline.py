"""What changes within a game: self-reported deception by day, suspicion by position within the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import GAME, MODEL, RATER
from liescope.benchmark.analyses.figures import canvas, cell_names, groups_of, rows_of, tidy, whole_numbers
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import REPORTS, SUSPICION
from liescope.benchmark.analyses.sides import side_colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THIRDS = ("early", "mid", "late")


def self_tagged_by_day(frames: Frames) -> pl.DataFrame:
    """The share of statements that speakers report as deceptive, by day (Appendix K.2, which counts days from 0).

    Columns: game, condition, model (the speaker's), rater, speaker_role, day, mean, lo, hi (bootstrap over games), n
    (statements), games.
    """
    return game_means(frames.statements, [*MODEL, RATER, "speaker_role", "day"], "label_self")


def position_thirds(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by the position of a statement within its day, all models together (Appendix K.3).

    third: early, mid or late, of the statements of that day. Columns: game, condition, rater, speaker_role, third,
    mean, lo, hi (bootstrap over games), n (ratings), games.
    """
    place = ((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2)
    names = place.replace_strict(dict(enumerate(THIRDS)), return_dtype=pl.String)
    thirds = frames.statements.select("statement_id", RATER, third=names)
    rows = frames.ratings.join(thirds, on=["statement_id", RATER])
    table = game_means(rows, [*GAME, RATER, "speaker_role", "third"], "suspicion")
    order = pl.col("third").replace_strict({name: at for at, name in enumerate(THIRDS)}, return_dtype=pl.Int64)
    return table.sort(*GAME, RATER, "speaker_role", order)


def plot_self_tagged_by_day(table: pl.DataFrame) -> Figure:
    """A line for each role, one panel for each model."""
    _, groups = groups_of(table)
    figure, panels = canvas(groups.height, 2.8)
    for group, name, panel in zip(groups.iter_rows(named=True), cell_names(groups), panels, strict=True):
        for (role,), line in rows_of(table, group).group_by("speaker_role", maintain_order=True):
            colour = side_colour(group["game"], str(role))
            panel.plot(line["day"], line["mean"], "o-", color=colour, label=str(role), markersize=4)
        panel.set(ylim=(-0.02, 1.02), xlabel="day")
        panel.set_title(name, fontsize=8)
        whole_numbers(panel)
        tidy(panel, legend=panel is panels[0])
    return figure


def plot_position_thirds(table: pl.DataFrame) -> Figure:
    """A line for each role over the thirds of the day, one panel for each game."""
    _, games = groups_of(table)
    figure, panels = canvas(games.height, 2.8)
    for group, panel in zip(games.iter_rows(named=True), panels, strict=True):
        for (role,), part in rows_of(table, group).group_by("speaker_role", maintain_order=True):
            places, colour = [THIRDS.index(name) for name in part["third"]], side_colour(group["game"], str(role))
            panel.plot(places, part["mean"], "o-", color=colour, label=str(role), markersize=4)
        panel.set_xticks(range(len(THIRDS)), THIRDS)
        panel.set(ylim=(0, 1), ylabel="mean suspicion attracted")
        panel.set_title(" · ".join(value for value in group.values() if value), fontsize=9)
        tidy(panel, legend=True)
    return figure


ANALYSES = (
    Analysis(
        "self_tagged_by_day",
        "Reported deception by day",
        self_tagged_by_day,
        plot_self_tagged_by_day,
        needs=(REPORTS,),
        interval=Interval.BOOTSTRAP,
        source="Appendix K.2",
        note="Whether a role deceives more or less as the game goes on, by its own reports.",
    ),
    Analysis(
        "position_thirds",
        "Suspicion by position within the day",
        position_thirds,
        plot_position_thirds,
        needs=(SUSPICION,),
        interval=Interval.BOOTSTRAP,
        source="Appendix K.3",
        note="Whether late speakers are suspected more.",
    ),
)
