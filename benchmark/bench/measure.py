"""One data set: the figures made of everybody's scores of the same statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from liescope.benchmark.bench.bench_result import (
    CONTROL_RECALL,
    FLOORS,
    GROUPS_OUT,
    HONEST_RECALL,
    WORDS,
    BenchRow,
    Found,
)
from liescope.benchmark.bench.bench_scores import (
    CLASSES,
    BenchMaterial,
    BenchPlan,
    ScoredBy,
    as_trained,
    asked_here,
    came_with,
    floors,
    learned_here,
    on_the_same,
    read_data,
)
from liescope.benchmark.bench.contenders import Contenders
from liescope.common.statistics import CHANGE, PROPORTION, Floats, Scale, codes, estimate, game_weights
from liescope.detectors.detector import Progress
from liescope.detectors.examples import WORDS as WORDS_ONLY
from liescope.detectors.examples import make_examples
from liescope.detectors.learned_from import is_long, near_copies, normal
from liescope.detectors.study.metrics import (
    LEVELS,
    WITHIN,
    Scored,
    brier,
    calibration_error,
    flagged,
    pooled_auroc,
    rank_metrics,
    within_games,
)
from liescope.detectors.study.scores import (
    WITHIN_TASK,
    compared_in,
    in_pairs,
    resampled_as,
    scored,
)
from liescope.detectors.suite import SuiteCorpus, SuiteData


def measure(data: SuiteData, found: SuiteCorpus, who: Contenders, plan: BenchPlan, progress: Progress) -> Found:
    """Every scorer on the labelled statements of a data set.

    Raises NotHad if it lacks labels of both classes, and RunPaused if a judge cannot be asked for now.
    """
    one = read_data(data, found.corpus, who)
    scores = [*floors(one, plan, progress)]
    scores += as_trained(one, who, plan, progress)
    scores += learned_here(one, who, plan, progress)
    asked, costs = asked_here(one, plan, progress)
    scores += [*asked, *came_with(one)]
    if found.rejected:
        one.notes.append(f"{found.rejected:,} items of {data.name} could not be read and are left out")
    kept = on_the_same(one, any(each.view != WORDS_ONLY for each in scores))
    rows, places = _figures(data.name, kept, scores, plan)
    timed = {each.key: each.seconds for each in scores if each.seconds is not None}
    within = "tasks" if WITHIN_TASK in kept.columns else "games"
    facts = _facts(data, found, one, kept, plan.seed)
    return Found(data, one.target, within, facts, tuple(rows), places, timed, tuple(one.notes), costs)


@dataclass(frozen=True, slots=True)
class _Measured:
    scores: ScoredBy
    table: pl.DataFrame
    within: Floats


def _figures(
    name: str, kept: pl.DataFrame, scores: Sequence[ScoredBy], plan: BenchPlan
) -> tuple[list[BenchRow], dict[tuple[str, str], int]]:
    rows: list[BenchRow] = []
    measured: list[_Measured] = []
    for one in scores:
        table = kept.join(one.table, on="statement_id", how="inner", maintain_order="left")
        if table.is_empty() or table["y"].n_unique() < 2:
            continue
        found = _Measured(one, table, _within(table, plan))
        measured.append(found)
        rows += _rows(name, "", found, plan)
        if WITHIN_TASK in table.columns:
            for task in sorted(table[WITHIN_TASK].unique()):
                part = table.filter(pl.col(WITHIN_TASK) == task)
                if part["y"].n_unique() == CLASSES:
                    rows += [_row(name, task, one, WITHIN, _within(part, plan), part)]
    words = next((one for one in measured if one.scores.key == (WORDS, GROUPS_OUT)), None)
    ranked = [one for one in measured if one.scores.detector not in FLOORS]
    if words is not None:
        rows += [_difference(name, each, words, plan) for each in ranked]
    return rows, _places(name, ranked, plan)


def _rows(name: str, task: str, found: _Measured, plan: BenchPlan) -> Iterator[BenchRow]:
    table, one = found.table, found.scores
    data = scored(table)
    weights = game_weights(data.games, plan.seed)
    yield _row(name, task, one, WITHIN, found.within, in_pairs(table))
    ranks = rank_metrics(data, weights, {HONEST_RECALL[level]: rate for level, rate in LEVELS.items()})
    for metric, values in ranks.items():
        yield _row(name, task, one, metric, values, table)
    if one.control is not None:
        for level, rate in LEVELS.items():
            yield _row(name, task, one, CONTROL_RECALL[level], _beside_control(data, one.control, rate, plan), table)
    yield _row(name, task, one, "brier", brier(data, weights), table)
    error, lo, hi = calibration_error(data, weights)
    yield BenchRow(name, task, *one.key, "calibration_error", error, lo, hi, table.height, data.games)


def _within(table: pl.DataFrame, plan: BenchPlan) -> Floats:
    """(weights,): the AUROC within games, or the mean of that of the tasks, so that no large task speaks for all."""
    data = scored(table)
    weights = game_weights(data.games, plan.seed)
    if WITHIN_TASK not in table.columns or data.own is None:
        return within_games(data, weights)
    both = set(in_pairs(table)[WITHIN_TASK].unique())
    tasks = table[WITHIN_TASK].to_numpy()
    parts = [
        pooled_auroc(Scored(data.y[mine], data.score[mine], data.game[mine], data.games), weights)
        for mine in (tasks == task for task in sorted(both))
    ]
    return np.mean(parts, axis=0) if parts else np.full(len(weights), np.nan)


def _row(
    name: str, task: str, one: ScoredBy, metric: str, values: Floats, table: pl.DataFrame, against: str = ""
) -> BenchRow:
    groups = table[resampled_as(table)].n_unique() if table.height else 0
    span: Scale = CHANGE if against else PROPORTION
    return BenchRow(name, task, *one.key, metric, *estimate(values, groups, span), table.height, groups, against)


def _beside_control(data: Scored, control: Floats, rate: float, plan: BenchPlan) -> Floats:
    """(weights,): the share of lies above the threshold that flags this share of the control set; groups of both are
    left out.
    """
    weights = game_weights(data.games, plan.seed)
    weighed = game_weights(len(control), plan.seed + 1)
    order = np.argsort(-control, kind="stable")
    above = weighed[:, order].cumsum(axis=1, dtype=np.float64)
    place = (above <= rate * above[:, -1:] + 1e-9).sum(axis=1)  # so many, highest first, may be flagged
    at = np.where(place < len(control), control[order][np.minimum(place, len(control) - 1)], -np.inf)
    lies = data.score[data.y]
    game = data.game[data.y]
    found = np.empty(len(at))
    for value in np.unique(at):
        mine = at == value
        caught, every = (
            weights[mine] @ np.bincount(game, counts, data.games)
            for counts in (flagged(lies, value).astype(float), np.ones(len(lies)))
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            found[mine] = caught / every
    return found


def _shared(one: _Measured, other: _Measured, plan: BenchPlan) -> tuple[pl.DataFrame, Floats]:
    """The statements that both scored, and by how much the first is ahead there."""
    if one.table["statement_id"].equals(other.table["statement_id"]):
        return one.table, one.within - other.within
    mine = one.table.join(other.table, on="statement_id", how="semi", maintain_order="left")
    theirs = other.table.join(one.table, on="statement_id", how="semi", maintain_order="left")
    if mine.is_empty() or mine["y"].n_unique() < CLASSES:
        return mine, np.full(len(one.within), np.nan)
    return mine, _within(mine, plan) - _within(theirs, plan)


def _difference(name: str, one: _Measured, other: _Measured, plan: BenchPlan) -> BenchRow:
    table, ahead = _shared(one, other, plan)
    return _row(name, "", one.scores, WITHIN, ahead, in_pairs(table), other.scores.detector)


def _places(name: str, ranked: Sequence[_Measured], plan: BenchPlan) -> dict[tuple[str, str], int]:
    """1 plus how many are better where chance does not explain it; those that chance may part share a place."""
    better = dict.fromkeys((one.scores.key for one in ranked), 0)
    for at, one in enumerate(ranked):
        for other in ranked[at + 1 :]:
            row = _difference(name, one, other, plan)
            if row.lo is not None and row.lo > 0:
                better[other.scores.key] += 1
            elif row.hi is not None and row.hi < 0:
                better[one.scores.key] += 1
    return {key: 1 + count for key, count in better.items()}


def _facts(data: SuiteData, found: SuiteCorpus, one: BenchMaterial, kept: pl.DataFrame, seed: int) -> dict[str, Any]:
    """What a reader must know of a data set."""
    texts = normal(make_examples(one.table, 0))
    long = np.array([is_long(text) for text in texts], dtype=bool)
    groups = one.groups
    seen: dict[str, set[str]] = {}
    for text, group in zip(texts, groups.tolist(), strict=True):
        seen.setdefault(text, set()).add(group)
    repeated = np.array([len(seen[text]) > 1 for text in texts], dtype=bool) & long
    train, test = ((one.table["split"] == name).to_numpy() & long for name in ("train", "test"))
    near = near_copies(texts, train, test, seed)
    _, count = codes(kept[resampled_as(kept)].to_numpy())
    return {
        "source": data.hub or data.file,
        "url": data.url,
        "licence": data.licence or "not stated",
        "sha256": found.sha256,
        "target": one.target,
        "split": one.split,
        "statements": kept.height,
        "groups": count,
        "deceptive": float(kept["y"].cast(pl.Float64).mean() or 0.0),  # type: ignore[arg-type]
        "compared_in": compared_in(kept),
        "repeated_in_other_groups": float(repeated.sum() / long.sum()) if long.any() else 0.0,
        "test_nearly_in_train": float(near.sum() / test.sum()) if test.any() else None,
    }
