"""How often a role deceives, with which kinds of deception, and what reaction each kind draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.cells import CELL, RATER
from liescope.benchmark.analyses.corrections import Alike
from liescope.benchmark.analyses.figures import SHARE, by_side, cell_names, dots, stacked_bars
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, game_means
from liescope.benchmark.analyses.needs import RATINGS, REPORTED_TYPES, REPORTS_OR_RATINGS
from liescope.common.colours import COLOURS
from liescope.common.statistics import POSITIVE
from liescope.games.taxonomy import DeceptionType

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPES = tuple(kind.value for kind in DeceptionType)
_PLACE = {name: place for place, name in enumerate(TYPES)}
_SHADES = {
    name.replace("_", " "): COLOURS[colour]
    for name, colour in zip(
        TYPES, ("pale", "blue", "vermillion", "green", "orange", "purple", "sky", "yellow", "grey"), strict=False
    )
}


def deception_rates(frames: Frames) -> pl.DataFrame:
    """Deceptive statements per statement made, by role: as the speaker reports and as the peers see it (Figure 14).

    by "self": the speaker reports the statement as deceptive; by "peers": more than half of the usable ratings flag it.
    Columns: game, condition, model (the speaker's), learning, rater, speaker_role, by, mean, lo, hi (over
    games), n (statements), games.
    """
    parts = [
        frames.statements.with_columns(by=pl.lit(by), deceptive=deceptive)
        for by, deceptive in (("self", pl.col("label_self")), ("peers", pl.col("peer_rate") > 0.5))
    ]
    return game_means(pl.concat(parts), [*CELL, RATER, "speaker_role", "by"], "deceptive")


def flags_per_statement(frames: Frames) -> pl.DataFrame:
    """How many observers flag a statement, on average, by the speaker's role (Figure 14, left: "peer-detected
    deceptions per statement"; `deception_rates` gives shares instead).

    Columns: game, condition, model (the speaker's), learning, rater, speaker_role, mean (flags a statement), lo, hi
    (over games), n (rated statements), games, observers (who rated it, the mean): a count, so that more observers give
    more.
    """
    rows = frames.statements.filter(pl.col("peer_ratings") > 0).with_columns(
        flags=pl.col("peer_rate") * pl.col("peer_ratings")
    )
    keys = [*CELL, RATER, "speaker_role"]
    observers = rows.group_by(keys).agg(observers=pl.col("peer_ratings").mean())
    return game_means(rows, keys, "flags", POSITIVE).join(observers, on=keys, how="left", maintain_order="left")


def type_composition(frames: Frames) -> pl.DataFrame:
    """Which kinds of deception a role uses (section 5.5): of its statements by its own report, of the peers' flags.

    by "self": shares of all statements whose type the speaker reported, `none` among them; by "peers": shares of all
    flags with a type. Columns: game, condition, model (the speaker's), learning, rater, speaker_role, by, type,
    mean (the share), lo, hi (over games), n (statements or flags), games.
    """
    columns = ["game_id", "family", *CELL, RATER, "speaker_role", "by", "kind"]
    own = frames.statements.with_columns(by=pl.lit("self"), kind="self_type")
    seen = frames.ratings.filter("flag").with_columns(by=pl.lit("peers"), kind="type")
    rows = pl.concat([own.select(columns), seen.select(columns)]).drop_nulls("kind")
    every = pl.DataFrame({"type": TYPES}, {"type": pl.String})
    rows = rows.join(every, how="cross").with_columns(hit=pl.col("kind") == pl.col("type"))
    table = game_means(rows, [*CELL, RATER, "speaker_role", "by", "type"], "hit")
    place = pl.col("type").replace_strict(_PLACE, return_dtype=pl.Int64)
    return table.sort(*CELL, RATER, "speaker_role", "by", place)


def type_yield(frames: Frames) -> pl.DataFrame:
    """What a role's statements draw, by the type that the speaker reports (Appendix F.2, there for the jester).

    The unit is the statement, as in the paper: each counts once, however many rated it. metric "suspicion": mean over
    statements of their observers' mean suspicion; "flagged": mean over statements of the share of observers who flag
    it. Columns: game, condition, model (the speaker's), learning, rater, speaker_role, type, metric, mean, lo, hi (over
    games), n (statements), games.
    """
    rated = frames.statements.with_columns(type="self_type").drop_nulls("type")
    parts = [
        rated.with_columns(metric=pl.lit(metric), value=pl.col(column).cast(pl.Float64))
        for metric, column in (("suspicion", "peer_suspicion"), ("flagged", "peer_rate"))
    ]
    table = game_means(pl.concat(parts), [*CELL, RATER, "speaker_role", "type", "metric"], "value")
    place = pl.col("type").replace_strict(_PLACE, return_dtype=pl.Int64)
    return table.sort(*CELL, RATER, "speaker_role", place, "metric")


def plot_deception_rates(table: pl.DataFrame) -> Figure:
    """A panel a cell, a row a role: its own reports and its peers' ratings."""
    series = [f"by {by}" for by in table["by"]]
    colours = {"by self": COLOURS["blue"], "by peers": COLOURS["orange"]}
    axis = "share of statements that is deceptive"
    return dots(table, "mean", axis, "speaker_role", cell_names(table), series, colours, limits=SHARE)


def plot_flags_per_statement(table: pl.DataFrame) -> Figure:
    """A panel a cell, a row a role."""
    colours = by_side(table, "speaker_role")
    return dots(table, "mean", "observers who flag a statement", "speaker_role", cell_names(table), colours=colours)


def plot_type_composition(table: pl.DataFrame) -> Figure:
    """Stacked bars of the types that speakers report; a panel a cell, a bar a role."""
    own = table.filter((pl.col("by") == "self") & (pl.col("mean") > 0))
    own = own if own.height else table.filter(pl.col("mean") > 0)
    kinds = [kind.replace("_", " ") for kind in own["type"]]
    axis = "share of statements" if own["by"].item(0) == "self" else "share of the peers' flags"
    return stacked_bars(own, "mean", axis, "speaker_role", cell_names(own), kinds, _SHADES)


def plot_type_yield(table: pl.DataFrame) -> Figure:
    """Mean suspicion by type, a panel a cell, a dot a role."""
    place = pl.col("type").replace_strict(_PLACE, return_dtype=pl.Int64)
    rows = table.filter(pl.col("metric") == "suspicion").sort(place, maintain_order=True)
    kinds = [kind.replace("_", " ") for kind in rows["type"]]
    colours = by_side(rows, "speaker_role")
    axis = "mean suspicion drawn"
    return dots(rows, "mean", axis, kinds, cell_names(rows), "speaker_role", colours, limits=SHARE)


ANALYSES = (
    Analysis(
        "deception_rates",
        "Deceptive statements",
        deception_rates,
        plot_deception_rates,
        needs=(REPORTS_OR_RATINGS,),
        interval=Interval.MEANS,
        note="The share of a role's statements that is deceptive, by its speakers' reports and by most peers' ratings. "
        "The paper plots flags a statement instead: the next table.",
        main=True,
        corrections=(Alike(("learning", "rater", "speaker_role", "by")),),
    ),
    Analysis(
        "flags_per_statement",
        "Flags a statement draws",
        flags_per_statement,
        plot_flags_per_statement,
        needs=(RATINGS,),
        interval=Interval.MEANS,
        source="Figure 14, left",
        note="How many observers flag a statement, on average: a count, which grows with the observers, so compare "
        "rows with as many. The paper's Table 8 prints 6.751 and 6.109 as the rate at which jesters call their own "
        "statements deceptive, which cannot exceed 1; a count like this one can.",
        main=True,
        corrections=(Alike(("learning", "rater", "speaker_role")),),
    ),
    Analysis(
        "type_composition",
        "Kinds of deception",
        type_composition,
        plot_type_composition,
        needs=(REPORTS_OR_RATINGS,),
        otherwise="no report and no flag names a kind of deception",
        interval=Interval.MEANS,
        source="section 5.5",
        note="Shares add up to one for each role: of its statements by its own report, of the flags that its peers "
        "raised.",
        corrections=(Alike(("learning", "rater", "speaker_role", "by", "type")),),
    ),
    Analysis(
        "type_yield",
        "Reactions to each kind of deception",
        type_yield,
        plot_type_yield,
        needs=(REPORTED_TYPES, RATINGS),
        interval=Interval.MEANS,
        source="Appendix F.2",
        note="Suspicion and flags drawn by a role's statements, by the type that the speaker reported; n counts "
        "statements.",
        corrections=(Alike(("learning", "rater", "speaker_role", "type", "metric")),),
    ),
)
