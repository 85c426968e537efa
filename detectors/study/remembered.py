"""Evaluated statements and games that a detector learned from, under whatever id: copies, word for word or nearly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import Bools, game_weights
from liescope.detectors.audit.audit_findings import DIFFERENCE, LARGE_SHARE, Figure
from liescope.detectors.examples import make_examples
from liescope.detectors.learned_from import SHORT
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.metrics import Scored, pooled_auroc
from liescope.detectors.study.scores import ScoringPlan, per_detector, scored

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Remembered:
    """What one detector may remember of the evaluated statements. statements: those of five words or more, of which
    exact stand word for word in what it learned, and near at least nearly; copied: ids of games that repeat a learned
    one, of `games`; auroc, without: of all its labelled statements, and of those that are no copy, in the same
    resamples of games.
    """

    detector: str
    target: str
    statements: int
    exact: int
    near: int
    games: int
    copied: tuple[str, ...]
    auroc: Figure
    without: Figure

    @property
    def alarming(self) -> bool:
        """Whether its figures cannot be taken for those of new games; the margins are those of an audit."""
        gain = self.auroc - self.without
        return bool(self.copied) or self.near > LARGE_SHARE * self.statements or gain.certain > DIFFERENCE

    def sentences(self) -> tuple[str, ...]:
        """What a reader must know, or nothing."""
        if not self.near:
            return ()
        words = (
            f"{self.exact / self.statements:.1%} of the evaluated statements of {SHORT} words or more stand word for "
            f"word in what {self.detector} learned from, names masked, and {self.near / self.statements:.1%} at least "
            f"nearly: its AUROC for {self.target} is {self.auroc:.3f} over all, and {self.without:.3f} over those "
            "without a copy."
        )
        if not self.copied:
            return (words,)
        some = ", ".join(map(repr, self.copied[:_NAMED])) + ", …" * (len(self.copied) > _NAMED)
        games = (
            f"{len(self.copied):,} of the {self.games:,} evaluated games ({some}) repeat a game that {self.detector} "
            "learned from, under another id: its figures are not those of new games."
        )
        return games, words

    def to_json(self) -> dict[str, Any]:
        rows = (
            figure.row("copies", name, "", "auroc").to_json()
            for name, figure in (("all statements", self.auroc), ("statements without a copy", self.without))
        )
        return {
            **{"scorer": self.detector, "target": self.target, "statements": self.statements, "games": self.games},
            **{"word_for_word": self.exact, "at_least_nearly": self.near, "copied_games": list(self.copied)},
            "auroc": list(rows),
        }


def remembered(
    models: Mapping[str, LoadedDetector], scores: pl.DataFrame, evaluated: pl.DataFrame, plan: ScoringPlan
) -> tuple[list[Remembered], list[str]]:
    """For each detector that says what it learned from, the copies; and notes about those that do not say it. Of the
    split that it learned from, which is scored out of fold, nothing is said.
    """
    found, notes = list[Remembered](), list[str]()
    tables = {name: table for name, _, table in per_detector(scores, evaluated) if name in models}
    for name, model in models.items():
        if plan.split == "train" and name not in plan.frozen:
            continue
        learned = model.learned()
        if learned is None:
            notes.append(
                f"{name} was trained by an earlier version, which did not keep what a detector learned from: copies of "
                "it cannot be looked for"
            )
            continue
        copies = learned.copies(make_examples(evaluated, 0, model.file.target))
        keys = evaluated.select("statement_id", copy=pl.Series(copies.near))
        labelled = tables[name].join(keys, on="statement_id", how="inner", maintain_order="left")
        copied = labelled["copy"].to_numpy()
        found.append(
            Remembered(
                name,
                model.file.target,
                int(copies.long.sum()),
                int(copies.exact.sum()),
                int(copies.near.sum()),
                evaluated["game_id"].n_unique(),
                tuple(sorted(copies.games)),
                *(_figure(labelled, use, plan) for use in (np.ones(len(copied), dtype=bool), ~copied)),
            )
        )
    return found, notes


def _figure(table: pl.DataFrame, use: Bools, plan: ScoringPlan) -> Figure:
    """The AUROC of some rows of a table, with the resamples of all of its games."""
    data = scored(table)
    part = Scored(data.y[use], data.score[use], data.game[use], data.games)
    found = pooled_auroc(part, game_weights(data.games, plan.draws, plan.seed))
    return Figure(found, int(use.sum()), len(np.unique(part.game)))
