"""Intervals of the tables: the rule of `liescope.common.statistics`, over games together with their siblings.

Statements of one game are not independent draws, and neither are games that share a beginning. So the unit is the
family: a game with those that go on from it or play it again, as the column family of every frame names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import polars as pl

from liescope.common.statistics import LEVEL, PROPORTION, REAL, Floats, Rows, Scale, difference, jackknife, mean

_FIGURES = {"mean": pl.Float64, "lo": pl.Float64, "hi": pl.Float64, "n": pl.Int64, "games": pl.Int64}
_SUMS = ("count", "sum", "squares")


class Interval(Enum):
    """How the columns lo and hi of a table were computed. The value is the caption of the table."""

    NONE = ""
    SHARES = "Wilson's score interval over games"
    UNITS = "Wilson's score interval over n, those of one game together"
    DIFFERENCE = "Newcombe's interval of the difference, over games"
    SHARES_AND_DIFFERENCE = "Wilson's score interval over games; Newcombe's for a difference"
    FISHER = "Fisher's interval of a correlation, over games"
    MEANS = "Student's interval from a jackknife over whole games"
    CLUSTERED = "Student's interval with errors clustered by game"
    MEAN_DIFFERENCE = "Newcombe's interval of the difference, from a jackknife over whole games"
    PAIRS = "over pairs: Newcombe's interval of shares, Student's of means"
    PAIRED_OR_NOT = (
        "at the same ballots or statements, Student's interval with errors clustered by game; over all games, "
        "Newcombe's interval of the difference, from a jackknife over whole games"
    )
    STUDENT = "Student's interval over the unit named"

    @property
    def caption(self) -> str:
        """A sentence, or "" for a table without an interval."""
        return f"lo to hi: {LEVEL:.0%}, {self.value}." if self.value else ""


RULE = (
    "Games that share a beginning (forks, recordings played again) count as one draw. No interval stands where fewer "
    "than two draws count, where one outweighs all others, or where they do not differ."
)
"""What holds for the intervals of every table."""


def game_means(rows: pl.DataFrame, by: Sequence[str], value: str, scale: Scale = PROPORTION) -> pl.DataFrame:
    """The mean of a column in each group, with its interval (`liescope.common.statistics.mean`) over families.

    rows: with the column family; scale: the least and the greatest value that there can be. Returns by…, mean, lo, hi
    (null below two families), n (rows that have a value), games (independent ones: a family is one); sorted by `by`.
    """
    found = []
    sums = _sums(rows, by, value)
    for key, part in sums.group_by(list(by), maintain_order=True) if by else [((), sums)]:
        if part.height:
            side = _rows(part)
            found.append((*key, side.mean, *mean(side, scale), int(side.counts.sum()), part.height))
    schema = {name: rows.schema[name] for name in by}
    return pl.DataFrame(found, {**schema, **_FIGURES}, orient="row").sort(list(by) or "mean")


def game_difference(
    one: pl.DataFrame, two: pl.DataFrame, value: str, scale: Scale = PROPORTION
) -> tuple[float | None, float | None, float | None]:
    """(difference, lo, hi) of the means of a column, first minus second; families may be on both sides. scale: of each
    mean. All None without a value on either side; bounds are None where a side has one family only.
    """
    sides = _aligned(_sums(one, (), value), _sums(two, (), value))
    if not all(side.counts.any() for side in sides):
        return None, None, None
    return sides[0].mean - sides[1].mean, *difference(*sides, scale)


def shares(counts: pl.DataFrame, by: Sequence[str], successes: str, n: str) -> pl.DataFrame:
    """How many of how many in each group: by…, both columns added up, rate, lo, hi; sorted by `by`.

    counts: with the column family and two of counts, in any number of rows; lo, hi as in `game_means`: Wilson's where
    every unit is a family of its own.
    """
    found = []
    by_family = counts.group_by([*by, "family"]).agg(pl.col(successes, n).sum()).sort([*by, "family"])
    for key, part in by_family.group_by(list(by), maintain_order=True):
        side = _of_counts(part[successes], part[n])
        total = int(side.counts.sum())
        bounds = mean(side) if total else (None, None)
        found.append((*key, int(side.sums.sum()), total, side.mean if total else None, *bounds))
    keys = {name: counts.schema[name] for name in by}
    figures = {successes: pl.Int64, n: pl.Int64, "rate": pl.Float64, "lo": pl.Float64, "hi": pl.Float64}
    return pl.DataFrame(found, {**keys, **figures}, orient="row")


def share_difference(
    one: pl.DataFrame, two: pl.DataFrame, successes: str, n: str
) -> tuple[float | None, float | None, float | None]:
    """(difference, lo, hi) of two shares from rows as in `shares`, first minus second; Newcombe's where every unit is a
    family of its own. All None where either side counts nothing.
    """
    named = [
        side.group_by(_family="family")
        .agg(count=pl.col(n).sum(), sum=pl.col(successes).sum())
        .with_columns(squares="sum")
        for side in (one, two)
    ]
    sides = _aligned(*named)
    if not all(side.counts.any() for side in sides):
        return None, None, None
    return sides[0].mean - sides[1].mean, *difference(*sides)


def game_figure(
    table: pl.DataFrame, figure: Callable[[Floats], Floats], scale: Scale = REAL
) -> tuple[float | None, float | None, float | None]:
    """(value, lo, hi) of a figure of summed numbers by `liescope.common.statistics.jackknife` over families.

    table: game_id, family, and numbers to add up.
    """
    by_family = table.group_by("family").agg(pl.exclude("game_id", "family").sum()).sort("family")
    return jackknife(by_family.drop("family").to_numpy().astype(float), figure, scale)


def _sums(rows: pl.DataFrame, by: Sequence[str], value: str) -> pl.DataFrame:
    """by…, _family, and the number, sum and sum of squares of the values there; sorted."""
    kept = rows.drop_nulls(value).select(*by, _family="family", _value=pl.col(value).cast(pl.Float64))
    keys = [*by, "_family"]
    amounts = {"count": pl.len(), "sum": pl.col("_value").sum(), "squares": (pl.col("_value") ** 2).sum()}
    return kept.group_by(keys).agg(**amounts).sort(keys)


def _aligned(one: pl.DataFrame, two: pl.DataFrame) -> tuple[Rows, Rows]:
    both = one.join(two, on="_family", how="full", coalesce=True, suffix="_two").sort("_family")
    both = both.fill_null(0)
    return _rows(both), _rows(both, "_two")


def _rows(part: pl.DataFrame, suffix: str = "") -> Rows:
    return Rows(*(part[name + suffix].to_numpy().astype(float) for name in _SUMS))


def _of_counts(successes: pl.Series, n: pl.Series) -> Rows:
    hits = successes.to_numpy().astype(float)
    return Rows(n.to_numpy().astype(float), hits, hits)
