"""Evaluating saved detectors on a corpus: scores first, then every figure computed from them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    keeps_reasoning,
    label_counts,
    labels_there_are,
    read_statements,
    target_column,
)
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.beside_judges import JUDGES_THRESHOLDS, Judges, judge_statements, judges_of
from liescope.detectors.study.beside_players import (
    SeatTables,
    detective_claims,
    in_the_villagers_seat,
    on_annotated,
    on_players,
    on_statements,
)
from liescope.detectors.study.checks import copies, shuffles
from liescope.detectors.study.controls import REASONING_LENGTH, ROLE_ORACLE, telling
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
)
from liescope.detectors.study.observers import read_people
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scorers import ScoredFigures, evaluate_scores, on_views
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD, ScoringPlan, check_split, with_script
from liescope.detectors.study.verdicts import on_suspects, on_verdicts
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from liescope.games.mafia import MiniMafia
from liescope.generate.corpus import check, collected, read
from liescope.generate.players.run_limits import limits_of


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


def without_label(evaluated: pl.DataFrame, target: str) -> dict[str, int]:
    """How many evaluated statements have no label of the target, by reason, most first."""
    label = target_column(target)
    missing = evaluated.filter(pl.col(label).is_null())
    reasons = missing[f"{label}_null"] if f"{label}_null" in missing.columns else [""] * missing.height
    return {reason or "no reason given": count for reason, count in Counter(reasons).most_common()}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The options of `evaluate` that say what to compute."""

    split: str | None
    observers: bool
    people: pl.DataFrame | None
    draws: int
    seed: int
    keep_lost: bool
    judges: Judges
    say: bool


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
    wanted = _Wanted(
        own["split"], own["observers"], people, own["draws"], own["seed"], own["keep_lost"], judges, progress
    )
    with shown(progress) as show, corpus_of(corpus, labels, groups) as folder:
        loaded = load_all(models)
        if limits.cache is not None:
            for model in loaded.values():
                model.detector.keep_replies_in(limits.cache)
        replaced = ""
        if out is not None and not own["overwrite"]:
            from liescope.detectors.study.evaluation_report import check_replaceable

            replaced = check_replaceable(Path(out), source_name(corpus), loaded, bool(own["judge"]))
        result = _evaluate(loaded, folder, source_name(corpus), wanted, show)
    if out is None:
        return result
    from liescope.detectors.study.evaluation_report import report

    told = report(result)
    written = replace(result, told=told, files=tuple(write(told, Path(out))))
    return replace(written, notes=(replaced, *written.notes)) if replaced else written


