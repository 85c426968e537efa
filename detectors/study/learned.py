"""Scores of whatever learned: trained detectors, those made like them that learn anew for each fold, and controls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.model_names import spellings
from liescope.common.statistics import Bools, Floats
from liescope.common.text import Units
from liescope.detectors.detector import ROLE, Detector, Progress
from liescope.detectors.detector_registry import detector_class, make
from liescope.detectors.examples import WORDS, Example, keeps_reasoning, make_examples, target_column
from liescope.detectors.folds import Rows
from liescope.detectors.saved import LoadedDetector, load
from liescope.detectors.study.controls import (
    BESIDE_DETECTORS,
    CONTROLS,
    REASONING_LENGTH,
    ROLE_ORACLE,
    with_k_of_n,
)
from liescope.detectors.study.schemes import FOLDS, REPEATS, Part, Probe, Scheme, by_group
from liescope.detectors.study.scores import ALL, CONTROL, OUT_OF_FOLD, ScoringPlan, score_table
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


SMALL = 2_000
"""Up to so many groups, a detector's own corpus is judged whole."""
_REFITTED, _REPEATED = 4_000, 1_000  # statements of which quick kinds learn anew for each fold, and several times over


def knowing(
    models: Mapping[str, LoadedDetector], corpus_id: str, statements: pl.DataFrame
) -> dict[str, LoadedDetector]:
    """The models that have seen games of a corpus."""
    games = frozenset(statements["game_id"])
    return {name: one for name, one in models.items() if one.file.corpus.id == corpus_id or one.games & games}


def split_for(models: Mapping[str, LoadedDetector], corpus_id: str, statements: pl.DataFrame) -> str:
    """What to evaluate if the user names no split: everything, if no model has seen a game of the corpus; everything
    out of fold, if it is that of all models that saw it, small, and parted at random; else test.
    """
    if not (seen := knowing(models, corpus_id, statements)):
        return ALL
    own = all(model.file.corpus.id == corpus_id and model.file.training.folds for model in seen.values())
    small = statements["siblings"].n_unique() <= SMALL
    parted = statements["parted"].any() or unheard(seen, statements)[0]
    return OUT_OF_FOLD if own and small and not parted else "test"


