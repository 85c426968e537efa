"""What is made of a detector's scores of statements and players: with what was said so far, or with the whole game.

An online form uses nothing that is said later, so it could be shown while the game is played. A retrospective form
uses the whole game. Averages and differences are taken of log-odds.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from liescope.detectors.evaluation.metrics import Floats
from liescope.detectors.evaluation.offsets import log_odds
from liescope.detectors.transfer.table import Table

ONLINE, RETROSPECTIVE = "online", "retrospective"
STATEMENT, WHOLE_GAME = "statement", "whole game"
MAIN = {ONLINE: STATEMENT, RETROSPECTIVE: WHOLE_GAME}
FORMS = {
    STATEMENT: (ONLINE, "the statement's own score"),
    "speaker so far": (ONLINE, "the mean of the speaker's scores up to this statement"),
    "speaker so far, against the table": (ONLINE, "that, less the mean of all scores in the game so far"),
    WHOLE_GAME: (RETROSPECTIVE, "the probability that the speaker deceives, of all at the table"),
    "against the table": (RETROSPECTIVE, "the statement's score, less the mean of the whole game"),
    "speaker": (RETROSPECTIVE, "the mean of all the speaker's scores in the game"),
    "speaker, against the table": (RETROSPECTIVE, "that, less the mean of the whole game"),
}
"""Each form: its kind, and what it is. `MAIN` names the one of each kind that a detector is judged by."""


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
    made = (pl.col("score"), by_speaker, by_speaker - so_far, whole, pl.col("odds") - game, own, own - game)
    done = frame.select(form.alias(name) for name, form in zip(FORMS, made, strict=True))
    missing = np.isnan(score)
    return {name: np.where(missing, np.nan, done[name].fill_null(np.nan).to_numpy()) for name in FORMS}


def _so_far(group: str | list[str]) -> pl.Expr:
    """The mean log-odds of a group up to each row."""
    return pl.col("odds").cum_sum().over(group) / pl.col("odds").cum_count().over(group)
