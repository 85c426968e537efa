"""Whether the jester said anything on the first day, and whether it won."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.figures import SHARE, cell_names, dots
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, shares
from liescope.benchmark.analyses.jester_games import jester_games
from liescope.benchmark.analyses.needs import dealt
from liescope.common.colours import COLOURS
from liescope.games.core import Phase
from liescope.games.werewolf import JESTER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BALLOTS = (Phase.VOTING.value, Phase.REVOTE.value)


def jester_silence(frames: Frames) -> pl.DataFrame:
    """How often the jester wins if it spoke on day 1, and if it did not (Appendix D and F.1).

    The paper calls silence on day 1 a certain sign of a lost game. The reason of a vote does not count as speaking:
    everybody gives one. Games in which the jester died before it could speak are left out. Columns: game, condition,
    model (the jester's), learning, spoke, wins, games, rate, lo, hi (Wilson's interval over games).
    """
    jesters = frames.seats.filter(pl.col("role") == JESTER)
    died = jesters.filter((pl.col("fate") == "killed") & (pl.col("day_out") == 1)).select("game_id")
    talk = frames.statements.filter(
        (pl.col("speaker_role") == JESTER) & (pl.col("day") == 1) & ~pl.col("phase").is_in(_BALLOTS)
    )
    spoke = talk.select("game_id", spoke=True).unique()
    games = jester_games(frames).join(died, on="game_id", how="anti").join(spoke, on="game_id", how="left")
    counts = games.with_columns(
        pl.col("spoke").fill_null(False), wins=pl.col("jester_won").cast(pl.Int64), games=pl.lit(1, pl.Int64)
    )
    return shares(counts, [*CELL, "spoke"], "wins", "games")


def plot_jester_silence(table: pl.DataFrame) -> Figure:
    """A row a cell: games in which the jester was silent on day 1, and others."""
    series = ["spoke on day 1" if spoke else "silent on day 1" for spoke in table["spoke"]]
    colours = {"spoke on day 1": COLOURS["blue"], "silent on day 1": COLOURS["orange"]}
    axis = "share of games that the jester won"
    return dots(table, "rate", axis, cell_names(table), [""] * table.height, series, colours, limits=SHARE)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "jester_silence",
        "The jester's silence on day 1",
        jester_silence,
        plot_jester_silence,
        needs=(dealt(JESTER),),
        otherwise="every jester died before it could speak",
        interval=Interval.SHARES,
        source="Appendix F.1",
        note="In the paper every jester of one model that was silent on day 1 lost.",
    ),
)
