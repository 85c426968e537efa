"""A score that is shifted as a whole for one model, apart from how well it ranks what that model says.

A detector may give all statements of one model high scores, lies and truths alike. Within that model's statements, and
among the players of one game, it may still rank well. Both are shown: the shift as a figure of its own, and the ranking
after each speaker's scores were averaged and centred on the game's mean. That needs the whole game, so it is a figure
for after the game.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from liescope.common.statistics import REAL, Estimate, codes, estimate, game_weights, share

_EDGE = 1e-6  # scores of 0 and 1 are moved in by this, so that their log-odds are finite


def log_odds(column: str = "score") -> pl.Expr:
    score = pl.col(column).clip(_EDGE, 1 - _EDGE)
    return (score / (1 - score)).log()


def centred(table: pl.DataFrame) -> pl.DataFrame:
    """The table with `centred`: the mean log-odds of the speaker's scores in the game, less the mean of the game's
    speakers. table: game_id, speaker and score of all scored statements, labelled or not.
    """
    speakers = (
        table.group_by("game_id", "speaker", maintain_order=True)
        .agg(centred=log_odds().mean())
        .with_columns(centred=pl.col("centred") - pl.col("centred").mean().over("game_id"))
    )
    return table.join(speakers, on=["game_id", "speaker"], how="left", maintain_order="left")


def offset(table: pl.DataFrame, model: str, draws: int, seed: int) -> Estimate:
    """The mean log-odds of a model's honest statements, less that of everybody's; with its interval over games.

    table: game_id, speaker_model, y and score.
    """
    honest = table.filter(~pl.col("y")).with_columns(score=log_odds())
    if honest.is_empty():
        return None, None, None
    game, games = codes(honest["siblings" if "siblings" in honest.columns else "game_id"].to_numpy())
    weights = game_weights(games, draws, seed)
    score, own = honest["score"].to_numpy(), (honest["speaker_model"] == model).to_numpy().astype(float)
    shift = share(score * own, own, game, weights) - share(score, np.ones(len(own)), game, weights)
    return estimate(shift, len(np.unique(game[own > 0])), REAL)
