"""Whether known scores come back from what `fit` reports: the default model, sampled with the settings of the command.

Truths are not drawn from the model's priors: heavy-tailed, skewed, in two clusters, correlated, with one weak detective
or with one villager who follows the worse speaker; their spreads are about those of the ten published models, drawn
anew for each data set. Estimates are posterior means, regressed on the truth after the same normalisation (mean m of 0,
mean v of 1, mean b of 0). Beside them stand the mode and the means of `paper`. Where a fit calls a model the best,
the truth says whether it is.

Run: python tests/performance/bench_recovery.py RESULTS.jsonl
It appends a line for each data set that the file does not hold yet, and prints the table of all that it holds.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.density import Density
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import DEFAULT, PAPER
from liescope.benchmark.capability.posterior import sampled
from liescope.benchmark.capability.results import chances_of_first, settled
from tests.performance.bench_calibration import background, cube, play

SHAPES = ("heavy", "skewed", "clusters", "correlated", "weak detective", "negative villager")
DESIGNS = ("full 10 x 100", "background 10 x 5 x 100", "background 30 x 5 x 50", "random 10 x 150 x 50")
RHOS = (0.0, 0.02)
SETS = 12
SEED = 40
PARAMETERS = ("m", "d", "v", "b")


def shaped(random: np.random.Generator, shape: str, size: int) -> Array:
    """Numbers of mean 0 and variance 1, in expectation."""
    if shape == "heavy":
        return np.asarray(random.standard_t(4, size) / np.sqrt(2))
    if shape == "skewed":
        return np.asarray(random.exponential(1, size) - 1)
    if shape == "clusters":
        return np.asarray((random.choice([-1, 1], size) + random.normal(0, 0.3, size)) / np.sqrt(1.09))
    return np.asarray(random.normal(0, 1, size))


def planted(random: np.random.Generator, shape: str, models: int, rho: float) -> dict[str, Array]:
    """Scores of spreads about those that the paper printed, on the scale of a fit."""
    spreads = random.uniform((0.3, 0.35, 0.4, 0.15), (0.6, 0.7, 0.8, 0.4))
    means = (0.0, random.normal(0.4, 0.3), 1.0, random.normal(0, 0.3))
    common = random.normal(0, 1, models) if shape == "correlated" else 0.0
    m, d, v, b = (
        mean + spread * (0.8 * common + (0.6 if shape == "correlated" else 1.0) * shaped(random, shape, models))
        for mean, spread in zip(means, spreads, strict=True)
    )
    if shape == "weak detective":
        d[0] = d.mean() - 3 * spreads[1]
    if shape == "negative villager":
        v[0] = -0.7
    m, d, v = m * v.mean(), d * v.mean(), v / v.mean()
    truth = {"m": m - m.mean(), "d": d - m.mean() - b.mean(), "v": v, "b": b - b.mean() * v}
    return truth if not rho else {**truth, "rho": np.array([rho])}


def rows_of(design: str, random: np.random.Generator) -> pl.DataFrame:
    """The combinations of a design, nothing won yet."""
    kind, *sizes = design.replace(" x ", " ").split()
    models = int(sizes[0])
    rows = cube(models, int(sizes[-1]))
    if kind == "random":
        return rows.sample(int(sizes[1]), seed=int(random.integers(2**31))).sort(PLAYERS)
    if kind == "full":
        return rows
    return background(models, *map(int, sizes[1:]))


def recover(design: str, rho: float, number: int, settings: SamplerOptions | None = None) -> dict[str, Any]:
    """One data set: by parameter the truth, the posterior means, their intervals and deviations, and the mode."""
    settings = settings or SamplerOptions()
    random = np.random.default_rng([SEED, number, DESIGNS.index(design), round(1000 * rho)])
    rows = rows_of(design, random)
    truth = planted(random, SHAPES[number % len(SHAPES)], rows["mafioso"].n_unique(), rho)
    played = play(random, rows, truth)
    begin = time.process_time()
    posterior = sampled(played, DEFAULT, settings.model_copy(update={"seed": number + 1}))
    seconds = time.process_time() - begin
    density = Density(played, DEFAULT)
    modes = density.parameters(np.zeros(density.dimensions))
    published = sampled(played, PAPER, settings).flat()
    found, best = {}, []
    for name in PARAMETERS:
        draws = posterior.flat()[name]
        lo, hi = np.quantile(draws, (0.025, 0.975), axis=0)
        values = (truth[name], draws.mean(axis=0), draws.std(axis=0), lo, hi, modes[name])
        if name in published:
            values += (published[name].mean(axis=0),)
            if (named := settled(chances_of_first(draws))) is not None:
                best.append(named == int(truth[name].argmax()))
        found[name] = [np.round(value, 4).tolist() for value in values]
    sds = {name: round(float(draws.mean()), 4) for name, draws in posterior.sds.items()}
    diagnostics = posterior.diagnostics
    return {
        "design": design, "rho": rho, "number": number, "cells": played.height, "faults": list(posterior.faults),
        "near": diagnostics.near, "ess": diagnostics.ess_bulk_min, "seconds": seconds, "sds": sds, "found": found,
        "shape": SHAPES[number % len(SHAPES)], "best": [bool(right) for right in best],
    }  # fmt: skip


def results(path: Path) -> list[dict[str, Any]]:
    """The data sets that the file holds."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def slope(x: Array, y: Array) -> float:
    """Of y regressed on x."""
    return float(np.cov(x, y)[0, 1] / x.var(ddof=1))


