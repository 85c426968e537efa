"""The sampler behind the capability model, and everything that differs between versions of its libraries.

PyMC 5 comes with ArviZ 0.x (InferenceData), PyMC 6 with ArviZ 1.x (DataTree). Both answer `trace["posterior"]["m"]`,
and both compute r-hat and effective sample sizes on a plain xarray Dataset; nothing else is used.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from liescope.common.errors import MissingExtra, UnknownName

Array = npt.NDArray[np.float64]
SAMPLERS = ("nutpie", "pymc")


@dataclass(frozen=True, slots=True)
class Settings:
    """How to sample. draws and tune: of each chain. sampler: one of SAMPLERS, "" for nutpie where it is installed,
    else pymc. target_accept: the acceptance rate that the step size is tuned to; higher means smaller steps.
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    seed: int = 1
    target_accept: float = 0.9
    sampler: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """Draws of a posterior. values: by variable, shape (chains, draws, size). divergences: after tuning. energy: shape
    (chains, draws), of the Hamiltonian. sampler: the one that ran. compiling, sampling: seconds.
    """

    values: Mapping[str, Array]
    divergences: int
    energy: Array
    sampler: str
    compiling: float
    sampling: float


@dataclass(frozen=True, slots=True)
class Mixing:
    """The worst of all parameters: rank-normalised split r-hat, bulk and tail effective sample size (Vehtari et al.
    2021). NaN if a chain does not move.
    """

    r_hat_max: float
    ess_bulk_min: float
    ess_tail_min: float


def choose_sampler(name: str = "") -> str:
    """The sampler that will run. Raises UnknownName, or MissingExtra if its package is not installed."""
    if name and name not in SAMPLERS:
        raise UnknownName("sampler", name, SAMPLERS)
    if name == "nutpie" and not find_spec("nutpie"):
        raise MissingExtra("nutpie", "bayes")
    return name or ("nutpie" if find_spec("nutpie") else "pymc")


def load_pymc() -> ModuleType:
    """PyMC, imported. Raises MissingExtra if it is not installed."""
    with _quiet():
        try:
            return import_module("pymc")
        except ModuleNotFoundError as error:
            raise MissingExtra(error.name or "pymc", "bayes") from None


class Sampler:
    """A model, compiled once and sampled as often as needed, each time with other data.

    build: returns the PyMC model. variables: the names of vectors in it to keep; other
    variables are dropped. name: of SAMPLERS.
    """

    def __init__(self, build: Callable[[], Any], variables: Sequence[str], name: str) -> None:
        self._name, self._variables = name, tuple(variables)
        with _quiet():
            begin = time.perf_counter()
            self._model = build()
            self._compiled = _compiled(self._model) if name == "nutpie" else None
        self._compiling = time.perf_counter() - begin

    def sample(self, settings: Settings, data: Mapping[str, npt.NDArray[Any]], seed: int | None = None) -> Sample:
        """Sample with NUTS; equal settings, data, seeds and versions give equal draws.

        data: the values of the model's `pm.Data`, of any length; what its formula makes no use of may be among them.
        seed: instead of the settings'.
        """
        settings = settings if seed is None else replace(settings, seed=seed)
        with _quiet():
            if self._compiled is not None:
                used = {name: values for name, values in data.items() if name in self._compiled.shared_data}
                trace, compiling, sampling = _sample_nutpie(self._compiled.with_data(**used), settings)
            else:
                trace, compiling, sampling = _sample_pymc(self._model, data, settings)
        posterior, stats = trace["posterior"], trace["sample_stats"]
        values = {name: np.asarray(posterior[name].values, dtype=np.float64) for name in self._variables}
        return Sample(
            values,
            int(stats["diverging"].values.sum()),
            np.asarray(stats["energy"].values, dtype=np.float64),
            self._name,
            self._compiling + compiling,
            sampling,
        )


def smoothed_weights(log_ratios: Array) -> tuple[Array, Array]:
    """Pareto-smoothed importance sampling (Vehtari et al. 2024): normalised log weights, and the Pareto k of each
    observation, above 0.7 where they cannot be trusted. log_ratios: shape (observations, draws).
    """
    with _quiet(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning)
        import arviz

        weights, k = arviz.psislw(np.ascontiguousarray(log_ratios))
    return np.asarray(weights, dtype=np.float64), np.asarray(k, dtype=np.float64)


def mixing(values: Mapping[str, Array]) -> Mixing:
    """How well chains mix, worst parameter first; values: by variable, shape (chains, draws, size)."""
    with _quiet():
        import arviz
        import xarray

        frame = xarray.Dataset({name: (("chain", "draw", f"{name}_index"), draws) for name, draws in values.items()})
        found = [arviz.rhat(frame), arviz.ess(frame, method="bulk"), arviz.ess(frame, method="tail")]
    r_hat, bulk, tail = (np.concatenate([table[name].values.ravel() for name in values]) for table in found)
    return Mixing(float(r_hat.max()), float(bulk.min()), float(tail.min()))


def versions() -> dict[str, str]:
    """Versions of the libraries that a fit depends on, those that are installed."""
    return {name: version(name) for name in ("pymc", "pytensor", "arviz", "nutpie") if find_spec(name)}


def _compiled(model: Any) -> Any:
    import nutpie

    return nutpie.compile_pymc_model(model)


def _sample_nutpie(compiled: Any, settings: Settings) -> tuple[Any, float, float]:
    import nutpie

    begin = time.perf_counter()
    # The mass matrix follows correlations: all of d stretches against all of v. Not blocking, since a blocking call
    # that Ctrl-C interrupts returns the draws so far as if they were all.
    running = nutpie.sample(
        compiled,
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=_cores(settings),
        seed=settings.seed,
        target_accept=settings.target_accept,
        low_rank_modified_mass_matrix=True,
        save_warmup=False,
        progress_bar=False,
        blocking=False,
    )
    try:
        trace = running.wait()
    except KeyboardInterrupt:
        running.cancel()
        raise
    return trace, 0.0, time.perf_counter() - begin


def _sample_pymc(model: Any, data: Mapping[str, npt.NDArray[Any]], settings: Settings) -> tuple[Any, float, float]:
    import pymc

    begin = time.perf_counter()
    with model:
        pymc.set_data(dict(data))
        trace = pymc.sample(
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            cores=_cores(settings),
            random_seed=settings.seed,
            target_accept=settings.target_accept,
            nuts_sampler="pymc",
            progressbar=False,
            compute_convergence_checks=False,
        )
    whole = time.perf_counter() - begin
    sampling = float(trace["posterior"].attrs["sampling_time"])
    return trace, whole - sampling, sampling


def _cores(settings: Settings) -> int:
    return min(settings.chains, os.cpu_count() or 1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the notices that ArviZ 0.x and PyTensor give on every use, and PyMC's log of its progress."""
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
