"""How much the games with a silence, an unusable reply or a drawn vote move each result.

Results of play are figures of sums over games, so that they hold for any selection of games.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.analysis_figures import DRAWN, Dots
from liescope.benchmark.analyses.conditions_of_play import GAME
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero, game_figure
from liescope.benchmark.analyses.names import FEMALE, MALE, spoke, with_gender
from liescope.benchmark.analyses.outcomes import DECIDED
from liescope.benchmark.analyses.votes import honest_votes, last_words
from liescope.common.statistics import CHANGE, PROPORTION, Floats, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_GAME = "game_id"


@dataclass(frozen=True, slots=True)
class Result:
    """One result. name: in words; counts: game_id and numbers to add up, one row for each game that has any; figure:
    from sums of these numbers, shape (sums, numbers), to values, NaN where it is not defined; scale: its least and its
    greatest value.
    """

    name: str
    counts: pl.DataFrame
    figure: Callable[[Floats], Floats]
    scale: Scale = PROPORTION


def results_of_play(frames: Frames) -> Iterator[tuple[str, str, list[Result]]]:
    """Of each game and condition: how often each faction wins; the share of votes for a deceiver, by role, and by model
    in the role that most players hold, which knows least; male minus female names; what the last word gains each role.
    Those without games to compare are left out. The highest win rate of a name minus the lowest is no result here: it
    is never zero, and grows by chance as games get fewer.
    """
    makers = [
        (_wins, _sides(frames)),
        (_accuracy, _votes(frames)),
        (_names, spoke(frames)),
        (_last, last_words(frames)),
    ]
    for game, condition in frames.games.select(GAME).unique().sort(GAME).iter_rows():
        here = (pl.col("game") == game) & (pl.col("condition") == condition)
        yield game, condition, [result for make, rows in makers for result in make(rows.filter(here))]


def _sides(frames: Frames) -> pl.DataFrame:
    dealt = frames.seats.select(_GAME, side="team").unique()
    won = frames.games.filter(DECIDED).join(dealt, on=_GAME)
    return won.select(_GAME, *GAME, "side", won=pl.col("winner") == pl.col("side"))


def _votes(frames: Frames) -> pl.DataFrame:
    """Votes of players whose role does not deceive; `most`: whether most such players hold the voter's role."""
    held = frames.seats.filter(~pl.col("deceives")).group_by(GAME).agg(_most=pl.col("role").mode().sort().first())
    return honest_votes(frames).join(held, on=GAME).with_columns(most=pl.col("voter_role") == pl.col("_most"))


def _wins(rows: pl.DataFrame) -> Iterator[Result]:
    for (side,), part in rows.sort("side").group_by("side", maintain_order=True):
        yield Result(f"{side}: win rate", _counts(part, pl.col("won"), pl.lit(True)), _rate)


def _accuracy(votes: pl.DataFrame) -> Iterator[Result]:
    hit, one = pl.col("hit"), pl.lit(True)
    for (role,), part in votes.sort("voter_role").group_by("voter_role", maintain_order=True):
        yield Result(f"{role}: votes for a deceiver", _counts(part, hit, one), _rate)
        if part["most"].all() and 1 < part["model"].n_unique() <= DRAWN:
            for (model,), mine in part.sort("model").group_by("model", maintain_order=True):
                yield Result(f"{role} {model}: votes for a deceiver", _counts(mine, hit, one), _rate)


def _names(seats: pl.DataFrame) -> Iterator[Result]:
    won = pl.col("won").cast(bool)
    stated, gender = with_gender(seats), pl.col("gender")
    if {MALE, FEMALE} <= set(stated["gender"]):
        flags = [flag for one in (MALE, FEMALE) for flag in (won & (gender == one), gender == one)]
        yield Result("names: male minus female win rate", _counts(stated, *flags), _gap, CHANGE)


