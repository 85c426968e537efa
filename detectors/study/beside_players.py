"""Detectors compared with the players of the games: as raters, as voters, and in the surviving villager's seat.

On rated statements, paired: the players' mean suspicion, the share that flagged, and what their flags say together when
each is weighed by how reliable it is are scores like any other; flagged by more than half is a decision like any other.

In the villager's seat of Mini-Mafia, where only votes exist, a detector names the living player, other than the
villager, whose statements it found most suspicious on average; the villager's choice is its vote.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from liescope.common.statistics import Floats, codes, estimate, game_weights, share
from liescope.detectors.study.controls import DETECTIVE_CLAIM as _CLAIM
from liescope.detectors.study.controls import REASONING_LENGTH, ROLE_ORACLE
from liescope.detectors.study.figures import Figure, figures_of, measured
from liescope.detectors.study.metrics import (
    DECISION,
    DIFFERENCE,
    METRIC,
    NO_THRESHOLDS,
    Thresholds,
    rank_metrics,
    rates,
)
from liescope.detectors.study.observers import (
    MODELS,
    OBSERVERS,
    Crowd,
    agreement_rows,
    crowd_of,
    observer,
    observer_rows,
)
from liescope.detectors.study.scorers import Scorer, cut, differences, thresholds_of, values_of, with_cuts
from liescope.detectors.study.scores import (
    CONTROL,
    ScoringPlan,
    per_detector,
    populations,
    resampled_as,
    score_table,
    scored,
)
from liescope.games.core import Phase
from liescope.games.mafia import DETECTIVE, MAFIOSO, VILLAGER, MiniMafia
from liescope.generate.corpus import collected, read
from liescope.labeling.ledger import RULES

_VILLAGER_VOTE = OBSERVERS + "villager_vote"
_HUMAN = "human"
NAMES_MAFIOSO = "names_mafioso"
DETECTIVE_CLAIM = CONTROL + _CLAIM
_CLAIMED = f"role({{}})={DETECTIVE}"


@dataclass(frozen=True, slots=True)
class SeatTables:
    """What a comparison in the villager's seat needs: scored statements of the evaluated split, its votes and games."""

    statements: pl.DataFrame
    votes: pl.DataFrame
    games: pl.DataFrame


def beside_players(
    scores: pl.DataFrame, statements: pl.DataFrame, corpus: Path, plan: ScoringPlan, detectors: Sequence[str]
) -> tuple[list[Figure], list[str]]:
    """Detectors beside the players of a corpus, in all three ways; in the villager's seat the controls too, which cast
    no votes either. statements: as of `evaluate_scores`.
    """
    mine, evaluated = scores.filter(pl.col("scorer").is_in(list(detectors))), plan.evaluated(statements)

    def table(name: str) -> pl.DataFrame:
        return collected(read(corpus, name).filter(pl.col("split").is_in(plan.splits)), corpus)

    rated, notes = on_statements(mine, statements, table("ratings"), plan)
    unnamed = [CONTROL + name for name in (ROLE_ORACLE, REASONING_LENGTH)]
    controls = scores.filter(pl.col("scorer").str.starts_with(CONTROL) & ~pl.col("scorer").is_in(unnamed))
    mini = read(corpus, "statements").filter((pl.col("game") == MiniMafia.name) & pl.col("split").is_in(plan.splits))
    said = collected(mini.select("statement_id", "speaker"), corpus)
    claims = detective_claims(said, table("claims"), mine["target"].unique(maintain_order=True).to_list())
    tables = SeatTables(evaluated, table("votes"), table("games"))
    seated, more = in_the_villagers_seat(pl.concat([mine, controls, claims]), tables, plan)
    voted, why = on_players(mine, tables, plan)
    return rated + seated + voted, notes + more + why