def _evaluate(
    models: Mapping[str, LoadedDetector], corpus: Path, name_of_corpus: str, wanted: _Wanted, progress: Progress
) -> EvaluationResult:
    check(corpus)
    statements = with_script(read_statements(corpus, keep_lost=wanted.keep_lost))
    here = corpus_id(corpus)
    split = wanted.split or split_for(models, here, statements)
    frozen = {name: model.thresholds for name, model in models.items() if model.file.corpus.id != here}
    plan = ScoringPlan(split, (), wanted.draws, wanted.seed, frozen)
    evaluated = plan.evaluated(statements)
    if evaluated.is_empty():
        own = split == "test" and all(model.file.corpus.id == here for model in models.values())
        advice = (
            "few games leave none for it: evaluate on --split train, which is scored out of fold, or add games"
            if own
            else "choose another with --split, or build a larger corpus"
        )
        raise UsageError(f"{name_of_corpus} has no statement in the split {split!r}; {advice}")
    check_unseen(models, here, evaluated, split)
    targets = list(dict.fromkeys(model.file.target for model in models.values()))
    labels = label_counts(evaluated)
    unknown = [
        f"no statement of {name_of_corpus}, split {split}, has a {one} label; {labels_there_are(labels)}"
        for one in targets
        if one not in labels
    ]
    if len(unknown) == len(targets):
        raise UsageError(unknown[0])
    held_out, notes = unheard(models, evaluated)
    notes += [*unknown, *without_reasoning(models, evaluated)]
    plan = replace(plan, hold_out=held_out)
    lost = 0 if wanted.keep_lost else count_lost(corpus, plan.splits)
    if lost:
        notes.append(f"{lost:,} statements of {split} are left out: their text was lost before publication")
    games = read_transcripts(corpus, plan.splits)
    used = statements.filter(pl.col("split").is_in({"train", *plan.splits, plan.threshold_split} - {None}))
    schemes = {target: scheme_of(used, target, plan) for target in targets}

    def scored_by(name: str, plan: ScoringPlan) -> list[pl.DataFrame]:
        return scores_of(name, models[name], statements, games, plan, schemes[models[name].file.target], progress)

    tables = [table for name in models for table in scored_by(name, plan)]
    texts = {model.file.target: model.file.text for model in reversed(list(models.values()))}
    first = frozenset(() if wanted.people is None else wanted.people["game_id"])
    judged, facts = judge_statements(wanted.judges, evaluated, texts, plan.seed, progress, wanted.say, first)
    plan = replace(plan, frozen={**frozen, **{judge.name: JUDGES_THRESHOLDS for judge in facts}})
    notes += [f"{name}: {words}" for name, model in models.items() for words in model.detector.notes]
    notes += [words for judge in facts for words in judge.sentences()]
    views = {name: str(model.file.text.view) for name, model in models.items()}
    views |= {judge.name: judge.view for judge in facts}
    kept = statements.filter(pl.col("split").is_in({*plan.splits, plan.threshold_split} - {None}))
    controls, more = control_scores(used, schemes, plan, {*views.values()} != {WORDS}, progress)
    scores = pl.concat([*tables, *judged, *controls]).join(
        kept.select("statement_id"), on="statement_id", how="semi", maintain_order="left"
    )
    progress("figures", 0, 1)
    figures = evaluate_scores(scores, statements, plan)
    told, finished = plan, scores
    if plan.split == OUT_OF_FOLD:  # verdicts are the finished detector's, and were chosen on validation
        told = replace(plan, split="test")
        finished = pl.concat(scored_by(name, told)[0] for name in models)
    rows, why = on_verdicts(finished, statements, models, told)
    rows += on_views(scores, statements, views, plan)
    deceivers = read_deceivers(corpus, plan.splits)
    judged_players, said = on_suspects(models, games, deceivers, finished, told.evaluated(evaluated), told, progress)
    rows += judged_players
    more += why + said
    open_eyed = [name for name, view in views.items() if view == WORDS]  # as players and people are
    if len(open_eyed) < len(views) and (wanted.observers or wanted.people is not None):
        knowing = ", ".join(name for name in views if name not in open_eyed)
        more.append(f"beside players and people, who saw no reasoning, these are left out: {knowing}")
    if wanted.observers:
        beside, said = _beside_players(scores, evaluated, corpus, plan, figures, open_eyed)
        rows += beside
        more += said
    if wanted.people is not None:
        mine = scores.filter(pl.col("scorer").is_in(open_eyed))
        beside, said = on_annotated(mine, evaluated, wanted.people, plan, figures.thresholds)
        rows += beside
        more += said
    checks = list(copies(models, scores, evaluated, plan, schemes))
    for target in targets:
        found = shuffles(used, schemes[target], target, plan, progress)
        checks += [found] if found else []
    rows += [figure for check in checks for figure in check.figures]
    notes += [words for check in checks if not check.bad for words in check.sentences]
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
        tuple(facts),
        {target: without_label(evaluated, target) for target in targets},
        (*notes, *figures.notes, *more),
        tuple(checks),
        {target: words for target in targets if (words := telling(evaluated, target))},
    )


def _beside_players(
    scores: pl.DataFrame,
    evaluated: pl.DataFrame,
    corpus: Path,
    plan: ScoringPlan,
    figures: ScoredFigures,
    detectors: Sequence[str],
) -> tuple[list[Figure], list[str]]:
    """On rated statements, only the detectors; in the villager's seat the controls too, which cast no votes either."""
    mine = scores.filter(pl.col("scorer").is_in(list(detectors)))

    def table(name: str) -> pl.DataFrame:
        return collected(read(corpus, name).filter(pl.col("split").is_in(plan.splits)), corpus)

    rated, notes = on_statements(mine, evaluated, table("ratings"), plan, figures.thresholds)
    named = scores.filter(pl.col("scorer").is_in(detectors) | pl.col("scorer").str.starts_with(CONTROL))
    unnamed = [CONTROL + name for name in (ROLE_ORACLE, REASONING_LENGTH)]
    candidates = named.filter(~pl.col("scorer").is_in(unnamed))
    mini = read(corpus, "statements").filter((pl.col("game") == MiniMafia.name) & pl.col("split").is_in(plan.splits))
    said = collected(mini.select("statement_id", "speaker"), corpus)
    claims = detective_claims(said, table("claims"), mine["target"].unique(maintain_order=True).to_list())
    tables = SeatTables(evaluated, table("votes"), table("games"))
    seated, more = in_the_villagers_seat(pl.concat([candidates.select(claims.columns), claims]), tables, plan)
    voted, why = on_players(mine, tables, plan)
    return rated + seated + voted, notes + more + why
