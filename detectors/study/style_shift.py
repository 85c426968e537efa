"""What a style does to a detector: how it ranks the same statements when they are said in another one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from liescope.detectors.detector import Detector, requests_of
from liescope.detectors.examples import Example, make_examples, target_column
from liescope.detectors.probing.styles import STYLES, in_style
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.figures import Figure, measured
from liescope.detectors.study.metrics import POOLED, WITHIN
from liescope.detectors.study.schemes import Scheme
from liescope.detectors.study.scorers import Scorer, differences, values_of
from liescope.detectors.study.scores import ScoringPlan, per_detector, score_table
from liescope.detectors.study.study import Study

STYLE, AS_WRITTEN = "style=", "as written"


def of_trained(
    models: Mapping[str, LoadedDetector], scores: pl.DataFrame, study: Study, plan: ScoringPlan
) -> tuple[list[Figure], list[str]]:
    """Figures of trained detectors in every style, and notes. scores: of finished detectors; plan: what of them."""
    rows, notes, statements = list[Figure](), list[str](), plan.evaluated(study.kept)
    labelled = statements.drop_nulls(target_column(study.target))
    for name, model in models.items():
        mine = scores.filter(pl.col("scorer") == name).join(labelled, on="statement_id", how="semi")
        there = set(mine["statement_id"])
        every = make_examples(statements, model.file.text.context, study.target, study.games)
        asked = [one for one in every if one.statement_id in there]
        if not asked or requests_of(model.detector, (), asked[:1]):
            why = "asks a chat model" if asked else "has no statement here that it has not seen"
            notes.append(f"{name} {why}, and is not shown in other styles")
            continue
        told = {AS_WRITTEN: mine}
        for style in STYLES:
            said = in_style(asked, style, plan.seed)
            found = model.probabilities(said, study.progress)
            told[style] = score_table([one.statement_id for one in said], found, name, study.target)
        rows += _shifts(told, statements, plan)
    return rows, notes


def of_learned(
    name: str, fresh: Callable[[], Detector], examples: Sequence[Example], scheme: Scheme, study: Study
) -> list[Figure]:
    """Figures of a detector that learns anew, from statements as written, once for each fold."""
    own = scheme.among([one.statement_id for one in examples])
    said = {AS_WRITTEN: examples} | {style: in_style(examples, style, study.plan.seed) for style in STYLES}
    found = {style: np.full(len(examples), np.nan) for style in said}
    for fold in own.repeats[0] if own.repeats else ():
        y = own.y[fold.learn]
        if y.all() or not y.any() or not len(fold.score):
            continue
        detector = fresh().fit([examples[at] for at in fold.learn], y, own.groups[fold.learn])
        for style, score in found.items():
            score[fold.score] = detector.predict_proba([said[style][at] for at in fold.score])[:, 1]
    kept = np.isfinite(found[AS_WRITTEN])
    ids = own.ids.filter(pl.Series(kept))
    told = {style: score_table(ids, score[kept], name, study.target) for style, score in found.items()}
    return _shifts(told, study.evaluated, study.plan) if kept.any() else []


def _shifts(told: Mapping[str, pl.DataFrame], statements: pl.DataFrame, plan: ScoringPlan) -> list[Figure]:
    """Figures in each style, and how they differ from those as written. told: scores by style."""
    rows, plain = list[Figure](), None
    measure = partial(values_of, plan=plan, names=(WITHIN, POOLED))
    for style, scores in told.items():
        for name, target, table in per_detector(scores, statements):
            one, where = Scorer.of(name, table, measure), f"{plan.split}:{STYLE}{style}"
            rows += measured(name, target, where, one.values, one.table)
            plain = plain or one
            rows += differences([(one, plain)], target, where) if one is not plain else ()
    return rows
