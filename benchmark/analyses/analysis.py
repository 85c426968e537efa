"""Declares an analysis: a function from the frames of a set of games to a tidy table, and facts about it.

Tables are declared: the unit that is counted, what it counts for, and what it is split by. The engine groups,
resamples by game, adds the other figures of a group, sorts, and says how lo, hi and p were found.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.conditions_of_play import GAME, POOLED
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import (
    SMALLER,
    Alike,
    Correction,
    Interval,
    Zero,
    game_difference,
    game_means,
    shares,
)
from liescope.common.statistics import PROPORTION, Scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Unit = str | Callable[[Frames], pl.DataFrame]
"""The units that are counted, a row each: the name of a frame, or a function that makes the rows."""
Value = str | pl.Expr
"""A column of these rows, or what is made of them; rows without a value do not count."""


def in_order(column: str, values: Iterable[str]) -> pl.Expr:
    """The index of each value among these, to sort by."""
    return pl.col(column).cast(pl.Enum(list(values)))


def pooled(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows pooled over all models, with learning and without."""
    return rows.with_columns(model=pl.lit(POOLED), learning=pl.lit(None, pl.Boolean))


def long(rows: pl.DataFrame, values: Sequence[str], name: str = "metric") -> pl.DataFrame:
    """A row for each of these columns that is not null: its name, and the value as a number."""
    rest = [column for column in rows.columns if column not in values]
    numbers = rows.with_columns(pl.col(values).cast(pl.Float64))
    return numbers.unpivot(values, index=rest, variable_name=name).drop_nulls("value")


def each(rows: pl.DataFrame, column: str, values: Iterable[object]) -> pl.DataFrame:
    """Every row once for each of these values; `value` says whether the column holds it. For shares, so that zeros
    count.
    """
    names = pl.Series(column, list(values), rows.schema[column])
    every = rows.rename({column: "_is"}).join(names.to_frame(), how="cross")
    return every.with_columns(value=(pl.col("_is") == pl.col(column)).fill_null(False))


def first_of(cases: Mapping[str, pl.Expr], otherwise: str) -> pl.Expr:
    """The name of the first of these conditions that holds."""
    return pl.coalesce(*(pl.when(holds).then(pl.lit(name)) for name, holds in cases.items()), pl.lit(otherwise))


@dataclass(frozen=True, slots=True)
class _Table:
    """A table by declaration.

    Parameters
    ----------
    unit, value
        What is counted, and for what.
    by
        The keys that it is split by, which the rows have as columns; those of `GAME` come first.
    also
        Other figures of a group, by name.
    columns
        The columns behind the keys, in this order; the figures, then the others, if empty.
    order
        The values of keys that are not sorted by alphabet.
    sort
        What rows are sorted by; the keys if empty.
    alike
        Rows are compared with the other models', and so corrected for their number.
    """

    unit: Unit
    value: Value
    by: Sequence[str]
    also: Mapping[str, pl.Expr] = field(default_factory=dict, kw_only=True)
    columns: Sequence[str] = field(default=(), kw_only=True)
    order: Mapping[str, Iterable[str]] = field(default_factory=dict, kw_only=True)
    sort: Sequence[str | pl.Expr] = field(default=(), kw_only=True)
    alike: bool = field(default=False, kw_only=True)

    def rows(self, frames: Frames) -> pl.DataFrame:
        """The counted units, a row each, with their value."""
        rows: pl.DataFrame = getattr(frames, self.unit) if isinstance(self.unit, str) else self.unit(frames)
        return rows.with_columns(_value=self.value)

    def finished(self, rows: pl.DataFrame, table: pl.DataFrame, figures: Iterable[str]) -> pl.DataFrame:
        """The table with the other figures of its groups, its columns and rows in order."""
        if self.also:
            others = rows.group_by(self.by).agg(**self.also)
            table = table.join(others, on=self.by, how="left", nulls_equal=True)
        return self.in_one_order(table).select(*self.by, *(self.columns or (*figures, *self.also)))

    def in_one_order(self, table: pl.DataFrame) -> pl.DataFrame:
        """The rows by their declared sorting, then by every key in turn, each key in its declared or else alphabetical
        order. So the order of rows does not depend on the order of counting.
        """
        places = {key: in_order(key, values) for key, values in self.order.items()}
        return table.sort([places.get(key, key) if isinstance(key, str) else key for key in (*self.sort, *self.by)])

    def read_alike(self, figure: str, limits: bool) -> tuple[Correction, ...]:
        within = tuple(key for key in self.by if key not in (*GAME, "model"))
        return (Alike(within, figure, limits=limits),) if self.alike else ()


@dataclass(frozen=True, slots=True)
class Means(_Table):
    """The mean of a value in each group: the keys, mean, lo, hi, n (rows), games, and what else is wanted.

    scale: the least and the greatest value that there can be. mean: the name of the mean. zero: rows are compared with
    zero, and so corrected for their number.
    """

    scale: Scale = PROPORTION
    mean: str = "mean"
    zero: bool = False
    interval: Interval = Interval.MEANS

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = self.rows(frames)
        table = game_means(rows, self.by, "_value", self.scale).rename({"mean": self.mean})
        return self.finished(rows, table, (self.mean, "lo", "hi", "n", "games"))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        if self.zero:
            return (Zero(self.mean),)
        return self.read_alike(self.mean, limits=math.isfinite(self.scale[1] - self.scale[0]))


