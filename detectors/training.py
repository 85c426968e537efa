"""Training: cross-validate by game, fit on all of the training split, choose thresholds on validation, save."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.detectors.evaluation.scores import (
    Figures,
    ScoringPlan,
    choose_thresholds,
    evaluate_scores,
    per_detector,
    score_table,
)
from liescope.detectors.examples import Labelled, check_trainable, corpus_id, labelled, read_statements, summary
from liescope.detectors.folds import Rows, fold_of, out_of_fold
from liescope.detectors.protocol import Detector, Progress, silent
from liescope.detectors.registry import make
from liescope.detectors.saved import ModelFile, check_free, save_model, versions_of
from liescope.detectors.textualize import TextConfig


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to train. folds: of the cross-validation, 0 for none; options: of the kind of detector."""

    kind: str
    target: str
    text: TextConfig
    options: Mapping[str, Any]
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """A saved model's file, and its figures: out of fold on train, and on validation."""

    file: ModelFile
    figures: Figures


def train(corpus: Path, out: Path, recipe: Recipe, progress: Progress = silent) -> Trained:
    """Train one detector and write its folder.

    Raises UnknownName for a kind or target, UsageError for a training split that cannot train (one class, too few
    games), BadData for a damaged corpus, MissingExtra.
    """
    if recipe.folds == 1 or recipe.folds < 0:
        raise UsageError("--folds must be 2 or more, or 0 for no cross-validation")
    check_free(out)
    began = time.perf_counter()
    detector = make(recipe.kind, recipe.text, {**recipe.options, "seed": recipe.seed})
    statements = read_statements(corpus, ("train", "validation"))
    by_split = {name: statements.filter(pl.col("split") == name) for name in ("train", "validation")}
    data = labelled(by_split["train"], recipe.target, recipe.text.context)
    check_trainable(data, recipe.target, recipe.folds)

    name, tables = out.name, []
    if recipe.folds:
        fold, score = cross_validate(recipe, data, progress)
        tables.append(score_table([e.statement_id for e in data.examples], score, name, recipe.target, fold))
    detector.fit(data.examples, data.y, data.groups, progress)
    others = labelled(by_split["validation"], recipe.target, recipe.text.context)
    if others.examples:
        score = detector.predict_proba(others.examples, progress)[:, 1]
        tables.append(score_table([e.statement_id for e in others.examples], score, name, recipe.target))
    scores = pl.concat(tables) if tables else score_table([], np.empty(0), name, recipe.target)

    file = ModelFile(
        kind=recipe.kind,
        target=recipe.target,
        text=recipe.text,
        options=dict(detector.options),
        corpus={"id": corpus_id(corpus), "name": corpus.resolve().name},
        training={
            **summary(data),
            "folds": recipe.folds,
            "seed": recipe.seed,
            "sources": sorted(by_split["train"]["source"].unique()),
            "models": sorted(by_split["train"]["speaker_model"].unique()),
            "seconds": round(time.perf_counter() - began, 1),
        },
        thresholds=_thresholds(scores, statements),
        versions=versions_of(recipe.kind),
    )
    figures = _own_figures(scores, statements, recipe)
    save_model(out, file, detector, scores, frozenset(statements["game_id"]), list(figures.rows))
    return Trained(file, figures)


def cross_validate(recipe: Recipe, data: Labelled, progress: Progress = silent) -> tuple[Rows, NDArray[np.float64]]:
    """(fold, score), each (n,): every statement scored by a detector that saw no statement of its game."""
    fold = fold_of(data.y, data.groups, recipe.folds, recipe.seed)
    progress("cross-validation by game", 0, recipe.folds)

    def fit_predict(learn: Rows, held_out: Rows, number: int) -> NDArray[np.float64]:
        detector: Detector = make(recipe.kind, recipe.text, {**recipe.options, "seed": recipe.seed})
        detector.fit([data.examples[i] for i in learn], data.y[learn], data.groups[learn], progress)
        score = detector.predict_proba([data.examples[i] for i in held_out], progress)[:, 1]
        progress("cross-validation by game", number + 1, recipe.folds)
        return score

    return fold, out_of_fold(fold, fit_predict)


def _thresholds(scores: pl.DataFrame, statements: pl.DataFrame) -> dict[str, float | None]:
    for _, _, table in per_detector(scores, statements):
        return dict(choose_thresholds(table.filter(pl.col("split") == "validation")))
    return {}


def _own_figures(scores: pl.DataFrame, statements: pl.DataFrame, recipe: Recipe) -> Figures:
    """Out of fold on train with thresholds from validation, and on validation with thresholds from train."""
    splits = ["train", "validation"] if recipe.folds else ["validation"]
    parts = [evaluate_scores(scores, statements, ScoringPlan(split, seed=recipe.seed)) for split in splits]
    return Figures(
        tuple(row for part in parts for row in part.rows), tuple(note for part in parts for note in part.notes), {}
    )
