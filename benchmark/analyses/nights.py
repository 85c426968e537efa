"""What happens at night: whom the doctor protects and whom the werewolves attack, where the choice was their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, MODEL
from liescope.benchmark.analyses.curves import curves
from liescope.benchmark.analyses.figures import by_model, by_side, cell_names, stacked_bars
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.jester_games import chosen
from liescope.benchmark.analyses.needs import KILLS, PROTECTIONS
from liescope.common.colours import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SELF = "self"


def doctor_targets(frames: Frames) -> pl.DataFrame:
    """Whom doctors protect: themselves, or players of which role (Table 10, Figure 8a, Appendix C).

    Columns: game, condition, model (the doctor's), learning, target ("self" or a role), protections, n (of the cell),
    mean, lo, hi (over games).
    """
    acts = chosen(frames.nights).filter(pl.col("act") == "protection")
    own = pl.col("actor") == pl.col("target")
    return _shares(acts.with_columns(kind=pl.when(own).then(pl.lit(SELF)).otherwise("target_role")), "protections")


def victims(frames: Frames) -> pl.DataFrame:
    """Which roles those who kill at night attack, whether or not the doctor saved the victim (Figure 8b, Appendix C).

    Victims that the rules drew without asking anybody, as in Mini-Mafia, do not count. Columns: game, condition, model
    (of the player who decided), learning, target (a role), attacks, n (of the cell), mean, lo, hi (over
    games), died.
    """
    kills = chosen(frames.nights).filter(pl.col("act") == "kill").with_columns(kind=pl.col("target_role"))
    died = kills.group_by(*CELL, target="kind").agg(died=pl.col("died").sum().cast(pl.Int64))
    return _shares(kills, "attacks").join(died, on=[*CELL, "target"], how="left", maintain_order="left")


def doctor_prediction(frames: Frames) -> pl.DataFrame:
    """How often a living doctor protects the werewolves' chosen victim, by day (Appendix K.4).

    Protecting itself when it is the victim counts. Columns: game, condition, model (the doctor's), day, mean, lo, hi
    (over games), n (protections), games.
    """
    kills = frames.nights.filter(pl.col("act") == "kill").select("game_id", "day", victim="target")
    acts = chosen(frames.nights).filter(pl.col("act") == "protection").join(kills, on=["game_id", "day"])
    rows = acts.with_columns(hit=pl.col("target") == pl.col("victim"))
    return game_means(rows, [*MODEL, "day"], "hit")


def _shares(acts: pl.DataFrame, count: str) -> pl.DataFrame:
    """The share of each kind among a cell's acts. acts: one row per act, with the column kind."""
    kinds = acts.select(*CELL, target="kind").unique()
    rows = acts.join(kinds, on=CELL).with_columns(hit=pl.col("kind") == pl.col("target_right"))
    table = game_means(rows, [*CELL, "target_right"], "hit").rename({"target_right": "target"})
    counts = acts.group_by(*CELL, target="kind").agg(pl.len().cast(pl.Int64).alias(count))
    table = table.join(counts, on=[*CELL, "target"], how="left", maintain_order="left")
    return table.select(*CELL, "target", count, "n", "mean", "lo", "hi")


def plot_targets(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    others = table.filter(pl.col("target") != SELF)
    colours = {SELF: COLOURS["purple"], **by_side(others, "target")}
    return stacked_bars(table, "mean", "share of nights", cell_names(table), [""] * table.height, "target", colours)


def plot_doctor_prediction(table: pl.DataFrame) -> Figure:
    """One curve per model over the days."""
    cells, axes = cell_names(table), ("day", "share of nights")
    return curves(table, "day", "mean", [""] * table.height, cells, by_model(table, cells), axes)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "doctor_targets",
        "Whom the doctor protects",
        doctor_targets,
        plot_targets,
        needs=(PROTECTIONS,),
        interval=Interval.MEANS,
        source="Table 10, Figure 8a",
        note="A doctor that mostly protects itself does not predict whom the werewolves will attack.",
    ),
    Analysis(
        "victims",
        "Whom the killers attack at night",
        victims,
        plot_targets,
        needs=(KILLS,),
        interval=Interval.MEANS,
        source="Figure 8b",
        note="Attacks by the victim's role; those who died were not protected.",
    ),
    Analysis(
        "doctor_prediction",
        "Does the doctor protect the victim?",
        doctor_prediction,
        plot_doctor_prediction,
        needs=(PROTECTIONS,),
        otherwise="nobody was attacked on a night when a doctor chose",
        interval=Interval.MEANS,
        source="Appendix K.4",
        note="The share of a living doctor's nights on which it protected the player the werewolves had chosen.",
    ),
)
