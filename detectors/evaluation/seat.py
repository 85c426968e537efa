"""A detector in the surviving villager's seat of Mini-Mafia, where only votes exist, compared with that villager.

It names the living player, other than the villager, whose statements it found most suspicious on average; the
villager's choice is its vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, codes, estimate, game_weights, share
from liescope.detectors.evaluation.crowd import OBSERVERS
from liescope.detectors.evaluation.metrics import DIFFERENCE, METRIC
from liescope.detectors.evaluation.populations import populations
from liescope.detectors.evaluation.rows import MetricRow, ScoringPlan, resampled_as, rows_of
from liescope.detectors.evaluation.scores import score_table
from liescope.games.mafia import DETECTIVE, MAFIOSO, VILLAGER, MiniMafia
from liescope.labeling.ledger import RULES

_VILLAGER_VOTE = OBSERVERS + "villager_vote"
_HUMAN = "human"
_NAMES = "names_mafioso"
DETECTIVE_CLAIM = "control:detective_claim"
_CLAIMED = f"role({{}})={DETECTIVE}"


@dataclass(frozen=True, slots=True)
class Tables:
    """What a comparison in the villager's seat needs: scored statements of the evaluated split, its votes and games."""

    statements: pl.DataFrame
    votes: pl.DataFrame
    games: pl.DataFrame


def in_the_villagers_seat(scores: pl.DataFrame, tables: Tables, plan: ScoringPlan) -> tuple[list[MetricRow], list[str]]:
    """Share of votes in which the detector and the villager name the mafioso, and the paired difference, over games.

    A vote that the rules drew at random says nothing about the villager: it is left out but counted. Rows: all
    non-human villagers, by the population of the mafioso; each villager model; and people (`test:people`).
    Games in which the detector left a statement without a score are left out. If the detector ties, the share of
    mafiosos among the tied counts; a player who said nothing gets the mean of the others. A row's `prevalence` is the
    share that naming at random would reach.
    """
    mafiosos = pl.col("seats").list.eval(pl.element().filter(pl.element().struct.field("role") == MAFIOSO))
    mini = tables.games.filter(pl.col("game") == MiniMafia.name).select(
        "game_id",
        mafioso_model=mafiosos.list.first().struct.field("model"),
        models=pl.col("seats").list.eval(pl.element().struct.field("model")),
        siblings=pl.col("siblings").fill_null(pl.col("game_id")),
    )
    votes = tables.votes.filter(pl.col("voter_role") == VILLAGER).join(mini, on="game_id")
    if votes.is_empty():
        return [], [f"observers: no villager's vote in a Mini-Mafia game of {plan.split}"]
    drawn = votes.filter(pl.col("fallback") != "").height
    left_out = f"observers: {drawn} of {votes.height} villagers' votes were drawn by the rules and are left out"
    notes = [left_out] if drawn else []
    kept = votes.filter(pl.col("fallback") == "")
    candidates = _candidates(kept, tables)
    rows: list[MetricRow] = []
    shown: set[str] = set()
    for detector, target in scores.select("detector", "target").unique(maintain_order=True).iter_rows():
        mine = scores.filter((pl.col("detector") == detector) & (pl.col("target") == target))
        unscored = tables.statements.join(mine, on="statement_id", how="anti")["game_id"].unique()
        whole = kept.filter(~pl.col("game_id").is_in(unscored.implode()))
        units = _units(whole, candidates, _suspicion(whole, mine, tables.statements))
        for split, part in _groups(units, plan):
            voted, named = _share(part, "voted", plan), _share(part, "named", plan)
            said, chance = int(part["statements"].sum()), part["chance"].to_numpy().mean()
            shared, games = (said, part["game_id"].n_unique(), float(chance)), part[resampled_as(part)].n_unique()
            if target not in shown:
                rows += rows_of(_VILLAGER_VOTE, target, split, [(_NAMES, estimate(voted, games))], shared)
            rows += rows_of(detector, target, split, [(_NAMES, estimate(named, games))], shared)
            difference = [(_NAMES + DIFFERENCE, estimate(named - voted, games, METRIC[_NAMES].difference()))]
            rows += rows_of(detector, target, split, difference, shared, _VILLAGER_VOTE)
        shown.add(target)
    return rows, notes


