"""Six numbers that summarise how a model plays Triadic Werewolf, for a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.calibration import calibration_gap
from liescope.benchmark.analyses.cells import CELL, RATER
from liescope.benchmark.analyses.detection import detection_by_speaker
from liescope.benchmark.analyses.figures import cell_names, matrix_of
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import game_means
from liescope.benchmark.analyses.jester_games import jester_games
from liescope.benchmark.analyses.needs import RATINGS, REPORTS, dealt
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
    """Six axes in [0, 1] (Figure 7; the paper names only some of its axes, these are ours).

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
    """A row a cell, a column an axis: rows of one pattern play alike."""
    axes = [axis.replace("_", " ") for axis in table["axis"]]
    name = "share or mean, from 0 to 1"
    return matrix_of(table, "value", name, cell_names(table), axes, [""] * table.height, (0, 1))


ANALYSES = (
    Analysis(
        "fingerprint",
        "A fingerprint of each model",
        fingerprint,
        plot_fingerprint,
        needs=(dealt(JESTER), REPORTS, RATINGS),
        otherwise="no cell has all six numbers",
        source="Figure 7",
        note="Six numbers from 0 to 1: wins, restraint, suspicion drawn, detection and calibration.",
        main=True,
    ),
)
