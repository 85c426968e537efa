"""From scores to figures: every scorer on every population, pairs of them, and each speaking model.

It takes only a table of scores and the statements' labels; nothing is scored here.

A detector of reasoning scores only statements that keep some, so that figures over all that each one scores are of
different statements. Detectors of different views are measured on the same as well (`on_views`), and recall is read
where each flags exactly as many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import polars as pl

from liescope.common.statistics import Floats, game_weights
from liescope.detectors.study.figures import Figure, describe, figures_of, measured, offset
from liescope.detectors.study.metrics import (
    DECISION,
    LEVELS,
    MATCHED,
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
from liescope.detectors.study.scores import CONTROL, SPEAKER, ScoringPlan, in_pairs, per_detector, populations, scored

_RIVALS = ("k_of_n", "length", "reasoning_length", "position", "model_identity", "role_oracle")
"""The controls that a detector is compared with; chance needs no comparison."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """table: the statements it scored, with y; measure: its metrics on some of them; values: on all, each (draws,)."""

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


def pairs_of_interest(scorers: Sequence[Scorer], target: str) -> Iterator[tuple[Scorer, Scorer]]:
    """Every pair of detectors, and each detector with the controls that matter."""
    detectors = [scorer for scorer in scorers if not scorer.name.startswith(CONTROL)]
    yield from combinations(detectors, 2)
    rivals = {CONTROL + name for name in _RIVALS if not (name == "role_oracle" and target == "role")}
    for detector in detectors:
        yield from ((detector, scorer) for scorer in scorers if scorer.name in rivals)


@dataclass(frozen=True, slots=True)
class ScoredFigures:
    """Rows in a fixed order; notes: what could not be computed, and why; thresholds: by (detector, target)."""

    rows: tuple[Figure, ...]
    notes: tuple[str, ...]
    thresholds: Mapping[tuple[str, str], Thresholds]


def evaluate_scores(scores: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan) -> ScoredFigures:
    """Every statement-level figure of every detector in a score table.

    statements: those of `read_statements` that are evaluated or choose the thresholds. Statements with a null label are
    left out. All detectors of a target share the same resamples of games.
    """
    rows: list[Figure] = []
    notes: list[str] = []
    thresholds: dict[tuple[str, str], Thresholds] = {}
    beside: dict[tuple[str, str], list[Scorer]] = {}
    speakers: list[Figure] = []
    for detector, target, table in per_detector(scores, statements):
        chosen = thresholds[detector, target] = _thresholds(detector, table, plan)
        evaluated = plan.evaluated(table)
        for name, part in populations(evaluated, plan.split, plan.hold_out):
            scorer = Scorer.of(detector, part, partial(draws_of, chosen=chosen, plan=plan))
            rows += measured(detector, target, name, scorer.values, part)
            weights = game_weights(scored(part).games, plan.draws, plan.seed)
            error = [("calibration_error", calibration_error(scored(part), weights))]
            rows += figures_of(detector, target, name, error, describe(part))
            notes += [f"{detector}, {target}, {name}: {why}" for why in _undefined(detector, part, chosen, plan)]
            beside.setdefault((target, name), []).append(scorer)
        if not detector.startswith(CONTROL):
            speakers += _by_speaker(detector, target, evaluated, plan)
    for (target, name), scorers in beside.items():
        rows += differences(pairs_of_interest(scorers, target), target, name)
    return ScoredFigures((*rows, *speakers), tuple(notes), thresholds)


def _thresholds(detector: str, table: pl.DataFrame, plan: ScoringPlan) -> Thresholds:
    if detector in plan.frozen:
        return plan.frozen[detector]
    if plan.threshold_split is None:
        return NO_THRESHOLDS
    others = table.filter(pl.col("split") == plan.threshold_split)
    return choose_thresholds(others["y"].to_numpy().astype(bool), others["score"].to_numpy())


def draws_of(table: pl.DataFrame, chosen: Thresholds, plan: ScoringPlan) -> dict[str, Floats]:
    """The metrics of a scorer that are computed draw by draw, each (draws,). table: y, score, game_id and, for the
    ranking without offsets, centred.
    """
    data = scored(table)
    weights = game_weights(data.games, plan.draws, plan.seed)
    found = {WITHIN: within_games(data, weights), **rank_metrics(data, weights)}
    if "centred" in table.columns:
        found["auroc_centred"] = pooled_auroc(scored(table, "centred"), weights)
    return {**found, **decision_metrics(data, chosen, weights), "brier": brier(data, weights)}


def _undefined(detector: str, table: pl.DataFrame, chosen: Thresholds, plan: ScoringPlan) -> Iterator[str]:
    if table.is_empty():
        yield "no scored statement has this label"
    elif table["y"].n_unique() == 1:
        label = "deceptive" if table["y"][0] else "honest"
        yield f"all {table.height} statements are {label}, so nothing that compares the two classes is defined"
    elif in_pairs(table).is_empty():
        yield (
            f"none of {table['game_id'].n_unique():,} games has both deceptive and honest statements, so that there is "
            "no AUROC within games; the pooled one also rewards knowing in which games many deceive"
        )
    lacking = [name for name, at in chosen.items() if at is None]
    if lacking:
        why = "none was chosen"
        if plan.threshold_split and detector not in plan.frozen:
            label = "deceptive" if lacking == [DECISION] else "honest"
            why = f"no {label} statement of {plan.threshold_split} has a score"
        purposes = (words_of(name) if name == DECISION else f"an FPR of {LEVELS[name]:.0%}" for name in lacking)
        yield f"{why}, so there is no threshold for {', '.join(purposes)}"


def _by_speaker(detector: str, target: str, table: pl.DataFrame, plan: ScoringPlan) -> list[Figure]:
    """For each speaking model of several: the offset of the score, and the ranking within what that model said."""
    models = sorted(table["speaker_model"].unique())
    rows: list[Figure] = []
    for model in models if len(models) > 1 else ():
        part = table.filter(pl.col("speaker_model") == model)
        data, where = scored(part), f"{plan.split}:{SPEAKER}{model}"
        weights = game_weights(data.games, plan.draws, plan.seed)
        found = {
            WITHIN: within_games(data, weights),
            POOLED: pooled_auroc(data, weights),
            "auroc_centred": pooled_auroc(scored(part, "centred"), weights),
        }
        rows += measured(detector, target, where, found, part)
        shift = [("offset", offset(table, model, plan.draws, plan.seed))]
        rows += figures_of(detector, target, where, shift, describe(part))
    return rows


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
            scorers[name] = Scorer.of(name, parts[place], lambda part: _draws(part, plan))
            yield from measured(name, target, f"{place}:{SIDE_BY_SIDE}", scorers[name].values, parts[place])
        pairs = [(scorers[one], scorers[two]) for two, one in combinations(names, 2) if views[one] != views[two]]
        yield from differences(pairs, target, f"{place}:{SIDE_BY_SIDE}")


def _draws(table: pl.DataFrame, plan: ScoringPlan) -> Mapping[str, Floats]:
    data = scored(table)
    weights = game_weights(data.games, plan.draws, plan.seed)
    found = {WITHIN: within_games(data, weights), **rank_metrics(data, weights)}
    return {name: found[name] for name in _COMPARED}
