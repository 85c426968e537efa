"""ArviZ behind the capability model, and everything that differs between its versions: both compute r-hat and effective
sample sizes on a plain xarray Dataset.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from liescope.common.errors import MissingExtra

Array = npt.NDArray[np.float64]
TAILS = (0.025, 0.975)
"""The bounds of every interval, as quantiles."""


def load(*names: str) -> None:
    """Import packages. Raises MissingExtra if one is not installed."""
    with _quiet():
        for name in names:
            try:
                with suppress(FileNotFoundError):  # of two processes, one finds ArviZ's file with the day moved
                    import_module(name)
                import_module(name)
            except ModuleNotFoundError as error:
                raise MissingExtra(error.name or name, "bayes") from None


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
    return {name: version(name) for name in ("arviz", "numba") if find_spec(name)}


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the notice that ArviZ 0.x gives on every use."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing a major refactor", FutureWarning)
        yield
