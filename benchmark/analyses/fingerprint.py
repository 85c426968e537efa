"""Six numbers that summarise how a model plays Triadic Werewolf, for a figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis import Analysis, in_order, pooled, told
from liescope.benchmark.analyses.analysis_figures import Matrix, cell_names, spelt
from liescope.benchmark.analyses.conditions_of_play import CELL, MODEL, RATER, chosen, jester_games
from liescope.benchmark.analyses.deception import ANALYSES_OF_CALIBRATION, ANALYSES_OF_DETECTION
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import Interval, Zero, game_means
from liescope.benchmark.capability.counts import schema
from liescope.common.statistics import fisher
from liescope.games.werewolf.rules import JESTER

AXES = ("jester_wins", "villagers_win", "wolf_restraint", "jester_suspicion", "detection", "calibration")
_SCHEMA = schema("text game condition model", "flag learning", "text rater axis", "number value", "count games")


def fingerprint(frames: Frames) -> pl.DataFrame:
    """Six axes in [0, 1] (Figure 7; the paper names only some of its axes, these are ours).

    jester_wins, villagers_win: shares of games; wolf_restraint: 1 minus the share of games in which a werewolf votes
    for the jester in the ballot of day 1 that counts; jester_suspicion: mean suspicion of the jester's statements;
    detection: accuracy of the flags against the speakers' reports, the mean over the speakers' roles; calibration: 1
    minus the mean distance of observers' flags and speakers' reports over the roles. A cell without all axes is left
    out, for example one without ratings.

    Columns: game, condition, model, learning, rater, axis, value, games.
    """
    keys = [*CELL, RATER]
    games = jester_games(frames)
    played = games.join(frames.statements.select("game_id", RATER).unique(), on="game_id")
    of_jesters = (pl.col("speaker_role") == JESTER) & pl.col("game_id").is_in(games["game_id"].implode())
    tables = {analysis.name: analysis for analysis in (*ANALYSES_OF_CALIBRATION, *ANALYSES_OF_DETECTION)}
    gaps, flags = (tables[name].table(frames) for name in ("calibration_gap", "detection_by_speaker"))
    accuracy = flags.filter(truth="self", metric="accuracy")
    parts = {
        "jester_wins": game_means(played, keys, "jester_won"),
        "villagers_win": game_means(played, keys, "villagers_won"),
        "wolf_restraint": game_means(played, keys, "wolf_voted_jester").with_columns(mean=1 - pl.col("mean")),
        "jester_suspicion": game_means(frames.ratings.filter(of_jesters), keys, "suspicion"),
        "detection": _over_roles(accuracy, pl.col("mean")),
        "calibration": _over_roles(gaps, 1 - pl.col("gap").abs()),
    }
    axes = [part.select(*keys, "games", axis=pl.lit(axis), value="mean") for axis, part in parts.items()]
    table = pl.concat(axes).join(played.select(keys).unique(), on=keys, how="semi").select(*_SCHEMA).cast(_SCHEMA)
    return table.filter(pl.len().over(keys) == len(AXES)).sort(*keys, in_order("axis", AXES))


def _over_roles(table: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    return table.group_by(*CELL, RATER).agg(mean=value.mean(), games=pl.col("games").max())


ANALYSES_OF_FINGERPRINT = (
    told(
        "fingerprint", fingerprint, Matrix("value", "share or mean, from 0 to 1", cell_names, spelt("axis"), facets="")
    ),
)


FEATURES = ("wolf_voted_jester", "vote_rank", "jester_suspicion", "jester_deception", "jester_statements")
_PREDICTORS = schema(
    "text game condition model rater feature", "number r lo hi mean_won mean_lost", "count games_won games"
)


def predictors(frames: Frames) -> pl.DataFrame:
    """Pearson's correlation of five features of a game with the jester's win, 1 or 0 (Table 8, Appendix F.5).

    wolf_voted_jester: a werewolf voted for the jester on day 1. vote_rank: mean suspicion rank of vote targets.
    jester_suspicion: mean suspicion that observers gave the jester's statements. jester_deception: the share of its
    statements that the jester calls deceptive. jester_statements: how many it made. The last three are of games in
    which the jester spoke, as in the paper.

    Columns: game, condition, model (the jester's, or "all models"), rater, feature, r, lo, hi (Fisher's interval),
    mean_won, mean_lost, games_won, games. r is null if the feature or the outcome is constant.
    """
    features = game_features(frames)
    groups = pooled(features), features
    found: list[tuple[object, ...]] = []
    for key, part in (item for rows in groups for item in rows.group_by([*MODEL, RATER], maintain_order=True)):
        for feature in FEATURES:
            there = part.drop_nulls(feature)
            if there.height:
                values, won = there[feature].cast(pl.Float64).to_list(), there["jester_won"].to_list()
                found.append((*key, feature, *association(values, won, there["family"].n_unique())))
    return pl.DataFrame(found, _PREDICTORS, orient="row")


def game_features(frames: Frames) -> pl.DataFrame:
    """The features of `predictors`, one row for each rater of each game that deals a jester; null if a game has no
    such figure.
    """
    games = jester_games(frames)
    ranks = chosen(frames.ranks).group_by("game_id", RATER).agg(vote_rank=pl.col("suspicion_rank").mean())
    said = (
        frames.statements.filter(pl.col("speaker_role") == JESTER)
        .group_by("game_id", RATER)
        .agg(jester_deception=pl.col("label_self").mean(), jester_statements=pl.len().cast(pl.Int64))
    )
    seen = (
        frames.ratings.filter(pl.col("speaker_role") == JESTER)
        .group_by("game_id", RATER)
        .agg(jester_suspicion=pl.col("suspicion").mean())
    )
    raters = frames.statements.select("game_id", RATER).unique(maintain_order=True)
    games = games.join(raters, on="game_id", how="left", maintain_order="left")
    for part in (ranks, said, seen):
        games = games.join(part, on=["game_id", RATER], how="left", maintain_order="left")
    return games


def association(values: list[float], won: list[bool], families: int) -> tuple[Any, ...]:
    """(r, lo, hi, mean where won, mean where lost, games won, games) of a feature and a yes-or-no outcome. families:
    how many groups of games that share a beginning there are; the interval takes each for one game.
    """
    x, yes = np.asarray(values, dtype=float), np.asarray(won, dtype=bool)
    means = [float(side.mean()) if len(side) else None for side in (x[yes], x[~yes])]
    varies = np.ptp(x) > 1e-9 and np.ptp(yes.astype(float)) > 0
    r = float(np.corrcoef(x, yes)[0, 1]) if varies else None
    return (*fisher(r, families), *means, int(yes.sum()), len(x))


ANALYSES_OF_PREDICTORS: tuple[Analysis, ...] = (
    told("predictors", predictors, interval=Interval.FISHER, corrections=(Zero("r"),)),
)