def in_the_villagers_seat(
    scores: pl.DataFrame, tables: SeatTables, plan: ScoringPlan
) -> tuple[list[Figure], list[str]]:
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
        why = f"observers: no villager's vote in a Mini-Mafia game of {plan.split}"
        return [], [] if mini.is_empty() else [why]
    drawn = votes.filter(pl.col("fallback") != "").height
    left_out = f"observers: {drawn} of {votes.height} villagers' votes were drawn by the rules and are left out"
    notes = [left_out] if drawn else []
    kept = votes.filter(pl.col("fallback") == "")
    candidates = _candidates(kept, tables)
    rows: list[Figure] = []
    shown: set[str] = set()
    for detector, target in scores.select("scorer", "target").unique(maintain_order=True).iter_rows():
        mine = scores.filter((pl.col("scorer") == detector) & (pl.col("target") == target))
        unscored = tables.statements.join(mine, on="statement_id", how="anti")["game_id"].unique()
        whole = kept.filter(~pl.col("game_id").is_in(unscored.implode()))
        units = _units(whole, candidates, _suspicion(whole, mine, tables.statements))
        for split, part in _groups(units, plan):
            voted, named = _share(part, "voted", plan), _share(part, "named", plan)
            said, chance = int(part["statements"].sum()), part["chance"].to_numpy().mean()
            shared, games = (said, part["game_id"].n_unique(), float(chance)), part[resampled_as(part)].n_unique()
            if target not in shown:
                rows += figures_of(_VILLAGER_VOTE, target, split, [(NAMES_MAFIOSO, estimate(voted, games))], shared)
            rows += figures_of(detector, target, split, [(NAMES_MAFIOSO, estimate(named, games))], shared)
            difference = [
                (NAMES_MAFIOSO + DIFFERENCE, estimate(named - voted, games, METRIC[NAMES_MAFIOSO].difference()))
            ]
            rows += figures_of(detector, target, split, difference, shared, _VILLAGER_VOTE)
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


def _candidates(votes: pl.DataFrame, tables: SeatTables) -> pl.DataFrame:
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
    return share(values, np.ones(len(values)), game, game_weights(games, plan.seed))


_MATCHED, _PLAYERS_FPR = "recall_at_players_fpr", "false_positive_rate"
_HALF: Thresholds = {**NO_THRESHOLDS, DECISION: 0.5}
_MADE_OF_RATINGS = "peer"
JUDGED = "judged-by-people"


def on_statements(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    ratings: pl.DataFrame,
    plan: ScoringPlan,
) -> tuple[list[Figure], list[str]]:
    """Detectors and observers on the statements that observers rated, and the paired differences.

    Splits are named `test:rated-by-villagers` (observers without private knowledge) and `test:rated-by-all`, after the
    population. statements: as of `evaluate_scores`. The target `peer` is left out because its label is made from these
    ratings.
    """
    own = scores.filter(pl.col("target") != _MADE_OF_RATINGS)
    rows: list[Figure] = []
    notes: list[str] = []
    for group, who in (("rated-by-villagers", pl.col("observer_role") == VILLAGER), ("rated-by-all", pl.lit(True))):
        found, said = _on_rated(own, statements, ratings.filter(who), group, plan)
        rows += found
        notes += said
    if own.height < scores.height:
        notes.append("observers: label_peer is made from the ratings, so no rating is set beside a detector of it")
    elif not rows:
        return [], [f"observers: no statement of {plan.split} was rated by another player (play with --assess)"]
    return rows, notes


def on_annotated(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    people: pl.DataFrame,
    plan: ScoringPlan,
) -> tuple[list[Figure], list[str]]:
    """The same of people who annotated statements, with how far they agree, in splits named `test:judged-by-people`.
    people: of `read_people`.
    """
    rows, notes = _on_rated(scores, statements, people, JUDGED, plan)
    elsewhere = people.join(plan.evaluated(statements), on="statement_id", how="anti")["statement_id"].n_unique()
    if elsewhere:
        notes.append(f"people: {elsewhere:,} annotated statements are not among those of {plan.split}")
    return rows, notes


