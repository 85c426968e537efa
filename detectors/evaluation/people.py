"""People who judged the evaluated statements, and whatever else was scored, on those statements alone.

A person's score is the probability that a statement deceives: how sure the flag is, or what is left of 1. People are
scorers like any other, one by one and as the mean of all who judged a statement.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.people import PEOPLE
from liescope.detectors.evaluation.agreeing import alpha
from liescope.detectors.evaluation.bootstrap import Estimate, codes, estimate, game_weights, share
from liescope.detectors.evaluation.comparing import Scorer, differences
from liescope.detectors.evaluation.crowd import OBSERVER, crowd_of, observer, observer_rows
from liescope.detectors.evaluation.decisions import NO_THRESHOLDS, Thresholds, rates
from liescope.detectors.evaluation.metrics import DECISION, METRICS, Floats
from liescope.detectors.evaluation.populations import populations
from liescope.detectors.evaluation.ranking import rank_metrics
from liescope.detectors.evaluation.rows import MetricRow, ScoringPlan, describe, rows_of
from liescope.detectors.evaluation.scorers import draws_of
from liescope.detectors.evaluation.scores import per_detector, scored
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.judging import READ
from liescope.labeling.label import rating_rows

JUDGED = "judged-by-people"
_HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}
_LEAST = 0.51  # how sure a flag is at least, so that a guess still leans to its side
_RATINGS = {
    **dict.fromkeys(("statement_id", "game_id", "observer_model", "observer_role"), pl.String),
    "flag": pl.Boolean,
    "confidence": pl.Float64,
}


def read_people(runs: Sequence[str | os.PathLike[str]]) -> pl.DataFrame:
    """What people said of statements, one row for each: statement_id, game_id, observer, yes, score.

    Raises UsageError for a run that people did not judge, or two of one person; BadData for a run that cannot be read.
    """
    rows: list[dict[str, object]] = []
    seen: dict[str, Path] = {}
    for run in map(Path, runs):
        with Journal.open(run) as journal:
            if READ not in journal.plan:
                raise UsageError(f"{run} holds no answers of a person; `liescope serve --judge` makes such runs")
            person = str(journal.plan.get("judge"))
            if person in seen:
                raise UsageError(f"{run} and {seen[person]} hold the answers of one person; give each person once")
            seen[person] = run
            for record in journal.records():
                rows += [{name: getattr(row, name) for name in _RATINGS} for row in rating_rows(record)]
    sure = pl.col("confidence").fill_null(1.0).clip(_LEAST, 1.0)
    return (
        pl.DataFrame(rows, schema=_RATINGS)
        .filter(pl.col("flag").is_not_null())
        .select(
            "statement_id",
            "game_id",
            observer=observer("observer_model", "observer_role"),
            yes="flag",
            score=pl.when("flag").then(sure).otherwise(1 - sure),
        )
        .sort("statement_id", "observer")
    )


def beside_people(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    answers: pl.DataFrame,
    plan: ScoringPlan,
    thresholds: Mapping[tuple[str, str], Thresholds],
) -> tuple[list[MetricRow], list[str]]:
    """People, detectors and whatever else has scores on the statements that people judged; at equal false positives,
    each against each person and all of them.

    answers: of `read_people`; splits are named `test:judged-by-people`. thresholds: by (detector, target).
    """
    here = answers.join(plan.evaluated(statements), on="statement_id", how="semi", maintain_order="left")
    if here.is_empty():
        return [], [f"people: no statement of {plan.split} was judged by a person; let them read games of that split"]
    crowd = crowd_of(here.rename({"statement_id": "item"}).drop("score"), JUDGED)
    rows: list[MetricRow] = []
    beside: dict[tuple[str, str], list[Scorer]] = {}
    for detector, target, table in per_detector(scores, statements):
        chosen = thresholds.get((detector, target), NO_THRESHOLDS)
        judged = plan.evaluated(table).join(here.select("statement_id"), on="statement_id", how="semi")
        for name, part in populations(judged, plan.split, plan.hold_out):
            key = target, f"{name}:{JUDGED}"
            if key not in beside:
                mine = here.join(part.drop("game_id", "score", "centred"), on="statement_id", maintain_order="left")
                beside[key] = [_person(PEOPLE, _together(mine), plan)]
                beside[key] += [_person(OBSERVER + who, table, plan) for who, table in _each(mine)]
                rows += observer_rows(crowd, part.with_columns(item="statement_id"), *key, plan)
                rows += rows_of(PEOPLE, *key, [("alpha", _agreement(mine, plan))], describe(beside[key][0].table))
            scorer = Scorer.of(detector, part, partial(_figures, chosen=chosen, plan=plan))
            people = [one for one in beside[key] if _is_person(one.name)]
            for person in people:
                rows += _at_equal_rates(scorer, person, chosen, key, plan)
            rows += differences([(scorer, person) for person in people], *key)
            beside[key].append(scorer)
    for key, scorers in beside.items():
        for scorer in scorers:
            found = [(m.name, estimate(scorer.values[m.name])) for m in METRICS if m.name in scorer.values]
            rows += rows_of(scorer.name, *key, found, describe(scorer.table))
    return rows, list(crowd.notes)


def _is_person(name: str) -> bool:
    return name == PEOPLE or name.startswith(OBSERVER)


def _each(answers: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    for who in answers["observer"].unique().sort():
        yield who, answers.filter(pl.col("observer") == who)


def _together(answers: pl.DataFrame) -> pl.DataFrame:
    """One row for a statement: the mean of what people said."""
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
    game, games = codes(answers["game_id"].to_numpy())
    return estimate(
        alpha(item, answers["yes"].to_numpy().astype(bool), game, game_weights(games, plan.draws, plan.seed))
    )


def _at_equal_rates(
    scorer: Scorer, person: Scorer, chosen: Thresholds, key: tuple[str, str], plan: ScoringPlan
) -> list[MetricRow]:
    """Recall of both where the scorer flags as many honest statements as the person does, and where the person flags as
    many as the scorer does at its own threshold.
    """
    mine, own = scorer.on(person.table)
    theirs, their = person.on(scorer.table)
    found = _even("people", their["false_positive_rate"], _recall_at(mine, their, plan), their["recall"])
    if chosen[DECISION] is not None:
        found += _even("own", own["false_positive_rate"], own["recall"], _recall_at(theirs, own, plan))
    return rows_of(scorer.name, *key, found, describe(mine), person.name)


def _recall_at(table: pl.DataFrame, other: Mapping[str, Floats], plan: ScoringPlan) -> Floats:
    data, rate = scored(table), other["false_positive_rate"]
    return rank_metrics(data, game_weights(data.games, plan.draws, plan.seed), {"recall": rate})["recall"]


def _even(whose: str, rate: Floats, mine: Floats, people: Floats) -> list[tuple[str, Estimate]]:
    return [
        (f"{whose}_fpr", estimate(rate)),
        (f"recall_at_{whose}_fpr", estimate(mine)),
        (f"people_at_{whose}_fpr", estimate(people)),
        (f"lead_at_{whose}_fpr", estimate(mine - people)),
    ]
