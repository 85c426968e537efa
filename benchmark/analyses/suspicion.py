"""Whom the players suspect: by role, by day, and which role suspects which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import (
    bars_with_intervals,
    canvas,
    cell_names,
    faction_colour,
    literal,
    tidy,
    whole_numbers,
)
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.intervals import game_difference, game_means
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DARK = 0.6  # below it the colour of a value is so dark that black could not be read on it


def suspicion_attracted(frames: Frames) -> pl.DataFrame:
    """Mean suspicion that the ratings of a role's statements name (Figure 14, right).

    Columns: game, model, learning, speaker_role, mean, lo, hi (bootstrap over games), n (ratings), games.
    """
    return game_means(frames.ratings, [*CELL, "speaker_role"], "suspicion")


def suspicion_by_day(frames: Frames) -> pl.DataFrame:
    """Suspicion attracted by role and day, all models together (Appendix K.1, which counts days from 0).

    Columns: game, speaker_role, day, mean, lo, hi (bootstrap over games), n (ratings), games.
    """
    return game_means(frames.ratings, ["game", "speaker_role", "day"], "suspicion")


def jester_suspicion(frames: Frames) -> pl.DataFrame:
    """Suspicion of the jester by day, in games that it won and in others (Appendix F.1).

    Columns: game, model, learning, day, jester_won, mean, lo, hi (bootstrap over games), n (ratings), games.
    """
    won = frames.games.select("game_id", jester_won=pl.col("winner") == JESTER)
    rows = frames.ratings.filter(pl.col("speaker_role") == JESTER).join(won, on="game_id")
    return game_means(rows, [*CELL, "day", "jester_won"], "suspicion")


def _last_views(frames: Frames) -> pl.DataFrame:
    """Each observer's running suspicion of each speaker when the game ended, where it rated the speaker at all."""
    keys = ["game_id", *CELL, "observer", "observer_role", "speaker", "speaker_role"]
    return (
        frames.ratings.drop_nulls("suspicion")
        .group_by(keys, maintain_order=True)
        .agg(pl.col("running_suspicion").last())
        .rename({"speaker_role": "target_role"})
    )


def cross_perception(frames: Frames) -> pl.DataFrame:
    """How much each role suspects each other one when the game ends (Appendix B.1): mean running suspicion.

    Columns: game, model, learning, observer_role, target_role, mean, lo, hi (bootstrap over games), n (pairs of
    players), games.
    """
    return game_means(_last_views(frames), [*CELL, "observer_role", "target_role"], "running_suspicion")


def cross_perception_change(frames: Frames) -> pl.DataFrame:
    """Cross-perception with learning on minus off (Figure 5); above zero the observers suspect the target more.

    Columns: game, model, observer_role, target_role, difference, lo, hi (bootstrap over games), games_on, games_off.
    """
    found = []
    keys = ["game", "model", "observer_role", "target_role"]
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
    bars_with_intervals(panel, table, names, "mean", [faction_colour(role) for role in table["speaker_role"]])
    panel.set_xlim(0, 1)
    panel.set_xlabel("mean suspicion attracted")
    return figure


def plot_suspicion_by_day(table: pl.DataFrame) -> Figure:
    """A line for each role, one panel for each game."""
    games = table["game"].unique(maintain_order=True).to_list()
    figure, panels = canvas(len(games), 3.0)
    for game, panel in zip(games, panels, strict=True):
        for (role,), part in table.filter(pl.col("game") == game).group_by("speaker_role", maintain_order=True):
            colour = faction_colour(str(role))
            panel.plot(part["day"], part["mean"], "o-", color=colour, label=str(role), markersize=4)
            bounded = part.drop_nulls(["lo", "hi"])
            panel.fill_between(bounded["day"], bounded["lo"], bounded["hi"], color=colour, alpha=0.12)
        panel.set(ylim=(0, 1), xlabel="day", ylabel="mean suspicion attracted")
        panel.set_title(game, fontsize=9)
        whole_numbers(panel)
        tidy(panel, legend=True)
    return figure