def _on_rated(
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    ratings: pl.DataFrame,
    group: str,
    plan: ScoringPlan,
) -> tuple[list[Figure], list[str]]:
    rows: list[Figure] = []
    judged, crowd = _together(ratings.join(plan.evaluated(statements), on="statement_id", how="semi"), group)
    beside: dict[tuple[str, str], list[Scorer]] = {}
    for detector, target, table in per_detector(scores, statements):
        evaluated = cut(detector, table, thresholds_of(detector, table, plan), plan)
        both = evaluated.join(judged, on="statement_id", maintain_order="left")
        for name, part in populations(both, plan.split, plan.hold_out):
            key = target, f"{name}:{group}"
            if key not in beside:
                beside[key] = _observers(part, plan)
                items = part.with_columns(item="statement_id")
                rows += observer_rows(crowd, items, *key, plan)
                rows += agreement_rows(crowd, items, *key, plan) if group == JUDGED else []
            flagged = part.filter(pl.col("flags").is_not_null())
            if flagged.height:
                beside[key].append(Scorer.of(detector, flagged, partial(_beside_flags, plan=plan)))
    for (target, split), scorers in beside.items():
        for scorer in scorers:
            rows += measured(scorer.name, target, split, scorer.values, scorer.table)
        players = [scorer for scorer in scorers if scorer.name.startswith(OBSERVERS)]
        pairs = [(one, other) for one in scorers if one not in players for other in players]
        rows += differences(pairs, target, split)
    return rows, list(crowd.notes)


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
    recall, rate = rates(data, 0.5, game_weights(data.games, plan.seed))
    return {_MATCHED: recall, _PLAYERS_FPR: rate}


def _observers(table: pl.DataFrame, plan: ScoringPlan) -> list[Scorer]:
    """The players as scorers of the statements that they rated."""

    def measure(part: pl.DataFrame) -> dict[str, Floats]:
        return {**values_of(with_cuts(part, _HALF), plan), **(_flags(part, plan) if "flagged" in part.columns else {})}

    own = table.drop("centred")
    found = []
    for column in ("suspicion", "flags", *(name for name in MODELS if name in own.columns)):
        part = own.filter(pl.col(column).is_not_null()).with_columns(score=column)
        if column == "flags":
            part = part.with_columns(flagged="flags")
        if part.height:
            found.append(Scorer.of(OBSERVERS + column, part, measure))
    return found


def _beside_flags(table: pl.DataFrame, *, plan: ScoringPlan) -> dict[str, Floats]:
    """The metrics of a detector; its recall where it flags as many honest statements as the players do."""
    rate = _flags(table.with_columns(flagged="flags"), plan)[_PLAYERS_FPR]
    data = scored(table)
    matched = rank_metrics(data, game_weights(data.games, plan.seed), {_MATCHED: rate})[_MATCHED]
    return {**values_of(table, plan), _MATCHED: matched}


VOTED = "voted-on"
_BEFORE_VOTES = (Phase.NIGHT.value, Phase.DISCUSSION.value)


