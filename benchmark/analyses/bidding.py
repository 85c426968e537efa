"""Whether bidding for the floor pays for the jester."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.figures import cell_names, dots
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import BIDS, dealt
from liescope.common.colours import COLOURS
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METRICS = ("average_bid", "first_bid", "highest_bid")
_WON = {True: "jester won", False: "jester lost"}
_COLOURS = {_WON[True]: COLOURS["orange"], _WON[False]: COLOURS["grey"]}


def jester_bids(frames: Frames) -> pl.DataFrame:
    """The jester's bids in games it won and lost: its mean, first and highest bid of each game (Table 11).

    Games in which the jester never bid are left out; an unreadable bid counts as 0, as in the rules.

    Columns: game, condition, model (the jester's), learning, won, metric, mean (over games), lo, hi (over
    games), games.
    """
    won = frames.games.select("game_id", won=pl.col("winner") == JESTER)
    per_game = (
        frames.bids.filter(pl.col("role") == JESTER)
        .group_by(*CELL, "game_id", "family", maintain_order=True)
        .agg(
            average_bid=pl.col("bid").mean(),
            first_bid=pl.col("bid").first().cast(pl.Float64),
            highest_bid=pl.col("bid").max().cast(pl.Float64),
        )
        .join(won, on="game_id")
    )
    rows = per_game.unpivot(_METRICS, index=[*CELL, "game_id", "family", "won"], variable_name="metric")
    return game_means(rows, [*CELL, "won", "metric"], "value", (0.0, 10.0)).drop("n")


def plot_jester_bids(table: pl.DataFrame) -> Figure:
    """One panel per metric (Figure 10a): for each cell, the games that the jester won and did not win."""
    metrics = [metric.replace("_", " ") for metric in table["metric"]]
    won = [_WON[won] for won in table["won"]]
    return dots(table, "mean", "bid, from 0 to 10", cell_names(table), metrics, won, _COLOURS, limits=(-0.3, 10.3))


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "jester_bids",
        "The jester's bids and its wins",
        jester_bids,
        plot_jester_bids,
        needs=(dealt(JESTER), BIDS),
        otherwise="no jester bid for the floor",
        interval=Interval.MEANS,
        source="Table 11, Figure 10a",
        note="Bids run from 0 to 10; compare games won with games lost within a cell.",
    ),
)
