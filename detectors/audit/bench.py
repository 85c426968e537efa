"""What an audit reads of a corpus, and probes scored by game.

Out of fold over the whole corpus, and from train to test; on the same resamples of games.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.common.statistics import Floats, codes, game_weights
from liescope.common.text import Units
from liescope.detectors.audit.audit_findings import Figure
from liescope.detectors.examples import (
    Example,
    Labelled,
    check_trainable,
    label_counts,
    make_examples,
    read_statements,
    target_column,
)
from liescope.detectors.folds import Rows, fold_of, out_of_fold
from liescope.detectors.study.controls import CONTEXT
from liescope.detectors.study.metrics import Scored, pooled_auroc
from liescope.detectors.study.schemes import Probe
from liescope.generate.corpus import collected, read

FOLDS = 5
TEST_GAMES = 5
"""Fewer games of test than this have no interval worth printing, and are not scored."""
OUT_OF_FOLD, TRAIN_TEST = "out-of-fold", "train-test"
SCHEMES = {"both": (OUT_OF_FOLD, TRAIN_TEST), OUT_OF_FOLD: (OUT_OF_FOLD,), TRAIN_TEST: (TRAIN_TEST,)}
"""How statements are divided, by the name of the option."""

Bools = NDArray[np.bool_]
Step = Callable[[], None]


@dataclass
class Bench:
    """n statements that have the target, their games, and how they are divided. split: (n,) names; step: called after
    each fit.

    Raises UsageError if there are too few games with deceptive, or with honest, statements.
    """

    target: str
    data: Labelled
    split: NDArray[np.str_]
    schemes: tuple[str, ...]
    draws: int
    seed: int
    step: Step = field(default=lambda: None)

    def __post_init__(self) -> None:
        check_trainable(self.data, self.target, 2, "the corpus")
        self.folds = folds_for(self.data.y, self.data.groups)
        self.game, self.games = codes(self.data.groups)
        self.weights = game_weights(self.games, self.draws, self.seed)
        self.fold = fold_of(self.data.y, self.data.groups, self.folds, self.seed)
        self._grouped: dict[tuple[Probe, int], Figure] = {}
        self.learn, self.held_out = (np.flatnonzero(self.split == name) for name in ("train", "test"))
        y = self.data.y
        both = all(len(np.unique(y[rows])) == 2 for rows in (self.learn, self.held_out))
        if not both or len(np.unique(self.game[self.held_out])) < TEST_GAMES:
            self.schemes = tuple(name for name in self.schemes if name != TRAIN_TEST)
        if not self.schemes:
            raise UsageError(
                "train and test must each hold deceptive and honest statements, and test those of "
                f"{TEST_GAMES} games or more; use --split out-of-fold"
            )

    def grouped(self, probe: Probe, folds: int) -> Figure:
        """The AUROC out of fold, by game; computed once for each probe and number of folds."""
        if (probe, folds) not in self._grouped:
            same = folds == self.folds
            fold = self.fold if same else fold_of(self.data.y, self.data.groups, folds, self.seed)
            self._grouped[probe, folds] = self.auroc(self.by_fold(probe, fold))
        return self._grouped[probe, folds]

    def on_test(self, probe: Probe) -> Floats:
        """(n,): scores of the test statements by the probe that learned from train, NaN elsewhere."""
        found = np.full(len(self.data.y), np.nan)
        found[self.held_out] = probe(self.learn, self.held_out, self.data.y)
        self.step()
        return found

    def by_fold(self, probe: Probe, fold: Rows, y: Bools | None = None) -> Floats:
        """(n,): scores out of other folds, or for other labels, than the bench's own; NaN where the rest of the folds
        has one class, so that nothing can be learned from it.
        """
        labels = self.data.y if y is None else y

        def held_out(learn: Rows, score: Rows, _number: int) -> Floats:
            both = labels[learn].any() and not labels[learn].all()
            found = probe(learn, score, labels) if both else np.full(len(score), np.nan)
            self.step()
            return found

        return out_of_fold(fold, held_out)

    def auroc(self, score: Floats, rows: Bools | None = None, y: Bools | None = None, draws: bool = True) -> Figure:
        """The AUROC of the statements that have a score, or of some of these. draws: with an interval."""
        use = np.isfinite(score) if rows is None else np.isfinite(score) & rows
        labels = (self.data.y if y is None else y)[use]
        scored = Scored(labels, score[use], self.game[use], self.games)
        found = pooled_auroc(scored, self.weights if draws else self.weights[:1])
        return Figure(found, int(use.sum()), len(np.unique(scored.game)), _mean(labels))

    def share_of(self, table: pl.DataFrame, found: Bools) -> Figure:
        """The share of the rows of a table with `game_id` for which `found` holds."""
        return share_of(table, found, self.draws, self.seed)


def share_of(table: pl.DataFrame, found: Bools, draws: int, seed: int) -> Figure:
    """The share of the rows of a table with `game_id` for which `found` holds. found: (n,)."""
    game, games = codes(table["game_id"].to_numpy().astype(np.str_))
    weights = game_weights(games, draws, seed)
    with np.errstate(invalid="ignore"):
        shares = (weights @ np.bincount(game, found, games)) / (weights @ np.bincount(game, minlength=games))
    return Figure(np.asarray(shares, dtype=np.float64), table.height, games)


def folds_for(y: Bools, groups: NDArray[np.str_], most: int = FOLDS) -> int:
    """How many folds these groups allow: each needs a group with deceptive and one with honest statements."""
    return max(2, min(most, *(len(np.unique(groups[rows])) for rows in (y, ~y))))


def _mean(y: Bools) -> float | None:
    return float(y.mean()) if len(y) else None


_NUMBER = r"(?i)[\W_]*(?:game)?[\W_]*\d+$"
_GAMES_A_BATCH = 3


@dataclass(frozen=True)
class Audited:
    """What is audited. spoken: every statement in order of play, with `missing` (no label) and `lost` (no text);
    texts: those whose text is left, with `batch`, `condition`, `run` and `prompt_version` of their game; examples: one
    for each of `texts`, with their context; labelled: which of `texts` have the label, (n,) bool; games: the table.
    """

    target: str
    spoken: pl.DataFrame
    texts: pl.DataFrame
    examples: tuple[Example, ...]
    labelled: NDArray[np.bool_]
    games: pl.DataFrame

    @property
    def units(self) -> Units:
        """What the corpus calls its statements and games."""
        return Units.of(self.games["game"].unique())

    @property
    def table(self) -> pl.DataFrame:
        """The rows of `texts` that have the label."""
        return self.texts.filter(pl.Series(self.labelled))

    @property
    def data(self) -> Labelled:
        """The labelled examples, with their context."""
        table = self.table
        examples = tuple(example for example, kept in zip(self.examples, self.labelled, strict=True) if kept)
        y = table[target_column(self.target)].to_numpy().astype(bool)
        groups, left_out = table["siblings"].to_numpy().astype(np.str_), int((~self.labelled).sum())
        return Labelled(examples, y, groups, left_out, label_counts(self.texts))


def read_audited(corpus: str | os.PathLike[str], target: str) -> Audited:
    """Read a corpus folder. Raises BadData if it is damaged, UnknownName for a target."""
    label = pl.col(target_column(target))
    everything = read_statements(corpus, keep_lost=True)
    kept = read_statements(corpus)
    spoken = everything.with_columns(
        missing=label.is_null(), lost=~pl.col("statement_id").is_in(kept["statement_id"].implode())
    )
    games = collected(read(Path(corpus), "games"), corpus).with_columns(batch=_batch())
    about = games.select("game_id", "batch", "condition", "run", "prompt_version")
    texts = kept.join(about, on="game_id", how="left", maintain_order="left")
    has_label = texts.select(label.is_not_null()).to_series().to_numpy()
    return Audited(target, spoken, texts, make_examples(kept, CONTEXT), has_label, games)


def _batch() -> pl.Expr:
    """What games played together share: the game's id without the number at its end; null if that tells most games
    apart, so that it names no batches.
    """
    stem = pl.col("game_id").str.replace(_NUMBER, "")
    return pl.when(stem.n_unique() * _GAMES_A_BATCH <= pl.len()).then(stem)
