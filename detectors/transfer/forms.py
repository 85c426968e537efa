"""What is made of a detector's scores of statements and players: with what was said so far, or with the whole game.

An online form uses nothing that is said later, so it could be shown while the game is played. A retrospective form
uses the whole game. Averages and differences are taken of log-odds.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.evaluation.offsets import log_odds
from liescope.detectors.protocol import ROLE
from liescope.detectors.transfer.table import Table

ONLINE, RETROSPECTIVE, CONTROL = "online", "retrospective", "control"
STATEMENT, WHOLE_GAME, K_OF_N = "statement", "whole game", "k of n"
MAIN = {ONLINE: STATEMENT, RETROSPECTIVE: WHOLE_GAME}
FORMS = {
    STATEMENT: (ONLINE, "the statement's own score"),
    "speaker so far": (ONLINE, "the mean of the speaker's scores up to this statement"),
    "speaker so far, against the table": (ONLINE, "that, less the mean of all scores in the game so far"),
    WHOLE_GAME: (RETROSPECTIVE, "the probability that the speaker deceives, of all at the table"),
    "against the table": (RETROSPECTIVE, "the statement's score, less the mean of the whole game"),
    "speaker": (RETROSPECTIVE, "the mean of all the speaker's scores in the game"),
    "speaker, against the table": (RETROSPECTIVE, "that, less the mean of the whole game"),
    K_OF_N: (CONTROL, "no score at all: the share of the game's players, or of its statements, that deceive"),
}
"""Each form: its kind, and what it is. The last knows how many deceive in a game and nothing of who. `MAIN` names the
one of each kind that a detector is judged by.
"""


def forms(table: Table, score: Floats, players: Floats) -> dict[str, Floats]:
    """Every form of the scores, each (n,), NaN where it is not defined. The rows are in order of play. players: of
    `table.players`, after the whole game.
    """
    frame = table.frame.select("game_id", "speaker", score=pl.Series(score, nan_to_null=True))
    frame = frame.with_columns(odds=log_odds())
    speaker = ["game_id", "speaker"]
    so_far, by_speaker = _so_far("game_id"), _so_far(speaker)
    game, own = pl.col("odds").mean().over("game_id"), pl.col("odds").mean().over(speaker)
    seat = table.frame["seat"].fill_null(-1).to_numpy()
    whole = pl.lit(pl.Series(np.append(players, np.nan)[seat]))
    made = (
        *(pl.col("score"), by_speaker, by_speaker - so_far, whole, pl.col("odds") - game, own, own - game),
        pl.lit(k_of_n(table)),
    )
    done = frame.select(form.alias(name) for name, form in zip(FORMS, made, strict=True))
    missing = np.isnan(score)
    return {name: np.where(missing, np.nan, done[name].fill_null(np.nan).to_numpy()) for name in FORMS}


def k_of_n(table: Table) -> pl.Series:
    """(n,): for the role, the share of the players of the game that deceive, null where it is not known of all; for
    other targets, that of its labelled statements.
    """
    told = pl.col("deceives").is_null().any().not_()
    seats = table.players.group_by("game_id").agg(seats=pl.when(told).then(pl.col("deceives").mean()))
    frame = table.frame.select("game_id", "target", "y").join(seats, on="game_id", how="left", maintain_order="left")
    share = pl.when(pl.col("target") == ROLE).then("seats").otherwise(pl.col("y").mean().over("game_id"))
    return frame.select(share.alias(K_OF_N)).to_series()


def _so_far(group: str | list[str]) -> pl.Expr:
    """The mean log-odds of a group up to each row."""
    return pl.col("odds").cum_sum().over(group) / pl.col("odds").cum_count().over(group)
