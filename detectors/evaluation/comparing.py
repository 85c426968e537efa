"""Scorers set beside each other on the same statements and the same resamples of games: paired differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.evaluation.rows import MetricRow, measured
from liescope.detectors.evaluation.scores import CONTROL

_RIVALS = ("k_of_n", "length", "position", "model_identity", "role_oracle")
"""The controls that a detector is compared with; chance needs no comparison."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """table: the statements it scored, with y; measure: its metrics on some of them; values: on all, each (draws,)."""

    name: str
    table: pl.DataFrame
    measure: Callable[[pl.DataFrame], Mapping[str, Floats]]
    values: Mapping[str, Floats]

    @classmethod
    def of(cls, name: str, table: pl.DataFrame, measure: Callable[[pl.DataFrame], Mapping[str, Floats]]) -> Scorer:
        return cls(name, table, measure, measure(table))

    def on(self, others: pl.DataFrame) -> tuple[pl.DataFrame, Mapping[str, Floats]]:
        """The statements that are in both tables, and the metrics on them."""
        if self.table["statement_id"].equals(others["statement_id"]):
            return self.table, self.values
        shared = self.table.join(others, on="statement_id", how="semi", maintain_order="left")
        return shared, self.measure(shared)


def differences(pairs: Iterable[tuple[Scorer, Scorer]], target: str, split: str) -> list[MetricRow]:
    """The first of each pair minus the second, in every metric that is compared and that both have."""
    rows: list[MetricRow] = []
    for one, other in pairs:
        shared, first = one.on(other.table)
        _, second = other.on(one.table)
        found = {name: first[name] - second[name] for name in first if name in second}
        rows += measured(one.name, target, split, found, shared, other.name)
    return rows


def pairs_of_interest(scorers: Sequence[Scorer], target: str) -> Iterator[tuple[Scorer, Scorer]]:
    """Every pair of detectors, and each detector with the controls that matter."""
    detectors = [scorer for scorer in scorers if not scorer.name.startswith(CONTROL)]
    yield from combinations(detectors, 2)
    rivals = {CONTROL + name for name in _RIVALS if not (name == "role_oracle" and target == "role")}
    for detector in detectors:
        yield from ((detector, scorer) for scorer in scorers if scorer.name in rivals)
