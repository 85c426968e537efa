"""What happens at night: whom the doctor protects and whom the werewolves choose, where the choice was their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.figures import COLOURS, canvas, cell_names, faction_colour, stacked_bars
from liescope.benchmark.analyses.frames import CELL, Frames
from liescope.benchmark.analyses.intervals import game_means
from liescope.benchmark.analyses.jester_games import chosen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SELF = "self"


def doctor_targets(frames: Frames) -> pl.DataFrame:
    """Whom doctors protect: themselves, or players of which role (Table 10, Figure 8a, Appendix C).

    Columns: game, model, learning, target ("self" or a role), protections, n (of the cell), mean, lo, hi (bootstrap
    over games).
    """
    acts = chosen(frames.nights).filter(pl.col("act") == "protection")
    own = pl.col("actor") == pl.col("target")
    return _shares(acts.with_columns(kind=pl.when(own).then(pl.lit(SELF)).otherwise("target_role")), "protections")


def victims(frames: Frames) -> pl.DataFrame:
    """Which roles those who kill at night attack, whether or not the doctor saved the victim (Figure 8b, Appendix C).

    Columns: game, model, learning, target (a role), attacks, n (of the cell),
    mean, lo, hi (bootstrap over games), died.
    """
    kills = chosen(frames.nights).filter(pl.col("act") == "kill").with_columns(kind=pl.col("target_role"))
    died = kills.group_by(*CELL, target="kind").agg(died=pl.col("died").sum().cast(pl.Int64))
    return _shares(kills, "attacks").join(died, on=[*CELL, "target"], how="left", maintain_order="left")


def doctor_prediction(frames: Frames) -> pl.DataFrame:
    """How often a living doctor protects the very player that the werewolves chose, by day (Appendix K.4).

    Protecting oneself when one is the victim counts. Columns: game, model, day, mean, lo, hi (bootstrap over games), n
    (protections), games.
    """
    kills = frames.nights.filter(pl.col("act") == "kill").select("game_id", "day", victim="target")
    acts = chosen(frames.nights).filter(pl.col("act") == "protection").join(kills, on=["game_id", "day"])
    rows = acts.with_columns(hit=pl.col("target") == pl.col("victim"))
    return game_means(rows, ["game", "model", "day"], "hit")


def _shares(acts: pl.DataFrame, count: str) -> pl.DataFrame:
    """The share of a cell's acts of each kind. acts: a row each, with the column kind."""
    kinds = acts.select(*CELL, target="kind").unique()
    rows = acts.join(kinds, on=CELL).with_columns(hit=pl.col("kind") == pl.col("target_right"))
    table = game_means(rows, [*CELL, "target_right"], "hit").rename({"target_right": "target"})
    counts = acts.group_by(*CELL, target="kind").agg(pl.len().cast(pl.Int64).alias(count))
    table = table.join(counts, on=[*CELL, "target"], how="left", maintain_order="left")
    return table.select(*CELL, "target", count, "n", "mean", "lo", "hi")


def plot_targets(table: pl.DataFrame) -> Figure:
    """One stacked bar a cell."""
    cells = table.select(CELL).unique(maintain_order=True)
    figure, (panel,) = canvas(1, height=1.8 + 0.35 * cells.height)
    figure.set_figwidth(7)
    targets = table["target"].unique(maintain_order=True).to_list()
    shares = {}
    for target in targets:
        part = cells.join(table.filter(pl.col("target") == target), on=CELL, how="left", maintain_order="left")
        shares[target] = part["mean"].fill_null(0.0).to_list()
    colours = {target: COLOURS["purple"] if target == SELF else faction_colour(target) for target in targets}
    stacked_bars(panel, cell_names(cells), shares, colours)
    panel.set(xlim=(0, 1), xlabel="share of nights")
    return figure


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "doctor_targets",
        "Whom the doctor protects",
        "Table 10, Figure 8a",
        doctor_targets,
        plot_targets,
        "A doctor that mostly protects itself has no view of whom the werewolves will choose.",
    ),
    Analysis(
        "victims",
        "Whom the werewolves choose at night",
        "Figure 8b",
        victims,
        plot_targets,
        "Attacks by the victim's role; those who died were not protected.",
    ),
    Analysis(
        "doctor_prediction",
        "Does the doctor protect the victim?",
        "Appendix K.4",
        doctor_prediction,
        note="The share of a living doctor's nights on which it protected whom the werewolves had chosen.",
    ),
)
