"""What a yes-or-no fact changes among rows that are otherwise alike: a difference within strata."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

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