def detective_claims(statements: pl.DataFrame, claims: pl.DataFrame, targets: Sequence[str]) -> pl.DataFrame:
    """A score table of the rule that a speaker who claims no detective's knowledge is more suspicious: 0 for a
    statement in which its speaker claims to be the detective or to have investigated, 1 for any other. statements:
    from Mini-Mafia, where the rule applies; claims: the ledger.
    """
    own = (pl.col("kind") == "investigation") | (pl.col("normal") == pl.format(_CLAIMED, "speaker"))
    claimed = claims.filter((pl.col("origin") == RULES) & own)["statement_id"].unique()
    score = (~statements["statement_id"].is_in(claimed.implode())).cast(pl.Float64).to_numpy()
    return pl.concat([score_table(statements["statement_id"], score, DETECTIVE_CLAIM, target) for target in targets])


def _candidates(votes: pl.DataFrame, tables: Tables) -> pl.DataFrame:
    """game_id, day, voter, name, mafioso: the living players other than the voter, and which of them is a mafioso."""
    alive = tables.statements.group_by("game_id", "day").agg(name=pl.col("alive").first()).explode("name")
    seats = tables.games.select("game_id", seat="seats").explode("seat")
    roles = seats.select("game_id", name=pl.col("seat").struct.field("name"), role=pl.col("seat").struct.field("role"))
    return (
        votes.select("game_id", "day", "voter")
        .join(alive, on=["game_id", "day"])
        .filter(pl.col("name") != pl.col("voter"))
        .join(roles, on=["game_id", "name"])
        .select("game_id", "day", "voter", "name", mafioso=(pl.col("role") == MAFIOSO).cast(pl.Float64))
    )


def _suspicion(votes: pl.DataFrame, scores: pl.DataFrame, statements: pl.DataFrame) -> pl.DataFrame:
    """game_id, day, voter, name, score, statements: the mean score of what each other player had said by that vote."""
    said = statements.select("statement_id", "game_id", name="speaker", said=pl.col("day"))
    return (
        votes.select("game_id", "day", "voter")
        .join(said, on="game_id")
        .filter((pl.col("said") <= pl.col("day")) & (pl.col("name") != pl.col("voter")))
        .join(scores.select("statement_id", "score"), on="statement_id")
        .group_by("game_id", "day", "voter", "name")
        .agg(score=pl.col("score").mean(), statements=pl.len())
    )


def _units(votes: pl.DataFrame, candidates: pl.DataFrame, suspicion: pl.DataFrame) -> pl.DataFrame:
    """One row per vote: voted and named, 1.0 if it is the mafioso; chance; statements; who voted."""
    vote = ["game_id", "day", "voter"]
    table = candidates.join(suspicion, on=[*vote, "name"], how="left").with_columns(
        score=pl.col("score").fill_null(pl.col("score").mean().over(vote)).fill_null(0.0)
    )
    named = table.group_by(vote).agg(
        named=pl.col("mafioso").filter(pl.col("score") == pl.col("score").max()).mean(),
        chance=pl.col("mafioso").mean(),
        statements=pl.col("statements").sum(),
    )
    voted = votes.select(
        *vote,
        "voter_model",
        "voter_source",
        "mafioso_model",
        "models",
        "siblings",
        voted=(pl.col("target_role") == MAFIOSO).cast(pl.Float64),
    )
    return voted.join(named, on=vote).sort(vote)


def _groups(units: pl.DataFrame, plan: ScoringPlan) -> Iterator[tuple[str, pl.DataFrame]]:
    human = pl.col("voter_source") == _HUMAN
    models = units.filter(~human)
    if models.height:
        yield from populations(models, plan.split, plan.hold_out, "mafioso_model")
    for model in sorted(models["voter_model"].unique()):
        yield f"{plan.split}:villager={model}", models.filter(pl.col("voter_model") == model)
    people = units.filter(human)
    if people.height:
        yield f"{plan.split}:people", people


def _share(units: pl.DataFrame, column: str, plan: ScoringPlan) -> Floats:
    game, games = codes(units[resampled_as(units)].to_numpy())
    values = units[column].to_numpy()
    return share(values, np.ones(len(values)), game, game_weights(games, plan.draws, plan.seed))
