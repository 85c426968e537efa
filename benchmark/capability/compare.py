"""Two fits side by side: with and without drawn votes, and one condition against another."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import TAILS, scores
from liescope.benchmark.counting.counts import PLAYERS
from liescope.common.statistics import newcombe

DIFFERENCES = pl.Schema(
    {
        "one": pl.String,
        "other": pl.String,
        "model": pl.String,
        "parameter": pl.String,
        "difference": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
    }
)
WIN_RATES = pl.Schema(
    {
        "one": pl.String,
        "other": pl.String,
        **dict.fromkeys(PLAYERS, pl.String),
        "rate_one": pl.Float64,
        "games_one": pl.Int64,
        "rate_other": pl.Float64,
        "games_other": pl.Int64,
        "difference": pl.Float64,
        "lo": pl.Float64,
        "hi": pl.Float64,
    }
)


def beside(kept: Posterior, left_out: Posterior) -> pl.DataFrame:
    """One row for each model and parameter: model, parameter, kept, kept_lo, kept_hi, left_out, left_out_lo,
    left_out_hi: posterior means and central 95% intervals, null if the model never held the role.
    """
    parts = []
    for name in PARAMETERS:
        one, other = (_scores(posterior, name, side) for side, posterior in (("kept", kept), ("left_out", left_out)))
        parts.append(one.join(other, on="model", how="left").with_columns(parameter=pl.lit(name)))
    table = pl.concat(parts).sort("model", "parameter")
    return table.select("model", "parameter", pl.all().exclude("model", "parameter"))


def _scores(posterior: Posterior, name: str, side: str) -> pl.DataFrame:
    """One parameter of the models that held its role: model, and mean, lo and hi under the name of the side."""
    ends = (pl.col(f"{name}_{end}").alias(f"{side}_{end}") for end in ("lo", "hi"))
    return scores(posterior).drop_nulls(name).select("model", pl.col(name).alias(side), *ends)


def against_each_other(posteriors: Mapping[str, Posterior]) -> pl.DataFrame:
    """The differences of m, d and v between every two conditions in which the same models hold a parameter's role:
    columns of DIFFERENCES, one minus other, posterior mean and central 95% interval of independent draws.

    Every fit has its own zero and unit (mean m is 0, mean v is 1), so a difference says how a model's place among these
    models changes; whether all of them change together is for the win rates to say.
    """
    rows = []
    for (one, first), (other, second) in combinations(posteriors.items(), 2):
        if any(first.names[name] != second.names[name] for name in ("m", "v")):
            continue
        for name in PARAMETERS:
            if first.names[name] != second.names[name] or not {name} <= first.draws.keys() & second.draws.keys():
                continue
            draws = [posterior.draws[name].reshape(-1, len(first.names[name])) for posterior in (first, second)]
            size = min(len(sample) for sample in draws)
            change = draws[0][:size] - _mixed(draws[1])[:size]
            lo, hi = np.quantile(change, TAILS, axis=0)
            for at, model in enumerate(first.names[name]):
                rows.append((one, other, model, name, float(change[:, at].mean()), float(lo[at]), float(hi[at])))
    return pl.DataFrame(rows, DIFFERENCES, orient="row")


def _mixed(draws: Array) -> Array:
    """The draws in random order. Two samples with one seed run in parallel; paired in order, their differences would be
    too small.
    """
    return draws[np.random.default_rng(0).permutation(len(draws))]


def win_rate_differences(cells: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The mafia's win rate in one condition minus that in another, for each combination of players that both have:
    columns of WIN_RATES, Newcombe's 95% interval.
    """
    rows = []
    for (one, first), (other, second) in combinations(cells.items(), 2):
        for row in first.join(second, on=PLAYERS, suffix="_other").sort(PLAYERS).iter_rows(named=True):
            wins, games = row["mafia_wins"], row["games"]
            wins_other, games_other = row["mafia_wins_other"], row["games_other"]
            rates = wins / games, wins_other / games_other
            bounds = newcombe(wins, games, wins_other, games_other)
            names = (row[name] for name in PLAYERS)
            rows.append((one, other, *names, rates[0], games, rates[1], games_other, rates[0] - rates[1], *bounds))
    return pl.DataFrame(rows, WIN_RATES, orient="row")
