"""Evaluating saved detectors on a split of a corpus: scores first, then every figure from the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.evaluation.bootstrap import DRAWS
from liescope.detectors.evaluation.controls import CONTROL, control_scores
from liescope.detectors.evaluation.observers import Tables, detective_claims, in_the_villagers_seat, on_statements
from liescope.detectors.evaluation.scores import (
    THRESHOLDS_ON,
    Figures,
    MetricRow,
    ScoringPlan,
    Thresholds,
    evaluate_scores,
    score_table,
)
from liescope.detectors.examples import corpus_id, make_examples, read_statements
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.saved import SavedModel, load_model
from liescope.games.mafia import MiniMafia
from liescope.generate.corpus import read, read_facts


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished evaluation. scores, statements: what `evaluate_scores` recomputes `figures` from with `plan`;
    rows: all rows, those beside the players included; sources: where the evaluated words come from.
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


def evaluate(
    folders: Sequence[Path],
    corpus: Path,
    split: str = "test",
    observers: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress = silent,
) -> Evaluation:
    """Evaluate models on one split, beside the controls and, if asked, the players.

    Raises UnknownName for a split, BadData for a damaged model or corpus, and UsageError for a split without statements
    or one whose games a model has seen.
    """
    if split not in THRESHOLDS_ON:
        raise UnknownName("split", split, THRESHOLDS_ON)
    statements = read_statements(corpus)
    evaluated = statements.filter(pl.col("split") == split)
    if evaluated.is_empty():
        raise UsageError(
            f"{corpus} has no statement in the split {split!r}; evaluate on another, or build a larger corpus"
        )
    here, hold_out = corpus_id(corpus), tuple(read_facts(corpus)["hold_out"])
    models = _load(folders)
    tables: list[pl.DataFrame] = []
    frozen: dict[str, Thresholds] = {}
    for name, model in models.items():
        same = model.file.corpus["id"] == here
        if not same:
            _check_unseen(name, model, evaluated)
            frozen[name] = model.file.thresholds
        tables += _scores_of(name, model, statements, split, same, progress)
    notes = []
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
    return Evaluation(
        corpus.resolve().name,
        plan,
        {name: model.file.model_dump() for name, model in models.items()},
        tuple(sorted(evaluated["source"].unique())),
        scores,
        kept,
        figures,
        (*figures.rows, *rows),
        (*notes, *figures.notes, *more),
    )


def _load(folders: Sequence[Path]) -> dict[str, SavedModel]:
    models = {}
    for folder in folders:
        model = load_model(folder)
        if model.name in models:
            raise UsageError(f"two models are called {model.name!r}; rename one of the folders")
        models[model.name] = model
    return models


def _check_unseen(name: str, model: SavedModel, evaluated: pl.DataFrame) -> None:
    games = set(evaluated["game_id"])
    seen = len(games & model.games)
    if seen:
        raise UsageError(
            f"{name} was trained, or had its thresholds chosen, on {seen} of the {len(games)} games of this split, in "
            "a corpus that is split otherwise; train it on this corpus"
        )


def _scores_of(
    name: str, model: SavedModel, statements: pl.DataFrame, split: str, same: bool, progress: Progress
) -> list[pl.DataFrame]:
    """Scores of the evaluated split by the finished detector (out of fold where it is the one trained on), and the
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
    """On rated statements detectors alone; in the villager's seat the controls too, which vote as little as they."""
    mine = scores.filter(pl.col("detector").is_in(list(detectors)))
    ratings = read(corpus, "ratings", plan.split).collect()
    votes, games = read(corpus, "votes", plan.split).collect(), read(corpus, "games", plan.split).collect()
    rated, notes = on_statements(mine, evaluated, ratings, plan)
    candidates = scores.filter(~pl.col("detector").is_in([f"{CONTROL}role_oracle", f"{CONTROL}majority"]))
    mini = read(corpus, "statements", plan.split).filter(pl.col("game") == MiniMafia.name)
    said = mini.select("statement_id", "speaker", "claims").collect()
    claims = detective_claims(said, mine["target"].unique(maintain_order=True).to_list())
    seated, more = in_the_villagers_seat(
        pl.concat([candidates.select(claims.columns), claims]), Tables(evaluated, votes, games), plan
    )
    return rated + seated, notes + more
