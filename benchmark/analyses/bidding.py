"""Whether bidding for the floor pays for the jester."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.figures import canvas, cell_names, groups_of, rows_of, tidy
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import BIDS, dealt
from liescope.benchmark.analyses.sides import side_colour
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METRICS = ("average_bid", "first_bid", "highest_bid")


def jester_bids(frames: Frames) -> pl.DataFrame:
    """The jester's bids in games it won and lost: its mean, first and highest bid of each game (Table 11).

    Games in which the jester never bid are left out; an unreadable bid counts as 0, as in the rules.

    Columns: game, condition, model (the jester's), learning, won, metric, mean (over games), lo, hi (bootstrap over
    games), games.
    """
    won = frames.games.select("game_id", won=pl.col("winner") == JESTER)
    per_game = (
        frames.bids.filter(pl.col("role") == JESTER)
        .group_by(*CELL, "game_id", maintain_order=True)
        .agg(
            average_bid=pl.col("bid").mean(),
            first_bid=pl.col("bid").first().cast(pl.Float64),
            highest_bid=pl.col("bid").max().cast(pl.Float64),
        )
        .join(won, on="game_id")
    )
    rows = per_game.unpivot(_METRICS, index=[*CELL, "game_id", "won"], variable_name="metric")
    return game_means(rows, [*CELL, "won", "metric"], "value").drop("n")


def plot_jester_bids(table: pl.DataFrame) -> Figure:
    """One panel per metric (Figure 10a): for each cell, the games that the jester won and did not win."""
    _, cells = groups_of(table)
    figure, panels = canvas(len(_METRICS), height=1.2 + 0.34 * cells.height)
    for metric, panel in zip(_METRICS, panels, strict=True):
        for won, shift, filled in ((True, -0.12, True), (False, 0.12, False)):
            for at, cell in enumerate(cells.iter_rows(named=True)):
                rows = rows_of(table, {**cell, "metric": metric, "won": won})
                colour = side_colour(cell["game"], JESTER)
                bounded = rows.drop_nulls(["lo", "hi"])
                panel.hlines([at + shift] * bounded.height, bounded["lo"], bounded["hi"], color=colour, linewidth=1)
                label = ("jester won" if won else "jester lost") if at == 0 else ""
                face = colour if filled else "white"
                panel.plot(
                    rows["mean"], [at + shift] * rows.height, "o", color=colour, markerfacecolor=face, label=label
                )
        panel.set_yticks(range(cells.height), cell_names(cells), fontsize=8)
        panel.invert_yaxis()
        panel.set(xlim=(-0.3, 10.3), title=metric.replace("_", " "), xlabel="bid")
        tidy(panel, legend=panel is panels[0])
    return figure


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "jester_bids",
        "The jester's bids and its wins",
        jester_bids,
        plot_jester_bids,
        needs=(dealt(JESTER), BIDS),
        otherwise="no jester bid for the floor",
        interval=Interval.BOOTSTRAP,
        source="Table 11, Figure 10a",
        note="Bids run from 0 to 10; compare games won with games lost within a cell.",
    ),
)
