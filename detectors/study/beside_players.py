"""Detectors compared with the players of the games: as raters, as voters, and in the surviving villager's seat.

The players' ratings, votes and answers are scores like any other, on the statements that they rated or on the players
who stood on a ballot. In the villager's seat of Mini-Mafia a detector names the living player, other than the villager,
whose statements it found most suspicious on average; the villager's choice is its vote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.errors import BadData
from liescope.common.reading import Reading, read_text
from liescope.common.statistics import codes, estimate, game_weights, share
from liescope.common.stores import local
from liescope.detectors.detector import ROLE
from liescope.detectors.study.controls import DETECTIVE_CLAIM as _CLAIM
from liescope.detectors.study.controls import REASONING_LENGTH, ROLE_ORACLE
from liescope.detectors.study.figures import Figure, describe, measured
from liescope.detectors.study.metrics import DECISION, DIFFERENCE, METRIC, NO_THRESHOLDS, Thresholds, rates
from liescope.detectors.study.scorers import Scorer, cut, differences, thresholds_of, values_of, with_cuts
from liescope.detectors.study.scores import CONTROL, ScoringPlan, per_detector, resampled_as, score_table, scored
from liescope.games.core import Phase
from liescope.games.mafia.rules import DETECTIVE, VILLAGER, MiniMafia
from liescope.generate.corpus.read import Corpus, collected, read
from liescope.generate.exports.label_studio import DECEPTIVE, HONEST, QUESTION
from liescope.labeling.ledger import RULES

OBSERVERS, OBSERVER = "observers:", "observer:"
"""The prefixes of the names of what observers say together, and of one observer."""
HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}
"""Who was trained on nothing chooses no thresholds, and takes for deceptive what is so above a half."""
VILLAGER_VOTE, FLAGS = OBSERVERS + "villager_vote", "flags"
NAMES_MAFIOSO = "names_mafioso"
DETECTIVE_CLAIM = CONTROL + _CLAIM
BY_VILLAGERS, BY_ALL, JUDGED, VOTED = "rated-by-villagers", "rated-by-all", "judged-by-people", "voted-on"
BESIDE = {
    BY_VILLAGERS: "Rated by villagers is the fair comparison, since villagers know no more than the words.",
    BY_ALL: "Rated by all counts those too who know who deceives.",
    VOTED: "Votes are answers about each player who stood on a ballot; a detector's score is the mean of what that "
    "player had said by then.",
    JUDGED: "Judged by people are the statements that people annotated in Label Studio.",
}
"""Where scorers stand beside others on the same, and how to read it."""
_HUMAN, _MADE_OF_RATINGS = "human", "peer"
_VOTE = ("game_id", "day", "ballot", "voter")
_BEFORE_VOTES = (Phase.NIGHT.value, Phase.DISCUSSION.value)


def beside_players(
    scores: pl.DataFrame, statements: pl.DataFrame, corpus: Corpus, plan: ScoringPlan, detectors: Sequence[str]
) -> tuple[list[Figure], list[str]]:
    """Detectors beside the players in all three ways; in the villager's seat controls too, which cast no votes."""
    mine, evaluated = scores.filter(pl.col("scorer").is_in(list(detectors))), plan.evaluated(statements)

    def table(name: str) -> pl.DataFrame:
        return collected(read(corpus, name).filter(pl.col("split").is_in(plan.splits)), corpus)

    rated, notes = on_statements(mine, statements, table("ratings"), plan)
    unnamed = [CONTROL + name for name in (ROLE_ORACLE, REASONING_LENGTH)]
    controls = scores.filter(pl.col("scorer").str.starts_with(CONTROL) & ~pl.col("scorer").is_in(unnamed))
    mini = read(corpus, "statements").filter((pl.col("game") == MiniMafia.name) & pl.col("split").is_in(plan.splits))
    said = collected(mini.select("statement_id", "speaker"), corpus)
    claims = [detective_claims(said, table("claims"), target) for target in mine["target"].unique()]
    asked = ballots(evaluated, table("votes"), table("games"))
    seated, more = in_the_villagers_seat(pl.concat([mine, controls, *claims]), asked, evaluated, plan)
    return rated + seated + on_players(mine, asked, evaluated, plan), notes + more


