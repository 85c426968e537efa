"""Tables by declaration: the unit that is counted, what it counts for, and what it is split by.

The engine groups, resamples by game, adds the other figures of a group, sorts, and says how lo, hi and p were found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from liescope.benchmark.analyses.conditions_of_play import GAME, POOLED
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Alike, Correction, Interval, Zero, game_difference, game_means, shares
from liescope.common.statistics import PROPORTION, Scale

Unit = str | Callable[[Frames], pl.DataFrame]
"""What is counted, a row each: the name of a frame, or a function that makes the rows."""
Value = str | pl.Expr
"""A column of these rows, or what is made of them; rows without a value do not count."""


def in_order(column: str, values: Iterable[str]) -> pl.Expr:
    """The place of each value among these, to sort by."""
    return pl.col(column).cast(pl.Enum(list(values)))


def pooled(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as those of all models, with learning and without."""
    return rows.with_columns(model=pl.lit(POOLED), learning=pl.lit(None, pl.Boolean))


def long(rows: pl.DataFrame, values: Sequence[str], name: str = "metric") -> pl.DataFrame:
    """A row for each of these columns that is not null: its name, and the value as a number."""
    rest = [column for column in rows.columns if column not in values]
    numbers = rows.with_columns(pl.col(values).cast(pl.Float64))
    return numbers.unpivot(values, index=rest, variable_name=name).drop_nulls("value")


def each(rows: pl.DataFrame, column: str, values: Iterable[object]) -> pl.DataFrame:
    """Every row once for each of the values, with whether the column has it as `value`: for shares, zeros included."""
    names = pl.Series(column, list(values), rows.schema[column])
    every = rows.rename({column: "_is"}).join(names.to_frame(), how="cross")
    return every.with_columns(value=(pl.col("_is") == pl.col(column)).fill_null(False))


