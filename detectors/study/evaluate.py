"""Evaluating saved detectors on a corpus: scores first, then every figure computed from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes
from liescope.detectors.detector import Progress
from liescope.detectors.detector_settings import EvaluateSettings
from liescope.detectors.examples import (
    WORDS,
    corpus_id,
    count_lost,
    label_counts,
    labels_there_are,
    read_statements,
)
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import JUDGES_THRESHOLDS, Judges, judge_statements, judges_of
from liescope.detectors.study.beside_players import beside_players, on_annotated
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.controls import telling
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.learned import (
    Model,
    check_unseen,
    control_scores,
    load_all,
    scheme_of,
    scores_of,
    split_for,
    unheard,
    without_reasoning,
)
from liescope.detectors.study.observers import read_people
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scorers import evaluate_scores, on_views
from liescope.detectors.study.scores import FINISHED, OUT_OF_FOLD, ScoringPlan, check_split, with_script
from liescope.detectors.study.verdicts import on_suspects, on_verdicts
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from liescope.generate.corpus import check
from liescope.generate.players.run_limits import limits_of


@takes(EvaluateSettings)
def evaluate(
    models: Model | Sequence[Model],
    corpus: Any,
    labels: Iterable[Any] | None = None,
    *,
    groups: Iterable[Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[EvaluateSettings],
) -> EvaluationResult:
    """Evaluate saved detectors on a corpus, next to cheap controls and, on request, chat models, players, people.

    What models that were held out of training say, what the others at their tables say, and the rest are populations of
    their own (`test:held-out`, `test:others-in-their-games`, `test:seen`), and no figure mixes them. A chat model
    (`judge`) scores the same statements zero-shot; where only some are asked about, these are drawn by whole games,
    those that people annotated first, for each target. Every reply is kept, also those that models ask a chat model
    for.

    Parameters
    ----------
    models : path, detector, or several
        Model folders, or detectors returned by `load`.
    corpus : str, path or data
        A corpus folder, a corpus on the Hub ("USER/NAME"), or a run's folder. Or data at hand, with `labels` and
        `groups`, as `train` takes it: of the very data that a detector was trained on, the part kept for tests.
    out : str or path, optional
        A folder for the report. An evaluation of the same detectors on the same corpus there is replaced, and a note
        says so.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UnknownName
        For a split.
    BadData
        For a damaged model or corpus.
    UsageError
        For a split without statements, without labels of any of the targets, or whose games a model has seen, an `out`
        that contains something else, or a judge that cannot be asked.
    RunPaused
        If a judge cannot be asked for now: the same call goes on.

    Examples
    --------
    >>> liescope.evaluate("models/tfidf", "corpus/mini", observers=True).metrics
    >>> liescope.evaluate("models/own", texts, labels, groups=speakers, out="reports/own")
    """
    own = resolve(EvaluateSettings, settings)
    if own["split"] is not None:
        check_split(own["split"])
    if out is not None:
        check_report_folder(Path(out))
    limits = limits_of({**own, "cache": own["judge_cache"]})
    judges = judges_of(own["judge"], own["judge_limit"], own["judge_prompt"], limits, own["judge_view"])
    people = None if own["people"] is None else read_people(Path(own["people"]))
    with shown(progress) as show, corpus_of(corpus, labels, groups) as folder:
        loaded = load_all(models)
        if limits.cache is not None:
            for model in loaded.values():
                model.detector.keep_replies_in(limits.cache)
        replaced = ""
        if out is not None and not own["overwrite"]:
            from liescope.detectors.study.evaluation_report import check_replaceable

            replaced = check_replaceable(Path(out), source_name(corpus), loaded, bool(own["judge"]))
        result = _evaluate(loaded, folder, source_name(corpus), own, judges, people, progress, show)
    if out is None:
        return result
    from liescope.detectors.study.evaluation_report import report

    told = report(result)
    notes = (replaced, *result.notes) if replaced else result.notes
    return replace(result, told=told, files=tuple(write(told, Path(out))), notes=notes)


def _evaluate(
    models: Mapping[str, LoadedDetector],
    corpus: Path,
    name_of_corpus: str,
    own: Mapping[str, Any],
    judges: Judges,
    people: pl.DataFrame | None,
    say: bool,
    progress: Progress,
) -> EvaluationResult:
    check(corpus)
    statements = with_script(read_statements(corpus, keep_lost=own["keep_lost"]))
    targets = list(dict.fromkeys(model.file.target for model in models.values()))
    plan, notes = _plan(models, corpus, name_of_corpus, statements, own)
    evaluated = plan.evaluated(statements)
    notes += _unlabelled(evaluated, targets, f"{name_of_corpus}, split {plan.split}")
    notes += without_reasoning(models, evaluated)
    lost = 0 if own["keep_lost"] else count_lost(corpus, plan.splits)
    notes += [f"{lost:,} statements of {plan.split} are left out: their text was lost before publication"] * bool(lost)
    games = read_transcripts(corpus, plan.splits)
    kept = plan.concerned(statements)
    used = statements.filter(pl.col("split").is_in({"train", *kept["split"].unique()}))
    schemes = {target: scheme_of(used, target, plan) for target in targets}

    def scored_by(name: str, plan: ScoringPlan) -> list[pl.DataFrame]:
        return scores_of(name, models[name], statements, games, plan, schemes[models[name].file.target], progress)

    tables = {name: scored_by(name, plan) for name in models}
    notes += [f"{name}: {words}" for name, model in models.items() for words in model.detector.notes]
    texts = {model.file.target: model.file.text for model in reversed(list(models.values()))}
    first = frozenset(() if people is None else people["game_id"])
    judged, facts = judge_statements(judges, evaluated, texts, plan.seed, progress, say, first)
    plan = replace(plan, frozen={**plan.frozen, **{judge.name: JUDGES_THRESHOLDS for judge in facts}})
    notes += [words for judge in facts for words in judge.sentences()]
    views = {name: str(model.file.text.view) for name, model in models.items()}
    views |= {judge.name: judge.view for judge in facts}
    controls, more = control_scores(used, schemes, plan, {*views.values()} != {WORDS}, progress)
    scores = pl.concat([*(one for found in tables.values() for one in found), *judged, *controls]).join(
        kept.select("statement_id"), on="statement_id", how="semi", maintain_order="left"
    )
    progress("figures", 0, 1)
    figures = evaluate_scores(scores, statements, plan)
    rows = [*figures.rows, *on_views(scores, statements, views, plan)]
    told, finished = plan, scores
    if plan.split == OUT_OF_FOLD:  # verdicts are the finished detector's, and were chosen on validation
        told = replace(plan, split="test")
        finished = pl.concat(
            found if (found["fold"] == FINISHED).all() else scored_by(name, told)[0]
            for name, (found, *_) in tables.items()
        )
    beside, asked = list[tuple[list[Figure], list[str]]](), told.evaluated(evaluated)
    if asked.height:
        deceivers = read_deceivers(corpus, plan.splits)
        beside.append(on_verdicts(finished, statements, models, told))
        beside.append(on_suspects(models, games, deceivers, finished, asked, told, progress))
    open_eyed = [name for name, view in views.items() if view == WORDS]  # as players and people are
    if len(open_eyed) < len(views) and (own["observers"] or people is not None):
        knowing = ", ".join(name for name in views if name not in open_eyed)
        more.append(f"beside players and people, who saw no reasoning, these are left out: {knowing}")
    if own["observers"]:
        beside.append(beside_players(scores, kept, corpus, plan, open_eyed))
    if people is not None:
        beside.append(on_annotated(scores.filter(pl.col("scorer").is_in(open_eyed)), kept, people, plan))
    rows += [row for found, _ in beside for row in found]
    checks = [
        *copies(models, scores, evaluated, plan, schemes),
        *(found for target in targets if (found := shuffles(used, schemes[target], target, plan, progress))),
    ]
    rows += [figure for one in checks for figure in one.figures]
    notes += [words for one in checks if not one.bad for words in one.sentences]
    progress("figures", 1, 1)
    return EvaluationResult(
        name_of_corpus,
        plan,
        {name: model.file.model_dump() for name, model in models.items()},
        tuple(sorted(evaluated["source"].unique())),
        scores,
        kept,
        tuple(rows),
        figures.thresholds,
        tuple(facts),
        (*notes, *figures.notes, *more, *(words for _, said in beside for words in said)),
        tuple(checks),
        {target: words for target in targets if (words := telling(evaluated, target))},
    )


def _plan(
    models: Mapping[str, LoadedDetector],
    corpus: Path,
    name_of_corpus: str,
    statements: pl.DataFrame,
    own: Mapping[str, Any],
) -> tuple[ScoringPlan, list[str]]:
    """What is evaluated, and notes on who was heard in training. Raises UsageError for a split that cannot be."""
    here = corpus_id(corpus)
    frozen = {name: model.thresholds for name, model in models.items() if model.file.corpus.id != here}
    plan = ScoringPlan(own["split"] or split_for(models, here, statements), (), own["seed"], frozen)
    evaluated = plan.evaluated(statements)
    if evaluated.is_empty():
        mine = plan.split == "test" and not frozen
        advice = (
            f"few games leave none for it: evaluate on --split {OUT_OF_FOLD}, or add games"
            if mine
            else "choose another with --split, or build a larger corpus"
        )
        raise UsageError(f"{name_of_corpus} has no statement in the split {plan.split!r}; {advice}")
    check_unseen(models, here, evaluated, plan.split)
    held_out, notes = unheard(models, evaluated)
    return replace(plan, hold_out=held_out), notes


def _unlabelled(evaluated: pl.DataFrame, targets: Sequence[str], where: str) -> list[str]:
    """Targets of which no evaluated statement has a label. Raises UsageError if there is no other."""
    labels = label_counts(evaluated)
    words = [f"no statement of {where}, has a {one} label" for one in targets if one not in labels]
    notes = [f"{one}; {labels_there_are(labels)}" for one in words]
    if len(notes) == len(targets):
        raise UsageError(notes[0])
    return notes
