"""Saved detectors on the statements that are evaluated: which split, whether they are unseen, and their scores."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.model_names import spellings
from liescope.detectors.evaluation.rows import ALL, THRESHOLDS_ON, ScoringPlan
from liescope.detectors.evaluation.scores import score_table
from liescope.detectors.examples import make_examples, target_column
from liescope.detectors.protocol import Progress
from liescope.detectors.saved import LoadedDetector, load
from liescope.detectors.view.transcript import Transcript

Model = str | os.PathLike[str] | LoadedDetector


def load_all(models: Model | Sequence[Model]) -> dict[str, LoadedDetector]:
    """Detectors by name. Raises UsageError for none, and for two of one name."""
    found: dict[str, LoadedDetector] = {}
    for given in [models] if isinstance(models, str | os.PathLike | LoadedDetector) else models:
        model = given if isinstance(given, LoadedDetector) else load(given)
        if model.name in found:
            raise UsageError(f"two models are called {model.name!r}; rename one of the folders")
        found[model.name] = model
    if not found:
        raise UsageError("name at least one model to evaluate")
    return found


def split_for(models: Mapping[str, LoadedDetector], corpus_id: str, games: frozenset[str]) -> str:
    """What to evaluate if the user names no split: everything, if no model has seen a game of the corpus."""
    known = any(model.file.corpus.id == corpus_id or model.games & games for model in models.values())
    return "test" if known else ALL


def check_unseen(models: Mapping[str, LoadedDetector], corpus_id: str, evaluated: pl.DataFrame, split: str) -> None:
    """Raises UsageError if a model has seen evaluated games. What it has seen of its own corpus, train and validation,
    is scored out of fold, or with thresholds of the other.
    """
    games = frozenset(evaluated["game_id"])
    for name, model in models.items():
        seen = len(games & model.games)
        own = model.file.corpus.id == corpus_id
        if seen and (split in (ALL, "test") or not own):
            where = "this corpus" if split == ALL else "this split"
            where += "" if split == ALL or own else ", in a corpus that is split otherwise"
            advice = "evaluate on --split test" if own and split == ALL else "train it on this corpus"
            raise UsageError(
                f"{name} was trained, or had its thresholds chosen, on {seen} of the {len(games)} games of {where}; "
                f"{advice}"
            )


def unheard(models: Mapping[str, LoadedDetector], evaluated: pl.DataFrame) -> tuple[tuple[str, ...], list[str]]:
    """The models at the evaluated tables that no detector heard in training, under whatever name; and notes on those
    that only some did, and on those that were heard under another name.
    """
    present = set(evaluated["models"].explode().drop_nulls())
    heard = {
        name: {one for one in present if spellings(one, model.file.training.models)} for name, model in models.items()
    }
    everybody, anybody = set.intersection(*heard.values()), set.union(*heard.values())
    notes = [
        f"{model} was in the training of {' and '.join(name for name in heard if model in heard[name])} alone: what it "
        "says is not counted as held out"
        for model in sorted(anybody - everybody)
    ]
    trained = sorted({one for model in models.values() for one in model.file.training.models})
    notes += [
        f"{model} is taken for {' or '.join(spellings(model, trained))}, which was in training: what it says is not "
        "counted as held out"
        for model in sorted(anybody.difference(trained))
    ]
    return tuple(sorted(present - anybody)), notes


def scores_of(
    name: str,
    model: LoadedDetector,
    statements: pl.DataFrame,
    games: Mapping[str, Transcript],
    plan: ScoringPlan,
    progress: Progress,
) -> list[pl.DataFrame]:
    """Scores of the evaluated statements by the finished detector (out of fold for the split it was trained on), and
    the model's own scores of the split that chooses its thresholds.
    """
    own = model.scores.with_columns(detector=pl.lit(name))
    where = own.join(statements.select("statement_id", "split"), on="statement_id", maintain_order="left")
    frozen = name in plan.frozen
    trained_on = plan.split == "train" and not frozen
    if trained_on and where.filter(pl.col("split") == "train").is_empty():
        raise UsageError(f"{name} was trained without cross-validation, so it has no honest scores of train")
    tables = []
    if not trained_on:
        asked = plan.evaluated(statements)
        examples = make_examples(asked, model.file.text.context, model.file.target, games)
        score = model.probabilities(examples, progress)
        tables.append(score_table(asked["statement_id"], score, name, model.file.target))
    wanted = set() if frozen else {THRESHOLDS_ON[plan.split], *(["train"] if trained_on else [])}
    tables.append(where.filter(pl.col("split").is_in(list(wanted))).select(own.columns))
    return tables


def without_label(evaluated: pl.DataFrame, target: str) -> dict[str, int]:
    """How many evaluated statements have no label of the target, by reason, most first."""
    label = target_column(target)
    missing = evaluated.filter(pl.col(label).is_null())
    reasons = missing[f"{label}_null"] if f"{label}_null" in missing.columns else [""] * missing.height
    return {reason or "no reason given": count for reason, count in Counter(reasons).most_common()}
