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

from liescope.common.agreement import Flags, alpha, dawid_skene, effective, pairs_of, residuals
from liescope.common.errors import BadData
from liescope.common.reading import Reading, read_text
from liescope.common.statistics import REAL, Estimate, estimate, game_weights, share
from liescope.detectors.study.figures import Figure, describe, figures_of
from liescope.detectors.study.metrics import DECISION, NO_THRESHOLDS, Thresholds, rates
from liescope.detectors.study.scores import ScoringPlan, resampled_as, scored
from liescope.generate.exports.label_studio import DECEPTIVE, HONEST, QUESTION

OBSERVERS = "observers:"
OBSERVER = "observer:"
_WEIGHED = "dawid_skene"
HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}
"""Who was trained on nothing chooses no thresholds, and takes for deceptive what is so above a half."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """answers: item, game_id, observer, yes; together: item, the share of yes, and the probability by Dawid and Skene
    where it could be computed; notes: why it could not.
    """

    answers: pl.DataFrame
    together: pl.DataFrame
    notes: tuple[str, ...]


def observer(model: str, role: str) -> pl.Expr:
    """The name of an observer: the model in those columns, and the role that it plays, if any, with what it knows."""
    known = pl.col(role).fill_null("") != ""
    return pl.when(known).then(pl.format("{} ({})", model, pl.col(role).fill_null(""))).otherwise(pl.col(model))


def crowd_of(answers: pl.DataFrame, share_of: str, what: str) -> Crowd:
    """answers: item, game_id, observer, yes (no nulls), of any truth. share_of: the name of the share of yes; what: the
    answers, for a note.
    """
    answers, notes = answers.sort("item", "observer"), list[str]()
    together = answers.group_by("item", maintain_order=True).agg(pl.col("yes").mean().alias(share_of))
    coded, items = _coded(answers)
    try:
        weighed = dawid_skene(coded).posterior if len(items) else np.empty(0)
        together = together.with_columns(pl.Series(_WEIGHED, weighed))
    except ValueError as error:
        notes.append(f"{OBSERVERS}{_WEIGHED}, {what}: {error}, so agreement cannot show how reliable they are")
    return Crowd(answers, together, tuple(notes))


def _coded(answers: pl.DataFrame) -> tuple[Flags, np.ndarray]:
    """(answers, items), sorted."""
    items, item = np.unique(answers["item"].to_numpy(), return_inverse=True)
    _, observer = np.unique(answers["observer"].to_numpy(), return_inverse=True)
    yes = answers["yes"].to_numpy().astype(bool)
    return Flags(item.astype(np.int64), observer.astype(np.int64), yes), items


def observer_rows(crowd: Crowd, truth: pl.DataFrame, target: str, split: str, plan: ScoringPlan) -> list[Figure]:
    """Recall and false positive rate of each observer, and the share of the others' answers to the same items that are
    like its own; of all, how far they agree (Krippendorff's alpha), how many
    answer about an item, and how many independent ones they are worth. truth: item, y of the labelled items of a
    population.
    """
    family = [] if resampled_as(truth) in crowd.answers.columns else [resampled_as(truth)]
    known = crowd.answers.join(truth.select("item", "y", *family), on="item", maintain_order="left")
    yes, every = pl.col("yes").sum().over("item"), pl.len().over("item")
    alike = pl.when("yes").then(yes - 1).otherwise(every - yes - 1) / (every - 1)
    several = known.with_columns(alike=alike).filter(every > 1)
    rows = list[Figure]()

    def add(name: str, part: pl.DataFrame, found: Mapping[str, Estimate]) -> None:
        items = part.unique("item")
        rows.extend(figures_of(name, target, split, found.items(), describe(items)))

    for name in sorted(known["observer"].unique()):
        mine, beside = known.filter(observer=name), several.filter(observer=name)
        data = scored(mine, "yes")
        both = rates(data, 0.5, game_weights(data.games, plan.seed))
        found = {
            metric: estimate(values, data.games)
            for metric, values in zip(("recall", "false_positive_rate"), both, strict=True)
        }
        add(OBSERVER + name, mine, found)
        if beside.height:
            data = scored(beside, "alike")
            agreed = share(data.score, np.ones(len(data.y)), data.game, game_weights(data.games, plan.seed))
            add(OBSERVER + name, beside, {"agreement": estimate(agreed, data.games)})
    if known.height:
        add(f"{OBSERVERS}all", known, _worth(known, plan))
    if several.height:
        data, (answers, _) = scored(several, "yes"), _coded(several)
        agreed = alpha(answers.item, answers.yes, data.game, game_weights(data.games, plan.seed))
        add(f"{OBSERVERS}all", several, {"alpha": estimate(agreed, data.games, REAL)})
    return rows


def _worth(known: pl.DataFrame, plan: ScoringPlan) -> dict[str, Estimate]:
    data = scored(known.unique("item", keep="first", maintain_order=True).sort("item"), "yes")
    weights, (answers, items) = game_weights(data.games, plan.seed), _coded(known)
    together, pairs = pairs_of(residuals(answers, data.y), answers.item, len(items))
    number = share(np.bincount(answers.item).astype(float), np.ones(len(items)), data.game, weights)
    correlation = share(together, pairs, data.game, weights)
    found = {"observers": number, "effective_observers": effective(number, correlation)}
    return {metric: estimate(values, data.games, REAL) for metric, values in found.items()}


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
