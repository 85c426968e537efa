"""What a yes-or-no fact changes among rows that are otherwise alike: a difference within strata."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.special import fdtrc

from liescope.common.statistics import PROPORTION, Scale, equal_weights, student


def adjusted_difference(
    rows: pl.DataFrame, fact: str, outcome: str, strata: Sequence[str], scale: Scale = PROPORTION
) -> tuple[float | None, float | None, float | None, int]:
    """(difference, lo, hi, games) of the outcome where the fact holds, minus where it does not, within strata.

    This is the Mantel-Haenszel difference of rates, which a regression on the fact with an effect for every stratum
    also gives: strata in which all rows have the fact, or none, count nothing. The errors are clustered by family (a
    game with its siblings), since rows of one game share its outcome, and hold for few games too: residuals are scaled
    by their leverage, and Student's t has as many degrees of freedom as families that weigh the same would give. games:
    the families that count.

    fact: a column of 0 and 1; scale: the least and the greatest value of the outcome, which bound the difference. The
    difference is None where no stratum compares, the bounds where too few families do, or where they show no variance.
    """
    x, y = pl.col(fact).cast(pl.Float64), pl.col(outcome).cast(pl.Float64)
    sums = rows.group_by("family", stratum=pl.struct(strata)).agg(n=pl.len(), x=x.sum(), y=y.sum(), xy=(x * y).sum())
    whole = {name: pl.col(name).sum().over("stratum") for name in ("n", "x", "y")}
    share = pl.col("n") / whole["n"]
    mean_x, mean_y = whole["x"] / whole["n"], whole["y"] / whole["n"]
    parts = sums.select(
        "family",
        together=(share**2).sum().over("stratum"),
        above=pl.col("xy") - mean_x * pl.col("y") - mean_y * pl.col("x") + pl.col("n") * mean_x * mean_y,
        below=pl.col("x") - 2 * mean_x * pl.col("x") + pl.col("n") * mean_x**2,
    ).filter(pl.col("below") > 1e-12)
    compared = float(parts["below"].to_numpy().sum())
    if not compared:
        return None, None, None, 0
    difference = float(parts["above"].to_numpy().sum()) / compared
    nested = pl.col("together") > 1 - 1e-9
    leverage = pl.when(nested).then(0.0).otherwise("together") + pl.col("below") / compared
    score = (pl.col("above") - difference * pl.col("below")) / (1 - leverage).clip(1e-9).sqrt()
    families = parts.select("family", "below", score=score).group_by("family").agg(pl.col("score", "below").sum())
    error = float(np.linalg.norm(families["score"].to_numpy())) / compared
    width = scale[1] - scale[0]
    alike = equal_weights(families["below"].to_numpy())
    return difference, *student(difference, error, alike, (-width, width)), families.height


def adjusted_omnibus(
    rows: pl.DataFrame, fact: str, outcome: str, strata: Sequence[str]
) -> tuple[float | None, int, int]:
    """(p, values, games): of values of the fact that differ as much in the outcome, within strata, if none mattered.

    Wald's test that all effects of a regression on the values, with an effect for every stratum, are alike; errors are
    clustered by family, and its F has as many degrees of freedom as families that weigh the same would give. values:
    how many are compared; games: families in strata that compare some. p is None where there are too few.
    """
    several = pl.col(fact).n_unique().over(strata) > 1
    within = rows.filter(several)
    names = within[fact].unique().sort().to_list()
    if len(names) < 2:
        return None, len(names), 0
    centred = [(pl.col(fact) == name).cast(pl.Float64).alias(f"_{at}") for at, name in enumerate(names[1:])]
    known = within.select("family", *strata, *centred, _y=pl.col(outcome).cast(pl.Float64))
    columns = [f"_{at}" for at in range(len(names) - 1)]
    centre = [pl.col(name) - pl.col(name).mean().over(strata) for name in (*columns, "_y")]
    others = 1 - 1 / pl.col("family").n_unique().over(strata)
    table = known.select("family", *centre, _scale=1 / pl.when(others > 0).then(others).otherwise(1.0).sqrt())
    x, y = table.select(columns).to_numpy(), table["_y"].to_numpy()
    bread = np.linalg.pinv(x.T @ x)
    left = (y - x @ (bread @ (x.T @ y))) * table["_scale"].to_numpy()
    family = table["family"].rank("dense").to_numpy() - 1
    games = int(family.max()) + 1
    scores = np.column_stack([np.bincount(family, x[:, at] * left) for at in range(len(columns))])
    weights = np.bincount(family, (x**2).sum(axis=1)).astype(np.float64)
    alike = equal_weights(weights)
    free = int(np.linalg.matrix_rank(x.T @ x))
    spread = bread @ (scores.T @ scores) @ bread * games / max(games - 1, 1)
    if alike <= free + 1 or np.linalg.matrix_rank(spread) < free:
        return None, len(names), games
    effects = bread @ (x.T @ y)
    wald = float(effects @ np.linalg.pinv(spread) @ effects) / free
    return float(fdtrc(free, alike - free, wald * (alike - free) / (alike - 1))), len(names), games
