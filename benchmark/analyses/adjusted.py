"""What a yes-or-no fact changes among rows that are otherwise alike: a difference within strata."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import stdtrit

from liescope.benchmark.analyses.intervals import LEVEL


def adjusted_difference(
    rows: pl.DataFrame, fact: str, outcome: str, strata: Sequence[str], game: str = "game_id", level: float = LEVEL
) -> tuple[float | None, float | None, float | None, int]:
    """(difference, lo, hi, games) of the outcome where the fact holds, minus where it does not, within strata.

    This is the Mantel-Haenszel difference of rates, which a regression on the fact with an effect for every stratum
    also gives: strata in which all rows have the fact, or none, count nothing. The errors are clustered by game, since
    rows of one game share its outcome, and hold for few games too: residuals are scaled by their leverage, and
    Student's t has as many degrees of freedom as games that weigh the same would give. games: those that count.

    fact, outcome: columns of 0 and 1. The difference is None where no stratum compares, the bounds where too few
    games do, or where they show no variance.
    """
    mean = pl.col(fact, outcome).cast(pl.Float64) - pl.col(fact, outcome).cast(pl.Float64).mean().over(strata)
    within = rows.select(game, mean, _rows=pl.len().over(strata)).filter(pl.col(fact).abs() > 1e-12)
    x, y = within[fact].to_numpy(), within[outcome].to_numpy()
    compared, games = float(x @ x), within[game].n_unique()
    if compared < 1e-12:
        return None, None, None, 0
    difference = float(x @ y) / compared
    leverage = 1 / within["_rows"].to_numpy() + x * x / compared
    score = x * (y - difference * x) / np.sqrt(np.clip(1 - leverage, 1e-9, None))
    by_game = within.select(game, score=score, weight=x * x).group_by(game).agg(pl.col("score", "weight").sum())
    error = float(np.linalg.norm(by_game["score"].to_numpy())) / compared
    freedom = compared**2 / float((by_game["weight"] ** 2).sum()) - 1
    if error < 1e-12 or freedom < 1:
        return difference, None, None, games
    half = float(stdtrit(freedom, 0.5 + level / 2)) * error
    return difference, difference - half, difference + half, games
