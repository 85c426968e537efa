"""Intervals for rates and means: Wilson's for counts of games, a bootstrap over games if a game has many rows.

Statements of one game are not independent draws, so if a game has several rows, games are resampled instead of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import ndtri

LEVEL = 0.95
DRAWS = 2000
SEED = 1


class Interval(Enum):
    """How the columns lo and hi of a table were computed. The value is the caption of the table."""

    NONE = ""
    WILSON_GAMES = "Wilson's score interval over games"
    WILSON_N = "Wilson's score interval over n"
    NEWCOMBE = "Newcombe's interval of the difference, over games"
    WILSON_AND_NEWCOMBE = "Wilson's score interval over games; Newcombe's for a difference"
    FISHER = "Fisher's interval of a correlation, over games"
    BOOTSTRAP = "percentiles of a bootstrap over whole games"
    CLUSTERED = "Student's interval with errors clustered by game"
    PAIRS = "of paired games: Newcombe's interval of shares, percentiles of a bootstrap over pairs for means"
    PAIRED_OR_NOT = (
        "at the same ballots or statements, Student's interval with errors clustered by game; over all games, "
        "percentiles of a bootstrap over whole games, each side resampled separately"
    )
    STUDENT = "Student's interval over the unit named"
    BOOTSTRAP_DIFFERENCE = "percentiles of a bootstrap over whole games, each side resampled separately"

    @property
    def caption(self) -> str:
        """A sentence, or "" for a table without an interval."""
        return f"lo to hi: {LEVEL:.0%}, {self.value}." if self.value else ""


def wilson(successes: int, n: int, level: float = LEVEL) -> tuple[float | None, float | None]:
    """Wilson's score interval of a proportion (Wilson 1927); (None, None) without trials. Raises ValueError for
    successes outside 0 to n.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials are impossible")
    if n == 0:
        return None, None
    z = float(ndtri(0.5 + level / 2))
    rate, room = successes / n, z * z / n
    middle = (rate + room / 2) / (1 + room)
    half = z / (1 + room) * float(np.sqrt(rate * (1 - rate) / n + room / (4 * n)))
    lo = 0.0 if successes == 0 else max(0.0, middle - half)
    return lo, 1.0 if successes == n else min(1.0, middle + half)


def with_wilson(table: pl.DataFrame, successes: str, n: str, level: float = LEVEL) -> pl.DataFrame:
    """The table with the columns rate, lo and hi from two columns of counts."""
    bounds = [wilson(won, count, level) for won, count in table.select(successes, n).iter_rows()]
    return table.with_columns(
        (pl.col(successes) / pl.col(n)).fill_nan(None).alias("rate"),
        pl.Series("lo", [lo for lo, _ in bounds], pl.Float64),
        pl.Series("hi", [hi for _, hi in bounds], pl.Float64),
    )


def newcombe(one: int, n_one: int, two: int, n_two: int, level: float = LEVEL) -> tuple[float | None, float | None]:
    """Interval of the difference of two independent proportions, first minus second, from their Wilson intervals
    (Newcombe 1998, method 10); (None, None) where either has no trials.
    """
    (lo_one, hi_one), (lo_two, hi_two) = wilson(one, n_one, level), wilson(two, n_two, level)
    if lo_one is None or hi_one is None or lo_two is None or hi_two is None:
        return None, None
    p, q = one / n_one, two / n_two
    below = float(np.hypot(p - lo_one, hi_two - q))
    above = float(np.hypot(hi_one - p, q - lo_two))
    return p - q - below, p - q + above