def on_statements(
    scores: pl.DataFrame, statements: pl.DataFrame, ratings: pl.DataFrame, plan: ScoringPlan
) -> tuple[list[Figure], list[str]]:
    """Detectors and observers on the statements that observers rated, and the paired differences.

    Places are named `test:rated-by-villagers` (observers without private knowledge) and `test:rated-by-all`.
    statements: as of `evaluate_scores`. The target `peer` is left out because its label is made from these ratings.
    """
    if _MADE_OF_RATINGS in scores["target"]:
        return [], ["observers: label_peer is made from the ratings, so no rating is set beside a detector of it"]
    groups = ((BY_VILLAGERS, ratings.filter(pl.col("observer_role") == VILLAGER)), (BY_ALL, ratings))
    rows = [row for group, rated in groups for row in _on_rated(scores, statements, rated, group, plan)]
    none = f"observers: no statement of {plan.split} was rated by another player (play with --assess)"
    return rows, [] if rows else [none]


def on_annotated(
    scores: pl.DataFrame, statements: pl.DataFrame, people: pl.DataFrame, plan: ScoringPlan
) -> tuple[list[Figure], list[str]]:
    """Detectors and people who annotated, in places named `test:judged-by-people`. people: from `read_people`."""
    rows, notes = list(_on_rated(scores, statements, people, JUDGED, plan)), list[str]()
    elsewhere = people.join(plan.evaluated(statements), on="statement_id", how="anti")["statement_id"].n_unique()
    if elsewhere:
        notes.append(f"people: {elsewhere:,} annotated statements are not among those of {plan.split}")
    return rows, notes


def _on_rated(
    scores: pl.DataFrame, statements: pl.DataFrame, ratings: pl.DataFrame, group: str, plan: ScoringPlan
) -> Iterator[Figure]:
    ratings = ratings.join(plan.evaluated(statements), on="statement_id", how="semi")
    together = ratings.group_by("statement_id").agg(pl.col("suspicion").mean(), pl.col("flag").mean().alias(FLAGS))
    answers = ratings.drop_nulls("flag").select(
        "game_id", item="statement_id", observer=observer("observer_model", "observer_role"), yes="flag"
    )
    tables = dict[tuple[str, str], pl.DataFrame]()
    for detector, target, table in per_detector(scores, statements):
        evaluated = cut(detector, table, thresholds_of(detector, table, plan), plan)
        tables[detector, target] = evaluated.join(together, on="statement_id", maintain_order="left")
    if tables:
        (_, target), first = next(iter(tables.items()))
        detectors = [(name, part.filter(pl.col(FLAGS).is_not_null())) for (name, _), part in tables.items()]
        where, players = f"{plan.split}:{group}", with_cuts(first, HALF)
        yield from _beside(target, where, detectors, players, ("suspicion", FLAGS), plan)
        yield from observer_rows(answers, first.with_columns(item="statement_id"), target, where, plan)


def _beside(
    target: str,
    where: str,
    detectors: Sequence[tuple[str, pl.DataFrame]],
    items: pl.DataFrame,
    said: Sequence[str],
    plan: ScoringPlan,
) -> Iterator[Figure]:
    """Detectors, with the items each scored, and the observers' joint verdicts: the columns `said` of the items."""
    scored_by = [(OBSERVERS + name, items.with_columns(score=name).drop_nulls("score")) for name in said]
    players, others = (
        [Scorer(name, table, partial(values_of, plan=plan)) for name, table in some if table.height]
        for some in (scored_by, detectors)
    )
    for one in (*players, *others):
        yield from measured(one.name, target, where, one.values, one.table)
    yield from differences(product(others, players), target, where)


def on_players(scores: pl.DataFrame, asked: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan) -> list[Figure]:
    """Who deceives, by each vote and by the share of votes; and detectors, by the mean score of what was said by then.

    An item is a player who stood to be voted for on one ballot; places are named `test:voted-on`. Only scores of the
    target `role` are set beside the votes, since that is what a vote is about. Votes drawn by the rules are left out.
    asked: from `ballots`; statements: those of the evaluated split that were scored.
    """
    asked, mine = asked.filter(~pl.col("drawn")), scores.filter(target=ROLE)
    if asked.is_empty() or mine.is_empty():
        return []
    items = asked.unique("item").sort("item").with_columns(statement_id="item")
    votes = asked.group_by("item").agg(votes=pl.col("yes").mean())
    items = items.join(votes, on="item", how="left", maintain_order="left")
    names = mine["scorer"].unique(maintain_order=True)
    means = [(name, by_then(items, mine.filter(scorer=name), statements).drop_nulls("score")) for name in names]
    where = f"{plan.split}:{VOTED}"
    return [
        *_beside(ROLE, where, means, items, ("votes",), plan),
        *observer_rows(asked.select("item", "game_id", "observer", "yes"), items, ROLE, where, plan),
    ]


