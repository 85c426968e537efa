"""Evaluating saved detectors on a split of a corpus: scores first, then every figure computed from them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.evaluation.bootstrap import DRAWS
from liescope.detectors.evaluation.observers import Tables, detective_claims, in_the_villagers_seat, on_statements
from liescope.detectors.evaluation.scores import (
    CONTROL,
    THRESHOLDS_ON,
    Figures,
    MetricRow,
    ScoringPlan,
    Thresholds,
    evaluate_scores,
    metric_table,
    score_table,
)
from liescope.detectors.examples import corpus_id, corpus_name, count_lost, make_examples, read_statements
from liescope.detectors.options import MAX_SEED
from liescope.detectors.progress import shown
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.saved import LoadedDetector, load
from liescope.games.mafia import MiniMafia
from liescope.generate.corpus import as_corpus, check, collected, read, read_facts

Model = str | os.PathLike[str] | LoadedDetector


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationResult:
    """A finished evaluation.

    scores, statements: what `evaluate_scores` recomputes `figures` from with `plan`; rows: all figures, including
    the comparison with the players; models: name to the contents of model.json; sources: where the evaluated words
    come from; notes: what could not be computed, and what was left out; files: those of the report, if one was written.
    """

    corpus: str
    plan: ScoringPlan
    models: Mapping[str, Mapping[str, Any]]
    sources: tuple[str, ...]
    scores: pl.DataFrame
    statements: pl.DataFrame
    figures: Figures
    rows: tuple[MetricRow, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...] = ()

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures as a frame: detector, target, split, metric, value, lo, hi, statements, games, prevalence."""
        return metric_table(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What `liescope evaluate --json` prints."""
        return {"rows": [row.to_json() for row in self.rows], "notes": list(self.notes)}

    def __repr__(self) -> str:
        auroc = [
            f"{row.detector} {row.value:.3f}"
            for row in self.figures.rows
            if row.metric == "auroc" and row.split == self.plan.split and row.detector in self.models and row.value
        ]
        return f"<EvaluationResult {self.corpus} ({self.plan.split}): AUROC {', '.join(auroc) or 'not defined'}>"


def evaluate(
    models: Model | Sequence[Model],
    corpus: str | os.PathLike[str],
    *,
    split: str = "test",
    observers: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    keep_lost: bool = False,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> EvaluationResult:
    """Evaluate saved detectors on one split of a corpus, next to cheap controls and, on request, the players.

    models: one or several model folders, or detectors returned by `load`; corpus: a corpus folder, a corpus on the
    Hub ("USER/NAME"), or a run's folder; split: "train" (out of fold), "validation" or
    "test"; observers: compare with the players' own judgement; draws: resamples of games for the 95% intervals;
    keep_lost: include statements whose text was lost before publication; out: a folder for the report.

    Raises UnknownName for a split, BadData for a damaged model or corpus, and UsageError for a split without
    statements, one whose games a model has seen, or an `out` that contains something else.

    Example:
        >>> liescope.evaluate("models/tfidf", "corpus/mini", observers=True).metrics
    """
    if split not in THRESHOLDS_ON:
        raise UnknownName("split", split, THRESHOLDS_ON)
    if draws < 10:
        raise UsageError(f"--draws must be 10 or more, not {draws}")
    if not 0 <= seed <= MAX_SEED:
        raise UsageError(f"--seed must be from 0 to {MAX_SEED}, not {seed}")
    if out is not None:
        from liescope.detectors.evaluation.report import check_report_folder

        check_report_folder(Path(out))
    with shown(progress) as show:
        loaded = _load([models] if isinstance(models, str | os.PathLike | LoadedDetector) else models)
        with as_corpus(corpus) as folder:
            result = _evaluate(loaded, folder, corpus_name(corpus), split, observers, draws, seed, keep_lost, show)
    if out is None:
        return result
    from liescope.detectors.evaluation.report import write_report

    return replace(result, files=tuple(write_report(Path(out), result)))


def _evaluate(
    models: Mapping[str, LoadedDetector],
    corpus: Path,
    name_of_corpus: str,
    split: str,
    observers: bool,
    draws: int,
    seed: int,
    keep_lost: bool,
    progress: Progress = silent,
) -> EvaluationResult:
    from liescope.detectors.evaluation.controls import control_scores

    check(corpus)
    statements = read_statements(corpus, keep_lost=keep_lost)
    evaluated = statements.filter(pl.col("split") == split)
    if evaluated.is_empty():
        raise UsageError(
            f"{name_of_corpus} has no statement in the split {split!r}; evaluate on another, or build a larger corpus"
        )
    here, hold_out = corpus_id(corpus), tuple(read_facts(corpus)["hold_out"])
    tables: list[pl.DataFrame] = []
    frozen: dict[str, Thresholds] = {}
    for name, model in models.items():
        same = model.file.corpus.id == here
        if not same:
            _check_unseen(name, model, evaluated)
            frozen[name] = model.thresholds
        tables += _scores_of(name, model, statements, split, same, progress)
    notes = [] if keep_lost else _note_of_lost(corpus, split)
    train = statements.filter(pl.col("split") == "train")
    others = statements.filter(pl.col("split") != "train")
    for target in dict.fromkeys(model.file.target for model in models.values()):
        try:
            tables.append(control_scores(train, others, target, seed, progress))
        except UsageError as error:
            notes.append(f"controls, {target}: not available on this corpus: {error}")
    kept = statements.filter(pl.col("split").is_in([split, THRESHOLDS_ON[split]]))
    scores = pl.concat(tables).join(kept.select("statement_id"), on="statement_id", how="semi", maintain_order="left")
    plan = ScoringPlan(split, hold_out, draws, seed, frozen)
    progress("figures", 0, 1)
    figures = evaluate_scores(scores, statements, plan)
    rows, more = _beside_players(scores, evaluated, corpus, plan, tuple(models)) if observers else ([], [])
    progress("figures", 1, 1)
    return EvaluationResult(
        name_of_corpus,
        plan,
        {name: model.file.model_dump() for name, model in models.items()},
        tuple(sorted(evaluated["source"].unique())),
        scores,
        kept,
        figures,
        (*figures.rows, *rows),
        (*notes, *figures.notes, *more),
    )


def _note_of_lost(corpus: Path, split: str) -> list[str]:
    lost = count_lost(corpus, [split])
    return [f"{lost:,} statements of {split} are left out: their text was lost before publication"] if lost else []


def _load(models: Sequence[Model]) -> dict[str, LoadedDetector]:
    found: dict[str, LoadedDetector] = {}
    for given in models:
        model = given if isinstance(given, LoadedDetector) else load(given)
        if model.name in found:
            raise UsageError(f"two models are called {model.name!r}; rename one of the folders")
        found[model.name] = model
    if not found:
        raise UsageError("name at least one model to evaluate")
    return found


def _check_unseen(name: str, model: LoadedDetector, evaluated: pl.DataFrame) -> None:
    games = set(evaluated["game_id"])
    seen = len(games & model.games)
    if seen:
        raise UsageError(
            f"{name} was trained, or had its thresholds chosen, on {seen} of the {len(games)} games of this split, in "
            "a corpus that is split otherwise; train it on this corpus"
        )


def _scores_of(
    name: str, model: LoadedDetector, statements: pl.DataFrame, split: str, same: bool, progress: Progress
) -> list[pl.DataFrame]:
    """Scores of the evaluated split by the finished detector (out of fold for the split it was trained on), and the
    model's own scores of the split that chooses thresholds.
    """
    own = model.scores.with_columns(detector=pl.lit(name))
    where = own.join(statements.select("statement_id", "split"), on="statement_id", maintain_order="left")
    if same and split == "train" and where.filter(pl.col("split") == "train").is_empty():
        raise UsageError(f"{name} was trained without cross-validation, so it has no honest scores of train")
    tables = []
    if not (same and split == "train"):
        asked = statements.filter(pl.col("split") == split)
        examples = make_examples(asked, model.file.text.context)
        score = model.detector.predict_proba(examples, progress)[:, 1]
        tables.append(score_table(asked["statement_id"], score, name, model.file.target))
    wanted = {THRESHOLDS_ON[split], *(["train"] if split == "train" else [])} if same else set()
    tables.append(where.filter(pl.col("split").is_in(list(wanted))).select(own.columns))
    return tables


def _beside_players(
    scores: pl.DataFrame, evaluated: pl.DataFrame, corpus: Path, plan: ScoringPlan, detectors: Sequence[str]
) -> tuple[list[MetricRow], list[str]]:
    """On rated statements, only the detectors; in the villager's seat the controls too, which cast no votes either."""
    mine = scores.filter(pl.col("detector").is_in(list(detectors)))
    ratings = collected(read(corpus, "ratings", plan.split), corpus)
    votes = collected(read(corpus, "votes", plan.split), corpus)
    games = collected(read(corpus, "games", plan.split), corpus)
    rated, notes = on_statements(mine, evaluated, ratings, plan)
    candidates = scores.filter(~pl.col("detector").is_in([f"{CONTROL}role_oracle", f"{CONTROL}majority"]))
    mini = read(corpus, "statements", plan.split).filter(pl.col("game") == MiniMafia.name)
    said = collected(mini.select("statement_id", "speaker", "claims"), corpus)
    claims = detective_claims(said, mine["target"].unique(maintain_order=True).to_list())
    seated, more = in_the_villagers_seat(
        pl.concat([candidates.select(claims.columns), claims]), Tables(evaluated, votes, games), plan
    )
    return rated + seated, notes + more
