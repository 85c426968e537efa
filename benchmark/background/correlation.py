"""How alike two sets of scores of the same models are: Pearson's and Spearman's correlation, and how sure they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from liescope.benchmark.background.design import Array
from liescope.benchmark.background.scores import DRAWS, LEAST, SEED, TAILS
from liescope.common.statistics import fisher

FEWEST = 3  # models whose scores can be correlated
CORRELATIONS = pl.Schema(
    {
        **dict.fromkeys(("capability", "one", "other"), pl.String),
        "models": pl.Int64,
        "measure": pl.String,
        **dict.fromkeys(("r", "lo", "hi", "simulated", "simulated_sd", "free_lo", "free_hi"), pl.Float64),
    }
)


def correlations(
    one: tuple[Array, Array], other: tuple[Array, Array], shape: Callable[[Array], Array], same_games: bool
) -> list[tuple[int | str | float | None, ...]]:
    """Pearson's and Spearman's correlation of two sets of scores: (models, measure, r, lo, hi, simulated, simulated_sd,
    free_lo, free_hi), empty for fewer than three models or scores without differences.

    one, other: (score, its standard deviation), each of shape (models,). shape: what is done to scores before they are
    correlated, such as np.exp. same_games: whether both are scores of the same games.

    lo to hi: 95% interval by Fisher's transformation, as if these models were drawn from many. simulated and
    simulated_sd: mean and standard deviation over scores drawn around the given ones, each independently and normal, as
    the paper reports them; chance in the draws adds to that in the scores, so the mean lies nearer to 0 than r. free_lo
    to free_hi: 95% interval of what endless games would give for these models, the simulation with twice the variance
    due to chance taken off that of the scores (of which at least a tenth remains); None for the same games, whose
    chance both share.
    """
    if len(one[0]) < FEWEST or not all(np.ptp(score) for score, _ in (one, other)):
        return []
    from scipy.stats import rankdata

    random = np.random.default_rng(SEED)
    drawn, drawn_other = (shape(random.normal(score, sd, size=(DRAWS, len(score)))) for score, sd in (one, other))
    point, point_other = (shape(score[None]) for score, _ in (one, other))
    found: list[tuple[int | str | float | None, ...]] = []
    for measure in ("Pearson", "Spearman"):
        if measure == "Spearman":
            drawn, drawn_other, point, point_other = (
                rankdata(part, axis=1) for part in (drawn, drawn_other, point, point_other)
            )
        r = fisher(float(_pearson(point, point_other)[0]), len(one[0]))
        simulated = _pearson(drawn, drawn_other)
        chance = [2 * float(part.var(axis=0, ddof=1).mean()) for part in (drawn, drawn_other)]
        free = (None, None) if same_games else np.quantile(_pearson(drawn, drawn_other, *chance), TAILS).tolist()
        found.append((len(one[0]), measure, *r, float(simulated.mean()), float(simulated.std(ddof=1)), *free))
    return found


def _pearson(one: Array, other: Array, chance: float = 0, chance_other: float = 0) -> Array:
    """Of each row, with what is due to chance taken off the variances."""
    one, other = (part - part.mean(axis=1, keepdims=True) for part in (one, other))
    freedom = one.shape[1] - 1
    kept = 1.0
    for part, off in ((one, chance), (other, chance_other)):
        variance = np.square(part).sum(axis=1) / freedom
        kept = kept * np.maximum(variance - off, LEAST * variance)
    return np.asarray(np.clip((one * other).sum(axis=1) / freedom / np.sqrt(kept), -1, 1))
