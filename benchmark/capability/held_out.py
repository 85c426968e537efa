"""Combinations that a model has not seen: how well each model of the family predicts them, beside simpler methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.special import expit, logit

from liescope.benchmark.capability.backend import Array, Settings
from liescope.benchmark.capability.counts import PLAYERS, tally
from liescope.benchmark.capability.goodness import K_MOST, left_out, log_probability
from liescope.benchmark.capability.posterior import Fitter
from liescope.benchmark.capability.results import TAILS, Counted, replicate
from liescope.benchmark.capability.variants import Variant
from liescope.benchmark.ratings.z_scores import predicted_rate
from liescope.common.errors import UsageError
from liescope.common.statistics import DRAWS, REAL, estimate, game_weights, share

FOLDS = 14
SHORT = Settings(draws=400, tune=400)
LEAST_RANGE = 0.5
FLAT = 1e-6  # curvature below which a likelihood has no maximum
BACKGROUND, MEAN = "background method", "mean of the others"


@dataclass(frozen=True, slots=True)
class HeldOut:
    """cells: one row for each method and combination: method, those of PLAYERS, mafia_wins, games, fold,
    predicted (mean chance), lo, hi (95% interval of the win rate of as many new games), inside, log_score (log
    probability of the single games, summed), log_probability (of the count), fault (the sample of its fold had not
    converged); loo and pareto_k: the log probability by PSIS-LOO from one fit to all of them, null for simple methods.

    table: one row for each method, best first: method, log_score (a game), log_score_lo, log_score_hi, difference (from
    the first row), difference_lo, difference_hi, log_probability (a combination), loo (the same by PSIS-LOO), unsure
    (combinations with a Pareto k above 0.7), rmse (of the win rate), slope and intercept (of outcomes on the predicted
    logit: 1 and 0 for a calibrated method), inside (share), faults (folds whose sample had not converged). Intervals:
    95%, combinations resampled, paired for differences.
    """

    cells: pl.DataFrame
    table: pl.DataFrame


def folds_of(cells: pl.DataFrame, folds: int = FOLDS, seed: int = 1) -> Counted:
    """The fold of each combination, drawn at random; sizes differ by one at most. Raises UsageError where there are
    fewer than two combinations.
    """
    if cells.height < 2:
        raise UsageError("holding combinations out needs two or more")
    order = np.random.default_rng(seed).permutation(cells.height)
    return np.asarray(order % min(folds, cells.height), dtype=np.int64)


def held_out(
    rows: Mapping[Variant, pl.DataFrame],
    folds: int = FOLDS,
    settings: Settings = SHORT,
    watch: Callable[[str], None] = lambda _: None,
) -> HeldOut:
    """Predict every combination from the others. rows: of each model to compare (`rows_for`), the same games in all.

    watch: called with the name of each method as it begins. Raises UsageError for fewer than two combinations.
    """
    cells = tally(next(iter(rows.values())))
    fold = folds_of(cells, folds, settings.seed)
    parts = []
    for variant, mine in rows.items():
        watch(variant.name)
        parts.append(_of_variant(variant, mine, cells, fold, settings))
    watch(BACKGROUND)
    simple = {BACKGROUND: predicted_rate, MEAN: _mean}
    parts += [_of_method(name, method, cells, fold, settings.seed) for name, method in simple.items()]
    found = pl.concat(parts)
    return HeldOut(found, summarise(found))


def _mean(kept: pl.DataFrame, out: pl.DataFrame) -> Array:
    wins, games = int(kept["mafia_wins"].sum()), int(kept["games"].sum())
    return np.full(out.height, (wins + 1) / (games + 2))


def _of_variant(
    variant: Variant, rows: pl.DataFrame, cells: pl.DataFrame, fold: Counted, settings: Settings
) -> pl.DataFrame:
    fitter = Fitter(rows, variant, settings)
    at = rows.join(cells.select(PLAYERS).with_columns(fold=fold), on=list(PLAYERS), how="left", maintain_order="left")
    counted = [name for name in rows.columns if rows.schema[name] == pl.Int64]
    random = np.random.default_rng(settings.seed)
    parts = []
    for number in range(int(fold.max()) + 1):
        outside = at["fold"] == number
        kept = rows.with_columns(pl.when(outside).then(0).otherwise(pl.col(name)).alias(name) for name in counted)
        posterior = fitter.sample(kept, settings.seed + number)
        fault = bool(posterior.faults) and not posterior.diagnostics.near
        for key, part in rows.filter(outside).group_by(PLAYERS, maintain_order=True):
            chances, rho = posterior.chances(part), posterior.rho()
            parts.append(_scored(variant.name, key, part, chances, rho, random, number, fault))
    whole, k = left_out(fitter.sample())
    estimated = cells.select(PLAYERS).with_columns(loo=pl.Series(whole), pareto_k=pl.Series(k))
    return pl.DataFrame(parts).join(estimated, on=list(PLAYERS), how="left", maintain_order="left")


def _of_method(
    name: str,
    method: Callable[[pl.DataFrame, pl.DataFrame], Array],
    cells: pl.DataFrame,
    fold: Counted,
    seed: int,
) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    parts = []
    for number in range(int(fold.max()) + 1):
        out = cells.filter(fold == number)
        rates = method(cells.filter(fold != number), out)
        for row, rate in zip(range(out.height), rates, strict=True):
            part = out[row]
            chances = np.full((DRAWS_OF_A_RATE, 1), rate)
            none = np.zeros((DRAWS_OF_A_RATE, 1))
            parts.append(_scored(name, part.select(PLAYERS).row(0), part, chances, none, random, number, False))
    nothing = pl.lit(None, pl.Float64)
    return pl.DataFrame(parts).with_columns(loo=nothing, pareto_k=nothing)


DRAWS_OF_A_RATE = 2000


def _scored(
    method: str,
    key: Sequence[object],
    part: pl.DataFrame,
    chances: Array,
    rho: Array,
    random: np.random.Generator,
    fold: int,
    fault: bool,
) -> dict[str, object]:
    """One combination; part: its rows, chances: their shape (draws, rows)."""
    wins, games = part["mafia_wins"].to_numpy(), part["games"].to_numpy()
    total = int(games.sum())
    mean = chances.mean(axis=0)
    lo, hi = np.quantile(replicate(random, games, chances, rho).sum(axis=1) / total, TAILS)
    whole = (chances @ games / total)[:, None]
    each = log_probability(np.array([wins.sum()]), np.array([total]), whole, rho)
    sure = np.clip(mean, 1e-9, 1 - 1e-9)
    return {
        "method": method,
        **dict(zip(PLAYERS, key, strict=True)),
        "mafia_wins": int(wins.sum()),
        "games": total,
        "fold": fold,
        "predicted": float((mean * games).sum() / total),
        "lo": float(lo),
        "hi": float(hi),
        "inside": bool(lo <= wins.sum() / total <= hi),
        "log_score": float((wins * np.log(sure) + (games - wins) * np.log1p(-sure)).sum()),
        "log_probability": float(np.logaddexp.reduce(each.ravel()) - np.log(len(each))),
        "fault": fault,
    }


def summarise(cells: pl.DataFrame) -> pl.DataFrame:
    """`HeldOut.table` of `HeldOut.cells`; every method has the same combinations in the same order."""
    by = {str(name): part.sort(PLAYERS) for (name,), part in cells.group_by("method", maintain_order=True)}
    games = next(iter(by.values()))["games"].to_numpy().astype(np.float64)
    scores = {name: part["log_score"].to_numpy() for name, part in by.items()}
    order = sorted(by, key=lambda name: -float(scores[name].sum()))
    weights, each = game_weights(len(games), DRAWS, 1), np.arange(len(games))
    rows = []
    for name in order:
        part, change = by[name], scores[name] - scores[order[0]]
        (score, score_lo, score_hi), (lead, lead_lo, lead_hi) = (
            estimate(share(values, games, each, weights), len(games), REAL) for values in (scores[name], change)
        )
        rate = part["mafia_wins"].to_numpy() / games
        predicted = part["predicted"].to_numpy()
        slope, intercept = calibration(part["mafia_wins"].to_numpy(), games, predicted)
        rows.append(
            {
                "method": name,
                "log_score": score,
                "log_score_lo": score_lo,
                "log_score_hi": score_hi,
                "difference": lead,
                "difference_lo": lead_lo,
                "difference_hi": lead_hi,
                "log_probability": float(part["log_probability"].to_numpy().mean()),
                "loo": part["loo"].mean(),
                "unsure": int((part["pareto_k"] > K_MOST).sum()),
                "rmse": float(np.sqrt(np.square(rate - predicted).mean())),
                "slope": slope,
                "intercept": intercept,
                "inside": float(part["inside"].to_numpy().mean()),
                "faults": part.filter("fault")["fold"].n_unique(),
            }
        )
    return pl.DataFrame(rows)


def calibration(wins: Array, games: Array, predicted: Array) -> tuple[float | None, float | None]:
    """(slope, intercept) of the logistic regression of single games on the logit of their predicted chance; None where
    predictions hardly differ (less than 0.5 on the logistic scale), or part wins from losses, so that no slope can be
    told.
    """
    x = logit(np.clip(predicted, 1e-6, 1 - 1e-6))
    if np.ptp(x) < LEAST_RANGE:
        return None, None
    design = np.column_stack([x, np.ones_like(x)])
    beta = np.array([1.0, 0.0])
    for _ in range(50):
        p = expit(design @ beta)
        curve = design.T @ (design * (games * p * (1 - p))[:, None])
        if np.linalg.eigvalsh(curve)[0] < FLAT:
            return None, None
        step = np.linalg.solve(curve, design.T @ (wins - games * p))
        beta = beta + step
        if np.abs(step).max() < 1e-9:
            break
    return float(beta[0]), float(beta[1])
