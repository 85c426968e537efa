"""Six numbers that summarise how a model plays Triadic Werewolf, for a figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.calibration import calibration_gap
from liescope.benchmark.analyses.cells import CELL, MODEL, RATER
from liescope.benchmark.analyses.detection import detection_by_speaker
from liescope.benchmark.analyses.figures import canvas, cell_names, rows_of
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import game_means
from liescope.benchmark.analyses.jester_games import jester_games
from liescope.benchmark.analyses.needs import RATINGS, REPORTS, dealt
from liescope.benchmark.analyses.palette import COLOURS
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = ("jester_wins", "villagers_win", "wolf_restraint", "jester_suspicion", "detection", "calibration")
_SCHEMA = pl.Schema(
    {
        "game": pl.String,
        "condition": pl.String,
        "model": pl.String,
        "learning": pl.Boolean,
        "rater": pl.String,
        "axis": pl.String,
        "value": pl.Float64,
        "games": pl.Int64,
    }
)


def fingerprint(frames: Frames) -> pl.DataFrame:
    """Six axes in [0, 1], larger further out (Figure 7; the paper names only some of its axes, these are ours).

    jester_wins, villagers_win: shares of games; wolf_restraint: 1 minus the share of games in which a werewolf votes
    for the jester in the ballot of day 1 that counts; jester_suspicion: mean suspicion of the jester's statements;
    detection: accuracy of the flags against the speakers' reports, the mean over the speakers' roles; calibration: 1
    minus the mean distance of observers' flags and speakers' reports over the roles. A cell that lacks an axis is left
    out, for example one whose statements nobody rated.

    Columns: game, condition, model, learning, rater, axis, value, games.
    """
    games = jester_games(frames)
    keys = [*CELL, RATER]
    raters = frames.statements.select("game_id", RATER).unique()
    played = games.join(raters, on="game_id")
    triadic = games.select("game_id")
    rated = frames.ratings.join(triadic, on="game_id", how="semi")
    jester = game_means(rated.filter(pl.col("speaker_role") == JESTER), keys, "suspicion")
    flags = detection_by_speaker(frames).filter((pl.col("truth") == "self") & (pl.col("metric") == "accuracy"))
    held = played.select(keys).unique()
    parts = [
        _axis(game_means(played, keys, "jester_won"), "jester_wins"),
        _axis(game_means(played, keys, "villagers_won"), "villagers_win"),
        _axis(game_means(played, keys, "wolf_voted_jester").with_columns(mean=1 - pl.col("mean")), "wolf_restraint"),
        _axis(jester, "jester_suspicion"),
        _axis(_over_roles(flags, pl.col("mean")), "detection"),
        _axis(_over_roles(calibration_gap(frames), 1 - pl.col("gap").abs()), "calibration"),
    ]
    table = pl.concat(parts).join(held, on=keys, how="semi")
    order = pl.col("axis").replace_strict({name: at for at, name in enumerate(AXES)}, return_dtype=pl.Int64)
    return table.filter(pl.len().over(keys) == len(AXES)).sort(*keys, order)


def _over_roles(table: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    return table.group_by(*CELL, RATER).agg(mean=value.mean(), games=pl.col("games").max())


def _axis(table: pl.DataFrame, name: str) -> pl.DataFrame:
    shown = table.select(*CELL, RATER, axis=pl.lit(name), value=pl.col("mean"), games=pl.col("games"))
    return shown.cast(_SCHEMA)


def plot_fingerprint(table: pl.DataFrame) -> Figure:
    """A polygon for each level of learning, one panel for each model; the rim is 1."""
    groups = table.select(*MODEL, RATER).unique(maintain_order=True)
    figure, panels = canvas(groups.height, 3.6)
    corners = [math.pi / 2 - 2 * math.pi * at / len(AXES) for at in range(len(AXES))]
    for group, name, panel in zip(groups.iter_rows(named=True), cell_names(groups), panels, strict=True):
        part = rows_of(table, group)
        for ring in (0.5, 1.0):
            panel.plot(*_polygon([ring] * len(AXES), corners), color="#dddddd", linewidth=0.8)
        for corner, axis in zip(corners, AXES, strict=True):
            x, y = 1.15 * math.cos(corner), 1.15 * math.sin(corner)
            panel.text(x, y, axis.replace("_", "\n"), fontsize=6, ha="center", va="center")
        for learning, colour in ((False, COLOURS["grey"]), (True, COLOURS["orange"])):
            values = part.filter(pl.col("learning") == learning)["value"].to_list()
            if values:
                xs, ys = _polygon(values, corners)
                panel.plot(xs, ys, color=colour, label=f"learning {'on' if learning else 'off'}")
                panel.fill(xs, ys, color=colour, alpha=0.15)
        panel.set_title(name, fontsize=8)
        panel.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal")
        panel.set_axis_off()
        panel.legend(frameon=False, fontsize=7, loc="lower left")
    return figure


def _polygon(radii: Sequence[float], corners: Sequence[float]) -> tuple[list[float], list[float]]:
    """The closed polygon through points at these radii."""
    around = list(zip([*radii, radii[0]], [*corners, corners[0]], strict=True))
    return [r * math.cos(a) for r, a in around], [r * math.sin(a) for r, a in around]


ANALYSES = (
    Analysis(
        "fingerprint",
        "A fingerprint of each model",
        fingerprint,
        plot_fingerprint,
        needs=(dealt(JESTER), REPORTS, RATINGS),
        otherwise="no cell has all six numbers",
        source="Figure 7",
        note="Six numbers from 0 to 1, larger further out: wins, restraint, suspicion drawn, detection and "
        "calibration.",
        main=True,
    ),
)