def check_unseen(models: Mapping[str, LoadedDetector], corpus_id: str, evaluated: pl.DataFrame, split: str) -> None:
    """Raises UsageError if a model has seen evaluated games. What it has seen of its own corpus, train and validation,
    is scored out of fold, or with thresholds of the other.
    """
    games, called = frozenset(evaluated["game_id"]), Units.of(evaluated["game"].unique()).games
    for name, model in models.items():
        seen = len(games & model.games)
        own = model.file.corpus.id == corpus_id
        if split == OUT_OF_FOLD and (own or not seen):
            continue
        if seen and (split in (ALL, "test") or not own):
            where = "this corpus" if split == ALL else "this split"
            where += "" if split == ALL or own else ", in a corpus that is split otherwise"
            advice = "evaluate on --split test" if own and split == ALL else "train it on this corpus"
            raise UsageError(
                f"{name} was trained, or had its thresholds chosen, on {seen} of the {len(games)} {called} of {where}; "
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


def without_reasoning(models: Mapping[str, LoadedDetector], evaluated: pl.DataFrame) -> list[str]:
    """Of each detector that reads reasoning, how many evaluated statements it does not score. Raises UsageError if it
    can score none.
    """
    lacking = evaluated.select((~keeps_reasoning()).sum()).item()
    blind = [name for name, model in models.items() if model.file.text.view != WORDS]
    if blind and lacking == evaluated.height:
        raise UsageError(f"{blind[0]} reads what speakers thought, and no evaluated statement keeps any of it")
    return [
        f"{name} reads what speakers thought (view {model.file.text.view}): {lacking:,} of {evaluated.height:,} "
        "evaluated statements keep none of it, and have no score"
        for name, model in models.items()
        if lacking and model.file.text.view != WORDS
    ]


def scores_of(
    name: str,
    model: LoadedDetector,
    statements: pl.DataFrame,
    games: Mapping[str, Transcript],
    plan: ScoringPlan,
    scheme: Scheme,
    progress: Progress,
) -> list[pl.DataFrame]:
    """Scores of the evaluated statements by the finished detector (out of fold for what it was trained on), and the
    model's own scores of the split that chooses its thresholds. scheme: what those learn from that learn anew.
    """
    text, frozen, every = model.file.text, name in plan.frozen, plan.evaluated(statements)
    made = make_examples(every, text.context, model.file.target, games)
    asked = [example for example in made if example.can_be_read(text.view)]
    if plan.crossed(name) and quick(model) and len(asked) <= _REFITTED:
        file = model.file
        fresh = partial(make, file.kind, file.text, file.options)
        return [refitted(name, file.target, fresh, asked, scheme, progress, file.confidence.of_scores)]
    own = model.scores.with_columns(scorer=pl.lit(name))
    where = own.join(statements.select("statement_id", "split"), on="statement_id", maintain_order="left")
    learned = not frozen and plan.split in ("train", OUT_OF_FOLD)
    kept = [] if frozen else ["train", "validation"] if learned else [plan.threshold_split]
    if learned:
        if where.filter(pl.col("split") == "train").is_empty():
            raise UsageError(f"{name} was trained without cross-validation, so it has no honest scores of train")
        seen = frozenset(every.filter(pl.col("split") == "train")["statement_id"]) | frozenset(own["statement_id"])
        asked = [example for example in asked if example.statement_id not in seen]
    score = model.probabilities(asked, progress)
    found = score_table([example.statement_id for example in asked], score, name, model.file.target)
    return [found, where.filter(pl.col("split").is_in(kept)).select(own.columns)]


def quick(model: LoadedDetector) -> bool:
    """Whether a detector of the kind learns in a moment: it is cross-validated in as many folds, and asks nobody."""
    return detector_class(model.file.kind).folds >= FOLDS and not model.detector.requests((), ())


def refitted(
    name: str,
    target: str,
    fresh: Callable[[], Detector],
    examples: Sequence[Example],
    scheme: Scheme,
    progress: Progress,
    probability: Callable[[Floats], Floats] = np.asarray,
) -> pl.DataFrame:
    """Each statement's score by fresh detectors that learned from other groups. probability: of a score."""
    own, done = scheme.among([example.statement_id for example in examples]), 0

    def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
        detector = fresh()
        detector.fit([examples[at] for at in learn], y[learn], own.groups[learn])
        return probability(detector.predict_proba([examples[at] for at in score])[:, 1])

    def step() -> None:
        nonlocal done
        done += 1
        progress(f"{name}, out of fold", done, own.steps)

    return scheme_table(own, probe, name, target, step)


def scheme_of(statements: pl.DataFrame, target: str, plan: ScoringPlan) -> Scheme:
    """What learns from what where a plan is followed; several times over where everything is held out in turn, and is
    not too much for it.
    """
    label, split, ids = statements[target_column(target)], statements["split"], statements["statement_id"]
    y, known = label.fill_null(False).to_numpy().astype(bool), label.is_not_null().to_numpy()
    groups = statements["siblings"].to_numpy().astype(np.str_)
    if plan.split in (ALL, OUT_OF_FOLD):
        return by_group(ids, groups, y, known, plan.seed, REPEATS if statements.height <= _REPEATED else 1)
    train = (split == "train").to_numpy()
    rest = Part(np.flatnonzero(known & train), np.flatnonzero(~train))
    if plan.split != "train":
        return Scheme(ids, groups, y, [[rest]])
    own = by_group(ids.filter(pl.Series(train)), groups[train], y[train], known[train], plan.seed, 1)
    (parts,) = own.repeats or [[]]
    at = np.flatnonzero(train)
    return Scheme(ids, groups, y, [[*(Part(at[part.learn], at[part.score], part.fold) for part in parts), rest]])


def scheme_table(
    scheme: Scheme, probe: Probe, name: str, target: str, step: Callable[[], None] = lambda: None
) -> pl.DataFrame:
    """The scores of a scheme as a score table."""
    score = scheme.scores(probe, step)
    kept = np.isfinite(score)
    return score_table(scheme.ids.filter(pl.Series(kept)), score[kept], name, target, scheme.fold[kept])


def control_scores(
    statements: pl.DataFrame, schemes: Mapping[str, Scheme], plan: ScoringPlan, reasoned: bool, progress: Progress
) -> tuple[list[pl.DataFrame], list[str]]:
    """The scores of controls, and why some have none. statements: those of the schemes, which are by target; reasoned:
    whether a detector reads reasoning.
    """
    tables, notes = [], []
    for target, scheme in schemes.items():
        table = with_k_of_n(statements, target)
        known = [name for name in BESIDE_DETECTORS if CONTROLS[name].knows(table)]
        known = [name for name in known if (name, target) != (ROLE_ORACLE, ROLE)]
        if not scheme.repeats:
            notes.append(f"controls, {target}: too few {Units.of(table['game'].unique()).games} to learn from")
            continue
        for done, name in enumerate(known):
            progress(f"controls of {target}", done, len(known))
            tables.append(scheme_table(scheme, CONTROLS[name].made(table, plan.seed), CONTROL + name, target))
        progress(f"controls of {target}", len(known), len(known))
        if reasoned and (thought := table.filter(keeps_reasoning())).height:
            probe = CONTROLS[REASONING_LENGTH].made(thought, plan.seed)
            own = scheme.among(thought["statement_id"])
            tables.append(scheme_table(own, probe, CONTROL + REASONING_LENGTH, target))
    return tables, notes
