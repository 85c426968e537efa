"""The posterior density of a capability model for counts, and where to begin to sample it.

Parameters, priors and symmetries are those of `liescope.benchmark.capability.model`; the arithmetic is compiled
(`density_kernels`). A sampler sees coordinates in which the posterior is nearly a standard normal
distribution: its Laplace approximation, shifted and stretched to that.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from scipy.optimize import minimize

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.model import (
    COUNTS,
    MEAN_SD,
    PIVOT_SD,
    RHO_PRIOR,
    code_rows,
    families_of,
    parameters,
    prior_sds,
)
from liescope.benchmark.capability.variants import Variant

_FAR = 1e6  # the noise of an effect that nothing is known about
_STEP = 1e-4  # of a numerical second derivative
_FLATTEST = 0.05  # curvature that is taken for less; a prior's is 1
_BEGIN_SD, _BEGIN_RHO = math.log(0.5), -4.0  # where the search for the mode begins


class Density:
    """Of one model of the family and one table of rows.

    names: by parameter, what it is a vector of. dimensions: of the coordinates. mode: the most probable parameters,
    by name, with effects in units of their sds; sds: the most probable sds of m, d, v, b and shifts, by name.
    """

    def __init__(self, rows: pl.DataFrame, variant: Variant) -> None:
        from liescope.benchmark.capability import density_kernels

        self._kernels, self._variant = density_kernels, variant
        self.names, index = code_rows(rows, variant)
        self._vectors = tuple(name for name in parameters(variant) if name != "rho")
        sizes = [len(self.names[name]) for name in self._vectors]
        begins = np.cumsum([0, *sizes])
        wins, games = (rows[column].to_numpy().astype(np.int64) for column in COUNTS.values())
        lengths, times = np.unique(games, return_counts=True)
        families = [families_of(self.names[name]) if "families" in variant.terms else None for name in ("m", "d")]
        blocks = [*(size - 1 for size in sizes), *(1 + max(found) for found in families if found)]
        shared = np.full(begins[-1], -1, np.int64)
        for vector, found in enumerate(families):
            if found:
                shared[begins[vector] : begins[vector + 1]] = found
        self._learned = variant.learned
        self._of = np.repeat(np.arange(len(blocks)), blocks)
        pivots = variant.scaled and variant.offset
        effects = len(self._of)
        self._plan = density_kernels.DensityData(
            np.stack([index[name] + begin for name, begin in zip(self._vectors, begins, strict=False)]),
            wins,
            games,
            lengths,
            times.astype(np.float64),
            begins.astype(np.int64),
            shared,
            np.cumsum([0, *blocks]).astype(np.int64),
            np.zeros(effects),
            np.full(effects, _FAR),
            prior_sds(variant, len(blocks)),
            self._learned,
            MEAN_SD / (1.0 if self._learned else math.sqrt(sizes[1])),
            variant.scaled,
            pivots,
            PIVOT_SD,
            variant.dispersed,
            RHO_PRIOR,
        )
        self._sds = slice(effects, effects + len(blocks) * self._learned)
        self.dimensions = int(self._sds.stop + 1 + pivots + variant.dispersed)
        self._centre, self._factor = self._begin()
        self._across = np.ascontiguousarray(self._factor.T)

    def log_density(self, x: Array) -> tuple[float, Array]:
        """The log posterior density up to a constant, and its gradient, in the coordinates of the model."""
        gradient = np.empty(self.dimensions)
        return float(self._kernels.log_density(x, self._plan, gradient)), gradient

    def whitened(self, y: Array) -> tuple[float, Array]:
        """The same in the coordinates that a sampler moves in."""
        gradient = np.empty(self.dimensions)
        plan, factor = self._plan, self._factor
        return float(self._kernels.whitened(y, plan, self._centre, factor, self._across, gradient)), gradient

    def parameters(self, y: Array) -> dict[str, Array]:
        """The parameters at each of many points; y: shape (..., dimensions), each parameter: shape (..., names)."""
        x = y.reshape(-1, self.dimensions) @ self._across + self._centre
        theta, effects = np.empty((len(x), self._plan.begins[-1])), np.empty(len(self._of))
        for point, out in zip(x, theta, strict=True):
            self._kernels.parameters(point, self._plan, effects, out)
        found = dict(zip(self._vectors, np.split(theta, self._plan.begins[1:-1], axis=1), strict=True))
        if self._variant.dispersed:
            found["rho"] = 1 / (1 + np.exp(-x[:, -1:]))
        return {name: values.reshape(*y.shape[:-1], -1) for name, values in found.items()}

    def sds(self, y: Array) -> dict[str, Array]:
        """The sds of m, d, v, b and shifts at each of many points, shape (...); empty where they are given."""
        if not self._learned:
            return {}
        logs = y @ self._factor[self._sds].T + self._centre[self._sds]
        return {name: np.exp(logs[..., number]) for number, name in enumerate(self._vectors)}

    def _begin(self) -> tuple[Array, Array]:
        """(centre, factor) of the Laplace approximation. Leaves the plan with coordinates that hold for every sd."""
        x = np.zeros(self.dimensions)
        x[self._sds] = _BEGIN_SD
        if self._variant.dispersed:
            x[-1] = _BEGIN_RHO

        def downhill(x: Array) -> tuple[float, Array]:
            height, slope = self.log_density(x)
            return -height, -slope

        x = np.asarray(minimize(downhill, x, jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x)
        steps = np.eye(self.dimensions) * _STEP
        moved = [self.log_density(x - step)[1] - self.log_density(x + step)[1] for step in steps]
        curve = np.stack(moved) / (2 * _STEP)
        values, vectors = np.linalg.eigh((curve + curve.T) / 2)
        values = np.maximum(values, _FLATTEST)
        covariance = (vectors / values) @ vectors.T
        if self._learned:
            x, covariance = self._measured(x, (vectors * values) @ vectors.T, covariance)
        return x, np.linalg.cholesky(covariance)

    def _measured(self, x: Array, curve: Array, covariance: Array) -> tuple[Array, Array]:
        """The mode and its covariance in coordinates where each effect is as if measured: by the data alone, with an
        error that is the same whatever the sd.
        """
        count = len(self._of)
        others = np.r_[0:count, self._sds.stop : self.dimensions]
        unknown = np.diag(np.linalg.inv(curve[np.ix_(others, others)]))[:count]  # share of the prior variance
        variance = np.exp(2 * x[self._sds])[self._of]
        noise = np.sqrt(variance / np.maximum(1 / unknown - 1, _FAR**-1))
        weight = variance / (variance + noise**2)
        effects = np.sqrt(variance) * x[:count]
        self._plan = self._plan._replace(hat=effects / weight, noise=noise)
        spread, at = noise * np.sqrt(weight), np.arange(count)
        slopes = np.eye(self.dimensions)
        slopes[at, at] = np.sqrt(variance) / spread
        slopes[at, self._sds.start + self._of] = effects * (2 * weight - 1) / spread
        return np.concatenate([np.zeros(count), x[count:]]), slopes @ covariance @ slopes.T
