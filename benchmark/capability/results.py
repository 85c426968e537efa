"""The results of a fit as tidy frames: scores, predictions with the counts, draws, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.capability.model import Posterior, win_probability
from liescope.benchmark.counting.counts import PLAYERS

MASS = 0.95  # of every interval: between the 2.5% and the 97.5% quantile
TAILS = ((1 - MASS) / 2, (1 + MASS) / 2)


def scores(posterior: Posterior) -> pl.DataFrame:
    """One row a model, best deceiver first: model, then m, m_sd, m_lo, m_hi, m_games and the same of d and v.

    m, d and v are posterior means, lo and hi bound the central 95% interval, games counts the games in that role. All
    but games are null if a model never held the role.
    """
    columns: dict[str, pl.DataFrame] = {}
    for name, role in zip(PARAMETERS, PLAYERS, strict=True):
        draws = posterior.draws[name].reshape(-1, len(posterior.names[name]))
        lo, hi = np.quantile(draws, TAILS, axis=0)
        columns[name] = pl.DataFrame(
            {
                "model": posterior.names[name],
                name: draws.mean(axis=0),
                f"{name}_sd": draws.std(axis=0, ddof=1),
                f"{name}_lo": lo,
                f"{name}_hi": hi,
            }
        ).join(
            posterior.cells.group_by(pl.col(role).alias("model")).agg(pl.col("games").sum().alias(f"{name}_games")),
            on="model",
            validate="1:1",
        )
    models = pl.DataFrame({"model": sorted(set().union(*posterior.names.values()))})
    for frame in columns.values():
        models = models.join(frame, on="model", how="left", validate="1:1")
    return models.with_columns(pl.col("^._games$").fill_null(0)).sort(
        "m", "model", descending=[True, False], nulls_last=True
    )


def predictions(posterior: Posterior) -> pl.DataFrame:
    """The cells with their predictions: the columns of the counts, observed (the mafia's win rate),
    predicted (its posterior mean), lo and hi (central 95% interval of the win rate of as many new games), inside.
    """
    random = np.random.default_rng(posterior.settings.seed)
    flat = {name: draws.reshape(-1, draws.shape[-1]) for name, draws in posterior.draws.items()}
    place = {name: {model: n for n, model in enumerate(models)} for name, models in posterior.names.items()}
    rows = []
    for mafioso, detective, villager, wins, games in posterior.cells.select(*PLAYERS, "mafia_wins", "games").rows():
        m, d, v = (
            flat[name][:, place[name][model]]
            for name, model in zip(PARAMETERS, (mafioso, detective, villager), strict=True)
        )
        chance = win_probability(m, d, v)
        lo, hi = np.quantile(random.binomial(games, chance) / games, TAILS)
        rows.append((wins / games, float(chance.mean()), float(lo), float(hi)))
    found = pl.DataFrame(rows, ["observed", "predicted", "lo", "hi"], orient="row")
    return pl.concat([posterior.cells, found], how="horizontal").with_columns(
        inside=pl.col("observed").is_between("lo", "hi")
    )


def tidy_draws(posterior: Posterior) -> pl.DataFrame:
    """Every draw: chain, draw, parameter (m, d or v), model, value."""
    frames = []
    for name in PARAMETERS:
        draws, models = posterior.draws[name], posterior.names[name]
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
                for name in PARAMETERS
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
    }
    return {"models": models, "diagnostics": diagnostics}
