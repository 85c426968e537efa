"""People who read the games, and whatever else was scored, on what people judged alone.

People are scorers like any other, one by one and as the mean of all who judged an item: a statement, or a player.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import polars as pl

from liescope.common.agreement import alpha
from liescope.common.people import PEOPLE
from liescope.common.statistics import REAL, Estimate, Floats, codes, estimate, game_weights, share
from liescope.detectors.evaluation.comparing import Scorer, differences
from liescope.detectors.evaluation.crowd import OBSERVER, crowd_of, observer_rows
from liescope.detectors.evaluation.decisions import NO_THRESHOLDS, Thresholds, rates
from liescope.detectors.evaluation.metrics import DECISION, METRIC
from liescope.detectors.evaluation.people import Answers
from liescope.detectors.evaluation.populations import populations
from liescope.detectors.evaluation.ranking import rank_metrics
from liescope.detectors.evaluation.rows import MetricRow, ScoringPlan, describe, measured, resampled_as, rows_of
from liescope.detectors.evaluation.scorers import draws_of
from liescope.detectors.evaluation.scores import per_detector, scored
from liescope.detectors.protocol import ROLE, Progress
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.view.transcript import Moment, Transcript

JUDGED, SUSPECTED = "judged-by-people", "players-judged-by-people"
_HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}

Scored = tuple[str, pl.DataFrame, Thresholds]  # a scorer's name, the items that it scored, and its thresholds


def on_judged_statements(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    answers: Answers,
    plan: ScoringPlan,
    thresholds: Mapping[tuple[str, str], Thresholds],
) -> tuple[list[MetricRow], list[str]]:
    """Rows of splits named `test:judged-by-people`, and notes. thresholds: by (detector, target)."""
    said = answers.statements.join(plan.evaluated(statements), on="statement_id", how="semi", maintain_order="left")
    if said.is_empty():
        return [], [f"people: no statement of {plan.split} was judged by a person; let them read games of that split"]
    crowd = crowd_of(said.rename({"statement_id": "item"}).drop("score"), JUDGED)
    found: dict[tuple[str, str], list[Scored]] = {}
    for detector, target, table in per_detector(scores, statements):
        judged = plan.evaluated(table).join(said.select("statement_id"), on="statement_id", how="semi")
        for name, part in populations(judged, plan.split, plan.hold_out):
            chosen = thresholds.get((detector, target), NO_THRESHOLDS)
            found.setdefault((target, f"{name}:{JUDGED}"), []).append((detector, part, chosen))
    rows: list[MetricRow] = []
    for key, others in found.items():
        labelled = pl.concat([part.select("statement_id", "y") for _, part, _ in others]).unique("statement_id")
        rows += _compared(said.join(labelled, on="statement_id", maintain_order="left"), others, key, plan)
        rows += observer_rows(crowd, labelled.rename({"statement_id": "item"}), *key, plan)
    return rows, list(crowd.notes)


def on_judged_players(
    models: Mapping[str, LoadedDetector],
    games: Mapping[str, Transcript],
    answers: Answers,
    evaluated: pl.DataFrame,
    plan: ScoringPlan,
    progress: Progress,
) -> list[MetricRow]:
    """Who deceives, by people at the end of what they read, and by detectors of the role at that moment; rows of
    splits named `test:players-judged-by-people`. A finished detector knows the players of train.
    """
    family = evaluated.select("game_id", "siblings").unique() if "siblings" in evaluated.columns else None
    named = answers.players.join(evaluated, on="game_id", how="semi", maintain_order="left")
    named = named if family is None else named.join(family, on="game_id", how="left", maintain_order="left")
    named = named.with_columns(statement_id=pl.format("{}|{}", "game_id", "name"), yes=pl.col("score") > 0.5)
    items = named.unique("statement_id", keep="first", maintain_order=True)
    moments = {key: _moment(games[key], days) for key, days in items.select("game_id", "days").unique().iter_rows()}
    scored_by = {
        name: dict(zip(moments, model.player_posteriors(list(moments.values()), progress), strict=True))
        for name, model in models.items()
        if model.file.target == ROLE and (plan.split != "train" or name in plan.frozen)
    }
    rows: list[MetricRow] = []
    for name, part in populations(items, plan.split, plan.hold_out, "model") if items.height else ():
        pairs = part.select("game_id", "name").rows()
        others = [
            (detector, part.with_columns(score=pl.Series([found[game][who] for game, who in pairs])), _HALF)
            for detector, found in scored_by.items()
        ]
        key = ROLE, f"{name}:{SUSPECTED}"
        rows += _compared(named.join(part, on="statement_id", how="semi", maintain_order="left"), others, key, plan)
    return rows


def _moment(game: Transcript, days: int) -> Moment:
    """A game at the end of its last day that was read."""
    return Moment(game, next((at for at, turn in enumerate(game.turns) if 0 < days < turn.day), None))


def _compared(
    answers: pl.DataFrame, others: Iterable[Scored], key: tuple[str, str], plan: ScoringPlan
) -> list[MetricRow]:
    """All figures of a population. answers: statement_id, game_id, observer, yes, score, y."""
    pooled = _person(PEOPLE, _together(answers), plan)
    each = answers.partition_by("observer", maintain_order=True)
    each.sort(key=lambda table: str(table["observer"][0]))
    people = [pooled, *(_person(OBSERVER + str(table["observer"][0]), table, plan) for table in each)]
    rows = rows_of(PEOPLE, *key, [("alpha", _agreement(answers, plan))], describe(pooled.table))
    scorers = list(people)
    for name, table, chosen in others:
        scorer = Scorer.of(name, table, partial(_figures, chosen=chosen, plan=plan))
        for person in people:
            rows += _at_equal_rates(scorer, person, chosen, key, plan)
        rows += differences([(scorer, person) for person in people], *key)
        scorers.append(scorer)
    for scorer in scorers:
        rows += measured(scorer.name, *key, scorer.values, scorer.table)
    return rows


def _together(answers: pl.DataFrame) -> pl.DataFrame:
    """One row for an item: the mean of what people said."""
    means = answers.group_by("statement_id").agg(score=pl.col("score").mean())
    first = answers.drop("score").unique("statement_id", keep="first", maintain_order=True)
    return first.join(means, on="statement_id", maintain_order="left")


def _person(name: str, table: pl.DataFrame, plan: ScoringPlan) -> Scorer:
    return Scorer.of(name, table, partial(_figures, chosen=_HALF, plan=plan))


def _figures(table: pl.DataFrame, *, chosen: Thresholds, plan: ScoringPlan) -> dict[str, Floats]:
    """The metrics of a scorer, with the rates and the accuracy of its decision."""
    data = scored(table)
    weights = game_weights(data.games, plan.draws, plan.seed)
    recall, rate = rates(data, chosen[DECISION], weights)
    lies = share(data.y.astype(float), np.ones(len(data.y)), data.game, weights)
    # A class that is missing has no rate, and no part in the accuracy.
    right = np.where(lies > 0, lies * recall, 0.0) + np.where(lies < 1, (1 - lies) * (1 - rate), 0.0)
    return {**draws_of(table, chosen, plan), "recall": recall, "false_positive_rate": rate, "accuracy": right}


def _agreement(answers: pl.DataFrame, plan: ScoringPlan) -> Estimate:
    _, item = np.unique(answers["statement_id"].to_numpy(), return_inverse=True)
    game, games = codes(answers[resampled_as(answers)].to_numpy())
    weights = game_weights(games, plan.draws, plan.seed)
    return estimate(alpha(item, answers["yes"].to_numpy().astype(bool), game, weights), games, REAL)


def _at_equal_rates(
    scorer: Scorer, person: Scorer, chosen: Thresholds, key: tuple[str, str], plan: ScoringPlan
) -> list[MetricRow]:
    """Recall of both where the scorer flags as many honest items as the person does, and where the person flags as
    many as the scorer does at its own threshold.
    """
    mine, own = scorer.on(person.table)
    theirs, their = person.on(scorer.table)
    values = _even("people", their["false_positive_rate"], _recall_at(mine, their, plan), their["recall"])
    if chosen[DECISION] is not None:
        values |= _even("own", own["false_positive_rate"], own["recall"], _recall_at(theirs, own, plan))
    games = mine[resampled_as(mine)].n_unique()
    found = [(name, estimate(each, games, METRIC[name].span)) for name, each in values.items()]
    return rows_of(scorer.name, *key, found, describe(mine), person.name)


def _recall_at(table: pl.DataFrame, other: Mapping[str, Floats], plan: ScoringPlan) -> Floats:
    data, rate = scored(table), other["false_positive_rate"]
    return rank_metrics(data, game_weights(data.games, plan.draws, plan.seed), {"recall": rate})["recall"]


def _even(whose: str, rate: Floats, mine: Floats, people: Floats) -> dict[str, Floats]:
    return {
        f"{whose}_fpr": rate,
        f"recall_at_{whose}_fpr": mine,
        f"people_at_{whose}_fpr": people,
        f"lead_at_{whose}_fpr": mine - people,
    }
