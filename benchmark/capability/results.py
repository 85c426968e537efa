"""The results of a fit as tidy frames: scores, predictions with the counts, draws, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.told import uncertainty_left
from liescope.benchmark.counting.counts import PLAYERS, tally

Counted = npt.NDArray[np.int64]
MASS = 0.95  # of every interval: between the 2.5% and the 97.5% quantile
TAILS = ((1 - MASS) / 2, (1 + MASS) / 2)


def scores(posterior: Posterior) -> pl.DataFrame:
    """One row a model, highest m first: model, then m, m_sd, m_lo, m_hi, m_games and the same of d, v, and of the
    villager's offset b where the model has one.

    They are posterior means, lo and hi bound the central 95% interval, games counts the games in that role. All
    but games are null if a model never held the role, if the games do not tell its score (`Posterior.unidentified`), or
    the fitted model has no such parameter.
    """
    models = pl.DataFrame({"model": sorted({model for name in PARAMETERS for model in posterior.names[name]})})
    for name, role in {**dict(zip(PARAMETERS, PLAYERS, strict=True)), "b": "villager"}.items():
        if name not in PARAMETERS and name not in posterior.draws:
            continue
        held = posterior.cells.group_by(pl.col(role).alias("model")).agg(pl.col("games").sum().alias(f"{name}_games"))
        found = held.join(_summary(name, posterior), on="model", how="left", validate="1:1")
        columns = ["model", name, *(f"{name}_{end}" for end in ("sd", "lo", "hi", "games"))]
        models = models.join(found.select(columns), on="model", how="left", validate="1:1")
    return models.with_columns(pl.col("^._games$").fill_null(0)).sort(
        "m", "model", descending=[True, False], nulls_last=True
    )


def _summary(name: str, posterior: Posterior) -> pl.DataFrame:
    """model and the mean, sd, lo and hi of one parameter; no rows where the fitted model lacks it."""
    schema = {"model": pl.String, name: pl.Float64, **{f"{name}_{end}": pl.Float64 for end in ("sd", "lo", "hi")}}
    if name not in posterior.draws:
        return pl.DataFrame(schema=schema)
    draws = posterior.flat()[name]
    lo, hi = np.quantile(draws, TAILS, axis=0)
    values = posterior.names[name], draws.mean(axis=0), draws.std(axis=0, ddof=1), lo, hi
    untold = posterior.unidentified().get(name, ())
    return pl.DataFrame(dict(zip(schema, values, strict=True)), schema).filter(~pl.col("model").is_in(untold))


DRAWN_GAMES = 2000  # draws used to predict; more cost time and change no second decimal
AT_ONCE = 500  # combinations; with 2,000 draws an array of them takes 8 MB


def predictions(posterior: Posterior) -> pl.DataFrame:
    """The combinations with their predictions: the columns of the counts, observed (the mafia's win rate),
    predicted (its posterior mean), lo and hi (central 95% interval of the win rate of as many new games), inside.
    """
    return predicted_cells(posterior, posterior.rows)


def predicted_cells(posterior: Posterior, rows: pl.DataFrame) -> pl.DataFrame:
    """`predictions` for other rows of the same shape, which the fit need not have seen."""
    random = np.random.default_rng(posterior.settings.seed)
    rho = posterior.rho(DRAWN_GAMES)
    found = []
    for part, starts in blocks(rows):
        chances, games, cells = posterior.chances(part, DRAWN_GAMES), part["games"].to_numpy(), tally(part)
        totals = cells["games"].to_numpy()
        rates = np.add.reduceat(replicate(random, games, chances, rho), starts, axis=1) / totals
        lo, hi = np.quantile(rates, TAILS, axis=0)
        mean = np.add.reduceat(chances.mean(axis=0) * games, starts) / totals
        observed = pl.col("mafia_wins") / pl.col("games")
        found.append(cells.with_columns(observed=observed, predicted=mean, lo=lo, hi=hi))
    return pl.concat(found).with_columns(inside=pl.col("observed").is_between("lo", "hi"))


def blocks(rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, Counted]]:
    """The rows, sorted by combination, some at a time, so that no array of draws holds them all; and at which row of
    the block each of its combinations begins.
    """
    rows = rows.sort(PLAYERS)
    starts = rows.select(pl.struct(PLAYERS).is_first_distinct().arg_true()).to_series().to_numpy().astype(np.int64)
    for begin, end in pairwise([*starts[::AT_ONCE], rows.height]):
        yield rows[int(begin) : int(end)], starts[(starts >= begin) & (starts < end)] - begin


def replicate(random: np.random.Generator, games: Counted, chances: Array, rho: Array) -> Counted:
    """Wins of as many new games, shape (draws, rows). chances: same shape; rho: shape (draws, 1), 0 for binomial."""
    if rho.any():
        p = np.clip(chances, 1e-9, 1 - 1e-9)
        strength = (1 - rho) / np.maximum(rho, 1e-9)
        chances = random.beta(p * strength, (1 - p) * strength)
    return random.binomial(games, chances)


def tidy_draws(posterior: Posterior) -> pl.DataFrame:
    """Every draw: chain, draw, parameter, model (of a shift: its level), value."""
    frames = []
    for name, models in posterior.names.items():
        draws = posterior.draws.get(name)
        if draws is None:
            continue
        chain, draw, model = (axis.ravel() for axis in np.indices(draws.shape, dtype=np.int32))
        frames.append(
            pl.DataFrame(
                {"chain": chain, "draw": draw, "model": np.array(models)[model], "value": draws.ravel()}
            ).select("chain", "draw", pl.lit(name).alias("parameter"), "model", "value")
        )
    return pl.concat(frames)


def stacked(frames: Mapping[str, pl.DataFrame], several: bool) -> pl.DataFrame:
    """The frames of all conditions as one, with the column condition in front where there are several."""
    if not several:
        return next(iter(frames.values()), pl.DataFrame())
    parts = [frame.select(pl.lit(name).alias("condition"), pl.all()) for name, frame in frames.items()]
    return pl.concat(parts) if parts else pl.DataFrame()


def to_json(table: pl.DataFrame, posterior: Posterior) -> dict[str, Any]:
    """The fixed JSON of `fit --json`; table: `scores(posterior)`. A role that a model never held is null."""
    models = [
        {
            "model": row["model"],
            **{
                name: None
                if row[name] is None
                else {"mean": row[name], "sd": row[f"{name}_sd"], "lo": row[f"{name}_lo"], "hi": row[f"{name}_hi"]}
                for name in (*PARAMETERS, "b")
                if name in row
            },
        }
        for row in table.iter_rows(named=True)
    ]
    found = posterior.diagnostics
    diagnostics = {
        "r_hat_max": found.r_hat_max,
        "ess_bulk_min": found.ess_bulk_min,
        "divergences": found.divergences,
        "draws": found.draws,
        "chains": found.chains,
        "seconds": found.seconds,
        "faults": list(posterior.faults),
    }
    left = uncertainty_left(posterior)
    return {"variant": posterior.variant.name, "models": models, "left": left, "diagnostics": diagnostics}