def ballots(statements: pl.DataFrame, votes: pl.DataFrame, games: pl.DataFrame) -> pl.DataFrame:
    """A row for each voter and each player who stood on a ballot, the voter not among them: item, game_id, game, day,
    ballot, name, its model, and y; voter, observer, yes, whether the rules drew the vote; models, siblings.
    """
    seat, siblings = pl.col("seats").struct, pl.col("siblings").fill_null(pl.col("game_id"))
    models = pl.col("seats").list.eval(pl.element().struct.field("model"))
    seats = games.select("game_id", "game", "seats", models=models, siblings=siblings).explode("seats")
    facts = {"name": seat.field("name"), "model": seat.field("model"), "y": seat.field("deceives")}
    alive = statements.group_by("game_id", "day").agg(name=pl.col("alive").first()).explode("name")
    return (
        votes.filter(pl.col("target") != "")
        .join(alive, on=["game_id", "day"])
        .filter(pl.col("name") != pl.col("voter"))
        .join(seats.select(pl.exclude("seats"), **facts).drop_nulls("y"), on=["game_id", "name"])
        .with_columns(
            item=pl.format("{}|{}|{}|{}", "game_id", "day", "ballot", "name"),
            observer=observer("voter_model", "voter_role"),
            yes=pl.col("target") == pl.col("name"),
            drawn=pl.col("fallback") != "",
        )
        .unique(["item", "voter"], maintain_order=True)
    )


def by_then(items: pl.DataFrame, scores: pl.DataFrame, statements: pl.DataFrame) -> pl.DataFrame:
    """The items with the mean score, and the number, of the player's statements before that ballot: on its day those
    before the first vote and, for a second vote, also the reasons of the first and the defence.
    """
    made = statements.select("statement_id", "game_id", "phase", name="speaker", said="day")
    today = pl.col("phase").is_in(_BEFORE_VOTES) | ((pl.col("ballot") > 1) & (pl.col("phase") != Phase.REVOTE.value))
    means = (
        items.select("item", "game_id", "name", "day", "ballot")
        .unique()
        .join(made, on=["game_id", "name"])
        .filter((pl.col("said") < pl.col("day")) | ((pl.col("said") == pl.col("day")) & today))
        .join(scores.select("statement_id", "score"), on="statement_id")
        .group_by("item")
        .agg(score=pl.col("score").mean(), statements=pl.len())
    )
    return items.join(means, on="item", how="left", maintain_order="left")


def in_the_villagers_seat(
    scores: pl.DataFrame, asked: pl.DataFrame, statements: pl.DataFrame, plan: ScoringPlan
) -> tuple[list[Figure], list[str]]:
    """Share of votes in which the detector and the villager name the mafioso, and the paired difference, over games.

    A vote drawn at random by the rules says nothing about the villager: it is left out but counted. Rows: all
    non-human villagers; those of each mafioso model and each villager model; and people (`test:people`).
    Games in which the detector left a statement without a score are left out. If the detector ties, the share of
    mafiosos among the tied counts; a player who said nothing gets the mean of the others. A row's `prevalence` is the
    share that naming at random would reach. asked, statements: as of `on_players`.
    """
    asked = asked.filter(voter_role=VILLAGER, game=MiniMafia.name)
    votes, drawn = (part.unique(_VOTE).height for part in (asked, asked.filter("drawn")))
    if not votes:
        mini = (statements["game"] == MiniMafia.name).any()
        return [], [f"observers: no villager's vote in a Mini-Mafia game of {plan.split}"] * mini
    left_out = f"observers: {drawn} of {votes} villagers' votes were drawn by the rules and are left out"
    asked = asked.filter(~pl.col("drawn"))
    rows, span = list[Figure](), METRIC[NAMES_MAFIOSO].difference()
    for number, (scorer, target) in enumerate(
        scores.select("scorer", "target").unique(maintain_order=True).iter_rows()
    ):
        mine = scores.filter(scorer=scorer)
        unscored = statements.join(mine, on="statement_id", how="anti")
        named = _named(by_then(asked.join(unscored, on="game_id", how="anti"), mine, statements))
        for where, part in _by_villager(named, plan):
            game, games = codes(part[resampled_as(part)].to_numpy())
            weights = game_weights(games, plan.seed)
            voted, own = (share(part[one].to_numpy(), np.ones(len(game)), game, weights) for one in ("voted", "named"))
            shared = int(part["statements"].sum()), part["game_id"].n_unique(), float(part["chance"].to_numpy().mean())
            for who, values in [(VILLAGER_VOTE, voted)] * (number == 0) + [(scorer, own)]:
                rows.append(Figure(who, target, where, NAMES_MAFIOSO, *estimate(values, games), *shared))
            apart = estimate(own - voted, games, span)
            rows.append(Figure(scorer, target, where, NAMES_MAFIOSO + DIFFERENCE, *apart, *shared, VILLAGER_VOTE))
    return rows, [left_out] * bool(drawn)


