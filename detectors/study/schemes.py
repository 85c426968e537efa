"""What is learned from and what is scored: everything in a study learns from the same statements, and no statement is
scored by anything that has seen its group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.statistics import Bools, Floats, expit, logit
from liescope.detectors.folds import Rows, fold_of
from liescope.detectors.study.scores import FINISHED, GROUPS_OUT, SPLIT_OUT, score_table

FOLDS, REPEATS = 5, 3
Probe = Callable[[Rows, Rows, Bools], Floats]
"""Called with (rows to learn from, rows to score, labels of all rows); returns the probabilities of the scored rows."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows of a table to learn from, and rows to score then. number: FINISHED where all is learned once."""

    learn: Rows
    score: Rows
    number: int = FINISHED


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """How n statements are divided, once or several times over. ids, groups: (n,), theirs; y: (n,), False where there
    is no label; unit: (n,), what each is held out with, if not its group; name: in tables of scores.
    """

    ids: pl.Series
    groups: NDArray[np.str_]
    y: Bools
    repeats: Sequence[Sequence[Fold]]
    unit: NDArray[np.str_] | None = None
    name: str = GROUPS_OUT

    def among(self, ids: Sequence[str] | pl.Series) -> Scheme:
        """The division restricted to some statements, in this order."""
        row = {name: at for at, name in enumerate(self.ids)}
        at = np.array([row[name] for name in ids], dtype=np.int64)
        place = np.full(len(self.y), -1, dtype=np.int64)
        place[at] = np.arange(len(at))

        def moved(rows: Rows) -> Rows:
            found = place[rows]
            return np.sort(found[found >= 0])

        repeats = [[Fold(moved(one.learn), moved(one.score), one.number) for one in folds] for folds in self.repeats]
        unit = None if self.unit is None else self.unit[at]
        return Scheme(pl.Series(ids), self.groups[at], self.y[at], repeats, unit, self.name)

    @property
    def folds(self) -> NDArray[np.int64]:
        """(divisions, n): the fold that each row is scored in."""
        found = np.full((len(self.repeats), len(self.y)), FINISHED, dtype=np.int64)
        for number, folds in zip(found, self.repeats, strict=True):
            for fold in folds:
                number[fold.score] = fold.number
        return found

    def scores(self, probe: Probe, step: Callable[[], None] = lambda: None) -> Floats:
        """(n,): the mean over the divisions, in log-odds; NaN where nothing scores, or learned from both classes."""
        total, times = np.zeros(len(self.y)), np.zeros(len(self.y))
        for folds in self.repeats:
            for fold in folds:
                if self.y[fold.learn].any() and not self.y[fold.learn].all() and len(fold.score):
                    # Log-odds are averaged: averaged probabilities would be pulled towards the middle.
                    total[fold.score] += logit(probe(fold.learn, fold.score, self.y), edge=1e-6)
                    times[fold.score] += 1
                step()
        with np.errstate(invalid="ignore"):
            return np.asarray(expit(total / np.where(times > 0, times, np.nan)))

    def table(self, probe: Probe, name: str, target: str, step: Callable[[], None] = lambda: None) -> pl.DataFrame:
        """Its scores as a score table."""
        score = self.scores(probe, step)
        fold = self.folds[0] if self.repeats else np.full(len(self.y), FINISHED)
        kept, held = np.isfinite(score), fold >= 0
        units = np.where(held, self.groups if self.unit is None else self.unit, "")
        schemes = np.where(held, self.name, SPLIT_OUT)
        ids = self.ids.filter(pl.Series(kept))
        return score_table(ids, score[kept], name, target, schemes[kept], units[kept], fold[kept])


def by_group(
    ids: pl.Series,
    groups: NDArray[np.str_],
    y: Bools,
    known: Bools,
    seed: int,
    repeats: int = REPEATS,
    folds: int = FOLDS,
) -> Scheme:
    """Every group is held out in turn, together with others, several times over. known: (n,), which have a label;
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
        made.append([Fold(np.flatnonzero(known & (own != k)), np.flatnonzero(own == k), k) for k in range(most)])
    return Scheme(ids, groups, y, made)
