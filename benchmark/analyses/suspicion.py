"""Whom the players suspect: by role, by day, and which role suspects which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, GAME, MODEL, RATER
from liescope.benchmark.analyses.corrections import Alike, Zero
from liescope.benchmark.analyses.curves import curves
from liescope.benchmark.analyses.figures import SHARE, by_side, cell_names, dots, matrix_of
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_difference, game_means
from liescope.benchmark.analyses.needs import SUSPICION, both_levels_of_learning, dealt
from liescope.common.colours import COLOURS
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def suspicion_attracted(frames: Frames) -> pl.DataFrame:
    """Mean suspicion that the ratings of a role's statements name (Figure 14, right).

    Columns: game, condition, model (the speaker's), learning, rater, speaker_role, mean, lo, hi (over games),
    n (ratings), games.
    """
    return game_means(frames.ratings, [*CELL, RATER, "speaker_role"], "suspicion")


def suspicion_by_day(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by role and day, all models together (Appendix K.1, which counts days from 0).

    Columns: game, condition, rater, speaker_role, day, mean, lo, hi (over games), n (ratings), games.
    """
    return game_means(frames.ratings, [*GAME, RATER, "speaker_role", "day"], "suspicion")


def jester_suspicion(frames: Frames) -> pl.DataFrame:
    """Suspicion of the jester by day, in games that it won and in others (Appendix F.1).

    Columns: game, condition, model (the jester's), learning, rater, day, jester_won, mean, lo, hi (over
    games), n (ratings), games.
    """
    won = frames.games.select("game_id", jester_won=pl.col("winner") == JESTER)
    rows = frames.ratings.filter(pl.col("speaker_role") == JESTER).join(won, on="game_id")
    return game_means(rows, [*CELL, RATER, "day", "jester_won"], "suspicion")


def _last_views(frames: Frames) -> pl.DataFrame:
    """Each observer's running suspicion of each speaker at the end of the game, if it ever rated the speaker."""
    keys = ["game_id", "family", *CELL, RATER, "observer", "observer_role", "speaker", "speaker_role"]
    return (
        frames.ratings.drop_nulls("suspicion")
        .with_columns(model="observer_seat_model")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("running_suspicion").last())
        .rename({"speaker_role": "target_role"})
    )


def cross_perception(frames: Frames) -> pl.DataFrame:
    """How much each role suspects each other role at the end of the game (Appendix B.1): mean running suspicion.

    Columns: game, condition, model (the observer's), learning, rater, observer_role, target_role, mean, lo, hi
    (over games), n (pairs of players), games.
    """
    return game_means(_last_views(frames), [*CELL, RATER, "observer_role", "target_role"], "running_suspicion")


def cross_perception_change(frames: Frames) -> pl.DataFrame:
    """Cross-perception with learning on minus off (Figure 5); above zero the observers suspect the target more.

    Columns: game, condition, model, rater, observer_role, target_role, difference, lo, hi (over games),
    games_on, games_off.
    """
    found = []
    keys = [*MODEL, RATER, "observer_role", "target_role"]
    for key, part in _last_views(frames).group_by(keys, maintain_order=True):
        on, off = part.filter("learning"), part.filter(~pl.col("learning"))
        if on.height and off.height:
            bounds = game_difference(on, off, "running_suspicion")
            found.append((*key, *bounds, on["game_id"].n_unique(), off["game_id"].n_unique()))
    figures = dict.fromkeys(("difference", "lo", "hi"), pl.Float64)
    games = dict.fromkeys(("games_on", "games_off"), pl.Int64)
    return pl.DataFrame(found, {**dict.fromkeys(keys, pl.String), **figures, **games}, orient="row").sort(keys)


def plot_suspicion_attracted(table: pl.DataFrame) -> Figure:
    """A panel a cell, a row a role, coloured by side."""
    colours = by_side(table, "speaker_role")
    axis = "mean suspicion attracted"
    return dots(table, "mean", axis, "speaker_role", cell_names(table), colours=colours, limits=SHARE)


def plot_suspicion_by_day(table: pl.DataFrame) -> Figure:
    """A curve for each role, one panel for each game."""
    colours, axes = by_side(table, "speaker_role"), ("day", "mean suspicion")
    return curves(table, "day", "mean", cell_names(table), "speaker_role", colours, axes)


def plot_jester_suspicion(table: pl.DataFrame) -> Figure:
    """One panel for each cell: suspicion of the jester by day, in games that it won and in others."""
    series = ["jester won" if won else "jester lost" for won in table["jester_won"]]
    colours = {"jester won": COLOURS["orange"], "jester lost": COLOURS["grey"]}
    return curves(table, "day", "mean", cell_names(table), series, colours, ("day", "mean suspicion"))


def plot_cross_perception(table: pl.DataFrame) -> Figure:
    """Observers in rows, targets in columns, one matrix for each cell."""
    name = "mean suspicion of the column's role"
    return matrix_of(table, "mean", name, "observer_role", "target_role", cell_names(table), (0, 1))


def plot_cross_perception_change(table: pl.DataFrame) -> Figure:
    """Differences, one matrix for each model; colours part where learning raised and lowered suspicion."""
    largest: Any = table["difference"].abs().max()
    bound = max(0.05, largest or 0.0)
    name = "suspicion of the column's role, learning on minus off"
    rows = ("observer_role", "target_role", cell_names(table))
    return matrix_of(table, "difference", name, *rows, (-bound, bound), middle=0)


ANALYSES = (
    Analysis(
        "suspicion_attracted",
        "Suspicion attracted by role",
        suspicion_attracted,
        plot_suspicion_attracted,
        needs=(SUSPICION,),
        interval=Interval.MEANS,
        source="Figure 14, right",
        note="Where jester and werewolves draw equal suspicion on average, its mean cannot distinguish them.",
        main=True,
        corrections=(Alike(("learning", "rater", "speaker_role")),),
    ),
    Analysis(
        "suspicion_by_day",
        "Suspicion by day",
        suspicion_by_day,
        plot_suspicion_by_day,
        needs=(SUSPICION,),
        interval=Interval.MEANS,
        source="Appendix K.1, Figure 11",
        note="Whether suspicion of a role grows during the game; later days have fewer games.",
    ),
    Analysis(
        "jester_suspicion",
        "Suspicion of the jester, won and lost",
        jester_suspicion,
        plot_jester_suspicion,
        needs=(dealt(JESTER), SUSPICION),
        otherwise="no jester's statement was rated with a suspicion",
        interval=Interval.MEANS,
        source="Appendix F.1, Figure 9a",
        note="Whether winning jesters were suspected from the first day.",
    ),
    Analysis(
        "cross_perception",
        "Which role suspects which",
        cross_perception,
        plot_cross_perception,
        needs=(SUSPICION,),
        interval=Interval.MEANS,
        source="Appendix B.1",
        note="Mean suspicion at the end of the game, observers in rows and targets in columns.",
        corrections=(Alike(("learning", "rater", "observer_role", "target_role")),),
    ),
    Analysis(
        "cross_perception_change",
        "Which role suspects which: learning on minus off",
        cross_perception_change,
        plot_cross_perception_change,
        needs=(both_levels_of_learning, SUSPICION),
        otherwise="no model's games were rated with learning on and off",
        interval=Interval.MEAN_DIFFERENCE,
        source="Figure 5",
        note="How the jester's learning changed whom the others suspect.",
        corrections=(Zero(draws=("games_on", "games_off")),),
    ),
)