def _named(asked: pl.DataFrame) -> pl.DataFrame:
    """One row per vote: voted and named, 1.0 if it is the mafioso; chance; statements; who voted."""
    mafioso, score = pl.col("y").cast(pl.Float64), pl.col("score")
    # Players who said nothing are as suspect as the others on average; if nobody spoke, all are equal.
    score = score.fill_null(score.mean().over(_VOTE)).fill_null(0.0)
    return (
        asked.with_columns(score=score)
        .group_by(_VOTE)
        .agg(
            pl.col("voter_model", "voter_source", "models", "siblings").first(),
            mafioso_model=pl.col("model").filter("y").first(),
            voted=mafioso.filter("yes").sum(),
            named=mafioso.filter(pl.col("score") == pl.col("score").max()).mean(),
            chance=mafioso.mean(),
            statements=pl.col("statements").sum(),
        )
        .sort(_VOTE)
    )


def _by_villager(votes: pl.DataFrame, plan: ScoringPlan) -> Iterator[tuple[str, pl.DataFrame]]:
    human = pl.col("voter_source") == _HUMAN
    models, people = votes.filter(~human), votes.filter(human)
    if models.height:
        yield plan.split, models
    for unit, column in {"mafioso": "mafioso_model", "villager": "voter_model"}.items():
        for model in sorted(models[column].unique()):
            yield f"{plan.split}:{unit}={model}", models.filter(pl.col(column) == model)
    if people.height:
        yield f"{plan.split}:people", people


def detective_claims(statements: pl.DataFrame, claims: pl.DataFrame, target: str) -> pl.DataFrame:
    """A score table of the rule that a speaker who claims no detective's knowledge is more suspicious: 0 for a
    statement in which its speaker claims to be the detective or to have investigated, 1 for any other. statements:
    from Mini-Mafia, where the rule applies; claims: the ledger.
    """
    own = (pl.col("kind") == "investigation") | (pl.col("normal") == pl.format(f"role({{}})={DETECTIVE}", "speaker"))
    claimed = claims.filter((pl.col("origin") == RULES) & own)["statement_id"].unique()
    score = (~statements["statement_id"].is_in(claimed.implode())).cast(pl.Float64).to_numpy()
    return score_table(statements["statement_id"], score, DETECTIVE_CLAIM, target)


def observer(model: str, role: str) -> pl.Expr:
    """The name of an observer: the model in those columns, and the role that it plays, if any, with what it knows."""
    known = pl.col(role).fill_null("") != ""
    return pl.when(known).then(pl.format("{} ({})", model, pl.col(role).fill_null(""))).otherwise(pl.col(model))


def observer_rows(
    answers: pl.DataFrame, truth: pl.DataFrame, target: str, where: str, plan: ScoringPlan
) -> Iterator[Figure]:
    """Each observer's recall and false positive rate. answers: item, game_id, observer, yes; truth: item and y."""
    family = [] if resampled_as(truth) in answers.columns else [resampled_as(truth)]
    known = answers.join(truth.select("item", "y", *family), on="item").sort("item", "observer")
    for name in sorted(known["observer"].unique()):
        mine = known.filter(observer=name)
        data = scored(mine, "yes")
        both = rates(data, 0.5, game_weights(data.games, plan.seed))
        for metric, values in zip(("recall", "false_positive_rate"), both, strict=True):
            found = estimate(values, data.games)
            yield Figure(OBSERVER + name, target, where, metric, *found, *describe(mine.unique("item")))


def read_people(path: Path) -> pl.DataFrame:
    """What people answered in Label Studio, by its export as JSON or JSON_MIN: statement_id, game_id, observer_model
    (person-1, person-2 …), observer_role (""), flag, suspicion (null). Skipped tasks and predictions are left out; of
    two answers of one person to a task the later counts.

    Raises BadData for a file that is not there or is no such export.
    """
    advice = "give the JSON or JSON_MIN that Label Studio exports, of tasks by `liescope export --to label-studio`"
    path = local(path)
    with Reading(path, advice):
        found = sorted(answer for task in json.loads(read_text(path, given=True)) for answer in _answers(task))
    if not found:
        raise BadData(f"{path} holds no answer; {advice}")
    if odd := {answer for *_, answer in found} - {DECEPTIVE, HONEST}:
        raise BadData(f"{path} holds the answer {min(odd)!r}; only {DECEPTIVE} and {HONEST} can be read")
    latest = {(statement, who): answer for _, statement, who, answer in found}
    people = {who: f"person-{number}" for number, who in enumerate(sorted({who for _, who in latest}), 1)}
    rows = [
        (said, said.rpartition(":")[0], people[who], "", answer == DECEPTIVE, None)
        for (said, who), answer in latest.items()
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