def plot_jester_suspicion(table: pl.DataFrame) -> Figure:
    """One panel for each cell: days on which the jester was suspected, games won and others."""
    cells = table.select(CELL).unique(maintain_order=True)
    figure, panels = canvas(cells.height, 2.6)
    for cell, name, panel in zip(cells.iter_rows(), cell_names(cells), panels, strict=True):
        part = table.filter([pl.col(key) == value for key, value in zip(CELL, cell, strict=True)])
        for won, style in ((True, "o-"), (False, "s--")):
            line = part.filter(pl.col("jester_won") == won)
            label = "jester won" if won else "jester lost"
            panel.plot(line["day"], line["mean"], style, color=faction_colour(JESTER), label=label, markersize=4)
        panel.set(ylim=(0, 1), xlabel="day")
        panel.set_title(name, fontsize=8)
        whole_numbers(panel)
        tidy(panel, legend=panel is panels[0])
    return figure


def _heatmaps(table: pl.DataFrame, by: list[str], names: list[str], value: str, bound: float | None) -> Figure:
    """A matrix of observers (rows) and targets for each group. bound: of a scale around zero, None for 0 to 1."""
    groups = table.select(by).unique(maintain_order=True)
    figure, panels = canvas(groups.height, 3.0)
    for group, name, panel in zip(groups.iter_rows(), names, panels, strict=True):
        part = table.filter([pl.col(key) == item for key, item in zip(by, group, strict=True)])
        wide = part.pivot(on="target_role", index="observer_role", values=value).sort("observer_role")
        targets = sorted(column for column in wide.columns if column != "observer_role")
        low, high, colours = (0.0, 1.0, "viridis") if bound is None else (-bound, bound, "RdBu_r")
        panel.imshow(wide.select(targets).to_numpy(), aspect="auto", vmin=low, vmax=high, cmap=colours)
        for row, values in enumerate(wide.select(targets).iter_rows()):
            for column, item in enumerate(values):
                if item is not None:
                    ink = "white" if bound is None and item < _DARK else "black"
                    panel.text(column, row, f"{item:.2f}", ha="center", va="center", fontsize=7, color=ink)
        panel.set_xticks(range(len(targets)), targets, fontsize=7, rotation=30, ha="right")
        panel.set_yticks(range(wide.height), wide["observer_role"], fontsize=7)
        panel.set_title(name, fontsize=8)
    return figure


def plot_cross_perception(table: pl.DataFrame) -> Figure:
    """Observers in rows, targets in columns, one matrix for each cell."""
    return _heatmaps(table, list(CELL), cell_names(table.select(CELL).unique(maintain_order=True)), "mean", None)


def plot_cross_perception_change(table: pl.DataFrame) -> Figure:
    """Differences, red where learning raised suspicion; one matrix for each model."""
    groups = table.select("game", "model").unique(maintain_order=True)
    largest: Any = table["difference"].abs().max()
    bound = max(0.05, largest or 0.0)
    return _heatmaps(table, ["game", "model"], [literal(name) for name in groups["model"]], "difference", bound)


ANALYSES = (
    Analysis(
        "suspicion_attracted",
        "Suspicion attracted by role",
        "Figure 14, right",
        suspicion_attracted,
        plot_suspicion_attracted,
        "Where jester and werewolves draw the same suspicion, suspicion alone cannot tell them apart.",
    ),
    Analysis(
        "suspicion_by_day",
        "Suspicion by day",
        "Appendix K.1, Figure 11",
        suspicion_by_day,
        plot_suspicion_by_day,
        "Whether evidence gathers against a role as the game goes on; later days hold fewer games.",
    ),
    Analysis(
        "jester_suspicion",
        "Suspicion of the jester, won and lost",
        "Appendix F.1, Figure 9a",
        jester_suspicion,
        plot_jester_suspicion,
        "Whether jesters who win were suspected from the first day on.",
    ),
    Analysis(
        "cross_perception",
        "Which role suspects which",
        "Appendix B.1",
        cross_perception,
        plot_cross_perception,
        "Mean suspicion at the end of the game, observers in rows and targets in columns.",
    ),
    Analysis(
        "cross_perception_change",
        "Which role suspects which: learning on minus off",
        "Figure 5",
        cross_perception_change,
        plot_cross_perception_change,
        "What the jester's learning changed in how the others see each other.",
    ),
)
