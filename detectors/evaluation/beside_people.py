"""People who judged statements or players, and whatever else was scored, on what people judged alone.

People are scorers like any other, one by one and as the mean of all who judged an item: a statement, or a player. As
observers, models too, they are shown with how reliable each is, how many they are worth, and what they say together.
Their answers are ratings of statements, or votes against players: whoever votes for one of the others answers yes about
that player and no about each of the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.agreement import Flags, Weighed, alpha, dawid_skene, effective, pairs_of, residuals
from liescope.common.errors import UsageError
from liescope.common.model_names import PEOPLE
from liescope.common.statistics import REAL, Estimate, Floats, codes, estimate, game_weights, share
from liescope.detectors.detector import ROLE, Progress
from liescope.detectors.evaluation.metrics import DECISION, METRIC, NO_THRESHOLDS, Thresholds, rank_metrics, rates
from liescope.detectors.evaluation.score_rows import (
    MetricRow,
    ScoringPlan,
    describe,
    measured,
    per_detector,
    populations,
    resampled_as,
    rows_of,
    scored,
)
from liescope.detectors.evaluation.scorers import Scorer, differences, draws_of
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.view.transcript import GameMoment, Transcript
from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from liescope.labeling.label import rating_rows

OBSERVERS = "observers:"
OBSERVER = "observer:"
MODELS = {"one_coin": True, "dawid_skene": False}
"""The ways to weigh observers: whether each has one coin."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """answers: item, game_id, observer, yes; together: item and the probability by each of MODELS; weighed: what each
    model takes the observers for, in the order of `names`; notes: what could not be computed.
    """

    answers: pl.DataFrame
    together: pl.DataFrame
    weighed: dict[str, Weighed]
    names: tuple[str, ...]
    notes: tuple[str, ...]


def observer(model: str, role: str) -> pl.Expr:
    """The name of an observer: the model in those columns, and the role that it plays, if any, with what it knows."""
    known = pl.col(role).fill_null("") != ""
    return pl.when(known).then(pl.format("{} ({})", model, pl.col(role).fill_null(""))).otherwise(pl.col(model))


def crowd_of(answers: pl.DataFrame, what: str) -> Crowd:
    """answers: item, game_id, observer, yes (no nulls), of any truth. what: the answers, for a note."""
    answers = answers.sort("item", "observer")
    items, item = np.unique(answers["item"].to_numpy(), return_inverse=True)
    names, observer = np.unique(answers["observer"].to_numpy(), return_inverse=True)
    coded = Flags(item.astype(np.int64), observer.astype(np.int64), answers["yes"].to_numpy().astype(bool))
    weighed: dict[str, Weighed] = {}
    notes = []
    for name, one_coin in MODELS.items() if len(items) else ():
        try:
            weighed[name] = dawid_skene(coded, one_coin)
        except ValueError as error:
            notes.append(f"{OBSERVERS}{name}, {what}: {error}, so agreement cannot show how reliable they are")
    together = pl.DataFrame({"item": pl.Series(items, dtype=pl.String), **{n: m.posterior for n, m in weighed.items()}})
    return Crowd(answers, together, weighed, tuple(map(str, names)), tuple(notes))


def observer_rows(crowd: Crowd, truth: pl.DataFrame, target: str, split: str, plan: ScoringPlan) -> list[MetricRow]:
    """Recall and false positive rate of each observer, by the labels and by agreement alone; the number of observers of
    an item, and how many independent ones they are worth. truth: item, y of the labelled items of a population.
    """
    family = [] if resampled_as(truth) in crowd.answers.columns else [resampled_as(truth)]
    known = crowd.answers.join(truth.select("item", "y", *family), on="item", maintain_order="left")
    if known.is_empty():
        return []
    rows: list[MetricRow] = []
    for name in sorted(known["observer"].unique()):
        mine = known.filter(pl.col("observer") == name)
        found = _measured(mine, plan)
        if "dawid_skene" in crowd.weighed:
            model, place = crowd.weighed["dawid_skene"], crowd.names.index(name)
            found += [
                ("agreed_recall", (float(model.recall[place]), None, None)),
                ("agreed_false_positive_rate", (float(model.false_positive_rate[place]), None, None)),
            ]
        rows += rows_of(OBSERVER + name, target, split, found, _shared(mine))
    return rows + rows_of(f"{OBSERVERS}all", target, split, _worth(known, plan), _shared(known))


def _measured(answers: pl.DataFrame, plan: ScoringPlan) -> list[tuple[str, Estimate]]:
    game, games = codes(answers[resampled_as(answers)].to_numpy())
    weights = game_weights(games, plan.draws, plan.seed)
    yes, lie = (answers[column].to_numpy().astype(float) for column in ("yes", "y"))
    return [
        ("recall", estimate(share(yes * lie, lie, game, weights), games)),
        ("false_positive_rate", estimate(share(yes * (1 - lie), 1 - lie, game, weights), games)),
    ]


def _worth(known: pl.DataFrame, plan: ScoringPlan) -> list[tuple[str, Estimate]]:
    first = known.unique("item", keep="first", maintain_order=True)
    items, item = np.unique(known["item"].to_numpy(), return_inverse=True)
    first = first.sort("item")
    game, games = codes(first[resampled_as(first)].to_numpy())
    weights = game_weights(games, plan.draws, plan.seed)
    _, observer = np.unique(known["observer"].to_numpy(), return_inverse=True)
    answers = Flags(item.astype(np.int64), observer.astype(np.int64), known["yes"].to_numpy().astype(bool))
    together, pairs = pairs_of(residuals(answers, first["y"].to_numpy().astype(bool)), answers.item, len(items))
    number = share(np.bincount(item).astype(float), np.ones(len(items)), game, weights)
    correlation = share(together, pairs, game, weights)
    return [
        ("observers", estimate(number, games, REAL)),
        ("error_correlation", estimate(correlation, games, REAL)),
        ("effective_observers", estimate(effective(number, correlation), games, REAL)),
    ]


def _shared(answers: pl.DataFrame) -> tuple[int, int, float | None]:
    items = answers.unique("item")
    prevalence = items["y"].mean()
    return items.height, items["game_id"].n_unique(), float(prevalence) if isinstance(prevalence, float) else None


_LEAST = 0.51  # how sure a flag is at least, so that a guess still leans to its side
_RATINGS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("statement_id", "game_id", "observer_model", "observer_role"), pl.String),
    "flag": pl.Boolean,
    "confidence": pl.Float64,
}
_PLAYERS: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("game_id", "observer_model", "observer_role", "name", "model"), pl.String),
    "models": pl.List(pl.String),
    "y": pl.Boolean,
    "score": pl.Float64,
    "days": pl.Int64,
}


@dataclass(frozen=True, slots=True)
class PeoplesAnswers:
    """statements: statement_id, game_id, observer, yes, and as score the probability that the statement deceives: how
    sure the flag is, or what is left of 1. players: game_id, observer, name, with the model in the seat, all models of
    the game, and y, whether the player deceives; score: how likely it seemed; days: how many were read, 0 for all.
    """

    statements: pl.DataFrame
    players: pl.DataFrame


def read_people(runs: Sequence[str | os.PathLike[str]]) -> PeoplesAnswers:
    """The answers of the people whose runs these are.

    Raises UsageError for a run that people did not judge, or two of one person; BadData for a run that cannot be read.
    """
    ratings: list[dict[str, Any]] = []
    players: list[dict[str, Any]] = []
    seen: dict[str, Path] = {}
    for run in map(Path, runs):
        with Journal.open(run) as journal:
            if "read" not in journal.plan:
                raise UsageError(f"{run} holds no answers of a person; `liescope serve --judge` makes such runs")
            person = str(journal.plan.get("judge"))
            if person in seen:
                raise UsageError(f"{run} and {seen[person]} hold the answers of one person; give each person once")
            seen[person] = run
            days = int(journal.plan["read"].get("days", 0))
            for record in journal.records():
                ratings += [{name: getattr(row, name) for name in _RATINGS} for row in rating_rows(record)]
                players += [{**row, "days": days} for row in _suspected(record)]
    who = observer("observer_model", "observer_role")
    sure = pl.col("confidence").fill_null(1.0).clip(_LEAST, 1.0)
    flagged = pl.DataFrame(ratings, schema=_RATINGS).filter(pl.col("flag").is_not_null())
    return PeoplesAnswers(
        flagged.select(
            "statement_id",
            "game_id",
            observer=who,
            yes="flag",
            score=pl.when("flag").then(sure).otherwise(1 - sure),
        ).sort("statement_id", "observer"),
        pl.DataFrame(players, schema=_PLAYERS)
        .select("game_id", "name", "model", "models", "y", "score", "days", observer=who)
        .sort("game_id", "name", "observer"),
    )


def _suspected(record: GameRecord) -> list[dict[str, Any]]:
    """What the judge of a record said of its players at the end, where it is known who deceives."""
    seats = {seat.name: seat for seat in record.seats}
    judge = record.meta.get("judge", "")
    return [
        {
            "game_id": record.game_id,
            "observer_model": judge,
            "observer_role": seats[event.actor].role if event.actor else "",
            "name": name,
            "model": seats[name].model,
            "models": [seat.model for seat in record.seats],
            "y": seats[name].deceives,
            "score": share,
        }
        for event in record.events
        if event.kind is EventKind.SUSPICION and event.data.get("judge") == judge
        for name, share in event.data.get("suspicion", {}).items()
        if seats[name].deceives is not None
    ]


JUDGED, SUSPECTED = "judged-by-people", "players-judged-by-people"
_HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}

Scored = tuple[str, pl.DataFrame, Thresholds]  # a scorer's name, the items that it scored, and its thresholds


def on_judged_statements(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    answers: PeoplesAnswers,
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
    answers: PeoplesAnswers,
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


def _moment(game: Transcript, days: int) -> GameMoment:
    """A game at the end of its last day that was read."""
    return GameMoment(game, next((at for at, turn in enumerate(game.turns) if 0 < days < turn.day), None))


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
