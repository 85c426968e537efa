"""Detectors compared with the players who rated statements: on the same statements, paired.

The players' mean suspicion, the share that flagged, and what their flags say together when each is weighed by how
reliable it is are scores like any other; flagged by more than half is a decision like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import polars as pl

from liescope.common.statistics import Floats, game_weights
from liescope.detectors.evaluation.comparing import Scorer, differences
from liescope.detectors.evaluation.crowd import MODELS, OBSERVERS, Crowd, crowd_of, observer, observer_rows
from liescope.detectors.evaluation.decisions import NO_THRESHOLDS, Thresholds, rates
from liescope.detectors.evaluation.metrics import DECISION
from liescope.detectors.evaluation.populations import populations
from liescope.detectors.evaluation.ranking import rank_metrics
from liescope.detectors.evaluation.rows import MetricRow, ScoringPlan, measured
from liescope.detectors.evaluation.scorers import draws_of
from liescope.detectors.evaluation.scores import per_detector, scored
from liescope.games.mafia import VILLAGER

_MATCHED, _PLAYERS_FPR = "recall_at_players_fpr", "false_positive_rate"
_HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}
_MADE_OF_RATINGS = "peer"


def on_statements(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    ratings: pl.DataFrame,
    plan: ScoringPlan,
    thresholds: Mapping[tuple[str, str], Thresholds] | None = None,
) -> tuple[list[MetricRow], list[str]]:
    """Detectors and observers on the statements that observers rated, and the paired differences.

    Splits are named `test:rated-by-villagers` (observers without private knowledge) and `test:rated-by-all`, after the
    population. thresholds: of the detectors, by (detector, target). The target `peer` is left out because its label is
    made from these ratings.
    """
    rows: list[MetricRow] = []
    notes: list[str] = []
    groups = {"rated-by-villagers": pl.col("observer_role") == VILLAGER, "rated-by-all": pl.lit(True)}
    tables = [found for found in per_detector(scores, statements) if found[1] != _MADE_OF_RATINGS]
    for group, who in groups.items():
        here = ratings.filter(who).join(plan.evaluated(statements), on="statement_id", how="semi")
        judged, crowd = _together(here, group)
        notes += crowd.notes
        beside: dict[tuple[str, str], list[Scorer]] = {}
        for detector, target, table in tables:
            chosen = (thresholds or {}).get((detector, target), NO_THRESHOLDS)
            both = plan.evaluated(table).join(judged, on="statement_id", maintain_order="left")
            for name, part in populations(both, plan.split, plan.hold_out):
                key = target, f"{name}:{group}"
                if key not in beside:
                    beside[key] = _observers(part, plan)
                    rows += observer_rows(crowd, part.with_columns(item="statement_id"), *key, plan)
                flagged = part.filter(pl.col("flags").is_not_null())
                if flagged.height:
                    beside[key].append(Scorer.of(detector, flagged, partial(_beside_flags, chosen=chosen, plan=plan)))
        for (target, split), scorers in beside.items():
            for scorer in scorers:
                rows += measured(scorer.name, target, split, scorer.values, scorer.table)
            players = [scorer for scorer in scorers if scorer.name.startswith(OBSERVERS)]
            pairs = [(one, other) for one in scorers if one not in players for other in players]
            rows += differences(pairs, target, split)
    if (scores["target"] == _MADE_OF_RATINGS).any():
        notes.append("observers: label_peer is made from the ratings, so no rating is set beside a detector of it")
    elif not rows:
        return [], [f"observers: no statement of {plan.split} was rated by another player (play with --assess)"]
    return rows, notes


def _together(ratings: pl.DataFrame, group: str) -> tuple[pl.DataFrame, Crowd]:
    """statement_id with the ratings' mean suspicion, share of flags and posteriors; and who the observers are."""
    flags = ratings.filter(pl.col("flag").is_not_null()).select(
        "game_id", item="statement_id", observer=observer("observer_model", "observer_role"), yes="flag"
    )
    crowd = crowd_of(flags, group)
    means = ratings.group_by("statement_id").agg(suspicion=pl.col("suspicion").mean(), flags=pl.col("flag").mean())
    return means.join(crowd.together.rename({"item": "statement_id"}), on="statement_id", how="left"), crowd


def _flags(table: pl.DataFrame, plan: ScoringPlan) -> dict[str, Floats]:
    """Recall and false positive rate of flagging what more than half of the players flagged."""
    data = scored(table, "flagged")
    recall, rate = rates(data, 0.5, game_weights(data.games, plan.draws, plan.seed))
    return {_MATCHED: recall, _PLAYERS_FPR: rate}


def _observers(table: pl.DataFrame, plan: ScoringPlan) -> list[Scorer]:
    """The players as scorers of the statements that they rated."""

    def measure(part: pl.DataFrame) -> dict[str, Floats]:
        return {**draws_of(part, _HALF, plan), **(_flags(part, plan) if "flagged" in part.columns else {})}

    own = table.drop("centred")
    found = []
    for column in ("suspicion", "flags", *(name for name in MODELS if name in own.columns)):
        part = own.filter(pl.col(column).is_not_null()).with_columns(score=column)
        if column == "flags":
            part = part.with_columns(flagged="flags")
        if part.height:
            found.append(Scorer.of(OBSERVERS + column, part, measure))
    return found


def _beside_flags(table: pl.DataFrame, *, chosen: Thresholds, plan: ScoringPlan) -> dict[str, Floats]:
    """The metrics of a detector; its recall where it flags as many honest statements as the players do."""
    rate = _flags(table.with_columns(flagged="flags"), plan)[_PLAYERS_FPR]
    data = scored(table)
    matched = rank_metrics(data, game_weights(data.games, plan.draws, plan.seed), {_MATCHED: rate})[_MATCHED]
    return {**draws_of(table, chosen, plan), _MATCHED: matched}
