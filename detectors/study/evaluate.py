"""`evaluate`: saved detectors on a corpus, beside controls and, on request, chat models, players and people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import UsageError
from liescope.common.report.files import check_report_folder
from liescope.common.settings import takes
from liescope.common.stores import stored
from liescope.detectors.detector import AsksChatModel, shown
from liescope.detectors.detector_settings import WORDS, EvaluateSettings
from liescope.detectors.examples import count_lost, read_statements
from liescope.detectors.material import corpus_of, source_name
from liescope.detectors.study.beside_judges import judges_of
from liescope.detectors.study.beside_players import HALF, beside_players, on_annotated, read_people
from liescope.detectors.study.evaluation_report import report
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.scores import FINISHED, OUT_OF_FOLD, with_script
from liescope.detectors.study.study import Model, Study, load_all, one_target, planned, scheme_of
from liescope.detectors.study.verdicts import on_ordinary, on_promises
from liescope.generate.corpus.read import check


@takes(EvaluateSettings)
@stored
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

    All detectors were trained for one target. A chat model (`judge`) scores the same statements zero-shot; where only
    some are asked about, these are drawn by whole games, those that people annotated first. Every reply is kept, also
    those that models ask a chat model for.

    Parameters
    ----------
    models : path, detector, or several
        Model folders, or detectors returned by `load`.
    corpus : str, path or data
        A corpus folder, a corpus on the Hub ("USER/NAME"), or a run's folder. Or data at hand, with `labels` and
        `groups`, as `train` takes it.
    **settings

    Raises UnknownName for a split; BadData for a damaged model or corpus; UsageError for detectors of several targets,
    a split without statements, without labels, or whose games a model has seen, an `out` that contains something else,
    or a judge that cannot be asked; RunPaused if it cannot be asked for now: the same call goes on.

    Examples
    --------
    >>> liescope.evaluate("models/tfidf", "corpus/mini", observers=True).metrics
    >>> liescope.evaluate("models/own", texts, labels, groups=speakers, out="reports/own")
    """
    own = EvaluateSettings.of(settings)
    name = source_name(corpus)
    check_report_folder(out, own.overwrite)
    if own.states is not None and own.styles:
        raise UsageError("players keep the states of words as they said them: leave --states or --styles out")
    limits = own.limits()
    judges = judges_of(own.judge, own.judge_limit, own.judge_prompt, limits, own.judge_view)
    people = None if own.people is None else read_people(Path(own.people))
    with shown(progress) as show:
        loaded = load_all(models)
        for model in loaded.values():
            if limits.cache is not None and isinstance(model.detector, AsksChatModel):
                model.detector.keep_replies_in(limits.cache)
        for model in [one for one in loaded.values() if one.file.options.get("states")] or loaded.values():
            if own.states is not None:
                model.detector.use_states(own.states)
        found = corpus_of(corpus, labels, groups)
        check(found)
        target, statements = one_target(loaded), with_script(read_statements(found))
        plan, notes = planned(loaded, target, found, name, statements, own)
        if lost := count_lost(found, plan.splits):
            notes.append(f"{lost:,} statements of {plan.split} are left out: their text was lost before publication")
        kept = plan.concerned(statements)
        used = statements.filter(pl.col("split").is_in({"train", *kept["split"].unique()}))
        scheme = scheme_of(used, target, plan)
        study = Study(found, name, target, statements, used, kept, plan, scheme, show, notes=notes)
        trained = {name: study.as_trained(name, model) for name, model in loaded.items()}
        study.tables += trained.values()
        notes += [f"{name}: {words}" for name, model in loaded.items() for words in model.detector.notes]
        first = frozenset(() if people is None else people["game_id"])
        study.add_judges(judges, next(iter(loaded.values())).file.text, progress, first)
        study.plan = plan = replace(plan, frozen={**plan.frozen, **{judge.name: HALF for judge in study.judges}})
        views = {name: str(model.file.text.view) for name, model in loaded.items()}
        views |= {judge.name: judge.view for judge in study.judges}
        study.add_controls({*views.values()} != {WORDS})

        told, finished = plan, pl.concat(trained.values())
        if plan.split == OUT_OF_FOLD:  # verdicts belong to the finished detector, and were chosen on validation
            told = replace(plan, split="test")
            finished = pl.concat(
                table if (table["fold"] == FINISHED).all() else study.as_trained(name, loaded[name], told)
                for name, table in trained.items()
            )
        if told.evaluated(study.evaluated).height:
            study.add(*on_promises(loaded, finished, statements, told))
            study.more += on_ordinary(loaded, finished, statements, told)
        if own.styles:
            study.add_styles(loaded, finished, told)
        sighted = [name for name, view in views.items() if view == WORDS]  # as for players and people
        if len(sighted) < len(views) and (own.observers or people is not None):
            knowing = ", ".join(name for name in views if name not in sighted)
            notes.append(f"beside players and people, who saw no reasoning, these are left out: {knowing}")
        if own.observers:
            study.add(*beside_players(study.scores, kept, found, plan, sighted))
        if people is not None:
            study.add(*on_annotated(study.scores.filter(pl.col("scorer").is_in(sighted)), kept, people, plan))
        result = replace(study.concluded(loaded), receipt=getattr(found, "receipt", None))
    return result if out is None else result.with_report(report(result), Path(out))
