"""PyMC and ArviZ behind the capability model, and everything that differs between versions of their libraries.

PyMC 5 comes with ArviZ 0.x (InferenceData), PyMC 6 with ArviZ 1.x (DataTree). Both answer `trace["posterior"]["m"]`,
and both compute r-hat and effective sample sizes on a plain xarray Dataset; nothing else is used.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.common.errors import MissingExtra

Array = npt.NDArray[np.float64]
TAILS = (0.025, 0.975)
"""The bounds of every interval, as quantiles."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Points drawn from a density. points: shape (chains, draws, dimensions); heights: the log density of each, shape
    (chains, draws); energy: the Hamiltonian's, same shape; diverging: after tuning, same shape.
    """

    points: Array
    heights: Array
    energy: Array
    diverging: npt.NDArray[np.bool_]


def load(*names: str) -> ModuleType:
    """Import packages; the last of them. Raises MissingExtra if one is not installed."""
    with _quiet():
        for name in names:
            try:
                with suppress(FileNotFoundError):  # of two processes, one finds ArviZ's file with the day moved
                    import_module(name)
                module = import_module(name)
            except ModuleNotFoundError as error:
                raise MissingExtra(error.name or name, "bayes") from None
    return module


def sample(density: Any, settings: SamplerOptions) -> Sample:
    """Sample a `liescope.benchmark.capability.density.Density` with PyMC's NUTS, each chain starting from a draw of the
    normal distribution that its coordinates make it resemble; equal settings, densities and versions give equal draws.
    """
    import pymc

    random = np.random.default_rng(settings.seed)
    with _quiet(), pymc.Model():
        y = pymc.Flat("y", shape=density.dimensions)
        pymc.Potential("density", _height(density, y))
        trace = pymc.sample(
            **settings.model_dump(include={"draws", "tune", "chains", "target_accept"}),
            cores=min(settings.chains, os.cpu_count() or 1),
            random_seed=settings.seed,
            nuts_sampler="pymc",
            init="adapt_diag",
            initvals=[{"y": random.normal(size=density.dimensions)} for _ in range(settings.chains)],
            progressbar=False,
            compute_convergence_checks=False,
        )
        points, stats = np.asarray(trace["posterior"]["y"].values, dtype=np.float64), trace["sample_stats"]
        heights, energy, diverging = (np.asarray(stats[name].values) for name in ("lp", "energy", "diverging"))
    return Sample(points, heights, energy, diverging.astype(np.bool_))


def mixing(values: Mapping[str, Array]) -> tuple[float, float, float]:
    """(rank-normalised split r-hat, bulk and tail effective sample size; Vehtari et al. 2021), the worst of all
    parameters; NaN if a chain does not move. values: by variable, shape (chains, draws, size).
    """
    with _quiet():
        import arviz
        import xarray

        frame = xarray.Dataset({name: (("chain", "draw", f"{name}_index"), draws) for name, draws in values.items()})
        found = [arviz.rhat(frame), arviz.ess(frame, method="bulk"), arviz.ess(frame, method="tail")]
    r_hat, bulk, tail = (np.concatenate([table[name].values.ravel() for name in values]) for table in found)
    return float(r_hat.max()), float(bulk.min()), float(tail.min())


def smoothed(logs: Array) -> tuple[Array, float]:
    """(importance weights, Pareto-smoothed, which sum to 1; the shape k of their tail, infinite for too few draws;
    Vehtari et al. 2024, arXiv:1507.02646). logs: their logarithms up to a constant, shape (draws,).
    """
    if not np.ptp(logs):
        return np.full(len(logs), 1 / len(logs)), 0.0
    with _quiet():
        import arviz

        if hasattr(arviz, "psislw"):
            found, k = arviz.psislw(logs)
        else:  # ArviZ 1 takes their negative
            found, k = import_module("arviz_stats.base").array_stats.psislw(-logs)
    weights = np.exp(found - np.max(found))
    return np.asarray(weights / weights.sum()), float(k)


def versions() -> dict[str, str]:
    """Versions of the installed libraries that a fit depends on."""
    return {name: version(name) for name in ("pymc", "pytensor", "arviz", "numba") if find_spec(name)}


def _height(density: Any, y: Any) -> Any:
    """The log density at the tensor y, with its gradient, as an operation of PyTensor."""
    import pytensor.tensor as pt
    from pytensor.graph.op import Op

    def perform(_operation: Any, _node: Any, inputs: Any, outputs: Any) -> None:
        value, gradient = density.whitened(np.asarray(inputs[0], dtype=np.float64))
        outputs[0][0], outputs[1][0] = np.asarray(value), gradient

    def pulled(_operation: Any, _inputs: Any, outputs: Any, slopes: Any) -> list[Any]:
        return [slopes[0] * outputs[1]]

    members = {"perform": perform, "L_op": pulled, "itypes": [pt.dvector], "otypes": [pt.dscalar, pt.dvector]}
    return type("LogDensity", (Op,), members)()(y)[0]


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the notices that ArviZ 0.x and PyTensor give on every use, and PyMC's progress log."""
    log = logging.getLogger("pymc")
    level = log.level
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
        warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS installation", UserWarning)
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)
