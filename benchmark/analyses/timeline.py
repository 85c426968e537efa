"""What changes within a game: self-reported deception by day, suspicion by position within the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import GAME, MODEL, RATER
from liescope.benchmark.analyses.curves import curves
from liescope.benchmark.analyses.figures import by_side, cell_names
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import REPORTS, SUSPICION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THIRDS = ("early", "mid", "late")


def self_tagged_by_day(frames: Frames) -> pl.DataFrame:
    """The share of statements that speakers report as deceptive, by day (Appendix K.2, which counts days from 0).

    Columns: game, condition, model (the speaker's), rater, speaker_role, day, mean, lo, hi (over games), n
    (statements), games.
    """
    return game_means(frames.statements, [*MODEL, RATER, "speaker_role", "day"], "label_self")


def position_thirds(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by the position of a statement within its day, all models together (Appendix K.3).

    third: early, mid or late, of the statements of that day. Columns: game, condition, rater, speaker_role, third,
    mean, lo, hi (over games), n (ratings), games.
    """
    place = ((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2)
    names = place.replace_strict(dict(enumerate(THIRDS)), return_dtype=pl.String)
    thirds = frames.statements.select("statement_id", RATER, third=names)
    rows = frames.ratings.join(thirds, on=["statement_id", RATER])
    table = game_means(rows, [*GAME, RATER, "speaker_role", "third"], "suspicion")
    order = pl.col("third").replace_strict({name: at for at, name in enumerate(THIRDS)}, return_dtype=pl.Int64)
    return table.sort(*GAME, RATER, "speaker_role", order)


def plot_self_tagged_by_day(table: pl.DataFrame) -> Figure:
    """A curve for each role, one panel for each model."""
    colours, axes = by_side(table, "speaker_role"), ("day", "share reported")
    return curves(table, "day", "mean", cell_names(table), "speaker_role", colours, axes)


def plot_position_thirds(table: pl.DataFrame) -> Figure:
    """A curve for each role over the thirds of the day, one panel for each game."""
    place = pl.col("third").replace_strict({name: at for at, name in enumerate(THIRDS)}, return_dtype=pl.Int64)
    rows = table.with_columns(place=place)
    colours, axes = by_side(rows, "speaker_role"), ("third of the day's statements", "mean suspicion")
    return curves(rows, "place", "mean", cell_names(rows), "speaker_role", colours, axes, THIRDS)


ANALYSES = (
    Analysis(
        "self_tagged_by_day",
        "Reported deception by day",
        self_tagged_by_day,
        plot_self_tagged_by_day,
        needs=(REPORTS,),
        interval=Interval.MEANS,
        source="Appendix K.2",
        note="Whether a role deceives more or less as the game goes on, by its own reports.",
    ),
    Analysis(
        "position_thirds",
        "Suspicion by position within the day",
        position_thirds,
        plot_position_thirds,
        needs=(SUSPICION,),
        interval=Interval.MEANS,
        source="Appendix K.3",
        note="Whether late speakers are suspected more.",
    ),
)
