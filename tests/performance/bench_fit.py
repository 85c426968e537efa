"""How much faster the fit is than the paper's own parametrisation, in the same run: effective draws per second.

The paper's (Eq. 7): every m, d and v has a prior N(0, 2), nothing is fixed, draws are rescaled afterwards. Both run on
the 140 published cells with equal chains, draws, tuning and target acceptance. Effective draws are those of the worst
parameter. Those of the paper's parametrisation are counted twice: as sampled, which is what its published diagnostics
are (210 effective draws of 4,000, r-hat 1.0117), and after rescaling each draw by its own mean, which removes the two
flat directions from the draws, though not from the sampler's way.

Run: python tests/performance/bench_fit.py
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from liescope.benchmark.capability.backend import Mixing, Sample, Settings, load_pymc, mixing, sample
from liescope.benchmark.capability.identification import PARAMETERS, code
from liescope.benchmark.capability.model import PRIOR_SD, build, normalise
from liescope.benchmark.counting.tables import published_counts

REPEATS = 3


def papers_model(cells: Any, names: Any, index: Any) -> Any:
    """All 3I parameters free, as in the paper."""
    pm = load_pymc()
    with pm.Model() as model:
        m, d, v = (pm.Normal(name, 0.0, PRIOR_SD, shape=len(names[name])) for name in PARAMETERS)
        logit = v[index["v"]] * (m[index["m"]] - d[index["d"]])
        pm.Binomial("wins", n=cells["games"].to_numpy(), logit_p=logit, observed=cells["mafia_wins"].to_numpy())
    return model


def rescaled(drawn: Sample) -> dict[str, Any]:
    return dict(zip(PARAMETERS, normalise(*(drawn.values[name] for name in PARAMETERS)), strict=True))


def bench_fit() -> None:
    cells = published_counts()
    names, index = code(cells)
    kinds: dict[str, tuple[Any, Settings]] = {
        "ours, nutpie": (build, Settings()),
        "paper's, nutpie": (papers_model, Settings()),
        "ours, pymc": (build, Settings(sampler="pymc")),
        "paper's, pymc": (papers_model, Settings(sampler="pymc")),
    }
    rows: dict[str, tuple[Sample, Mixing]] = {}
    for kind, (make, settings) in kinds.items():
        for seed in range(1, REPEATS + 1):  # the last counts: the first pays for what a process compiles only once
            drawn = sample(lambda make=make: make(cells, names, index), PARAMETERS, replace(settings, seed=seed))
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
