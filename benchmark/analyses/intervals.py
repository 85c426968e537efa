"""Intervals of the tables: the rule of `liescope.common.statistics`, over games together with their siblings.

Statements of one game are not independent draws, and neither are games that share a beginning. So the unit is the
family: a game with those that go on from it or play it again, as the column family of every frame names it.

Of a hundred intervals of 95%, five leave the truth out. So a table whose rows are compared with zero says for each row
how likely such a figure is without any difference, corrected for all rows (Holm 1979); one whose rows are compared with
each other says whether they differ at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import polars as pl
from scipy.special import fdtrc, stdtrit

from liescope.benchmark.analyses.conditions_of_play import GAME, POOLED
from liescope.common.statistics import (
    CHANGE,
    LEVEL,
    PROPORTION,
    REAL,
    Estimate,
    Floats,
    Rows,
    Scale,
    agreed,
    difference,
    equal_weights,
    holm,
    jackknife,
    mean,
    p_value,
    student,
)

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
    STUDENT = "Student's interval over the unit named"

    @property
    def caption(self) -> str:
        """A sentence, or "" for a table without an interval."""
        return f"lo to hi: {LEVEL:.0%}, {self.value}." if self.value else ""


RULE = (
    "Games that share a beginning (forks, recordings played again) count as one draw. No interval stands where fewer "
    "than two draws count or where one outweighs all others. Where all agree, it is what their number leaves open."
)
"""A sentence about the intervals of every table."""


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


def game_difference(one: pl.DataFrame, two: pl.DataFrame, value: str) -> Estimate:
    """(difference, lo, hi) of the means of a column from 0 to 1, first minus second; families may be on both sides. All
    None without a value on either side; bounds are None where a side has only one family.
    """
    one, two = (_sums(side, (), value) for side in (one, two))
    both = one.join(two, on="_family", how="full", coalesce=True, suffix="_two").sort("_family").fill_null(0)
    sides = _rows(both), _rows(both, "_two")
    if not all(side.counts.any() for side in sides):
        return None, None, None
    return sides[0].mean - sides[1].mean, *difference(*sides)


def shares(rows: pl.DataFrame, by: Sequence[str], value: str, count: str = "wins", of: str = "games") -> pl.DataFrame:
    """How many rows of each group count: by…, count, of, rate, lo, hi; sorted by `by`.

    value: the column that says whether a row counts; count, of: names for the columns of the two numbers. lo, hi: as in
    `game_means`, Wilson's where every row is a family of its own.
    """
    table = game_means(rows, by, value).drop("games").rename({"mean": "rate", "n": of})
    hits = rows.group_by(by).agg(pl.col(value).sum().cast(pl.Int64).alias(count))
    counted = table.join(hits, on=by, how="left", nulls_equal=True, maintain_order="left")
    return counted.select(*by, count, of, "rate", "lo", "hi")


def game_figure(table: pl.DataFrame, figure: Callable[[Floats], Floats], scale: Scale = REAL) -> Estimate:
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


def _rows(part: pl.DataFrame, suffix: str = "") -> Rows:
    return Rows(*(part[name + suffix].to_numpy().astype(float) for name in _SUMS))


def adjusted_difference(
    rows: pl.DataFrame, fact: str, outcome: str, strata: Sequence[str]
) -> tuple[float | None, float | None, float | None, int]:
    """(difference, lo, hi, games) of the outcome where the fact holds, minus where it does not, within strata.

    This is the Mantel-Haenszel difference of rates, equal to that of a regression on the fact with an effect for every
    stratum: strata in which all rows have the fact, or none, do not count. The errors are clustered by family (a game
    with its siblings), since rows of one game share its outcome, and hold for few games too: residuals are scaled by
    leverage, and Student's t has the degrees of freedom that as many equally weighted families would give. games: the
    families that count.

    fact: a column of 0 and 1; outcome: one from 0 to 1. The difference is None if no stratum compares, the bounds if
    too few families do.
    """
    x, y = pl.col(fact).cast(pl.Float64), pl.col(outcome).cast(pl.Float64)
    sums = rows.group_by("family", stratum=pl.struct(strata)).agg(n=pl.len(), x=x.sum(), y=y.sum(), xy=(x * y).sum())
    whole = {name: pl.col(name).sum().over("stratum") for name in ("n", "x", "y")}
    share = pl.col("n") / whole["n"]
    mean_x, mean_y = whole["x"] / whole["n"], whole["y"] / whole["n"]
    parts = sums.select(
        "family",
        together=(share**2).sum().over("stratum"),
        above=pl.col("xy") - mean_x * pl.col("y") - mean_y * pl.col("x") + pl.col("n") * mean_x * mean_y,
        below=pl.col("x") - 2 * mean_x * pl.col("x") + pl.col("n") * mean_x**2,
        with_fact=pl.col("x") > 0,
        without=pl.col("x") < pl.col("n"),
    ).filter(pl.col("below") > 1e-12)  # strata whose rows differ only by rounding
    compared = float(parts["below"].to_numpy().sum())
    if not compared:
        return None, None, None, 0
    difference = float(parts["above"].to_numpy().sum()) / compared
    # A stratum filled by one family fits itself perfectly, so its leverage leaves nothing to scale by.
    nested = pl.col("together") > 1 - 1e-9
    leverage = pl.when(nested).then(0.0).otherwise("together") + pl.col("below") / compared
    score = (pl.col("above") - difference * pl.col("below")) / (1 - leverage).clip(1e-9).sqrt()
    families = parts.select("family", "below", score=score).group_by("family").agg(pl.col("score", "below").sum())
    error = float(np.linalg.norm(families["score"].to_numpy())) / compared
    if error < 1e-9:  # all families agree, but for rounding
        rarer = min(parts.filter(side)["family"].n_unique() for side in ("with_fact", "without"))
        return difference, *agreed(difference, rarer, CHANGE), families.height
    alike = equal_weights(families["below"].to_numpy())
    return difference, *student(difference, error, alike, CHANGE), families.height


def adjusted_omnibus(
    rows: pl.DataFrame, fact: str, outcome: str, strata: Sequence[str]
) -> tuple[float | None, int, int]:
    """(p, values, games): how likely the values of the fact differ so much in the outcome, within strata, if none
    mattered.

    Wald's test that all effects are equal in a regression on the values with an effect for every stratum; errors are
    clustered by family, with degrees of freedom for F as if families weighed the same. values: how many are compared;
    games: families in strata that compare some. p is None where there are too few.
    """
    several = pl.col(fact).n_unique().over(strata) > 1
    within = rows.filter(several)
    names = within[fact].unique().sort().to_list()
    if len(names) < 2:
        return None, len(names), 0
    centred = [(pl.col(fact) == name).cast(pl.Float64).alias(f"_{at}") for at, name in enumerate(names[1:])]
    known = within.select("family", *strata, *centred, _y=pl.col(outcome).cast(pl.Float64))
    columns = [f"_{at}" for at in range(len(names) - 1)]
    centre = [pl.col(name) - pl.col(name).mean().over(strata) for name in (*columns, "_y")]
    others = 1 - 1 / pl.col("family").n_unique().over(strata)
    table = known.select("family", *centre, _scale=1 / pl.when(others > 0).then(others).otherwise(1.0).sqrt())
    x, y = table.select(columns).to_numpy(), table["_y"].to_numpy()
    bread = np.linalg.pinv(x.T @ x)  # singular if a name is compared with no other
    left = (y - x @ (bread @ (x.T @ y))) * table["_scale"].to_numpy()
    family = table["family"].rank("dense").to_numpy() - 1
    games = int(family.max()) + 1
    scores = np.column_stack([np.bincount(family, x[:, at] * left) for at in range(len(columns))])
    weights = np.bincount(family, (x**2).sum(axis=1)).astype(np.float64)
    alike = equal_weights(weights)
    free = int(np.linalg.matrix_rank(x.T @ x))
    spread = bread @ (scores.T @ scores) @ bread * games / max(games - 1, 1)
    if alike <= free + 1 or np.linalg.matrix_rank(spread) < free:
        return None, len(names), games
    effects = bread @ (x.T @ y)
    wald = float(effects @ np.linalg.pinv(spread) @ effects) / free
    return float(fdtrc(free, alike - free, wald * (alike - free) / (alike - 1))), len(names), games


LEAST = 0.001
"""Smaller p-values are printed as this one: the methods promise no more."""
SMALLER = f"A p below {LEAST:g} is printed as {LEAST:g}."


@dataclass(frozen=True, slots=True)
class Zero:
    """Every row is read against zero. figure: the column; draws: columns that count the independent draws behind a row;
    the least counts.
    """

    figure: str = "difference"
    draws: tuple[str, ...] = ("games",)

    def added(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the columns p and p_holm."""
        rows = table.select(self.figure, "lo", "hi", pl.min_horizontal(self.draws).alias("_draws")).iter_rows()
        found = [
            None if value is None or draws is None else p_value(value, (lo, hi), draws) for value, lo, hi, draws in rows
        ]
        return table.with_columns(_printed("p", found), _printed("p_holm", holm(found)))

    def words(self, table: pl.DataFrame) -> str:
        return (
            "p: of so large a figure without any difference; p holm: corrected for the "
            f"{table.drop_nulls('p').height} rows of this table that have one (Holm)."
        )


