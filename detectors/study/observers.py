"""Observers of statements or players: players who rate or vote, judges that came with the data, people who annotated.

Each is shown with how reliable it is, all with how many they are worth and what they say together. Their answers are
ratings of statements, or votes against players: whoever votes for one of the others answers yes about that player and
no about each of the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.agreement import Flags, Weighed, alpha, dawid_skene, effective, pairs_of, residuals
from liescope.common.errors import BadData
from liescope.common.reading import Reading, read_text
from liescope.common.statistics import REAL, Estimate, codes, estimate, game_weights, share
from liescope.detectors.study.figures import Figure, figures_of
from liescope.detectors.study.scores import ScoringPlan, resampled_as
from liescope.generate.exports.label_studio import DECEPTIVE, HONEST, QUESTION

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


def observer_rows(crowd: Crowd, truth: pl.DataFrame, target: str, split: str, plan: ScoringPlan) -> list[Figure]:
    """Recall and false positive rate of each observer, by the labels and by agreement alone; the number of observers of
    an item, and how many independent ones they are worth. truth: item, y of the labelled items of a population.
    """
    family = [] if resampled_as(truth) in crowd.answers.columns else [resampled_as(truth)]
    known = crowd.answers.join(truth.select("item", "y", *family), on="item", maintain_order="left")
    if known.is_empty():
        return []
    rows: list[Figure] = []
    for name in sorted(known["observer"].unique()):
        mine = known.filter(pl.col("observer") == name)
        found = _measured(mine, plan)
        if "dawid_skene" in crowd.weighed:
            model, place = crowd.weighed["dawid_skene"], crowd.names.index(name)
            found += [
                ("agreed_recall", (float(model.recall[place]), None, None)),
                ("agreed_false_positive_rate", (float(model.false_positive_rate[place]), None, None)),
            ]
        rows += figures_of(OBSERVER + name, target, split, found, _shared(mine))
    return rows + figures_of(f"{OBSERVERS}all", target, split, _worth(known, plan), _shared(known))


def agreement_rows(crowd: Crowd, truth: pl.DataFrame, target: str, split: str, plan: ScoringPlan) -> list[Figure]:
    """How far observers agree, whatever the labels say: Krippendorff's alpha of all, and of each observer the share of
    the others' answers to the same items that are like its own. truth: as in `observer_rows`.
    """
    known = crowd.answers.join(truth.select(pl.exclude("game_id")), on="item", maintain_order="left")
    yes, every = pl.col("yes").sum().over("item"), pl.len().over("item")
    alike = pl.when("yes").then(yes - 1).otherwise(every - yes - 1) / (every - 1)
    known = known.with_columns(alike=alike, item=pl.col("item").rank("dense") - 1).filter(every > 1)
    rows: list[Figure] = []
    if known.is_empty():
        return rows
    for name, part in [("", known), *sorted((str(who), part) for (who,), part in known.group_by("observer"))]:
        game, games = codes(part[resampled_as(part)].to_numpy())
        weights = game_weights(games, plan.seed)
        if name:
            found = ("agreement", estimate(share(part["alike"].to_numpy(), np.ones(len(game)), game, weights), games))
        else:
            answers = part["item"].cast(pl.Int64).to_numpy(), part["yes"].to_numpy()
            found = ("alpha", estimate(alpha(*answers, game, weights), games, REAL))
        rows += figures_of(OBSERVER + name if name else f"{OBSERVERS}all", target, split, [found], _shared(part))
    return rows


def _measured(answers: pl.DataFrame, plan: ScoringPlan) -> list[tuple[str, Estimate]]:
    game, games = codes(answers[resampled_as(answers)].to_numpy())
    weights = game_weights(games, plan.seed)
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
    weights = game_weights(games, plan.seed)
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


def read_people(path: Path) -> pl.DataFrame:
    """What people answered in Label Studio, by its export as JSON or JSON_MIN: statement_id, game_id, observer_model
    (person-1, person-2 …), observer_role (""), flag, suspicion (null). Skipped tasks and predictions are left out; of
    two answers of one person to a task the later counts.

    Raises BadData for a file that is not there or is no such export.
    """
    advice = "give the JSON or JSON_MIN that Label Studio exports, of tasks by `liescope export --to label-studio`"
    with Reading(path, advice):
        found = sorted(answer for task in json.loads(read_text(path, given=True)) for answer in _answers(task))
    if not found:
        raise BadData(f"{path} holds no answer; {advice}")
    if odd := {answer for *_, answer in found} - {DECEPTIVE, HONEST}:
        raise BadData(f"{path} holds the answer {min(odd)!r}; only {DECEPTIVE} and {HONEST} can be read")
    latest = {(statement, who): answer for _, statement, who, answer in found}
    people = {who: f"person-{number}" for number, who in enumerate(sorted({who for _, who in latest}), 1)}
    rows = [
        (statement, statement.rpartition(":")[0], people[who], "", answer == DECEPTIVE, None)
        for (statement, who), answer in latest.items()
    ]
    texts = dict.fromkeys(("statement_id", "game_id", "observer_model", "observer_role"), pl.String)
    return pl.DataFrame(rows, {**texts, "flag": pl.Boolean, "suspicion": pl.Float64}, orient="row")


def _answers(task: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """(when, statement, who, answer) of a task; in JSON_MIN, a task is one annotation."""
    if "annotations" in task:
        for one in task["annotations"]:
            who = one["completed_by"]
            for item in () if one.get("was_cancelled") else one["result"]:
                if item["from_name"] == QUESTION:
                    named = str(who["id"] if isinstance(who, dict) else who)
                    (answer,) = item["value"]["choices"]
                    yield str(one.get("updated_at")), str(task["data"]["statement_id"]), named, str(answer)
    elif QUESTION in task:
        yield str(task.get("updated_at")), str(task["statement_id"]), str(task["annotator"]), str(task[QUESTION])
