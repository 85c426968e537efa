"""Effective draws per CPU second of our sampler and of PyMC's NUTS on the same density, in one run.

Three sizes of a background design, three data sets of each, both models. The settings are those of the command; PyMC's
chains are a fourth as long. An effective draw counts by the worst parameter, in bulk and tails.

Run: python tests/performance/bench_sampler.py
"""

from __future__ import annotations

import os
from itertools import product

import numpy as np

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.model import MODELS
from liescope.benchmark.capability.posterior import sampled
from tests.performance.bench_calibration import background, play
from tests.performance.bench_recovery import planted

SIZES = ((10, 100), (30, 50), (100, 50))
KINDS = ("heavy", "clusters", "skewed")


def bench_sampler() -> None:
    for (models, games), kind, (name, variant) in product(SIZES, KINDS, MODELS.items()):
        random = np.random.default_rng(models)
        rows = play(random, background(models, 5, games), planted(random, kind, models, 0.02))
        for settings in (SamplerOptions(), SamplerOptions(sampler="pymc", draws=250, tune=250)):
            begin = sum(os.times()[:4])  # PyMC samples in processes of its own
            found = sampled(rows, variant, settings).diagnostics
            seconds = sum(os.times()[:4]) - begin
            worst = min(found.ess_bulk_min, found.ess_tail_min)
            print(
                f"{models:4} models  {kind:9} {name:18} {settings.sampler:5} {seconds:7.1f} CPU s  "
                f"r-hat {found.r_hat_max:.4f}  effective {worst:6.0f}  a second {worst / seconds:8.1f}  "
                f"diverged {found.divergences}",
                flush=True,
            )


if __name__ == "__main__":
    bench_sampler()
