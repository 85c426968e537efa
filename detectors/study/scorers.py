"""From scores to figures: every scorer on every population, pairs of them, and each speaking model.

It takes only a table of scores and the statements' labels; nothing is scored here.

A detector of reasoning scores only statements that keep some, so that figures over all that each one scores are of
different statements. Detectors of different views are measured on the same as well (`on_views`), and recall is read
where each flags exactly as many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, game_weights
from liescope.common.text import Units
from liescope.detectors.study.controls import BEST_WORD, ROLE_ORACLE, SHUFFLED, WORDS
from liescope.detectors.study.figures import Figure, describe, figures_of, measured, offset
from liescope.detectors.study.metrics import (
    DECISION,
    HEADLINE,
    LEVELS,
    MATCHED,
    NEEDS_THRESHOLD,
    NO_THRESHOLDS,
    POOLED,
    WITHIN,
    Thresholds,
    brier,
    calibration_error,
    choose_thresholds,
    decision_metrics,
    pooled_auroc,
    rank_metrics,
    within_games,
    words_of,
)
from liescope.detectors.study.scores import CONTROL, UNITS, ScoringPlan, in_pairs, per_detector, populations, scored

NO_RIVALS = (SHUFFLED, ROLE_ORACLE)
"""The controls that a detector is not compared with: chance needs no comparison, and one knows what is to be found."""


CUT = "cut_"
"""The prefix of columns with thresholds."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """table: the statements it scored, with y; measure: its metrics on some of them; values: on all, each
    (weights,).
    """

    name: str
    table: pl.DataFrame
    measure: Callable[[pl.DataFrame], Mapping[str, Floats]]
    values: Mapping[str, Floats]

    @classmethod
    def of(cls, name: str, table: pl.DataFrame, measure: Callable[[pl.DataFrame], Mapping[str, Floats]]) -> Scorer:
        return cls(name, table, measure, measure(table))

    def on(self, others: pl.DataFrame) -> tuple[pl.DataFrame, Mapping[str, Floats]]:
        """The statements that are in both tables, and the metrics on them."""
        if self.table["statement_id"].equals(others["statement_id"]):
            return self.table, self.values
        shared = self.table.join(others, on="statement_id", how="semi", maintain_order="left")
        return shared, self.measure(shared)


def differences(pairs: Iterable[tuple[Scorer, Scorer]], target: str, split: str) -> list[Figure]:
    """The first of each pair minus the second, in every metric that is compared and that both have."""
    rows: list[Figure] = []
    for one, other in pairs:
        shared, first = one.on(other.table)
        _, second = other.on(one.table)
        found = {name: first[name] - second[name] for name in first if name in second}
        rows += measured(one.name, target, split, found, shared, other.name)
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
    """Every statement-level figure of every detector in a score table.

    statements: those of `read_statements` that are evaluated or choose the thresholds. Statements with a null label are
    left out. The same games are left out of all detectors of a target.
    """
    rows: list[Figure] = []
    notes: dict[str, None] = {}
    thresholds: dict[tuple[str, str], Thresholds] = {}
    beside: dict[tuple[str, str], list[Scorer]] = {}
    parts: list[Figure] = []
    for detector, target, table in per_detector(scores, statements):
        thresholds[detector, target] = chosen = thresholds_of(detector, table, plan)
        evaluated = cut(detector, table, chosen, plan)
        for name, part in populations(evaluated, plan.split, plan.hold_out):
            scorer = Scorer.of(detector, part, partial(values_of, plan=plan))
            weights = game_weights(scored(part).games, plan.seed)
            error = [("calibration_error", calibration_error(scored(part), weights))]
            here = measured(detector, target, name, scorer.values, part)
            here += figures_of(detector, target, name, error, describe(part))
            why = _undefined(detector, part, plan)
            rows += [replace(row, why=why.get(row.metric, "")) if row.value is None else row for row in here]
            if not detector.startswith(CONTROL):
                notes |= {f"{detector}, {target}, {name}: {words}": None for words in why.values()}
            beside.setdefault((target, name), []).append(scorer)
        if not detector.startswith(CONTROL) or detector.removeprefix(CONTROL) in (BEST_WORD, WORDS):
            parts += _by_unit(detector, target, evaluated, plan)
    for (target, name), scorers in beside.items():
        rows += differences(pairs_of_interest(scorers), target, name)
    return ScoredFigures((*rows, *parts), tuple(notes), thresholds)


def thresholds_of(detector: str, table: pl.DataFrame, plan: ScoringPlan) -> Thresholds:
    """Those that were chosen elsewhere or on the split that is for it; of out-of-fold scores those of all folds, which
    only tell a reader where they lie.
    """
    if detector in plan.frozen:
        return {**NO_THRESHOLDS, **plan.frozen[detector]}
    if plan.threshold_split is None and not plan.crossed(detector):
        return NO_THRESHOLDS
    others = table if plan.threshold_split is None else table.filter(pl.col("split") == plan.threshold_split)
    return choose_thresholds(others["y"].to_numpy().astype(bool), others["score"].to_numpy())


def cut(detector: str, table: pl.DataFrame, chosen: Thresholds, plan: ScoringPlan) -> pl.DataFrame:
    """The evaluated statements with the thresholds of each as columns `CUT`: those of out-of-fold scores are chosen on
    all other folds. table: y, score, split and fold.
    """
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


def values_of(table: pl.DataFrame, plan: ScoringPlan) -> dict[str, Floats]:
    """The metrics of a scorer that are computed for each weighting, (weights,). table: y, score, game_id and, for the
    ranking without offsets, centred, and for decisions, thresholds as `cut` adds them.
    """
    data = scored(table)
    weights = game_weights(data.games, plan.seed)
    found = {WITHIN: within_games(data, weights, plan.alike), **rank_metrics(data, weights)}
    if "centred" in table.columns:
        found["auroc_centred"] = pooled_auroc(scored(table, "centred"), weights)
    held = [name for name in NO_THRESHOLDS if CUT + name in table.columns and not table[CUT + name].null_count()]
    cuts = {name: table[CUT + name].to_numpy() for name in held}
    return {**found, **decision_metrics(data, cuts, weights), "brier": brier(data, weights)}


def _undefined(detector: str, table: pl.DataFrame, plan: ScoringPlan) -> dict[str, str]:
    """By metric, why it is not defined on this table, where it is not."""
    if table.is_empty():
        return dict.fromkeys(HEADLINE, "no scored statement has this label")
    why, called = dict[str, str](), Units.of(table["game"].unique())
    if table["y"].n_unique() == 1:
        label = "deceptive" if table["y"][0] else "honest"
        one_class = f"all {table.height} statements are {label}, so nothing that compares the two classes is defined"
        why = dict.fromkeys(HEADLINE, one_class)
    elif in_pairs(table).is_empty() and called.statements != "texts":
        why[WITHIN] = (
            f"none of {table['game_id'].n_unique():,} games has both deceptive and honest statements, so that there is "
            "no AUROC within games; the pooled one also rewards knowing in which games many deceive"
        )
    lacking = [name for name in NO_THRESHOLDS if table[CUT + name].null_count()]
    if lacking:
        chosen = "none was chosen"
        if plan.threshold_split and detector not in plan.frozen:
            label = "deceptive" if lacking == [DECISION] else "honest"
            chosen = f"no {label} statement of {plan.threshold_split} has a score"
        purposes = (words_of(name) if name == DECISION else f"an FPR of {LEVELS[name]:.0%}" for name in lacking)
        words = f"{chosen}, so there is no threshold for {', '.join(purposes)}"
        why |= {metric: words for name in lacking for metric in NEEDS_THRESHOLD[name]}
    return {metric: called.say(words) for metric, words in why.items()}


def _by_unit(scorer: str, target: str, table: pl.DataFrame, plan: ScoringPlan) -> Iterator[Figure]:
    """For each of several tasks, speaking models and scripts: the ranking within it; of a model also the offset of the
    score.
    """
    for unit, column in UNITS.items():
        names = sorted(table[column].drop_nulls().unique()) if column in table.columns else []
        for name in names if len(names) > 1 else ():
            part, where = table.filter(pl.col(column) == name), f"{plan.split}:{unit}={name}"
            data = scored(part)
            weights = game_weights(data.games, plan.seed)
            found = {WITHIN: within_games(data, weights, plan.alike), POOLED: pooled_auroc(data, weights)}
            if column == "speaker_model":
                found["auroc_centred"] = pooled_auroc(scored(part, "centred"), weights)
            yield from measured(scorer, target, where, found, part)
            if column == "speaker_model" and not scorer.startswith(CONTROL):
                shift = [("offset", offset(table, name, plan.seed))]
                yield from figures_of(scorer, target, where, shift, describe(part))


SIDE_BY_SIDE = "with-reasoning"
"""What the statements that all views score are called, after their split or population."""
_COMPARED = (WITHIN, POOLED, *MATCHED)
_BESIDE = (f"{CONTROL}length", f"{CONTROL}reasoning_length")


def on_views(
    scores: pl.DataFrame, statements: pl.DataFrame, views: Mapping[str, str], plan: ScoringPlan
) -> list[Figure]:
    """The figures of each detector, and of lengths alone, on the statements that every detector scores, and the
    differences of detectors of different views. views: by detector. Nothing for a target with one view.
    """
    tables: dict[str, dict[str, pl.DataFrame]] = {}
    for detector, target, table in per_detector(scores, statements):
        if detector in views or detector in _BESIDE:
            tables.setdefault(target, {})[detector] = plan.evaluated(table)
    return [row for target, mine in tables.items() for row in _of_target(target, mine, views, plan)]


def _of_target(
    target: str, tables: Mapping[str, pl.DataFrame], views: Mapping[str, str], plan: ScoringPlan
) -> Iterator[Figure]:
    names = sorted((name for name in tables if name in views), key=lambda name: list(views.values()).index(views[name]))
    if len({views[name] for name in names}) < 2:
        return
    shared = set.intersection(*(set(tables[name]["statement_id"]) for name in tables))
    mine = {name: tables[name].filter(pl.col("statement_id").is_in(list(shared))) for name in tables}
    for place, _ in populations(mine[names[0]], plan.split, plan.hold_out):
        scorers = dict[str, Scorer]()
        for name in (*names, *(name for name in tables if name not in views)):
            parts = dict(populations(mine[name], plan.split, plan.hold_out))
            scorers[name] = Scorer.of(name, parts[place], lambda part: _values(part, plan))
            yield from measured(name, target, f"{place}:{SIDE_BY_SIDE}", scorers[name].values, parts[place])
        pairs = [(scorers[one], scorers[two]) for two, one in combinations(names, 2) if views[one] != views[two]]
        yield from differences(pairs, target, f"{place}:{SIDE_BY_SIDE}")


def _values(table: pl.DataFrame, plan: ScoringPlan) -> Mapping[str, Floats]:
    data = scored(table)
    weights = game_weights(data.games, plan.seed)
    found = {WITHIN: within_games(data, weights), **rank_metrics(data, weights)}
    return {name: found[name] for name in _COMPARED}