def _last(words: pl.DataFrame) -> Iterator[Result]:
    won, last = pl.col("won"), pl.col("last")
    for (role,), part in words.sort("role").group_by("role", maintain_order=True):
        if part["last"].n_unique() == 2:
            counts = _counts(part, won & last, last, won & ~last, ~last)
            yield Result(f"{role}: win rate with the last word minus without", counts, _gap, CHANGE)


def _counts(rows: pl.DataFrame, *flags: pl.Expr) -> pl.DataFrame:
    """How many rows of each game have each flag."""
    numbers = [flag.cast(pl.Float64).alias(str(at)) for at, flag in enumerate(flags)]
    return rows.select(_GAME, *numbers).group_by(_GAME).agg(pl.all().sum())


def _rates(sums: Floats) -> Floats:
    """Every first number over the second that follows it, shape (sums, numbers / 2)."""
    return np.asarray(sums[:, ::2] / np.where(sums[:, 1::2] > 0, sums[:, 1::2], np.nan))


def _rate(sums: Floats) -> Floats:
    return np.asarray(_rates(sums)[:, 0])


def _gap(sums: Floats) -> Floats:
    rates = _rates(sums)
    return np.asarray(rates[:, 0] - rates[:, 1])


NOTHING, SILENCES, UNUSABLE, DRAWN_VOTES, ANY = "nothing", "silences", "unusable replies", "drawn votes", "any of these"
_LEFT_OUT = (SILENCES, UNUSABLE, DRAWN_VOTES, ANY)
SCHEMA = pl.Schema(
    {
        **dict.fromkeys((*GAME, "result", "left_out"), pl.String()),
        "games": pl.Int64(),
        **dict.fromkeys(("mean", "lo", "hi"), pl.Float64()),
        **dict.fromkeys(("difference", "difference_lo", "difference_hi"), pl.Float64()),
        **dict.fromkeys(("same_lineups", "same_lineups_lo", "same_lineups_hi"), pl.Float64()),
    }
)


def influence(frames: Frames) -> pl.DataFrame:
    """Every result with all games, and without those with a silence, an unusable reply, a drawn vote, any of these.

    Columns: game, condition, result, left_out (which games, "nothing" for all), games (kept, of those that the result
    counts), mean (the result), lo, hi; difference (the result minus that of all games) with its bounds; same_lineups
    (the same difference where the kept games of each line-up weigh as much as all its games, over line-ups that keep
    some) with its bounds. All bounds are from a jackknife over games. A silence may be deliberate; an unusable reply
    may have led to a silence, a drawn vote or another choice by the rules. What no game has, or every game, is no
    selection and has no row.
    """
    rows = [
        (game, condition, *row)
        for game, condition, results in results_of_play(frames)
        for row in _rows(frames.games.filter(game=game, condition=condition), _marks(frames), results)
    ]
    some_kept = (pl.col("left_out") != NOTHING).any().over(*GAME, "result")
    return pl.DataFrame(rows, SCHEMA, orient="row").filter(some_kept)


def _marks(frames: Frames) -> pl.DataFrame:
    """game_id, and whether the game has each of the marks."""
    drawn = frames.votes.group_by("game_id").agg(drawn=pl.col("drawn").any())
    marks = frames.games.join(drawn, on="game_id", how="left").select(
        "game_id",
        (pl.col("silences") > 0).fill_null(False).alias(SILENCES),
        (pl.col("fallbacks") > 0).fill_null(False).alias(UNUSABLE),
        pl.col("drawn").fill_null(False).alias(DRAWN_VOTES),
    )
    return marks.with_columns(pl.any_horizontal(pl.exclude("game_id")).alias(ANY))


def _left_to_the_rules(frames: Frames) -> str:
    """At least one game to leave out."""
    return "" if _marks(frames)[ANY].any() else "no game has a silence, an unusable reply or a drawn vote"


