"""Evaluating saved detectors on a corpus: scores first, then every figure computed from them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import takes
from liescope.detectors.detector import Progress
from liescope.detectors.detector_settings import EvaluateSettings
from liescope.detectors.examples import WORDS, corpus_id, count_lost, label_counts, labels_there_are, read_statements
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import Judges, judge_statements, judges_of
from liescope.detectors.study.beside_players import beside_players, on_annotated
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.controls import telling
from liescope.detectors.study.evaluation_report import check_replaceable, report
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
from liescope.detectors.study.observers import HALF, read_people
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scorers import evaluate_scores
from liescope.detectors.study.scores import FINISHED, OUT_OF_FOLD, ScoringPlan, check_split, with_script
from liescope.detectors.study.verdicts import on_promises
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from liescope.generate.corpus import Corpus, check


@takes(EvaluateSettings)
def evaluate(
    models: Model | Sequence[Model],
    corpus: Any,
    labels: Iterable[Any] | None = None,
    *,
    groups: Iterable[Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
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
        `groups`, as `train` takes it.
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
    own = EvaluateSettings.of(settings)
    name = source_name(corpus)
    if own.split is not None:
        check_split(own.split)
    if out is not None:
        check_report_folder(Path(out))
    limits = own.limits()
    judges = judges_of(own.judge, own.judge_limit, own.judge_prompt, limits, own.judge_view)
    people = None if own.people is None else read_people(Path(own.people))
    with shown(progress) as show:
        loaded, replaced = load_all(models), ""
        for model in loaded.values():
            if limits.cache is not None:
                model.detector.keep_replies_in(limits.cache)
        if out is not None and not own.overwrite:
            replaced = check_replaceable(Path(out), name, loaded, bool(own.judge))
        result = _evaluate(loaded, corpus_of(corpus, labels, groups), name, own, judges, people, show, progress)
    if out is None:
        return result
    told = report(result)
    notes = (*filter(None, [replaced]), *result.notes)
    return replace(result, told=told, files=tuple(write(told, Path(out))), notes=notes)


def _evaluate(
    models: Mapping[str, LoadedDetector],
    corpus: Corpus,
    name_of_corpus: str,
    own: EvaluateSettings,
    judges: Judges,
    people: pl.DataFrame | None,
    progress: Progress,
    live: bool,
) -> EvaluationResult:
    check(corpus)
    statements = with_script(read_statements(corpus, keep_lost=own.keep_lost))
    plan, notes = _plan(models, corpus, name_of_corpus, statements, own)
    evaluated, kept = plan.evaluated(statements), plan.concerned(statements)
    if lost := 0 if own.keep_lost else count_lost(corpus, plan.splits):
        notes.append(f"{lost:,} statements of {plan.split} are left out: their text was lost before publication")
    games, learned = read_transcripts(corpus, plan.splits), {"train", *kept["split"].unique()}
    used = statements.filter(pl.col("split").is_in(learned))
    targets = dict.fromkeys(model.file.target for model in models.values())
    schemes = {target: scheme_of(used, target, plan) for target in targets}

    def scored_by(name: str, plan: ScoringPlan) -> list[pl.DataFrame]:
        return scores_of(name, models[name], statements, games, plan, schemes[models[name].file.target], progress)

    tables = {name: scored_by(name, plan) for name in models}
    notes += [f"{name}: {words}" for name, model in models.items() for words in model.detector.notes]
    texts = {model.file.target: model.file.text for model in reversed(list(models.values()))}
    first = frozenset(() if people is None else people["game_id"])
    judged, facts = judge_statements(judges, evaluated, texts, plan.seed, progress, live, first)
    plan = replace(plan, frozen={**plan.frozen, **{judge.name: HALF for judge in facts}})
    notes += [words for judge in facts for words in judge.sentences()]
    views = {name: str(model.file.text.view) for name, model in models.items()}
    views |= {judge.name: judge.view for judge in facts}
    controls, more = control_scores(used, schemes, plan, {*views.values()} != {WORDS}, progress)
    scores = pl.concat([*chain(*tables.values()), *judged, *controls])
    scores = scores.join(kept.select("statement_id"), on="statement_id", how="semi", maintain_order="left")

    progress("figures", 0, 1)
    figures = evaluate_scores(scores, statements, plan, views)
    parts = [(list(figures.rows), more)]
    told, finished = plan, scores
    if plan.split == OUT_OF_FOLD:  # verdicts are the finished detector's, and were chosen on validation
        told = replace(plan, split="test")
        finished = pl.concat(
            found if (found["fold"] == FINISHED).all() else scored_by(name, told)[0]
            for name, (found, *_) in tables.items()
        )
    if told.evaluated(evaluated).height:
        deceivers = read_deceivers(corpus, plan.splits)
        parts.append(on_promises(models, finished, statements, games, deceivers, told, progress))
    sighted = [name for name, view in views.items() if view == WORDS]  # as players and people are
    if len(sighted) < len(views) and (own.observers or people is not None):
        knowing = ", ".join(name for name in views if name not in sighted)
        more.append(f"beside players and people, who saw no reasoning, these are left out: {knowing}")
    if own.observers:
        parts.append(beside_players(scores, kept, corpus, plan, sighted))
    if people is not None:
        parts.append(on_annotated(scores.filter(pl.col("scorer").is_in(sighted)), kept, people, plan))
    checks = (
        *copies(models, scores, evaluated, plan, schemes),
        *(found for target in targets if (found := shuffles(used, schemes[target], target, plan, progress))),
    )
    progress("figures", 1, 1)
    return EvaluationResult(
        corpus=name_of_corpus,
        plan=plan,
        models={name: model.file.model_dump() for name, model in models.items()},
        scores=scores,
        statements=kept,
        rows=(
            *(row for rows, _ in parts for row in rows),
            *(figure for one in checks for figure in one.figures),
        ),
        thresholds=figures.thresholds,
        judges=tuple(facts),
        notes=(
            *notes,
            *(words for one in checks if not one.bad for words in one.sentences),
            *figures.notes,
            *(words for _, said in parts for words in said),
        ),
        checks=checks,
        telling={target: words for target in targets if (words := telling(evaluated, target))},
    )


def _plan(
    models: Mapping[str, LoadedDetector],
    corpus: Corpus,
    name_of_corpus: str,
    statements: pl.DataFrame,
    own: EvaluateSettings,
) -> tuple[ScoringPlan, list[str]]:
    """What is evaluated, and notes on who was heard in training and what has no label. Raises UsageError for a split
    that cannot be.
    """
    here = corpus_id(corpus)
    frozen = {name: model.thresholds for name, model in models.items() if model.file.corpus.id != here}
    plan = ScoringPlan(own.split or split_for(models, here, statements), (), own.seed, frozen)
    evaluated = plan.evaluated(statements)
    if evaluated.is_empty():
        advice = "choose another with --split, or build a larger corpus"
        if plan.split == "test" and not frozen:
            advice = f"few games leave none for it: evaluate on --split {OUT_OF_FOLD}, or add games"
        raise UsageError(f"{name_of_corpus} has no statement in the split {plan.split!r}; {advice}")
    check_unseen(models, here, evaluated, plan.split)
    held_out, notes = unheard(models, evaluated)
    labels, targets = label_counts(evaluated), {model.file.target for model in models.values()}
    unlabelled = [
        f"no statement of {name_of_corpus}, split {plan.split}, has a {target} label; {labels_there_are(labels)}"
        for target in sorted(targets.difference(labels))
    ]
    if len(unlabelled) == len(targets):
        raise UsageError(unlabelled[0])
    return replace(plan, hold_out=held_out), [*notes, *unlabelled, *without_reasoning(models, evaluated)]