def on_players(scores: pl.DataFrame, tables: SeatTables, plan: ScoringPlan) -> tuple[list[Figure], list[str]]:
    """Who deceives, by the votes of the others: each voter's recall and false positive rate, all of them together by
    share of votes, one coin and Dawid and Skene; and detectors, by the mean score of what the player said by then.

    An item is a player who stood to be voted for on one ballot; splits are named `test:voted-on`. Only scores of the
    target `role` are set beside the votes, since that is what a vote is about. A vote that the rules drew is left out.
    """
    items, answers = _answers(tables)
    if answers.is_empty() or not (scores["target"] == "role").any():
        return [], []
    crowd = crowd_of(answers, "votes")
    said = answers.group_by("item").agg(votes=pl.col("yes").mean())
    items = items.join(said, on="item").join(crowd.together, on="item", how="left", maintain_order="left")
    rows: list[Figure] = []
    for name, part in populations(items, plan.split, plan.hold_out, "model"):
        split = f"{name}:{VOTED}"
        measure = partial(values_of, plan=plan)
        columns = ["votes", *(column for column in MODELS if column in part.columns)]
        players = [Scorer.of(OBSERVERS + column, _scored(part, column), measure) for column in columns]
        detectors = [
            Scorer.of(name, _scored(_with_means(part, mine, tables), "mean"), measure)
            for name, mine in _by_detector(scores)
        ]
        for scorer in (*players, *detectors):
            rows += measured(scorer.name, "role", split, scorer.values, scorer.table)
        rows += differences([(one, other) for one in detectors for other in players], "role", split)
        rows += observer_rows(crowd, part, "role", split, plan)
    return rows, list(crowd.notes)


def _answers(tables: SeatTables) -> tuple[pl.DataFrame, pl.DataFrame]:
    """(items, answers): item, game_id, day, ballot, name, model, models, siblings, y; and item, game_id, observer and
    yes.
    """
    seat = pl.col("seat").struct
    seats = (
        tables.games.select(
            "game_id",
            seat="seats",
            models=pl.col("seats").list.eval(pl.element().struct.field("model")),
            siblings=pl.col("siblings").fill_null(pl.col("game_id")),
        )
        .explode("seat")
        .select(
            "game_id",
            "models",
            "siblings",
            name=seat.field("name"),
            model=seat.field("model"),
            y=seat.field("deceives"),
        )
    )
    alive = tables.statements.group_by("game_id", "day").agg(name=pl.col("alive").first()).explode("name")
    asked = (
        tables.votes.filter((pl.col("fallback") == "") & (pl.col("target") != ""))
        .join(alive, on=["game_id", "day"])
        .filter(pl.col("name") != pl.col("voter"))
        .join(seats.filter(pl.col("y").is_not_null()), on=["game_id", "name"])
        .with_columns(
            item=pl.format("{}|{}|{}|{}", "game_id", "day", "ballot", "name"),
            observer=observer("voter_model", "voter_role"),
            yes=pl.col("target") == pl.col("name"),
        )
        .unique(["item", "voter"], maintain_order=True)
    )
    about = ("item", "game_id", "day", "ballot", "name", "model", "models", "siblings", "y")
    return asked.unique("item").select(about).sort("item"), asked.select("item", "game_id", "observer", "yes")


def _by_detector(scores: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    mine = scores.filter(pl.col("target") == "role")
    return [(name, mine.filter(pl.col("scorer") == name)) for name in mine["scorer"].unique(maintain_order=True)]


def _with_means(items: pl.DataFrame, scores: pl.DataFrame, tables: SeatTables) -> pl.DataFrame:
    """The items with the mean score of what the player had said by that ballot: on its day, what was said before the
    first vote, and before a second one also the reasons of the first and the defence.
    """
    said = tables.statements.select("statement_id", "game_id", "phase", name="speaker", said="day")
    today = pl.col("phase").is_in(_BEFORE_VOTES) | ((pl.col("ballot") > 1) & (pl.col("phase") != Phase.REVOTE.value))
    means = (
        items.select("item", "game_id", "name", "day", "ballot")
        .join(said, on=["game_id", "name"])
        .filter((pl.col("said") < pl.col("day")) | ((pl.col("said") == pl.col("day")) & today))
        .join(scores.select("statement_id", "score"), on="statement_id")
        .group_by("item")
        .agg(mean=pl.col("score").mean())
    )
    return items.join(means, on="item", how="left", maintain_order="left")


def _scored(items: pl.DataFrame, column: str) -> pl.DataFrame:
    """The items as a scorer's table, one player's item for a statement."""
    known = items.filter(pl.col(column).is_not_null())
    return known.with_columns(score=column, statement_id="item")