@dataclass(frozen=True, slots=True)
class Alike:
    """Rows of one panel are compared with each other. within: the columns that define a panel, whose rows differ in the
    model; figure: the column compared; draws: as in `Zero`. limits: whether the figure has two limits, so that few
    games may have Wilson's interval, which uses the normal quantile, not Student's.
    """

    within: tuple[str, ...]
    figure: str = "mean"
    draws: tuple[str, ...] = ("games",)
    limits: bool = True

    def added(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the column p_equal: how likely so uneven a panel is if its rows are equal, corrected for all
        panels.
        """
        keys = [*GAME, *self.within]
        read = table.filter(pl.col("model") != POOLED).with_columns(_draws=pl.min_horizontal(self.draws))
        panels, found = [], []
        for key, part in read.drop_nulls([self.figure, "lo", "hi"]).group_by(keys, maintain_order=True):
            panels.append(key)
            figures = (part[name].to_numpy().astype(float) for name in (self.figure, "lo", "hi", "_draws"))
            found.append(_welch(self.limits, *figures))
        schema = {name: table.schema[name] for name in keys}
        equal = pl.DataFrame(panels, schema, orient="row").with_columns(_printed("p_equal", holm(found)))
        joined = table.join(equal, on=keys, how="left", nulls_equal=True, maintain_order="left")
        return joined.with_columns(pl.when(pl.col("model") != POOLED).then("p_equal"))

    def words(self, table: pl.DataFrame) -> str:
        keys = [name for name in (*GAME, *self.within) if name in table.columns]
        panels = table.drop_nulls("p_equal").select(keys).unique().height
        within = ", ".join(name.replace("_", " ") for name in self.within)
        return (
            f"p equal: of rows as uneven within the same {within} if every model had the same (Welch's test), "
            f"corrected for the {panels} such comparisons of this table (Holm)."
        )


Correction = Zero | Alike


def _welch(limits: bool, values: Floats, lo: Floats, hi: Floats, draws: Floats) -> float | None:
    """The p of Welch's test that several independent figures are equal; errors are taken from the side of each interval
    that faces the others, or from half its width if larger; None for fewer than two. limits: as in `Alike`.
    """
    rows = len(values)
    if rows < 2 or (draws < 2).any() or (hi <= lo).any():
        return None
    sides = np.maximum(np.where(values > values.mean(), values - lo, hi - values), (hi - lo) / 2)
    weights = (stdtrit(np.inf if limits else draws - 1, 0.5 + LEVEL / 2) / sides) ** 2
    middle = float(weights @ values / weights.sum())
    spread = float(weights @ (values - middle) ** 2) / (rows - 1)
    uneven = float(((1 - weights / weights.sum()) ** 2 / (draws - 1)).sum()) / (rows**2 - 1)
    return float(fdtrc(rows - 1, 1 / (3 * uneven), spread / (1 + 2 * (rows - 2) * uneven)))


def _printed(name: str, values: Sequence[float | None]) -> pl.Series:
    return pl.Series(name, [None if value is None else max(value, LEAST) for value in values], pl.Float64)
