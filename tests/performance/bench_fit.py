"""How much faster the fit is than the paper's own parametrisation, in the same run: effective draws per CPU second.

The paper's (Eq. 7): every m, d and v has a prior N(0, 2), nothing is fixed, draws are rescaled afterwards. Both run on
the 140 published cells with equal chains, draws, tuning and target acceptance. Effective draws are those of the worst
parameter. Those of the paper's parametrisation are counted twice: as sampled, which is what its published diagnostics
are (210 effective draws of 4,000, r-hat 1.0117), and after rescaling each draw by its own mean, which removes the two
flat directions from the draws, though not from the sampler's way.

Run: python tests/performance/bench_fit.py
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from liescope.benchmark.capability.backend import Mixing, Settings, load_pymc, mixing, sample
from liescope.benchmark.capability.count_sources import published_counts
from liescope.benchmark.capability.density import Density
from liescope.benchmark.capability.model import PRIOR_SD
from liescope.benchmark.capability.variants import PAPER, PARAMETERS, Variant, code, variant

REPEATS = 2  # the last counts: the first pays for what a process compiles only once


def papers() -> tuple[Mixing, Mixing, float]:
    """All 3I parameters free, as in the paper: as sampled, after rescaling, CPU seconds."""
    pm = load_pymc()
    cells = published_counts()
    names, index = code(cells)
    with pm.Model() as model:
        m, d, v = (pm.Normal(name, 0.0, PRIOR_SD, shape=len(names[name]))[index[name]] for name in PARAMETERS)
        pm.Binomial("counts", n=cells["games"].to_numpy(), logit_p=v * (m - d), observed=cells["mafia_wins"].to_numpy())
    import nutpie

    compiled, settings = nutpie.compile_pymc_model(model), Settings()
    begin = time.process_time()
    trace = nutpie.sample(
        compiled, draws=settings.draws, tune=settings.tune, chains=settings.chains, seed=settings.seed,
        target_accept=settings.target_accept, progress_bar=False,
    )  # fmt: skip
    seconds = time.process_time() - begin
    drawn = {name: np.asarray(trace["posterior"][name].values) for name in PARAMETERS}
    m, d, v = drawn.values()
    unit, zero = v.mean(axis=-1, keepdims=True), m.mean(axis=-1, keepdims=True)
    rescaled = {"m": (m - zero) * unit, "d": (d - zero) * unit, "v": v / unit}
    return mixing(drawn), mixing(rescaled), seconds


def ours(chosen: Variant, sampler: str) -> tuple[Mixing, float]:
    """A fit of the published cells, with what comes before its first draw; CPU seconds of this process."""
    begin = time.process_time()
    density = Density(published_counts(), chosen)
    drawn = sample(density, Settings(sampler=sampler))
    seconds = time.process_time() - begin
    return mixing(density.parameters(drawn.points)), seconds


def bench_fit() -> None:
    rows: dict[str, tuple[Mixing, float]] = {}
    for _ in range(REPEATS):
        for name in (PAPER.name, "offset+dispersion"):
            rows[f"{name}, ours"] = ours(variant(name), "nutpie")
        raw, rescaled, seconds = papers()
        rows |= {"the paper's": (raw, seconds), "the paper's, rescaled": (rescaled, seconds)}
    print(f"{'':26} {'r-hat':>7} {'ESS':>6} {'CPU s':>7} {'ESS/s':>7}")
    for kind, (mixed, seconds) in rows.items():
        figures: Any = mixed.r_hat_max, mixed.ess_bulk_min
        print(f"{kind:26} {figures[0]:7.4f} {figures[1]:6.0f} {seconds:7.2f} {figures[1] / seconds:7.0f}")


if __name__ == "__main__":
    bench_fit()
