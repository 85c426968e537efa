"""What changes with time: over the games of a cell, over the days of a game, within a day; and how long games last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import REPORTS, SUSPICION, TURNS, Analysis
from liescope.benchmark.analyses.analysis_figures import Curves, Dots, cell_names, of_game
from liescope.benchmark.analyses.analysis_tables import Differences, Means, in_order
from liescope.benchmark.analyses.conditions_of_play import CELL, GAME, MODEL, RATER
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.outcomes import wins_by
from liescope.common.figures import whole_numbers
from liescope.common.statistics import POSITIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


FIFTHS = ("first", "second", "third", "fourth", "fifth")
THIRDS = ("early", "mid", "late")


def _in_order(frames: Frames) -> pl.DataFrame:
    """The games whose turn is known, of cells with two or more, with the columns place (of the game in its cell, from
    1; a cell of the plan has one line-up) and of (games in that cell).
    """
    cell = [*CELL, "lineup"]
    place = pl.struct("turn", "game_id").rank("ordinal").over(cell).cast(pl.Int64)
    games = frames.games.drop_nulls("turn").with_columns(place=place, of=pl.len().over(cell))
    return games.filter(pl.col("of") > 1)


def _halves(frames: Frames) -> pl.DataFrame:
    """Of an odd number of games the middle one belongs to the second half."""
    late = 2 * pl.col("place") > pl.col("of") - pl.col("of") % 2
    return wins_by(frames, [*CELL, "late"], _in_order(frames).with_columns(late=late))


def cumulative_wins(frames: Frames) -> pl.DataFrame:
    """Win rates over the first games of a cell, up to each of them (Figure 10c).

    Columns: game, condition, model, learning, faction, place (of the game in its cell, from 1), wins (in the games up
    to this one), games, rate.
    """
    factions = _in_order(frames).join(frames.seats.select("game_id", faction="team").unique(), on="game_id")
    won = (pl.col("winner") == pl.col("faction")).cast(pl.Int64)
    keys = [*CELL, "faction", "place"]
    counts = factions.group_by(keys).agg(wins=won.sum(), games=pl.len().cast(pl.Int64)).sort(keys)
    table = counts.with_columns(pl.col("wins", "games").cum_sum().over([*CELL, "faction"]))
    return table.with_columns(rate=pl.col("wins") / pl.col("games"))


def plot_game_length(table: pl.DataFrame) -> Figure:
    """Mean length with its interval by winner, one panel per cell."""
    longest = float(table["longest"].to_numpy().max())
    figure = Dots("days", "winner", colours="side", limits=(0, longest + 0.5))(table)
    for panel in figure.axes:
        whole_numbers(panel)
    return figure


def plot_survival(table: pl.DataFrame) -> Figure:
    """One curve per role over the fifths of a cell's games, one panel per model."""
    fifth = (pl.col("turn") * 5 // (pl.col("turn").max().over(MODEL) + 1)).cast(pl.Int64)
    seats = table.group_by(*MODEL, "role", fifth=fifth, maintain_order=True).agg(
        mean=(pl.col("mean") * pl.col("n")).sum() / pl.col("n").sum()
    )
    axes = ("fifths of the cell's games, in order", "share that survives")
    return Curves("fifth", axes, "role", ticks=FIFTHS)(seats)


def _thirds(frames: Frames) -> pl.DataFrame:
    """The ratings with the position of the statement among those of its day."""
    place = ((pl.col("position") - 1) * 3 // pl.col("statements_of_day")).clip(0, 2)
    names = place.replace_strict(dict(enumerate(THIRDS)), return_dtype=pl.String)
    return frames.ratings.join(frames.statements.select("statement_id", RATER, third=names), on=["statement_id", RATER])


def plot_position_thirds(table: pl.DataFrame) -> Figure:
    """A curve for each role over the thirds of the day, one panel for each game."""
    axes = ("third of the day's statements", "mean suspicion")
    rows = table.with_columns(place=in_order("third", THIRDS).to_physical())
    return Curves("place", axes, "speaker_role", ticks=THIRDS)(rows)


ANALYSES_OF_GAME_LENGTH: tuple[Analysis, ...] = (
    Analysis(
        "halves",
        "First half against second half of a cell",
        Differences(
            _halves, "won", (*CELL, "faction"), "late", "second", "first", also={"overall": pl.col("won").mean()}
        ),
        needs=(TURNS,),
        otherwise="no cell has two games",
        source="Table 13",
        note="A trend in cells without learning is drift, not learning: compare the two.",
    ),
    Analysis(
        "cumulative_wins",
        "Wins over the games of a cell",
        cumulative_wins,
        Curves("place", ("game of the cell", "share won so far"), cell_names, of_game("faction"), "model", "rate"),
        needs=(TURNS,),
        otherwise="no cell has two games",
        source="Figure 10c",
        note="The share won up to each game; the first games say little, and neighbouring values are not independent.",
    ),
    Analysis(
        "game_length",
        "Length of games by winner",
        Means(
            "games",
            "days",
            (*CELL, "winner"),
            POSITIVE,
            also={"shortest": pl.col("days").min(), "median": pl.col("days").median(), "longest": pl.col("days").max()},
            columns=("mean", "lo", "hi", "shortest", "median", "longest", "games"),
        ),
        plot_game_length,
        source="Figure 6",
        note="Mean number of days that came to a vote.",
    ),
    Analysis(
        "survival",
        "Survival by role and game of the cell",
        # Cells with and without learning are pooled, as in the paper.
        Means(lambda frames: frames.seats.drop_nulls("turn"), "survived", (*MODEL, "role", "turn")),
        plot_survival,
        needs=(TURNS,),
        source="Appendix K.5",
        note="A line that rises or falls over the games of a cell is drift, which learning may or may not explain.",
    ),
)

ANALYSES_OF_TIMELINE = (
    Analysis(
        "self_tagged_by_day",
        "Reported deception by day",
        Means("statements", "label_self", (*MODEL, RATER, "speaker_role", "day")),
        Curves("day", ("day", "share reported"), "speaker_role"),
        needs=(REPORTS,),
        source="Appendix K.2",
        note="Whether a role deceives more or less as the game goes on, by its own reports.",
    ),
    Analysis(
        "position_thirds",
        "Suspicion by position within the day",
        Means(_thirds, "suspicion", (*GAME, RATER, "speaker_role", "third"), order={"third": THIRDS}),
        plot_position_thirds,
        needs=(SUSPICION,),
        source="Appendix K.3",
        note="Whether late speakers are suspected more.",
    ),
)
