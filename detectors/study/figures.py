"""Figures: one row for each thing measured (whose, where) with its interval; the table of them; and what every study
results in: figures, and sentences that rest on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field

from liescope.common.report.contents import Estimate as ReportEstimate
from liescope.common.report.contents import Report, with_interval
from liescope.common.statistics import CHANGE, PROPORTION, Floats, Scale, Spread, estimate
from liescope.detectors.study.metrics import DIFFERENCE, METRICS, root
from liescope.detectors.study.scores import in_pairs, resampled_as
from liescope.generate.importers.receipt import Receipt

FIGURES = {
    **dict.fromkeys(("scorer", "target", "where", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
    **dict.fromkeys(("against", "why"), pl.String),
}
"""The columns of a table of figures."""
AFTER, WORST, MEAN = "after the game", "worst", "mean"
"""What stands in `where` behind a colon, of a transfer."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    scorer: whose scores they are; target: what they are about; where: what was measured, parts of it behind colons, as
    in "test:held-out"; metric: its name in `METRICS`, for a difference with `DIFFERENCE` added; value: None where it
    is not defined; lo, hi: its 95% interval, None where there is none; statements, games, prevalence: what it rests on,
    and the share of it that is deceptive; against: whose figure was subtracted; why: why there is no value.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)  # for strangers' files

    scorer: str
    target: str
    where: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: Annotated[int, Field(ge=0)]
    games: Annotated[int, Field(ge=0)]
    prevalence: float | None = None
    against: str | None = None
    why: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether it is of a whole split, and not of a part of it."""
        return ":" not in self.where

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __format__(self, form: str) -> str:
        """The value with its interval, as in "0.61 (0.60 to 0.62)"; the format is that of a number."""
        return with_interval(self.value, self.lo, self.hi, form)


SERIOUS, NOTABLE, PLAIN = "serious", "notable", "plain"
SEVERITIES = {
    SERIOUS: "large enough to pass for a detector, or to make one look better than it is",
    NOTABLE: "to be reported beside every figure on this corpus",
    PLAIN: "no alarm, for comparison",
}
"""The severities and what each asks of the reader, worst first."""
CHANCE, _ERRORS = 0.5, 3
Limits = tuple[float, float]
"""Beyond what something is notable, and beyond what serious."""
GAIN: Limits = (0.01, 0.05)


def graded(certain: float, limits: Limits) -> str:
    """The severity of a figure that is certainly this large."""
    notable, serious = limits
    return SERIOUS if certain > serious else NOTABLE if certain > notable else PLAIN


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and the figures that it rests on. severity: how much it matters, where findings are graded."""

    words: str
    rests_on: tuple[Figure, ...] = ()
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """A figure over the rows of `game_weights`. span: the values that it can have."""

    values: Floats
    statements: int
    games: int
    prevalence: float | None = None
    span: Scale = PROPORTION

    def __sub__(self, other: Jackknifed) -> Jackknifed:
        """The difference, paired: both leave the same games out."""
        return replace(self, values=self.values - other.values, span=CHANGE)

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def certain(self) -> float:
        """The value less three standard errors, but at most the lower end of its interval: among dozens of intervals,
        one in forty lies above the truth by chance. Minus infinity if undefined, so that it passes no limit.
        """
        spread = Spread.of(self.values, self.games)
        return -np.inf if spread is None else min(self.value - _ERRORS * spread.error, spread.end(*self.span))

    def figure(self, scorer: str, target: str, where: str, metric: str, against: str | None = None) -> Figure:
        found = estimate(self.values, self.games, self.span)
        return Figure(scorer, target, where, metric, *found, self.statements, self.games, self.prevalence, against)

    def __format__(self, form: str) -> str:
        return with_interval(*estimate(self.values, self.games, self.span), form)


def as_estimate(row: Figure | None) -> ReportEstimate | None:
    """A figure as a cell of a report's table; None for no figure."""
    return None if row is None else ReportEstimate(row.value, row.lo, row.hi)


def figure_table(figures: Sequence[Figure]) -> pl.DataFrame:
    """The figures as a frame with the columns `FIGURES`."""
    return pl.DataFrame([one.to_json() for one in figures], schema=FIGURES)


def measured(
    scorer: str, target: str, where: str, values: Mapping[str, Floats], table: pl.DataFrame, against: str | None = None
) -> list[Figure]:
    """A figure for each metric, in the order of their declaration; for a difference, only for metrics by which scorers
    are compared. values: by metric, over the rows of `game_weights`; table: their statements, with y and game_id.
    Figures of pairs count only games with both classes.
    """
    paired = in_pairs(table)
    figures: list[Figure] = []
    for metric in METRICS:
        if metric.name in values and (against is None or metric.compared):
            mine = paired if metric.paired else table
            name, span = (metric.name + DIFFERENCE, metric.difference()) if against else (metric.name, metric.span)
            found = estimate(values[metric.name], mine[resampled_as(mine)].n_unique(), span)
            found = root(found) if metric.rooted else found
            figures.append(Figure(scorer, target, where, name, *found, *describe(mine), against))
    return figures


def describe(table: pl.DataFrame) -> tuple[int, int, float | None]:
    """(statements, games, prevalence) of a table with y."""
    prevalence = table["y"].mean()
    return table.height, table["game_id"].n_unique(), float(prevalence) if isinstance(prevalence, float) else None


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class StudyResult:
    """The result of every study. rows: every figure; notes: what could not be computed, and what was left out;
    told, files: the report, and its files, if one was written; receipt: of data in memory.
    """

    rows: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    told: Report | None = None
    files: tuple[Path, ...] = ()
    receipt: Receipt | None = None

    @property
    def findings(self) -> Sequence[Finding]:
        """Sentences, each with the rows that it rests on; the first answers."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """What holds for all figures: what they are about and how they were made."""
        raise NotImplementedError

    @property
    def metrics(self) -> pl.DataFrame:
        """A frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence, against, why."""
        return figure_table(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What the command prints with --json, and report.json holds."""
        told = {"findings": list(map(asdict, self.findings)), "figures": list(map(asdict, self.rows))}
        return {**self.facts, **told, "notes": [*self.notes]}

    def with_report(self, told: Report, out: Path) -> Self:
        """With its report, written to a folder."""
        from liescope.common.report.files import write

        return replace(self, told=told, files=tuple(write(told, out)))

    def __str__(self) -> str:
        """The findings in words; the first answers."""
        return "\n".join(found.words for found in self.findings)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.findings[0].words}>"
