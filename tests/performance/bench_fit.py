"""How much faster the fit is than the paper's own parametrisation, in the same run: effective draws per second.

The paper's (Eq. 7): every m, d and v has a prior N(0, 2), nothing is fixed, draws are rescaled afterwards. Both run on
the 140 published cells with equal chains, draws, tuning and target acceptance. Effective draws are those of the worst
parameter. Those of the paper's parametrisation are counted twice: as sampled, which is what its published diagnostics
are (210 effective draws of 4,000, r-hat 1.0117), and after rescaling each draw by its own mean, which removes the two
flat directions from the draws, though not from the sampler's way.

Run: python tests/performance/bench_fit.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liescope.benchmark.capability.backend import Mixing, Sample, Sampler, Settings, load_pymc, mixing
from liescope.benchmark.capability.identification import PARAMETERS
from liescope.benchmark.capability.model import PRIOR_SD, Shape, build, code_rows, data, normalise, shape_of
from liescope.benchmark.capability.variants import PAPER
from liescope.benchmark.counting.tables import published_counts

REPEATS = 3


def papers_model(shape: Shape) -> Any:
    """All 3I parameters free, as in the paper."""
    pm = load_pymc()
    with pm.Model() as model:
        wins, games = (pm.Data(name, np.zeros(1, np.int64)) for name in ("wins", "games"))
        m, d, v = (
            pm.Normal(name, 0.0, PRIOR_SD, shape=size)[pm.Data(f"{name}_of", np.zeros(1, np.int64))]
            for name, size in shape.sizes
        )
        pm.Binomial("counts", n=games, logit_p=v * (m - d), observed=wins)
    return model


def rescaled(drawn: Sample) -> dict[str, Any]:
    return dict(zip(PARAMETERS, normalise(*(drawn.values[name] for name in PARAMETERS)), strict=True))


def bench_fit() -> None:
    cells = published_counts()
    names, index = code_rows(cells, PAPER)
    shape, counted = shape_of(names, PAPER), data(cells, index)
    kinds: dict[str, tuple[Any, str]] = {
        "ours, nutpie": (build, "nutpie"),
        "paper's, nutpie": (papers_model, "nutpie"),
        "ours, pymc": (build, "pymc"),
        "paper's, pymc": (papers_model, "pymc"),
    }
    rows: dict[str, tuple[Sample, Mixing]] = {}
    for kind, (make, sampler) in kinds.items():
        for seed in range(1, REPEATS + 1):  # the last counts: the first pays for what a process compiles only once
            made = Sampler(lambda make=make: make(shape), PARAMETERS, sampler)
            drawn = made.sample(Settings(), counted, seed)
        rows[kind] = drawn, mixing(drawn.values)
        if make is papers_model:
            rows[f"{kind}, rescaled"] = drawn, mixing(rescaled(drawn))
    print(
        f"\n{'':26} {'r-hat':>7} {'ESS':>6} {'divergent':>9} {'compile s':>9} {'sample s':>8} {'ESS/s':>7} {'with':>7}"
    )
    for kind, (drawn, mixed) in rows.items():
        whole = drawn.compiling + drawn.sampling
        print(
            f"{kind:26} {mixed.r_hat_max:7.4f} {mixed.ess_bulk_min:6.0f} {drawn.divergences:9d} {drawn.compiling:9.2f} "
            f"{drawn.sampling:8.2f} {mixed.ess_bulk_min / drawn.sampling:7.0f} {mixed.ess_bulk_min / whole:7.0f}"
        )
    for sampler in ("nutpie", "pymc"):
        ours, theirs = rows[f"ours, {sampler}"], rows[f"paper's, {sampler}"]
        after = rows[f"paper's, {sampler}, rescaled"]
        print(
            f"{sampler}, effective draws per second, ours over the paper's: {ratio(ours, theirs, False):.1f}, with "
            f"compilation {ratio(ours, theirs, True):.1f}; over its rescaled draws {ratio(ours, after, False):.1f}, "
            f"with compilation {ratio(ours, after, True):.1f}"
        )


def ratio(one: tuple[Sample, Mixing], two: tuple[Sample, Mixing], compiling: bool) -> float:
    """Effective draws per second of one, divided by those of two."""
    rates = [mixed.ess_bulk_min / (drawn.sampling + compiling * drawn.compiling) for drawn, mixed in (one, two)]
    return rates[0] / rates[1]


if __name__ == "__main__":
    bench_fit()
