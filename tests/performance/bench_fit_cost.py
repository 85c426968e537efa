"""What a fit costs by the number of models, every combination of them played: seconds and memory of each step.

Each row is a process of its own, so that its memory is its own peak. Two chains run; many models get fewer draws, so
compare the milliseconds of a draw, tuning counted as draws: the command takes 8,000 of them. "Results" are predictions
and goodness of fit.

Run: python tests/performance/bench_fit_cost.py [MODELS ...]
Without numbers: 10 and 30. 100 models have 1,000,000 combinations.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.goodness import goodness
from liescope.benchmark.capability.posterior import Fitter
from liescope.benchmark.capability.results import predictions
from liescope.benchmark.capability.variants import check_identified, variant
from tests.performance.bench_calibration import cube, known, play

VARIANTS = ("paper", "offset+dispersion")
DRAWS = {10: 1000, 30: 200}  # of each of two chains, after as many of tuning
FEWEST = 20
GAMES = 50


def measure(name: str, models: int) -> None:
    """Fit once, and print a row."""
    random, chosen, draws = np.random.default_rng(1), variant(name), DRAWS.get(models, FEWEST)
    rows = play(random, cube(models, GAMES), known(random, chosen, models))
    clock = [time.perf_counter()]
    check_identified(rows, chosen)
    fitter = Fitter(rows, chosen, Settings(draws=draws, tune=draws, chains=2))
    clock.append(time.perf_counter())
    posterior = fitter.sample()
    clock.append(time.perf_counter())
    sampled = memory()
    predictions(posterior)
    goodness(posterior)
    clock.append(time.perf_counter())
    compiling, sampling, results = np.diff(clock)
    a_draw, rate = 1000 * sampling / (4 * draws), posterior.diagnostics.ess_bulk_min / sampling
    print(
        f"{name:18}{models:7}{rows.height:13}{draws:6}{compiling:11.1f}{sampling:10.1f}{a_draw:10.2f}{rate:8.1f}"
        f"{results:10.1f}{sampled:9.2f}{memory():8.2f}",
        flush=True,
    )


def memory() -> float:
    """The peak so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def bench_fit_cost(models: list[int]) -> None:
    print(
        f"{'model':18}{'models':>7}{'combinations':>13}{'draws':>6}{'compile s':>11}{'sample s':>10}{'ms/draw':>10}"
        f"{'ESS/s':>8}{'results s':>10}{'GB then':>9}{'GB':>8}"
    )
    for number in models:
        for name in VARIANTS:
            subprocess.run([sys.executable, __file__, name, str(number)], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in VARIANTS:
        measure(sys.argv[1], int(sys.argv[2]))
    else:
        bench_fit_cost([int(number) for number in sys.argv[1:]] or [10, 30])
