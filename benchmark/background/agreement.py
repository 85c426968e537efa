"""Whether scores against backgrounds agree with the capability model (Figures 7 to 9), and between conditions (10)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from liescope.benchmark.background.correlation import CORRELATIONS, correlations
from liescope.benchmark.background.design import DESIGN

PARAMETER = {"deceive": "m", "detect": "v", "disclose": "d"}
OFFSET = ("detect", "b")  # of the villager, in models that have one; a high one favours the mafia
FITTED, AGAINST = "capability model (m, v or d)", "against backgrounds (z)"


def with_capability_model(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """The correlation of z-scores with m, v and d of a fit of the same games, over the models that have both: a frame
    of CORRELATIONS (`liescope.benchmark.background.correlation.correlations`), where `one` is m, v, d
    or b and `other` is z.

    background: `liescope.benchmark.background.scores.background_scores`; capability: a frame with the columns model,
    m, m_sd and the same of d, v and, where the fitted model has it, b (`liescope.benchmark.capability.results.scores`).
    """
    rows = []
    for name, parameter in (*PARAMETER.items(), *([OFFSET] if OFFSET[1] in capability.columns else ())):
        both = background.filter(capability=name).join(capability.drop_nulls(parameter), on="model")
        fitted, z = ((both[column].to_numpy(), both[f"{column}_sd"].to_numpy()) for column in (parameter, "z"))
        found = correlations(fitted, z, np.asarray, same_games=True)
        rows += [(name, parameter, "z", *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")


def beside(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """Both methods in one unit, over the models that have both: capability, model, method, value, lo, hi, each in
    standard deviations from the mean of that method over the models; best z first.

    background, capability: as for `with_capability_model`, the latter with the columns m_lo, m_hi and the same of d and
    v.
    """
    parts = [
        background.filter(capability=name)
        .join(capability.drop_nulls(parameter), on="model", maintain_order="left")
        .select("capability", "model", method=pl.lit(method), **_in_its_unit(column))
        for name, parameter in PARAMETER.items()
        for method, column in ((FITTED, parameter), (AGAINST, "z"))
    ]
    return pl.concat(parts)


def _in_its_unit(column: str) -> dict[str, pl.Expr]:
    """value, lo and hi of a score."""
    mean, unit = pl.col(column).mean(), pl.col(column).std()
    return {
        name: (pl.col(source) - mean) / unit
        for name, source in (("value", column), ("lo", f"{column}_lo"), ("hi", f"{column}_hi"))
    }


def between_conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """The correlation of exponential scores between every two conditions, over the models that both have: a frame of
    CORRELATIONS, where `one` and `other` are conditions of different games.

    scores: as of `liescope.benchmark.background.scores.background_scores`, with the column condition.
    """
    rows = []
    for capability in DESIGN:
        part = scores.filter(capability=capability)
        for one, other in combinations(part["condition"].unique(maintain_order=True), 2):
            both = part.filter(condition=one).join(part.filter(condition=other), on="model", suffix="_other")
            first, second = ((both[f"z{end}"].to_numpy(), both[f"z_sd{end}"].to_numpy()) for end in ("", "_other"))
            found = correlations(first, second, np.exp, same_games=False)
            rows += [(capability, one, other, *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")