@dataclass(frozen=True, slots=True)
class Means:
    """The mean of a value in each group: the keys, mean, lo, hi, n (rows), games, and what else is wanted.

    Parameters
    ----------
    unit, value
        What is counted, and for what.
    by
        The keys that it is split by, which the rows have as columns; those of `GAME` come first.
    scale
        The least and the greatest value that there can be.
    also
        Other figures of a group, by name.
    columns
        The columns behind the keys, in this order; mean, lo, hi, n, games and the others if empty.
    mean
        The name of the mean.
    order
        The values of keys that are not sorted by alphabet.
    sort
        What rows are sorted by; the keys if empty.
    alike, zero
        How rows are read, and so corrected for their number: against the other models', or against zero.
    """

    unit: Unit
    value: Value
    by: Sequence[str]
    scale: Scale = PROPORTION
    also: Mapping[str, pl.Expr] = field(default_factory=dict)
    columns: Sequence[str] = ()
    mean: str = "mean"
    order: Mapping[str, Iterable[str]] = field(default_factory=dict)
    sort: Sequence[str | pl.Expr] = ()
    alike: bool = False
    zero: bool = False
    interval: Interval = Interval.MEANS

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = _valued(frames, self.unit, self.value)
        table = game_means(rows, self.by, "_value", self.scale).rename({"mean": self.mean})
        return _finished(self, rows, table, self.columns or (self.mean, "lo", "hi", "n", "games", *self.also))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        return (Zero(self.mean),) if self.zero else _alike(self, self.mean)


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of how many in each group: the keys, the counts of hits and of rows, rate, lo, hi, and what else is
    wanted.

    count, of: the names of the counts. bounded: whether the rows of a group are independent, as a figure of the group;
    it has no interval where they are not. The rest as of `Means`.
    """

    unit: Unit
    value: Value
    by: Sequence[str]
    count: str = "count"
    of: str = "games"
    also: Mapping[str, pl.Expr] = field(default_factory=dict)
    order: Mapping[str, Iterable[str]] = field(default_factory=dict)
    sort: Sequence[str | pl.Expr] = ()
    alike: bool = False
    bounded: pl.Expr | None = None
    interval: Interval = Interval.SHARES

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = _valued(frames, self.unit, self.value)
        table = shares(rows, self.by, "_value", self.count, self.of)
        if self.bounded is not None:
            bounded = rows.group_by(self.by).agg(_bounded=self.bounded)
            table = table.join(bounded, on=self.by, how="left", nulls_equal=True)
            table = table.with_columns(pl.when("_bounded").then(pl.col("lo", "hi")))
        return _finished(self, rows, table, (self.count, self.of, "rate", "lo", "hi", *self.also))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        return _alike(self, "rate")


@dataclass(frozen=True, slots=True)
class Differences:
    """The mean of a value where something holds, minus that where it does not, in each group: the keys, mean and games
    of either side, difference, lo, hi, and what else is wanted.

    Parameters
    ----------
    where
        A column of the rows: whether the row is of the first side.
    one, other
        The names of the two sides, behind those of their columns.
    mean
        The name of the means, before those of the sides.
    full
        Groups with rows on one side only stay, with nulls.

    The rest as of `Means`.
    """

    unit: Unit
    value: Value
    by: Sequence[str]
    where: str
    one: str = "with"
    other: str = "without"
    mean: str = "rate"
    full: bool = False
    also: Mapping[str, pl.Expr] = field(default_factory=dict)
    columns: Sequence[str] = ()
    order: Mapping[str, Iterable[str]] = field(default_factory=dict)
    sort: Sequence[str | pl.Expr] = ()
    interval: Interval = Interval.DIFFERENCE

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = _valued(frames, self.unit, self.value)
        return _finished(self, rows, self.compared(rows), self.columns or (*self.figures, *self.also))

    @property
    def figures(self) -> dict[str, pl.DataType]:
        """The columns behind the keys."""
        sides = {
            name: kind
            for side in (self.other, self.one)
            for name, kind in ((f"{self.mean}_{side}", pl.Float64()), (f"games_{side}", pl.Int64()))
        }
        return {**sides, **dict.fromkeys(("difference", "lo", "hi"), pl.Float64())}

    def compared(self, rows: pl.DataFrame) -> pl.DataFrame:
        found = []
        for key, part in rows.drop_nulls("_value").group_by(self.by, maintain_order=True):
            sides = [part.filter(pl.col(self.where) == which) for which in (False, True)]
            games = [side["game_id"].n_unique() or None for side in sides]
            if self.full or None not in games:
                means = [side["_value"].cast(pl.Float64).mean() for side in sides]
                gap = game_difference(sides[1], sides[0], "_value")
                found.append((*key, means[0], games[0], means[1], games[1], *gap))
        schema = {name: rows.schema[name] for name in self.by} | self.figures
        return pl.DataFrame(found, schema, orient="row")

    @property
    def corrections(self) -> tuple[Correction, ...]:
        return (Zero(draws=(f"games_{self.one}", f"games_{self.other}")),)


Declared = Means | Shares | Differences


def _valued(frames: Frames, unit: Unit, value: Value) -> pl.DataFrame:
    rows: pl.DataFrame = getattr(frames, unit) if isinstance(unit, str) else unit(frames)
    return rows.with_columns(_value=value)


def _finished(declared: Declared, rows: pl.DataFrame, table: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
    """The table with the other figures of its groups, its columns and rows in order."""
    if declared.also:
        others = rows.group_by(declared.by).agg(**declared.also)
        table = table.join(others, on=declared.by, how="left", nulls_equal=True)
    return in_one_order(declared, table).select(*declared.by, *columns)


def in_one_order(declared: Declared, table: pl.DataFrame) -> pl.DataFrame:
    """The rows by what they are declared to be sorted by, then by every key in turn: each key by its declared order,
    else by alphabet. So rows have one order, whatever order they were counted in.
    """
    places = {key: in_order(key, values) for key, values in declared.order.items()}
    by = [places.get(key, key) if isinstance(key, str) else key for key in (*declared.sort, *declared.by)]
    return table.sort(by)


def _alike(declared: Means | Shares, figure: str) -> tuple[Correction, ...]:
    within = tuple(key for key in declared.by if key not in (*GAME, "model"))
    return (Alike(within, figure),) if declared.alike else ()
