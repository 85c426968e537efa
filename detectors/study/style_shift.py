"""What a style does to a detector: how it ranks the same statements when they are said in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
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
        mine = scores.filter(scorer=name).join(labelled, on="statement_id", how="semi")
        there = set(mine["statement_id"])
        every = make_examples(statements, model.file.text.context, study.target, study.games)
        asked = [one for one in every if one.statement_id in there]
        if not asked or requests_of(model.detector, (), asked[:1]):
            why = "asks a chat model" if asked else "has no statement here that it has not seen"
            notes.append(f"{name} {why}, and is not shown in other styles")
            continue
        said = _in_styles(asked, plan.seed)
        found = {style: model.probabilities(one, study.progress) for style, one in said.items()}
        rows += _shifts(name, asked, found, study, plan)
    return rows, notes


def of_learned(
    name: str, fresh: Callable[[], Detector], examples: Sequence[Example], scheme: Scheme, study: Study
) -> Iterator[Figure]:
    """Figures of a detector that learns anew, from statements as written, once for each fold."""
    own, said = scheme.among([one.statement_id for one in examples]), _in_styles(examples, study.plan.seed)
    found = {style: np.full(len(examples), np.nan) for style in said}
    for fold in own.repeats[0] if own.repeats else ():
        if len(np.unique(y := own.y[fold.learn])) == 2 and len(fold.score):
            detector = fresh().fit([examples[at] for at in fold.learn], y, own.groups[fold.learn])
            for style, score in found.items():
                score[fold.score] = detector.predict_proba([said[style][at] for at in fold.score])[:, 1]
    return _shifts(name, examples, found, study, study.plan)


def _in_styles(examples: Sequence[Example], seed: int) -> dict[str, Sequence[Example]]:
    return {AS_WRITTEN: examples} | {style: in_style(examples, style, seed) for style in STYLES}


def _shifts(
    name: str, examples: Sequence[Example], found: Mapping[str, Floats], study: Study, plan: ScoringPlan
) -> Iterator[Figure]:
    """Figures in each style, and how they differ from those as written. found: scores by style, NaN for none."""
    plain, measure, target = None, partial(values_of, plan=plan, names=(WITHIN, POOLED)), study.target
    for style, score in found.items():
        scores = score_table([one.statement_id for one in examples], score, name, target).filter(pl.col("score") >= 0)
        for _, _, table in per_detector(scores, plan.evaluated(study.kept)):
            one, where = Scorer(name, table, measure), f"{plan.split}:{STYLE}{style}"
            yield from measured(name, target, where, one.values, one.table)
            yield from differences([(one, plain)], target, where) if plain else ()
            plain = plain or one
