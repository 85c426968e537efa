"""Whom the players suspect: by role, by day, and which role suspects which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, GAME, MODEL, RATER
from liescope.benchmark.analyses.figures import (
    bars_with_intervals,
    canvas,
    cell_names,
    groups_of,
    rows_of,
    tidy,
    whole_numbers,
)
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_difference, game_means
from liescope.benchmark.analyses.needs import SUSPICION, both_levels_of_learning, dealt
from liescope.benchmark.analyses.sides import side_colour
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def suspicion_attracted(frames: Frames) -> pl.DataFrame:
    """Mean suspicion that the ratings of a role's statements name (Figure 14, right).

    Columns: game, condition, model (the speaker's), learning, rater, speaker_role, mean, lo, hi (bootstrap over games),
    n (ratings), games.
    """
    return game_means(frames.ratings, [*CELL, RATER, "speaker_role"], "suspicion")


def suspicion_by_day(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by role and day, all models together (Appendix K.1, which counts days from 0).

    Columns: game, condition, rater, speaker_role, day, mean, lo, hi (bootstrap over games), n (ratings), games.
    """
    return game_means(frames.ratings, [*GAME, RATER, "speaker_role", "day"], "suspicion")


def jester_suspicion(frames: Frames) -> pl.DataFrame:
    """Suspicion of the jester by day, in games that it won and in others (Appendix F.1).

    Columns: game, condition, model (the jester's), learning, rater, day, jester_won, mean, lo, hi (bootstrap over
    games), n (ratings), games.
    """
    won = frames.games.select("game_id", jester_won=pl.col("winner") == JESTER)
    rows = frames.ratings.filter(pl.col("speaker_role") == JESTER).join(won, on="game_id")
    return game_means(rows, [*CELL, RATER, "day", "jester_won"], "suspicion")


def _last_views(frames: Frames) -> pl.DataFrame:
    """Each observer's running suspicion of each speaker at the end of the game, if it ever rated the speaker."""
    keys = ["game_id", *CELL, RATER, "observer", "observer_role", "speaker", "speaker_role"]
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
    (bootstrap over games), n (pairs of players), games.
    """
    return game_means(_last_views(frames), [*CELL, RATER, "observer_role", "target_role"], "running_suspicion")


def cross_perception_change(frames: Frames) -> pl.DataFrame:
    """Cross-perception with learning on minus off (Figure 5); above zero the observers suspect the target more.

    Columns: game, condition, model, rater, observer_role, target_role, difference, lo, hi (bootstrap over games),
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
    """Bars with intervals, coloured by side."""
    figure, (panel,) = canvas(1, 1.0 + 0.24 * table.height)
    names = [f"{name}: {role}" for name, role in zip(cell_names(table), table["speaker_role"], strict=True)]
    colours = [side_colour(game, role) for game, role in table.select("game", "speaker_role").iter_rows()]
    bars_with_intervals(panel, table, names, "mean", colours)
    panel.set_xlim(0, 1)
    panel.set_xlabel("mean suspicion attracted")
    return figure


def plot_suspicion_by_day(table: pl.DataFrame) -> Figure:
    """A line for each role, one panel for each game."""
    _, games = groups_of(table)
    figure, panels = canvas(games.height, 3.0)
    for group, panel in zip(games.iter_rows(named=True), panels, strict=True):
        for (role,), part in rows_of(table, group).group_by("speaker_role", maintain_order=True):
            colour = side_colour(group["game"], str(role))
            panel.plot(part["day"], part["mean"], "o-", color=colour, label=str(role), markersize=4)
            bounded = part.drop_nulls(["lo", "hi"])
            panel.fill_between(bounded["day"], bounded["lo"], bounded["hi"], color=colour, alpha=0.12)
        panel.set(ylim=(0, 1), xlabel="day", ylabel="mean suspicion attracted")
        panel.set_title(" · ".join(value for value in group.values() if value), fontsize=9)
        whole_numbers(panel)
        tidy(panel, legend=True)
    return figure


def plot_jester_suspicion(table: pl.DataFrame) -> Figure:
    """One panel for each cell: days on which the jester was suspected, games won and others."""
    _, cells = groups_of(table)
    figure, panels = canvas(cells.height, 2.6)
    for cell, name, panel in zip(cells.iter_rows(named=True), cell_names(cells), panels, strict=True):
        for won, style in ((True, "o-"), (False, "s--")):
            line = rows_of(table, {**cell, "jester_won": won})
            label = "jester won" if won else "jester lost"
            colour = side_colour(cell["game"], JESTER)
            panel.plot(line["day"], line["mean"], style, color=colour, label=label, markersize=4)
        panel.set(ylim=(0, 1), xlabel="day")
        panel.set_title(name, fontsize=8)
        whole_numbers(panel)
        tidy(panel, legend=panel is panels[0])
    return figure


def ink_on(red: float, green: float, blue: float) -> str:
    """Black or white, whichever has the higher contrast by WCAG 2 on a colour with parts from 0 to 1."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "black" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "white"


def _heatmaps(table: pl.DataFrame, value: str, bound: float | None) -> Figure:
    """A matrix of observers (rows) and targets for each cell. bound: of a scale around zero, None for 0 to 1."""
    _, groups = groups_of(table)
    figure, panels = canvas(groups.height, 3.0)
    low, high, colours = (0.0, 1.0, "viridis") if bound is None else (-bound, bound, "RdBu_r")
    for group, name, panel in zip(groups.iter_rows(named=True), cell_names(groups), panels, strict=True):
        wide = rows_of(table, group).pivot(on="target_role", index="observer_role", values=value).sort("observer_role")
        targets = sorted(column for column in wide.columns if column != "observer_role")
        values = wide.select(targets).to_numpy()
        image = panel.imshow(values, aspect="auto", vmin=low, vmax=high, cmap=colours)
        for row, items in enumerate(wide.select(targets).iter_rows()):
            for column, item in enumerate(items):
                if item is not None:
                    ink = ink_on(*image.to_rgba(item)[:3])
                    panel.text(column, row, f"{item:.2f}", ha="center", va="center", fontsize=7, color=ink)
        panel.set_xticks(range(len(targets)), targets, fontsize=7, rotation=30, ha="right")
        panel.set_yticks(range(wide.height), wide["observer_role"], fontsize=7)
        panel.set_title(name, fontsize=8)
    return figure


def plot_cross_perception(table: pl.DataFrame) -> Figure:
    """Observers in rows, targets in columns, one matrix for each cell."""
    return _heatmaps(table, "mean", None)


def plot_cross_perception_change(table: pl.DataFrame) -> Figure:
    """Differences, red where learning raised suspicion; one matrix for each model."""
    largest: Any = table["difference"].abs().max()
    return _heatmaps(table, "difference", max(0.05, largest or 0.0))


ANALYSES = (
    Analysis(
        "suspicion_attracted",
        "Suspicion attracted by role",
        suspicion_attracted,
        plot_suspicion_attracted,
        needs=(SUSPICION,),
        interval=Interval.BOOTSTRAP,
        source="Figure 14, right",
        note="If jester and werewolves draw equal suspicion, suspicion alone cannot distinguish them.",
        main=True,
    ),
    Analysis(
        "suspicion_by_day",
        "Suspicion by day",
        suspicion_by_day,
        plot_suspicion_by_day,
        needs=(SUSPICION,),
        interval=Interval.BOOTSTRAP,
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
        interval=Interval.BOOTSTRAP,
        source="Appendix F.1, Figure 9a",
        note="Whether winning jesters were suspected from the first day.",
    ),
    Analysis(
        "cross_perception",
        "Which role suspects which",
        cross_perception,
        plot_cross_perception,
        needs=(SUSPICION,),
        interval=Interval.BOOTSTRAP,
        source="Appendix B.1",
        note="Mean suspicion at the end of the game, observers in rows and targets in columns.",
    ),
    Analysis(
        "cross_perception_change",
        "Which role suspects which: learning on minus off",
        cross_perception_change,
        plot_cross_perception_change,
        needs=(both_levels_of_learning, SUSPICION),
        otherwise="no model's games were rated with learning on and off",
        interval=Interval.BOOTSTRAP_DIFFERENCE,
        source="Figure 5",
        note="How the jester's learning changed whom the others suspect.",
    ),
)
