"""Whether the fit says what it knows: simulation-based calibration.

Calibration (Talts et al. 2018): parameters drawn from the priors that `liescope.benchmark.capability.model` states,
counts drawn from the parameters, and a fit of the counts. Where sampler, priors and likelihood are right, the rank of a
true value among its draws is uniform, and p% intervals hold it in p% of the data sets. Uniformity is tested by the
envelope of their distribution function (Säilynoja et al. 2022); the log likelihood is ranked as well, since it tells of
errors that single parameters do not show (Modrák et al. 2023).

Run: python tests/performance/bench_calibration.py
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit
from scipy.stats import betabinom, binom

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import SCHEMA, tally
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import Variant, variant
from liescope.benchmark.capability.posterior import sampled
from liescope.generate.runs.plan_games import designed

Ranks = npt.NDArray[np.int64]
LIKELIHOOD = "log likelihood"
SIMULATED = 2000
KEPT = 99  # draws that a true value is ranked among: thinned, so that they are nearly independent
MASSES = (0.5, 0.8, 0.95)
SHORT = SamplerOptions(draws=500, tune=500, chains=2)


def cube(models: int, games: int) -> pl.DataFrame:
    """Every combination of the models, nothing won yet."""
    rows = [(*key, 0, games) for key in product([f"model-{n:02}" for n in range(models)], repeat=3)]
    return tally(pl.DataFrame(rows, SCHEMA, orient="row"))


def background(models: int, backgrounds: int, games: int) -> pl.DataFrame:
    """The combinations of a background design, nothing won yet."""
    rows = cube(models, games)
    names = sorted(set(rows["mafioso"]))
    cells = pl.DataFrame(designed("background", PLAYERS, names, names[:backgrounds]), list(PLAYERS), orient="row")
    return rows.join(cells, on=PLAYERS, how="semi", maintain_order="left")


def from_priors(random: np.random.Generator, variant: Variant, models: int) -> dict[str, Array]:
    """Parameters of a model of the family, drawn from the priors that its documentation states."""

    def zero_sum() -> Array:
        values = random.normal(0, random.rayleigh() if variant.dispersed else 2, models)
        return np.asarray(values - values.mean())

    mean = random.normal(0, 2 if variant.dispersed else 2 / np.sqrt(models))
    truth = {"m": zero_sum(), "d": mean + zero_sum()}
    truth["v"] = 1 + zero_sum()
    if variant.offset:
        truth["b"] = zero_sum() + random.normal(0, 0.5) * (truth["v"] - 1)
    if variant.dispersed:
        truth["rho"] = random.beta(1, 19, 1)
    return truth


def chances(rows: pl.DataFrame, parameters: Mapping[str, Array]) -> Array:
    """The formula, with the models in sorted order; parameters: shape (names), or (draws, names) for (draws, rows)."""
    order = sorted(set(rows["mafioso"]))
    i, j, k = (np.array([order.index(model) for model in rows[role]]) for role in PLAYERS)
    logit = parameters["v"][..., k] * (parameters["m"][..., i] - parameters["d"][..., j])
    if "b" in parameters:
        logit = logit + parameters["b"][..., k]
    return np.asarray(expit(logit))


def play(random: np.random.Generator, rows: pl.DataFrame, truth: Mapping[str, Array]) -> pl.DataFrame:
    """The rows with counts drawn from the parameters."""
    p = np.clip(chances(rows, truth), 1e-9, 1 - 1e-9)
    if "rho" in truth:
        strength = (1 - truth["rho"]) / truth["rho"]
        p = random.beta(p * strength, (1 - p) * strength)
    return rows.with_columns(mafia_wins=random.binomial(rows["games"].to_numpy(), p).astype(np.int64))


def likelihood(rows: pl.DataFrame, parameters: Mapping[str, Array]) -> Array:
    """The log likelihood of the counts in each draw, shape (draws, 1) for parameters of shape (draws, names)."""
    p = chances(rows, parameters)
    p = np.clip(p, 1e-9, 1 - 1e-9)
    wins, games = (rows[name].to_numpy() for name in ("mafia_wins", "games"))
    if "rho" in parameters:
        strength = (1 - parameters["rho"]) / np.maximum(parameters["rho"], 1e-9)
        each = betabinom.logpmf(wins, games, p * strength, (1 - p) * strength)
    else:
        each = binom.logpmf(wins, games, p)
    return np.asarray(each.sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Calibration:
    """Of many data sets. ranks: by parameter, shape (data sets, names), from 0 to KEPT; held: by parameter, whether
    each interval of MASSES holds the truth, shape (data sets, masses, names). usable: of each data set, whether `fit`
    would show its sample; faults: how many had not converged by the standard of a result, apart from effective draws,
    of which short chains have few.
    """

    ranks: dict[str, Ranks]
    held: dict[str, npt.NDArray[np.bool_]]
    usable: npt.NDArray[np.bool_]
    faults: int
    seconds: float

    @property
    def uniform(self) -> dict[str, float]:
        """By parameter, the p-value of its least uniform ranks, times how many of them there are."""
        return {name: min(1.0, float(uniformity(ranks).min() * ranks.shape[1])) for name, ranks in self.ranks.items()}


def calibrate(
    rows: pl.DataFrame, variant: Variant, sets: int, settings: SamplerOptions = SHORT, seed: int = 1
) -> Calibration:
    """Draw parameters, draw counts for the combinations of the rows, fit, rank."""
    random = np.random.default_rng(seed)
    begin = time.perf_counter()
    ranks: dict[str, list[Ranks]] = defaultdict(list)
    held: dict[str, list[npt.NDArray[np.bool_]]] = defaultdict(list)
    usable, faults = [], 0
    for number in range(sets):
        truth = from_priors(random, variant, rows["mafioso"].n_unique())
        posterior = sampled(play(random, rows, truth), variant, settings.model_copy(update={"seed": number}))
        faults += any("ESS" not in fault for fault in posterior.faults)
        usable.append(posterior.diagnostics.near)
        drawn = posterior.flat()
        for values in (truth, drawn):
            values[LIKELIHOOD] = likelihood(posterior.rows, values)
        for name, value in truth.items():
            thinned = drawn[name][np.linspace(0, len(drawn[name]) - 1, KEPT).astype(np.int64)]
            ranks[name].append((thinned < value).sum(axis=0).ravel())
            ends = (np.quantile(drawn[name], ((1 - mass) / 2, (1 + mass) / 2), axis=0) for mass in MASSES)
            held[name].append(np.array([((lo <= value) & (value <= hi)).ravel() for lo, hi in ends]))
    return Calibration(
        {name: np.array(found) for name, found in ranks.items()},
        {name: np.array(found) for name, found in held.items()},
        np.array(usable),
        faults,
        time.perf_counter() - begin,
    )


def uniformity(ranks: Ranks) -> Array:
    """The p-value of each column of ranks, shape (data sets, names), by the simultaneous envelope of its distribution
    function: how often uniform ranks leave it as far, at their worst place (Säilynoja et al. 2022, algorithm 1).
    """
    drawn = np.random.default_rng(0).integers(0, KEPT + 1, (len(ranks), SIMULATED))
    return np.asarray((1 + (_furthest(drawn) <= _furthest(ranks)[:, None]).sum(axis=1)) / (1 + SIMULATED))


def _furthest(ranks: Ranks) -> Array:
    """The smallest pointwise p-value of the distribution function of each column."""
    sets, places = len(ranks), np.arange(KEPT)
    below = np.array([(ranks <= place).sum(axis=0) for place in places])
    counts, chance = np.arange(sets + 1), ((places + 1) / (KEPT + 1))[:, None]
    tails = np.minimum(binom.cdf(counts, sets, chance), binom.sf(counts - 1, sets, chance))
    return np.asarray(tails[places[:, None], below].min(axis=0))


def report_calibration(name: str, design: str, rows: pl.DataFrame, sets: int) -> None:
    found = calibrate(rows, variant(name), sets, SamplerOptions())
    print(
        f"\n{name}, {design}: {sets} data sets, {rows.height} combinations of {rows['games'][0]} games; "
        f"{found.faults} with faults, {sets - int(found.usable.sum())} not usable; {found.seconds:.0f} s\n"
        f"{'':16}{'envelope p':>11}  intervals that hold the truth (standard error)"
    )
    for parameter, inside in found.held.items():
        print(f"{parameter:16}{found.uniform[parameter]:11.3f}  {shares(inside)}")
        print(f"{'':27}  {shares(inside[found.usable])}  usable alone", flush=True)


def shares(inside: npt.NDArray[np.bool_]) -> str:
    """The share of intervals that hold the truth, its standard error from data set to data set."""
    share, error = inside.mean(axis=(0, 2)), inside.mean(axis=2).std(axis=0, ddof=1) / np.sqrt(len(inside))
    return "  ".join(f"{m:.0%}: {s:.1%} ({e:.1%})" for m, s, e in zip(MASSES, share, error, strict=True))


def bench_calibration(sets: int = 200) -> None:
    for name in ("offset+dispersion", "paper"):
        report_calibration(name, "five models, full", cube(5, 60), sets)
        report_calibration(name, "eight models, three backgrounds", background(8, 3, 40), sets)


if __name__ == "__main__":
    bench_calibration()
