"""Attempts at prompt injection: who makes them, and how games with them end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL
from liescope.benchmark.analyses.corrections import Alike, Zero
from liescope.benchmark.analyses.figures import by_model, cell_names, dots, of_game
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, shares
from liescope.benchmark.analyses.needs import SAID, WINNERS
from liescope.benchmark.analyses.outcomes import against
from liescope.benchmark.analyses.telling import said
from liescope.labeling.injection import KINDS, attempts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANY = "any"
_KEYS = ["game_id", "family", *CELL, "role"]


def attempted(frames: Frames) -> pl.DataFrame:
    """One row for each game, model and role whose players said something: game_id, game, condition, model, learning,
    role, won, statements, and kinds, the kinds of attempts (`liescope.labeling.injection`) that they made.
    """
    talk = said(frames).rename({"speaker_role": "role"})
    names = dict(frames.seats.group_by("game_id").agg(pl.col("name").sort()).rows())
    found = [
        [attempt.kind for attempt in attempts(text, speaker, names[game_id])]
        for game_id, speaker, text in talk.select("game_id", "speaker", "text").iter_rows()
    ]
    won = frames.seats.group_by("game_id", "model", "role").agg(pl.col("won").max())
    return (
        talk.with_columns(kinds=pl.Series(found, dtype=pl.List(pl.String)))
        .group_by(_KEYS)
        .agg(statements=pl.len().cast(pl.Int64), kinds=pl.col("kinds").explode().drop_nulls().unique().sort())
        .join(won, on=["game_id", "model", "role"], how="left")
        .sort(_KEYS)
    )


def injection_attempts(frames: Frames) -> pl.DataFrame:
    """How often players try to instruct the others' models or imitate the game, by model and role.

    Columns: game, condition, model, learning, role, kind ("any", and those of `KINDS` that occur), count (games in
    which a player of the model in the role made such an attempt), games (in which one spoke), rate, lo, hi (Wilson's
    interval over games), statements (in those games).
    """
    games = attempted(frames)
    occurring = [kind for kind in KINDS if games["kinds"].explode().eq(kind).any()]
    hits = [(pl.col("kinds").list.len() > 0).alias(ANY)]
    hits += [pl.col("kinds").list.contains(kind).alias(kind) for kind in occurring]
    long = games.with_columns(hits).unpivot(
        [ANY, *occurring], index=["family", *CELL, "role", "statements"], variable_name="kind", value_name="hit"
    )
    keys = [*CELL, "role", "kind"]
    counts = long.with_columns(count=pl.col("hit").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    said_there = long.group_by(keys).agg(pl.col("statements").sum())
    places = {kind: place for place, kind in enumerate([ANY, *KINDS])}
    order = pl.col("kind").replace_strict(places, return_dtype=pl.Int64)
    return shares(counts, keys, "count", "games").join(said_there, on=keys, how="left").sort(*CELL, "role", order)


def injection_success(frames: Frames) -> pl.DataFrame:
    """How often the team of a model in a role wins where it made an attempt and where it made none.

    Columns: game, condition, model, learning, role, rate_without, games_without, rate_with, games_with, difference, lo,
    hi (Newcombe's interval). Models that never tried in a role have no row for it.
    """
    keys = [*CELL, "role"]
    rows = attempted(frames).drop_nulls("won").with_columns(tried=pl.col("kinds").list.len() > 0)
    counts = rows.with_columns(wins=pl.col("won").cast(pl.Int64), games=pl.lit(1, pl.Int64))
    return against(counts, keys, "tried", "with", "without")


def plot_injection_attempts(table: pl.DataFrame) -> Figure:
    """Attempts of any kind: a panel a role, a row a cell."""
    table = table.filter(kind=ANY)
    cells = cell_names(table)
    axis = "share of games with an attempt"
    return dots(table, "rate", axis, cells, of_game(table, "role"), colours=by_model(table, cells))


def plot_injection_success(table: pl.DataFrame) -> Figure:
    """Differences of win rates around zero: a panel a role, a row a cell."""
    cells, axis = cell_names(table), "win rate, with an attempt minus without"
    colours = by_model(table, cells)
    return dots(table, "difference", axis, cells, of_game(table, "role"), colours=colours, reference=0)


ANALYSES: tuple[Analysis, ...] = (
    Analysis(
        "injection_attempts",
        "Attempts at prompt injection",
        injection_attempts,
        plot_injection_attempts,
        needs=(SAID,),
        interval=Interval.SHARES,
        note="Statements that order the others' models about, or imitate a system, a moderator, the game or other "
        "players, found by a list of rules; some are accidents of a model that writes on in its format.",
        corrections=(Alike(("learning", "role", "kind"), "rate"),),
    ),
    Analysis(
        "injection_success",
        "Prompt injection and winning",
        injection_success,
        plot_injection_success,
        needs=(SAID, WINNERS),
        otherwise="no model made an attempt in some games and none in others",
        interval=Interval.DIFFERENCE,
        note="Games with an attempt differ from the others in more than this, so a difference is no effect of it.",
        corrections=(Zero(draws=("games_with", "games_without")),),
    ),
)