def summary(sets: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """By parameter: the mean slope of estimates on the truth and the median of the truth on estimates (1 where they are
    calibrated), the share of intervals that hold the truth, and the root mean square errors of the posterior mean, of
    the mode and of the means of `paper`.
    """
    table = {}
    for name in PARAMETERS:
        parts: dict[str, list[Any]] = defaultdict(list)
        for one in sets:
            truth, mean, _, lo, hi, *others = map(np.array, one["found"][name])
            parts["slope"].append(slope(truth, mean))
            parts["back"].append(slope(mean, truth))
            parts["inside"].append(np.mean((lo <= truth) & (truth <= hi)))
            for kind, estimate in zip(("rmse", "mode", "paper"), (mean, *others), strict=False):
                parts[kind].append(np.square(estimate - truth).mean())
        table[name] = {
            kind: float({"slope": np.mean, "inside": np.mean, "back": np.median}.get(kind, _root_mean)(values))
            for kind, values in parts.items()
        }
    return table


def _root_mean(squares: list[Any]) -> Any:
    return np.sqrt(np.mean(squares))


def report(path: Path) -> None:
    """Print the table of all data sets in the file, by design and by shape of the truth."""
    print("For each of m, d, v, b: slope, and back; 95% intervals that hold; RMSE, of the mode, and of `paper`")
    print(f"{'':25}{'rho':>5}{'sets':>5}{'faulty':>7}{'CPU s':>6} best" + "".join(f"{name:^36}" for name in PARAMETERS))
    for keys in (("design", "rho"), ("shape",)):
        groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
        for one in results(path):
            groups[tuple(one[key] for key in keys)].append(one)
        for (name, *rho), sets in sorted(groups.items()):
            faulty, seconds = sum(not one["near"] for one in sets), np.mean([one["seconds"] for one in sets])
            best = [right for one in sets for right in one["best"]]
            cells = (
                f"  {row['slope']:5.2f} {row['back']:4.2f} {row['inside']:6.1%} {row['rmse']:.2f} {row['mode']:.2f} "
                f"{row.get('paper', np.nan):4.2f}  "
                for row in summary(sets).values()
            )
            print(
                f"{name:25}{''.join(map(str, rho)):>5}{len(sets):5}{faulty:7}{seconds:6.1f} {sum(best)}/{len(best)}"
                + "".join(cells)
            )


def bench_recovery(path: Path) -> None:
    """Fit what the file lacks."""
    done = {(one["design"], one["rho"], one["number"]) for one in results(path)}
    for number, rho, design in product(range(SETS), RHOS, DESIGNS):
        if (design, rho, number) not in done:
            line = json.dumps(recover(design, rho, number))
            with path.open("a") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    file = Path(sys.argv[1] if len(sys.argv) > 1 else "recovery.jsonl")
    bench_recovery(file)
    report(file)
