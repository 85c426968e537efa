"""What is learned from and what is scored: whatever learns in a study learns from the same statements, and no statement
is scored by what has seen its group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, logit

from liescope.common.statistics import Bools, Floats
from liescope.detectors.folds import Rows, fold_of
from liescope.detectors.study.scores import FINISHED

FOLDS, REPEATS = 5, 3
_EDGE = 1e-6
Probe = Callable[[Rows, Rows, Bools], Floats]
"""Called with (rows to learn from, rows to score, labels of all rows); returns the probabilities of the scored rows."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows of a table to learn from, and rows to score then. fold: its number; FINISHED where all is learned once."""

    learn: Rows
    score: Rows
    fold: int = FINISHED


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """How n statements are divided, once or several times over. ids, groups: (n,), theirs; y: (n,), False where there
    is no label.
    """

    ids: pl.Series
    groups: NDArray[np.str_]
    y: Bools
    repeats: Sequence[Sequence[Part]]

    def among(self, ids: Sequence[str] | pl.Series) -> Scheme:
        """The same division of some of them, in this order."""
        at = (
            pl.DataFrame({"id": ids})
            .join(pl.DataFrame({"id": self.ids}).with_row_index("at"), on="id", how="left", maintain_order="left")["at"]
            .to_numpy()
        )
        place = np.full(len(self.y), -1, dtype=np.int64)
        place[at] = np.arange(len(at))

        def moved(rows: Rows) -> Rows:
            found = place[rows]
            return np.sort(found[found >= 0])

        parts = [[Part(moved(one.learn), moved(one.score), one.fold) for one in parts] for parts in self.repeats]
        return Scheme(pl.Series(ids), self.groups[at], self.y[at], parts)

    @property
    def fold(self) -> Rows:
        return fold_numbers(self.repeats[0], len(self.y)) if self.repeats else np.full(len(self.y), FINISHED)

    @property
    def steps(self) -> int:
        """How often something is fitted."""
        return sum(map(len, self.repeats))

    def scores(self, probe: Probe, step: Callable[[], None] = lambda: None) -> Floats:
        """(n,): the mean over the divisions, as log-odds; NaN for what none of them scores, and where what is learned
        from has one class.
        """
        total, times = np.zeros(len(self.y)), np.zeros(len(self.y))
        for parts in self.repeats:
            for part in parts:
                if self.y[part.learn].any() and not self.y[part.learn].all() and len(part.score):
                    found = np.clip(probe(part.learn, part.score, self.y), _EDGE, 1 - _EDGE)
                    total[part.score] += logit(found)
                    times[part.score] += 1
                step()
        with np.errstate(invalid="ignore"):
            return np.asarray(expit(total / np.where(times > 0, times, np.nan)))


def fold_numbers(parts: Sequence[Part], n: int) -> Rows:
    """(n,): the fold that each row is scored in."""
    found = np.full(n, FINISHED, dtype=np.int64)
    for part in parts:
        found[part.score] = part.fold
    return found


def by_group(
    ids: pl.Series,
    groups: NDArray[np.str_],
    y: Bools,
    known: Bools,
    seed: int,
    repeats: int = REPEATS,
    folds: int = FOLDS,
) -> Scheme:
    """Every group held out in turn, together with others, and this several times. known: (n,), which have a label;
    statements without one are scored with their group. groups: (n,) names; folds: at most, fewer where there are
    fewer groups with either label.
    """
    most = min(folds, *(len(np.unique(groups[known & (y == label)])) for label in (True, False)))
    names, group = np.unique(groups, return_inverse=True)
    made = []
    for number in range(repeats if most > 1 else 0):
        of = np.random.default_rng(seed + number).integers(most, size=len(names))  # groups without any label
        of[group[known]] = fold_of(y[known], groups[known], most, seed + number)
        own = of[group]
        made.append([Part(np.flatnonzero(known & (own != k)), np.flatnonzero(own == k), k) for k in range(most)])
    return Scheme(ids, groups, y, made)