def _rows(games: pl.DataFrame, marks: pl.DataFrame, results: Sequence[Result]) -> Iterator[tuple[Any, ...]]:
    """result, left_out, games, mean, lo, hi and both differences with their bounds, of the games of one set."""
    marked = games.select("game_id", "family", "lineup", "learning").join(marks, on="game_id", maintain_order="left")
    lineup = marked.select(pl.struct("lineup", "learning").rank("dense")).to_series().to_numpy() - 1
    flags = {name: marked[name].to_numpy() for name in _LEFT_OUT if marked[name].n_unique() == 2}
    if not flags or not results:
        return
    selections = {NOTHING: np.zeros(marked.height, bool), **flags}
    for result in results:
        counts = marked.select("game_id").join(result.counts, on="game_id", how="left", maintain_order="left")
        counted = counts[:, 1].is_not_null().to_numpy()
        numbers = counts.drop("game_id").fill_null(0.0).to_numpy()
        for name, flag in selections.items():
            blocks = np.hstack([numbers * weight[:, None] for weight in _weights(flag, counted, lineup)])
            table = marked.select("game_id", "family").hstack(pl.DataFrame(blocks))
            found = [game_figure(table, *figure) for figure in _figures(result, numbers.shape[1])]
            mean, *differences = found if name != NOTHING else (found[0], (None,) * 3, (None,) * 3)
            if mean[0] is not None:
                yield result.name, name, int((~flag & counted).sum()), *mean, *differences[0], *differences[1]


def _weights(
    left_out: npt.NDArray[np.bool_], counted: npt.NDArray[np.bool_], lineup: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, Floats, Floats]:
    """What each game weighs: among all games; among those kept; among all games of line-ups that keep some; and, of the
    kept games of these, as much as makes up for those left out. Only games that the result counts make up for others.
    """
    kept = (~left_out).astype(float)
    of_lineup = np.bincount(lineup, counted)
    of_kept = np.bincount(lineup, kept * counted)
    some = of_kept > 0
    each = np.where(some, of_lineup / np.where(some, of_kept, 1), 0)
    return np.ones(len(kept)), kept, some[lineup].astype(float), kept * each[lineup]


def _figures(result: Result, width: int) -> list[tuple[Callable[[Floats], Floats], Scale]]:
    """The result over the games kept; minus that over all; and minus it in line-ups of equal weight; each with its
    scale. width: of the sums for each of the four weights of `_weights`.
    """
    low, high = result.scale
    change = (low - high, high - low)

    def over(weight: int) -> Callable[[Floats], Floats]:
        begin = weight * width
        return lambda sums: result.figure(sums[:, begin : begin + width])

    def minus(one: int, other: int) -> Callable[[Floats], Floats]:
        return lambda sums: over(one)(sums) - over(other)(sums)

    return [(over(1), result.scale), (minus(1, 0), change), (minus(3, 2), change)]


def plot_influence(table: pl.DataFrame) -> Figure:
    """A row a result: what leaving out the most games changes, as it is and with line-ups weighted alike."""
    widest = next(name for name in reversed(_LEFT_OUT) if name in table["left_out"])
    moved = table.filter(pl.col("left_out") == widest)
    parts = [
        moved.select(*GAME, "result", difference=name, lo=f"{name}_lo", hi=f"{name}_hi", series=pl.lit(words))
        for name, words in (("difference", "as it is"), ("same_lineups", "line-ups weighted alike"))
    ]
    shown = pl.concat(parts).drop_nulls("difference")
    axis = f"result without {'these games' if widest == ANY else widest}, minus that of all games"
    return Dots(axis, "result", series="series", reference=0)(shown)


ANALYSES_OF_INFLUENCE: tuple[Analysis, ...] = (
    Analysis(
        "influence",
        "What silences, unusable replies and drawn votes change",
        influence,
        plot_influence,
        needs=(_left_to_the_rules,),
        otherwise="every game has one, or shows no result",
        interval=Interval.MEANS,
        note="Each result with all games, and with some left out. Weak models leave more to the rules, so leaving out "
        "such games also changes who plays; same lineups is the difference with line-ups weighted as in all games.",
        corrections=(
            Zero("difference", own_bounds=True),
            Zero("same_lineups", own_bounds=True),
        ),
    ),
)
