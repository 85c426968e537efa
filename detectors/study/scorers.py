"""From scores to figures: every scorer, pairs of them, and each part of the whole.

It needs only a table of scores and the statements' labels; nothing is scored here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, game_weights
from liescope.common.text import Units
from liescope.detectors.study import metrics
from liescope.detectors.study.controls import BEST_WORD, LENGTH, ROLE_ORACLE, SHUFFLED, WORDS
from liescope.detectors.study.figures import Figure, measured
from liescope.detectors.study.metrics import LEVELS, NO_THRESHOLDS, POOLED, WITHIN, Thresholds, choose_thresholds
from liescope.detectors.study.scores import BROKEN_DOWN, CONTROL, CUT, ScoringPlan, in_pairs, per_detector, scored

NO_RIVALS = (SHUFFLED, ROLE_ORACLE)
"""The controls that a detector is not compared with: chance needs no comparison, and one knows what is to be found."""
_BY_UNIT = (CONTROL + BEST_WORD, CONTROL + WORDS, CONTROL + LENGTH)
"""The controls whose figures are broken down too."""


@dataclass(frozen=True)
class Scorer:
    """table: the statements it scored, with y; measure: its metrics on some of them; values: those on all."""

    name: str
    table: pl.DataFrame
    measure: Callable[[pl.DataFrame], Mapping[str, Floats]]

    @cached_property
    def values(self) -> Mapping[str, Floats]:
        return self.measure(self.table)

    def on(self, others: pl.DataFrame) -> Scorer:
        """The scorer, restricted to statements that are in both tables."""
        if self.table["statement_id"].equals(others["statement_id"]):
            return self
        return replace(self, table=self.table.join(others, on="statement_id", how="semi", maintain_order="left"))


def differences(pairs: Iterable[tuple[Scorer, Scorer]], target: str, split: str) -> list[Figure]:
    """The first of each pair minus the second, in every metric that is compared and that both have."""
    rows: list[Figure] = []
    for one, other in pairs:
        first, second = one.on(other.table), other.on(one.table)
        found = {name: first.values[name] - second.values[name] for name in first.values if name in second.values}
        rows += measured(one.name, target, split, found, first.table, other.name)
    return rows


def pairs_of_interest(scorers: Sequence[Scorer]) -> Iterator[tuple[Scorer, Scorer]]:
    """Every pair of detectors, and each detector with the controls that matter."""
    detectors = [scorer for scorer in scorers if not scorer.name.startswith(CONTROL)]
    yield from combinations(detectors, 2)
    rivals = [one for one in scorers if one not in detectors and one.name.removeprefix(CONTROL) not in NO_RIVALS]
    yield from product(detectors, rivals)


@dataclass(frozen=True, slots=True)
class ScoredFigures:
    """Rows in a fixed order; notes: what could not be computed, and why; thresholds: by (detector, target)."""

    rows: tuple[Figure, ...]
    notes: tuple[str, ...]
    thresholds: Mapping[tuple[str, str], Thresholds]


def evaluate_scores(scores: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan) -> ScoredFigures:
    """Every statement-level figure of every scorer in a score table. statements: rows of `read_statements` that are
    evaluated or used to choose thresholds. Those without a label are left out. All scorers leave the same games out.
    """
    rows, parts, notes = list[Figure](), list[Figure](), list[str]()
    thresholds: dict[tuple[str, str], Thresholds] = {}
    beside: dict[str, list[Scorer]] = {}
    for detector, target, table in per_detector(scores, statements):
        thresholds[detector, target] = chosen = thresholds_of(detector, table, plan)
        evaluated = cut(detector, table, chosen, plan)
        scorer = Scorer(detector, evaluated, partial(values_of, plan=plan, names=metrics.HEADLINE))
        here = measured(detector, target, plan.split, scorer.values, evaluated)
        why = _undefined(detector, evaluated, plan)
        rows += [replace(row, why=why.get(row.metric, "")) if row.value is None else row for row in here]
        if not detector.startswith(CONTROL):
            notes += [f"{detector}, {target}, {plan.split}: {words}" for words in dict.fromkeys(why.values())]
        beside.setdefault(target, []).append(scorer)
        if not detector.startswith(CONTROL) or detector in _BY_UNIT:
            parts += _by_unit(detector, target, evaluated, plan)
    for target, scorers in beside.items():
        rows += differences(pairs_of_interest(scorers), target, plan.split)
    return ScoredFigures((*rows, *parts), tuple(notes), thresholds)


def thresholds_of(detector: str, table: pl.DataFrame, plan: ScoringPlan) -> Thresholds:
    """Thresholds from elsewhere, or from their own split; for out-of-fold scores those of all folds, to be shown."""
    if detector in plan.frozen:
        return {**NO_THRESHOLDS, **plan.frozen[detector]}
    if plan.threshold_split is None and not plan.crossed(detector):
        return NO_THRESHOLDS
    others = table if plan.threshold_split is None else table.filter(pl.col("split") == plan.threshold_split)
    return choose_thresholds(others["y"].to_numpy().astype(bool), others["score"].to_numpy())


def cut(detector: str, table: pl.DataFrame, chosen: Thresholds, plan: ScoringPlan) -> pl.DataFrame:
    """The evaluated rows with their thresholds as columns `CUT`; out of fold, each is chosen on all other folds."""
    evaluated = plan.evaluated(table)
    if not plan.crossed(detector):
        return with_cuts(evaluated, chosen)
    fold, y, score = table["fold"].to_numpy(), table["y"].to_numpy().astype(bool), table["score"].to_numpy()
    found = [{"fold": one, **choose_thresholds(y[fold != one], score[fold != one])} for one in np.unique(fold)]
    cuts = pl.DataFrame(found, schema={"fold": pl.Int32, **dict.fromkeys(NO_THRESHOLDS, pl.Float64)})
    cuts = cuts.rename({name: CUT + name for name in NO_THRESHOLDS})
    return evaluated.join(cuts, on="fold", how="left", maintain_order="left")


def with_cuts(table: pl.DataFrame, chosen: Thresholds) -> pl.DataFrame:
    """The table with the same thresholds for all."""
    return table.with_columns(pl.lit(at, pl.Float64).alias(CUT + name) for name, at in chosen.items())


def values_of(table: pl.DataFrame, plan: ScoringPlan, names: Sequence[str] = metrics.ANY_SCORE) -> dict[str, Floats]:
    """The metrics of a scorer, each (weights,). table: as of `scored`, with thresholds as `cut` adds them."""
    data = replace(scored(table), alike=plan.alike)
    return metrics.measure(data, game_weights(data.games, plan.seed), names)


def _undefined(detector: str, table: pl.DataFrame, plan: ScoringPlan) -> dict[str, str]:
    """By metric, why it is undefined on this table, for those that are."""
    if table.is_empty():
        return dict.fromkeys(metrics.HEADLINE, "no scored statement has this label")
    why, called = dict[str, str](), Units.of(table["game"].unique())
    if table["y"].n_unique() == 1:
        label = "deceptive" if table["y"][0] else "honest"
        one_class = f"all {table.height} statements are {label}, so nothing that compares the two classes is defined"
        why = dict.fromkeys(metrics.HEADLINE, one_class)
    elif in_pairs(table).is_empty() and called.statements != "texts":
        why[WITHIN] = (
            f"none of {table['game_id'].n_unique():,} games has both deceptive and honest statements, so that there is "
            "no AUROC within games; the pooled one also rewards knowing in which games many deceive"
        )
    lacking = [name for name in NO_THRESHOLDS if table[CUT + name].null_count()]
    if lacking:
        chosen = "none was chosen"
        if plan.threshold_split and detector not in plan.frozen:
            label = "deceptive" if lacking == [metrics.DECISION] else "honest"
            chosen = f"no {label} statement of {plan.threshold_split} has a score"
        purposes = (
            metrics.words_of(name) if name == metrics.DECISION else f"an FPR of {LEVELS[name]:.0%}" for name in lacking
        )
        words = f"{chosen}, so there is no threshold for {', '.join(purposes)}"
        why |= {metric.name: words for metric in metrics.METRICS if metric.needs in lacking}
    return {metric: called.say(words) for metric, words in why.items()}


def _by_unit(scorer: str, target: str, table: pl.DataFrame, plan: ScoringPlan) -> Iterator[Figure]:
    """For each of several tasks, speaking models and scripts, the ranking within it."""
    for unit, column in BROKEN_DOWN.items():
        names = sorted(table[column].drop_nulls().unique()) if column in table.columns else []
        for name in names if len(names) > 1 else ():
            part = table.filter(pl.col(column) == name)
            found = values_of(part, plan, (WITHIN, POOLED))
            yield from measured(scorer, target, f"{plan.split}:{unit}={name}", found, part)
