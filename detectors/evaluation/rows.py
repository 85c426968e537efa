"""One figure as a row, and what to compute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName
from liescope.common.statistics import DRAWS, Estimate, Floats, estimate
from liescope.data_cards.tables import SPLITS
from liescope.detectors.evaluation.metrics import DIFFERENCE, METRICS, Thresholds

ALL = "all"
"""Every split of a corpus at once, for a model that never trained there."""
THRESHOLDS_ON = {"train": "validation", "validation": "train", "test": "validation"}
"""The split whose games choose the thresholds for an evaluated split; never the games being evaluated."""
_SCHEMA = {
    **dict.fromkeys(("detector", "target", "split", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
    "against": pl.String,
}


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One figure. split: the split, or a population or part of it; lo, hi: its 95% interval; value, lo, hi are None if
    it is not defined (a note says why); against: for a difference, whose figure was subtracted from the detector's; for
    figures at equal rates, whom the detector is compared with.
    """

    detector: str
    target: str
    split: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: int
    games: int
    prevalence: float | None
    against: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ScoringPlan:
    """What to compute. split: of the corpus, or "all"; hold_out: models whose statements are a population of their own;
    frozen: thresholds, by detector, of those that chose theirs elsewhere; the others' are chosen on `threshold_split`.
    """

    split: str
    hold_out: tuple[str, ...] = ()
    draws: int = DRAWS
    seed: int = 0
    frozen: Mapping[str, Thresholds] = field(default_factory=dict)

    @property
    def threshold_split(self) -> str | None:
        return THRESHOLDS_ON.get(self.split)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the corpus that are evaluated."""
        return SPLITS if self.split == ALL else (self.split,)

    def evaluated(self, table: pl.DataFrame) -> pl.DataFrame:
        return table.filter(pl.col("split").is_in(self.splits))


def check_split(split: str) -> None:
    """Raises UnknownName."""
    if split not in (*THRESHOLDS_ON, ALL):
        raise UnknownName("split", split, (*THRESHOLDS_ON, ALL))


def metric_table(rows: Sequence[MetricRow]) -> pl.DataFrame:
    """The rows as a frame with the fields of `MetricRow` as columns."""
    return pl.DataFrame([row.to_json() for row in rows], schema=_SCHEMA)


def rows_of(
    detector: str,
    target: str,
    split: str,
    found: Iterable[tuple[str, Estimate]],
    shared: tuple[int, int, float | None],
    against: str | None = None,
) -> list[MetricRow]:
    """Rows of several metrics on the same statements. shared: what `describe` says of them. Resamples of one game are
    all alike, so that figures of one game have no interval.
    """
    several = shared[1] > 1
    return [
        MetricRow(
            detector, target, split, metric, value, lo if several else None, hi if several else None, *shared, against
        )
        for metric, (value, lo, hi) in found
    ]


def measured(
    detector: str,
    target: str,
    split: str,
    values: Mapping[str, Floats],
    table: pl.DataFrame,
    against: str | None = None,
) -> list[MetricRow]:
    """A row for each metric, in the order of their declaration; for a difference, for those that scorers are compared
    by. values: by metric, over the rows of `game_weights`; table: what they are of, with y and game_id. Figures of
    pairs count the games that have both classes alone.
    """
    paired = in_pairs(table)
    rows: list[MetricRow] = []
    for metric in METRICS:
        if metric.name in values and (against is None or metric.compared):
            mine = paired if metric.paired else table
            name, span = (metric.name + DIFFERENCE, metric.difference()) if against else (metric.name, metric.span)
            found = [(name, estimate(values[metric.name], mine[resampled_as(mine)].n_unique(), span))]
            rows += rows_of(detector, target, split, found, describe(mine), against)
    return rows


def in_pairs(table: pl.DataFrame) -> pl.DataFrame:
    """The rows of games with deceptive and with honest ones. table: y and game_id."""
    return table.filter(pl.col("y").cast(pl.Int8).n_unique().over("game_id") > 1)


def resampled_as(table: pl.DataFrame) -> str:
    """The column that names what is resampled: games that share a beginning have one name, where the table says so."""
    return "siblings" if "siblings" in table.columns else "game_id"


def describe(table: pl.DataFrame) -> tuple[int, int, float | None]:
    """(statements, games, prevalence) of a table with y."""
    prevalence = table["y"].mean()
    return table.height, table["game_id"].n_unique(), float(prevalence) if isinstance(prevalence, float) else None
