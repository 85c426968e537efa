"""A fast stand-in for the sampler: the most probable scores of the capability model, and a Gaussian around them.

The model, its priors and its two fixed symmetries are those of `liescope.benchmark.capability.model`; the covariance is
the inverse of the expected information at the mode (Laplace's approximation). It takes milliseconds, so that a study
can fit thousands of data sets; a report is always made of a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.linalg import block_diag, helmert, solve_triangular
from scipy.special import expit

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.model import OFFSET_SD, PRIOR_SD, logits
from liescope.benchmark.capability.variants import PARAMETERS, Index, code

PRIORS = {"m": PRIOR_SD, "d": PRIOR_SD, "v": PRIOR_SD, "b": OFFSET_SD}
"""The prior standard deviation of each parameter of a model."""
_STEPS, _SMALL = 200, 1e-8


@dataclass(frozen=True, slots=True)
class Laplace:
    """names and cells: as in `Posterior`. mode: by parameter, shape (models); draws: from the Gaussian, by parameter,
    shape (1, draws, models), rho (the dispersion) among them where it is not 0.
    """

    cells: pl.DataFrame
    names: dict[str, tuple[str, ...]]
    mode: dict[str, Array]
    draws: dict[str, Array]

    def logits(self, cells: pl.DataFrame) -> Array:
        """The logit of the mafia's win for each draw and cell, shape (draws, cells)."""
        return logits(cells, self.names, {name: draws[0] for name, draws in self.draws.items()})


def laplace(
    cells: pl.DataFrame, *, offset: bool = False, dispersion: float = 0.0, draws: int = 1000, seed: int = 0
) -> Laplace:
    """Fit the model to counts; where they leave a score undetermined, the prior speaks.

    offset: whether each villager k has an offset b_k (their sum is 0), added to the logit. dispersion: the correlation
    of two games of one cell beyond its chance, as of beta-binomial counts; n games then count as `effective` ones.
    """
    names, index = code(cells)
    if offset:
        names, index = {**names, "b": names["v"]}, {**index, "b": index["v"]}
    basis, origin = free(names)
    played = cells["games"].to_numpy().astype(np.float64)
    games = effective(played, dispersion)
    wins = cells["mafia_wins"].to_numpy() / played * games
    x = np.zeros(basis.shape[1])

    def log_posterior(x: Array) -> float:
        eta = _slopes(origin + basis @ x, names, index)[0]
        return float(wins @ eta - games @ np.logaddexp(0, eta) - x @ x / 2)

    height = log_posterior(x)
    for _ in range(_STEPS):
        eta, slopes = _slopes(origin + basis @ x, names, index)
        chance, moves = expit(eta), slopes @ basis
        information = moves.T @ (moves * (games * chance * (1 - chance))[:, None]) + np.eye(x.size)
        step = np.linalg.solve(information, moves.T @ (wins - games * chance) - x)
        while (higher := log_posterior(x + step)) < height and np.abs(step).max() > _SMALL:
            step /= 2
        x, height = x + step, higher
        if np.abs(step).max() < _SMALL:
            break
    normal = np.random.default_rng(seed).normal(size=(x.size, draws))
    drawn = x[:, None] + solve_triangular(np.linalg.cholesky(information).T, normal)
    mode, sample = (_split(origin + part.T @ basis.T, names) for part in (x, drawn))
    found = Laplace(cells, names, mode, {name: part[None] for name, part in sample.items()})
    if not dispersion:
        return found
    rho = {"rho": np.full((1, draws, 1), dispersion)}
    return replace(found, names={**names, "rho": ("every combination",)}, draws={**found.draws, **rho})


def effective(games: Array, dispersion: float) -> Array:
    """How many independent games tell as much as so many of one cell."""
    return np.asarray(games / (1 + np.maximum(games - 1, 0) * dispersion), dtype=np.float64)


def free(names: Mapping[str, Sequence[str]], known: Mapping[str, int] | None = None) -> tuple[Array, Array]:
    """(basis, origin): all parameters in a row are origin + basis @ x, with the prior N(0, 1) of every x.

    known: by parameter, how many models fix the zero and the unit; those that follow are free. Without it, all fix it.
    """
    bases, origins = [], []
    for name, models in names.items():
        size = len(models)
        fixed = 0 if name == "d" else size if known is None else known[name]
        bases.append(PRIORS[name] * block_diag(_zero_sum(fixed), np.eye(size - fixed)))
        origins.append(np.full(size, float(name == "v")))
    return np.asarray(block_diag(*bases), dtype=np.float64), np.concatenate(origins)


def _zero_sum(size: int) -> Array:
    """An orthonormal basis of the vectors whose sum is 0, shape (size, size - 1)."""
    return np.asarray(helmert(size).T if size > 1 else np.zeros((size, 0)), dtype=np.float64)


def _slopes(parameters: Array, names: Mapping[str, tuple[str, ...]], index: Mapping[str, Index]) -> tuple[Array, Array]:
    """The logit of each cell, and its derivative by every parameter, shape (cells, parameters)."""
    place = dict(zip(names, np.cumsum([0, *map(len, names.values())]), strict=False))
    at = {name: place[name] + index[name] for name in names}
    m, d, v = (parameters[at[name]] for name in PARAMETERS)
    eta = v * (m - d)
    rows, slopes = np.arange(len(eta)), np.zeros((len(eta), len(parameters)))
    slopes[rows, at["m"]], slopes[rows, at["d"]], slopes[rows, at["v"]] = v, -v, m - d
    if "b" in names:
        eta, slopes[rows, at["b"]] = eta + parameters[at["b"]], 1.0
    return eta, slopes


def _split(parameters: Array, names: Mapping[str, tuple[str, ...]]) -> dict[str, Array]:
    """By parameter; all of them are on the last axis."""
    ends = np.cumsum([len(models) for models in names.values()])[:-1]
    return dict(zip(names, np.split(parameters, ends, axis=-1), strict=True))