@dataclass(frozen=True, slots=True)
class Shares(_Table):
    """A share in each group: the keys, the counts of hits and of rows, rate, lo, hi, and what else is
    wanted.

    count, of: the names of the counts. bounded: whether the rows of a group are independent, as a figure of the group;
    there is no interval if they are not.
    """

    count: str = "count"
    of: str = "games"
    bounded: pl.Expr | None = None
    interval: Interval = Interval.SHARES

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = self.rows(frames)
        table = shares(rows, self.by, "_value", self.count, self.of)
        if self.bounded is not None:
            bounded = rows.group_by(self.by).agg(_bounded=self.bounded)
            table = table.join(bounded, on=self.by, how="left", nulls_equal=True)
            table = table.with_columns(pl.when("_bounded").then(pl.col("lo", "hi")))
        return self.finished(rows, table, (self.count, self.of, "rate", "lo", "hi"))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        return self.read_alike("rate", limits=True)


@dataclass(frozen=True, slots=True)
class Differences(_Table):
    """The mean of a value where a condition holds, minus that where it does not, in each group: the keys, mean and
    games of either side, difference, lo, hi, and what else is wanted.

    where: a column of the rows, whether the row is of the first side. one, other: the names of the two sides, behind
    those of their columns. full: groups with rows on only one side stay, with nulls.
    """

    where: str = ""
    one: str = "with"
    other: str = "without"
    full: bool = False
    interval: Interval = Interval.DIFFERENCE

    def __call__(self, frames: Frames) -> pl.DataFrame:
        rows = self.rows(frames)
        found = []
        for key, part in rows.drop_nulls("_value").group_by(self.by, maintain_order=True):
            sides = [part.filter(pl.col(self.where) == which) for which in (False, True)]
            games = [side["game_id"].n_unique() or None for side in sides]
            if self.full or None not in games:
                means = [side["_value"].cast(pl.Float64).mean() for side in sides]
                gap = game_difference(sides[1], sides[0], "_value")
                found.append((*key, means[0], games[0], means[1], games[1], *gap))
        sides_of = [(f"rate_{side}", f"games_{side}") for side in (self.other, self.one)]
        figures = {name: kind for pair in sides_of for name, kind in zip(pair, (pl.Float64(), pl.Int64()), strict=True)}
        figures |= dict.fromkeys(("difference", "lo", "hi"), pl.Float64())
        schema = {name: rows.schema[name] for name in self.by} | figures
        return self.finished(rows, pl.DataFrame(found, schema, orient="row"), figures)

    @property
    def corrections(self) -> tuple[Correction, ...]:
        return (Zero(draws=(f"games_{self.one}", f"games_{self.other}")),)


Declared = Means | Shares | Differences


TRIADIC = "Triadic Werewolf paper"
MINI_MAFIA = "Mini-Mafia paper"


@dataclass(frozen=True, slots=True)
class Analysis:
    """One analysis. To add one, put it into the tuple of its subject, with its words in analyses.toml (`told`); a new
    subject takes two lines in `analysis_registry`.

    name: of its CSV file; title: its heading; table: what is counted and how, as `Means`, `Shares` or `Differences`, or
    a function of its own; plot: draws the figure of a non-empty table, as `Dots`, `Bars`, `Curves` or `Matrix`, or a
    function. otherwise: why the table can be empty, "" if that is not worth a
    line. interval: what the columns lo and hi are, where `table` does not
    say it. source: the corresponding table, figure or section of the paper, "" for none; paper: which one, `TRIADIC` or
    `MINI_MAFIA`. note: how to read it, in one sentence. main: include it in the short report, report.md. corrections:
    whether rows are compared with zero or with each other, and so what is added for their number
    (`liescope.benchmark.analyses.intervals`).
    """

    name: str
    title: str
    table: Declared | Callable[[Frames], pl.DataFrame]
    plot: Callable[[pl.DataFrame], Figure] | None = None
    otherwise: str = "no game contains what it counts"
    interval: Interval = Interval.NONE
    source: str = ""
    paper: str = TRIADIC
    note: str = ""
    main: bool = False
    corrections: tuple[Correction, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.table, Declared):
            object.__setattr__(self, "interval", self.table.interval)
            object.__setattr__(self, "corrections", self.corrections or self.table.corrections)

    def found(self, frames: Frames) -> pl.DataFrame:
        """The table with the columns that its corrections add."""
        table = self.table(frames)
        for correction in self.corrections if table.height else ():
            table = correction.added(table)
        return table

    def caption(self, table: pl.DataFrame) -> str:
        """How lo, hi and p of a table were computed; "" without any."""
        words = [correction.words(table) for correction in self.corrections]
        return " ".join(filter(None, (self.interval.caption, *words, SMALLER if words else "")))

    @property
    def cited(self) -> str:
        """The source with its paper, as in "Table 7 of the Triadic Werewolf paper"; "" without one."""
        return f"{self.source} of the {self.paper}" if self.source else ""


WORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("analyses.toml").read_text("utf-8"))
"""What `told` adds to an analysis, by its name."""


def told(
    name: str,
    table: Declared | Callable[[Frames], pl.DataFrame],
    plot: Callable[[pl.DataFrame], Figure] | None = None,
    **more: Any,
) -> Analysis:
    """One of our own analyses, whose words stand in analyses.toml. more: other facts of it, as in `Analysis`."""
    return Analysis(name, table=table, plot=plot, **WORDS[name], **more)