def fisher(r: float | None, n: int, level: float = LEVEL) -> tuple[float | None, float | None, float | None]:
    """(r, lo, hi) of a correlation over n pairs by Fisher's transformation; bounds are None below four pairs and where
    r is 1 or -1, for which it gives none.
    """
    if r is None or n < 4 or abs(r) >= 1 - 1e-12:
        return r, None, None
    half = float(ndtri(0.5 + level / 2)) / float(np.sqrt(n - 3))
    return r, float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def game_means(
    rows: pl.DataFrame, by: Sequence[str], value: str, game: str = "game_id", draws: int = DRAWS, seed: int = SEED
) -> pl.DataFrame:
    """The mean of a column in each group, with a percentile bootstrap over games.

    Returns by…, mean, lo, hi (null below two games), n (rows that have a value), games; sorted by `by`. If every
    game has the same mean, the interval has no width: with few games and rare events it is too narrow.
    """
    kept = rows.drop_nulls(value).with_columns(pl.col(value).cast(pl.Float64))
    sums = kept.group_by([*by, game]).agg(pl.col(value).sum().alias("sum"), pl.len().alias("count")).sort([*by, game])
    found = []
    for key, part in sums.group_by(list(by), maintain_order=True) if by else [((), sums)]:
        if not part.height:
            continue
        total, count = part["sum"].to_numpy(), part["count"].to_numpy().astype(float)
        lo, hi = _percentiles(_resampled(total, count, draws, seed))
        found.append((*key, total.sum() / count.sum(), lo, hi, int(count.sum()), part.height))
    schema = {name: rows.schema[name] for name in by}
    figures = {"mean": pl.Float64, "lo": pl.Float64, "hi": pl.Float64, "n": pl.Int64, "games": pl.Int64}
    return pl.DataFrame(found, {**schema, **figures}, orient="row").sort(list(by) or "mean")


def game_difference(
    one: pl.DataFrame,
    two: pl.DataFrame,
    value: str,
    game: str = "game_id",
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[float | None, float | None, float | None]:
    """(difference, lo, hi) of the means of a column, first minus second, the games of each resampled separately.

    All None without a value on either side; bounds are None if a side has one game only.
    """
    parts = []
    for rows in (one, two):
        kept = rows.drop_nulls(value).with_columns(pl.col(value).cast(pl.Float64))
        sums = kept.group_by(game).agg(pl.col(value).sum().alias("sum"), pl.len().alias("count")).sort(game)
        parts.append((sums["sum"].to_numpy(), sums["count"].to_numpy().astype(float)))
    (sum_one, count_one), (sum_two, count_two) = parts
    if not len(sum_one) or not len(sum_two):
        return None, None, None
    difference = float(sum_one.sum() / count_one.sum() - sum_two.sum() / count_two.sum())
    if min(len(sum_one), len(sum_two)) < 2:
        return difference, None, None
    drawn = _resampled(sum_one, count_one, draws, seed) - _resampled(sum_two, count_two, draws, seed + 1)
    return difference, *_percentiles(drawn)


def game_bootstrap(
    games: npt.NDArray[np.float64],
    figure: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[float | None, float | None]:
    """The percentile interval of a figure of summed counts. games: counts, shape (games, counts); figure: from sums,
    shape (draws, counts), to values, shape (draws,), NaN if it is not defined. (None, None) below two games.
    """
    return game_bootstraps(games, [figure], draws, seed)[0]


def game_bootstraps(
    games: npt.NDArray[np.float64],
    figures: Sequence[Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]],
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[tuple[float | None, float | None]]:
    """The intervals of several figures from the same resamples; otherwise as `game_bootstrap`."""
    if len(games) < 2:
        return [(None, None)] * len(figures)
    sums = _times(len(games), draws, seed) @ games
    values = [figure(sums) for figure in figures]
    return [_percentiles(drawn[~np.isnan(drawn)]) for drawn in values]


def _times(games: int, draws: int, seed: int) -> npt.NDArray[np.int64]:
    """How often each game is in each resample: shape (draws, games)."""
    return np.random.default_rng(seed).multinomial(games, np.full(games, 1 / games), size=draws)


def _resampled(
    sums: npt.NDArray[np.float64], counts: npt.NDArray[np.float64], draws: int, seed: int
) -> npt.NDArray[np.float64]:
    """The mean over rows in each of `draws` resamples of the games; empty below two games."""
    games = len(sums)
    if games < 2:
        return np.empty(0)
    times = _times(games, draws, seed)
    weights = times @ counts
    return np.asarray((times @ sums)[weights > 0] / weights[weights > 0])


def _percentiles(drawn: npt.NDArray[np.float64], level: float = LEVEL) -> tuple[float | None, float | None]:
    if not len(drawn):
        return None, None
    lo, hi = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
    return float(lo), float(hi)
