"""The posterior density of a capability model for counts, compiled by numba, and a starting point for sampling.

Parameters, priors and symmetries are those of `liescope.benchmark.capability.model`. The sampler works in coordinates
that standardise the Laplace approximation of the posterior. The gradient needs, for each row, two logarithms of a
rising factorial and their derivatives. Both come from one recurrence (few wins) or one Stirling series (many), several
times cheaper than separate gamma functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import polars as pl
from scipy.optimize import minimize
from scipy.special import expit

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.model import MEAN_SD, PIVOT_SD, RHO_PRIOR, Variant, code_rows

_DIRECT = 12  # up to so many factors are multiplied one by one; beyond, two Stirling series are cheaper
_LARGE = 8.0  # from here on the series below are exact to 1e-11
_EDGE = 1e-9  # the closest a chance gets to 0 and 1
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
_RHO_A, _RHO_B = RHO_PRIOR

_APART = 3.0  # draws of a chain that tell as much as one that is independent
_PRIOR = 5.0  # independent draws that a guess of 1 is worth
_LEAST = 0.01  # lower bound of a variance
_FAR = 1e6  # noise for an effect without data
_STEP = 1e-4  # step of a numerical second derivative
_WIDEST = 30.0  # bound of the logarithm of an sd, either way, for a search that steps too far
_RANDOM, _TURNS = 4, 2  # searches from points at random, and rounds from the best modes turned round
_ANOTHER = 0.2  # distance of parameters, relative to their length, from which a mode is another
_FLATTEST = 0.05  # lower bound of a curvature; a prior's is 1
_BEGIN_SD, _BEGIN_RHO = math.log(0.5), -4.0  # start of the search for the mode


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the interpreter's lock, and cache on disk if possible."""
    made: Callable[..., Any]
    try:
        made = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # numba has no folder to write to
        made = numba.njit(nogil=True, error_model="numpy")(function)
    return made


@compiled
def _gamma(x: float) -> tuple[float, float]:
    """(ln Γ(x), its derivative) for x above 0."""
    product, slope = 1.0, 0.0
    # Γ(x) = Γ(x + n) / (x (x + 1) ... (x + n - 1)): the argument is raised to where Stirling's series is exact.
    while x < _LARGE:
        slope = slope * x + product
        product *= x
        x += 1.0
    log, inverse = math.log(x), 1.0 / x
    square = inverse * inverse
    value = (x - 0.5) * log - x + _HALF_LOG_TAU
    value += inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    derivative = log - 0.5 * inverse - square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    if slope > 0.0:
        value -= math.log(product)
        derivative -= slope / product
    return value, derivative


@compiled
def _rising(x: float, factors: int) -> tuple[float, float]:
    """(ln of x (x + 1) ... (x + factors - 1), its derivative by x)."""
    if factors == 0:
        return 0.0, 0.0
    if factors <= _DIRECT:
        product, slope = 1.0, 0.0
        for step in range(factors):
            slope = slope * (x + step) + product
            product *= x + step
        return math.log(product), slope / product
    upper, lower = _gamma(x + factors), _gamma(x)
    return upper[0] - lower[0], upper[1] - lower[1]


class Plan(NamedTuple):
    """The data and coordinates of a density.

    A vector of parameters (m, d, v, b, then shifts) is a mean plus effects around it that sum to 0, one fewer than
    names. Each effect c has a prior N(0, sd of its vector) and is written as w hat + spread z: w = sd² / (sd² + noise²)
    and spread = noise sqrt(w), as if it had been measured as hat with error noise. So z is nearly N(0, 1) whatever the
    sd; other coordinates have a funnel. m and d, their means and sds, are written in units of 1 / |v|, the root mean
    square of v over games: the games tell m |v| and d |v| well, and |v| apart from that hardly.

    at: the place among all parameters, for each vector and row, shape (vectors, rows). wins, games: one for each row.
    sizes, times: the different numbers of games, and how many rows have each. begins: where each vector begins among
    all parameters, and the end. hat, noise: one for each effect. widths: for each vector the scale of its sd's Rayleigh
    prior, or the sd itself. mean_sd: the sd of the prior of d's mean. shares: of each voter in the games. offset,
    dispersed: as in the variant.
    """

    at: Any
    wins: Any
    games: Any
    sizes: Any
    times: Any
    begins: Any
    hat: Array
    noise: Array
    widths: Array
    mean_sd: float
    shares: Array
    offset: bool
    dispersed: bool


@compiled
def _likelihood(theta: Array, plan: Plan, rho: float, gradient: Array) -> tuple[float, float]:
    """(the log likelihood of the rows without its constant, its derivative by the logit of rho); adds its derivative by
    theta, all parameters in a row, to gradient. rho: 0 for binomial counts.
    """
    total, by_strength, strength = 0.0, 0.0, 0.0
    if plan.dispersed:
        strength = (1.0 - rho) / rho
        for number in range(plan.sizes.size):
            value, slope = _rising(strength, plan.sizes[number])
            total -= plan.times[number] * value
            by_strength -= plan.times[number] * slope
    for row in range(plan.wins.size):
        i, j, k = plan.at[0, row], plan.at[1, row], plan.at[2, row]
        wins, games = plan.wins[row], plan.games[row]
        gap = theta[i] - theta[j]
        eta = gap * theta[k]
        for term in range(3, plan.at.shape[0]):
            eta += theta[plan.at[term, row]]
        small = math.exp(-abs(eta))  # of minus the absolute value, so that it cannot overflow
        likely = 1.0 / (1.0 + small)
        if plan.dispersed:
            chance = _EDGE + (1.0 - 2.0 * _EDGE) * (likely if eta > 0 else 1.0 - likely)
            won = _rising(chance * strength, wins)
            lost = _rising((1.0 - chance) * strength, games - wins)
            total += won[0] + lost[0]
            by_strength += chance * won[1] + (1.0 - chance) * lost[1]
            slope = strength * (small * likely * likely * (1.0 - 2.0 * _EDGE)) * (won[1] - lost[1])
        else:
            total += wins * eta - games * (max(eta, 0.0) + math.log1p(small))
            slope = wins - games * (likely if eta > 0 else small / (1.0 + small))
        gradient[k] += slope * gap
        gradient[i] += slope * theta[k]
        gradient[j] -= slope * theta[k]
        for term in range(3, plan.at.shape[0]):
            gradient[plan.at[term, row]] += slope
    return total, -strength * by_strength


@compiled
def parameters(x: Array, plan: Plan, effects: Array, theta: Array, log_sds: Array) -> float:
    """All parameters in a row, into theta, and the effects and log sds behind them, in their units; x: as `log_density`
    takes it. The logarithm of |v|.
    """
    vectors, count = plan.begins.size - 1, plan.hat.size
    keen = 0.0
    for number in range(vectors):
        vector = 2 if number == 0 else number - 1 if number < 3 else number  # v first, whose size the others need
        start, end = plan.begins[vector], plan.begins[vector + 1]
        size = end - start
        if plan.dispersed:
            log_sds[vector] = min(max(x[count + vector], -_WIDEST), _WIDEST)
        else:
            log_sds[vector] = math.log(plan.widths[vector]) + (keen if vector < 2 else 0.0)
        variance = math.exp(2.0 * log_sds[vector])
        total = 0.0
        for e in range(start - vector, end - vector - 1):
            w = variance / (variance + plan.noise[e] * plan.noise[e])
            effects[e] = w * plan.hat[e] + plan.noise[e] * math.sqrt(w) * x[e]
            total += effects[e]
        # An orthonormal map of the effects to vectors that sum to 0, so that no name serves as a reference.
        root = math.sqrt(size)
        shift = total / (root + size)
        for p in range(start, end - 1):
            theta[p] = effects[p - vector] - shift
        theta[end - 1] = -total / root
        if vector == 2:
            square = 0.0
            for k in range(size):
                square += plan.shares[k] * (1.0 + theta[start + k]) ** 2
            keen = 0.5 * math.log(square)
    at = count + vectors * plan.dispersed
    unit = math.exp(-keen)
    for p in range(plan.begins[2]):
        theta[p] = unit * (theta[p] + (x[at] if p >= plan.begins[1] else 0.0))
    for p in range(plan.begins[2], plan.begins[3]):
        if plan.offset:
            theta[p + plan.begins[3] - plan.begins[2]] += x[at + 1] * theta[p]
        theta[p] += 1.0
    return float(keen)


@compiled
def log_density(x: Array, plan: Plan, gradient: Array) -> float:
    """The log posterior density, up to a constant, and its gradient.

    x: z of all effects, the log sds of the vectors (where learned), the mean of d, the slope of b on v (with an
    offset), the logit of rho (where dispersed).
    """
    vectors, count = plan.begins.size - 1, plan.hat.size
    effects, theta, log_sds = np.empty(count), np.empty(plan.begins[-1]), np.empty(vectors)
    keen = parameters(x, plan, effects, theta, log_sds)
    unit, slopes = math.exp(-keen), np.zeros(theta.size)
    gradient[:] = 0.0
    at = count + vectors * plan.dispersed
    mean = unit * x[at]
    total = -0.5 * (mean / plan.mean_sd) ** 2 - keen
    by_keen = (mean / plan.mean_sd) ** 2 - 1.0
    rho = min(max(1.0 / (1.0 + math.exp(-x[-1])), _EDGE), 1.0 - _EDGE) if plan.dispersed else 0.0
    likelihood, by_rho = _likelihood(theta, plan, rho, slopes)
    total += likelihood
    if plan.dispersed:
        total += _RHO_A * math.log(rho) + _RHO_B * math.log1p(-rho)
        gradient[-1] = by_rho + _RHO_A * (1.0 - rho) - _RHO_B * rho
    for p in range(plan.begins[2]):
        by_keen -= slopes[p] * theta[p]
        slopes[p] *= unit
    gradient[at] = -mean * unit / plan.mean_sd**2
    for p in range(plan.begins[1], plan.begins[2]):
        gradient[at] += slopes[p]
    if plan.offset:
        pivot = x[at + 1]
        total -= 0.5 * (pivot / PIVOT_SD) ** 2
        gradient[at + 1] = -pivot / PIVOT_SD**2
        for p in range(plan.begins[2], plan.begins[3]):
            slope = slopes[p + plan.begins[3] - plan.begins[2]]
            gradient[at + 1] += slope * (theta[p] - 1.0)
            slopes[p] += pivot * slope
    for vector in range(vectors):
        start, end = plan.begins[vector], plan.begins[vector + 1]
        size = end - start
        every = 0.0
        for p in range(start, end):
            if vector == 2:  # by now the slope of |v| is whole
                slopes[p] += by_keen * plan.shares[p - start] * theta[p] * unit * unit
            every += slopes[p]
        root, last = math.sqrt(size), slopes[end - 1]
        variance = math.exp(2.0 * log_sds[vector])
        by_sd = 0.0
        for p in range(start, end - 1):
            e = p - vector
            w = variance / (variance + plan.noise[e] * plan.noise[e])
            spread = plan.noise[e] * math.sqrt(w)
            by_effect = slopes[p] - (every - last) / (root + size) - last / root
            slope = by_effect - effects[e] / variance
            total += math.log(spread) - log_sds[vector] - 0.5 * effects[e] * effects[e] / variance
            gradient[e] = slope * spread
            moves = (1.0 - w) * (2.0 * w * plan.hat[e] + spread * x[e])
            by_sd += slope * moves + effects[e] * effects[e] / variance - w
        if plan.dispersed:
            prior = variance * (unit * unit if vector < 2 else 1.0) / plan.widths[vector] ** 2
            total += 2.0 * (log_sds[vector] - (keen if vector < 2 else 0.0)) - 0.5 * prior
            gradient[count + vector] = by_sd + 2.0 - prior
            by_keen += prior - 2.0 if vector < 2 else 0.0
        elif vector < 2:
            by_keen += by_sd
    return float(total)


@compiled
def whitened(y: Array, plan: Plan, centre: Array, factor: Array, across: Array, gradient: Array) -> float:
    """The log density at x = centre + factor y, and its gradient by y. factor: lower triangular; across: transposed."""
    x, by_x = centre.copy(), np.empty(y.size)
    for j in range(y.size):
        for i in range(j, y.size):
            x[i] += across[j, i] * y[j]
    value = log_density(x, plan, by_x)
    gradient[:] = 0.0
    for i in range(y.size):
        for j in range(i + 1):
            gradient[j] += factor[i, j] * by_x[i]
    return float(value)


class Density:
    """The density of one model for one frame of rows.

    names: for each parameter, what its entries stand for. dimensions: how many coordinates there are. rival: the share
    of the posterior that a second mode has, which chains may not reach, by Laplace's approximation; 0 if none is found.
    """

    def __init__(self, rows: pl.DataFrame, variant: Variant) -> None:
        names, index = code_rows(rows, variant)
        self.names = names | ({"rho": ("every combination",)} if variant.dispersed else {})
        if len(variant.form.parameters) < 3:  # nothing is multiplied: the factor is one number, 1
            names, index = names | {"": ("all",)}, index | {"": np.zeros(rows.height, dtype=np.int64)}
        self._variant = variant
        sizes = np.array([len(levels) for levels in names.values()])
        begins = np.cumsum([0, *sizes])
        wins, games = (rows[column].to_numpy().astype(np.int64) for column in (variant.form.won, variant.form.of))
        lengths, times = np.unique(games, return_counts=True)
        self._of = np.repeat(np.arange(len(sizes)), sizes - 1)
        effects = len(self._of)
        self._plan = Plan(
            np.stack([at + begin for at, begin in zip(index.values(), begins, strict=False)]),
            wins,
            games,
            lengths,
            times.astype(np.float64),
            begins.astype(np.int64),
            np.zeros(effects),
            np.full(effects, _FAR),
            np.array([variant.prior_sd(name) for name in names]),
            MEAN_SD / (1.0 if variant.dispersed else math.sqrt(sizes[1])),
            (np.bincount([*index.values()][2], games) + 1) / (games.sum() + sizes[2]),  # not 0 before any game
            variant.offset,
            variant.dispersed,
        )
        self._sds = slice(effects, effects + len(sizes) * variant.dispersed)
        self.dimensions = int(self._sds.stop + 1 + variant.offset + variant.dispersed)
        self._centre, self._factor, self.rival = self._begin()

    def whitened(self, y: Array) -> tuple[float, Array]:
        """The log density and its gradient in the coordinates that a sampler moves in."""
        gradient = np.empty(self.dimensions)
        return float(whitened(y, *self.coordinates, gradient)), gradient

    @property
    def coordinates(self) -> tuple[Plan, Array, Array, Array]:
        """What `whitened` takes beside a point."""
        return self._plan, self._centre, self._factor, np.ascontiguousarray(self._factor.T)

    def correct(self, seen: Array, y: Array) -> Array:
        """Correct the coordinates of `whitened` by points seen, shape (chains, draws, dimensions): each by its sd, and
        directions in which the points spread more or less than chance explains. y, some points, in the new ones.
        """
        x = y @ self._factor.T + self._centre
        flat = seen.reshape(-1, self.dimensions)
        worth = len(flat) / _APART
        middle = flat.mean(axis=0)
        sd = np.sqrt((worth * flat.var(axis=0) + _PRIOR) / (worth + _PRIOR))
        values, vectors = np.linalg.eigh((((flat - middle) / sd).T @ ((flat - middle) / sd)) / len(flat))
        edge = math.sqrt(self.dimensions / worth)  # Marchenko and Pastur's: eigenvalues of unrelated coordinates
        chance = (values < (1 + edge) ** 2) & ((values > (1 - edge) ** 2) | (edge > 1))
        turn = (self._factor * sd) @ (vectors * np.sqrt(np.where(chance, 1, np.maximum(values, _LEAST)))) @ vectors.T
        self._centre = self._centre + self._factor @ middle
        self._factor = np.linalg.cholesky(turn @ turn.T)
        return np.asarray(np.linalg.solve(self._factor, (x - self._centre).T).T)

    def parameters(self, y: Array) -> dict[str, Array]:
        """The parameters at each of many points; y: shape (..., dimensions), each parameter: shape (..., names)."""
        theta, _ = self._at(y)
        found = dict(zip(self._variant.vectors, np.split(theta, self._plan.begins[1:-1], axis=-1), strict=False))
        if self._variant.dispersed:
            found["rho"] = 1 / (1 + np.exp(-(y @ self._factor[-1:].T + self._centre[-1:])))
        return found

    def sds(self, y: Array) -> dict[str, Array]:
        """The sds of m, d, v, b and shifts at each of many points, shape (...); empty where they are given."""
        if not self._variant.dispersed:
            return {}
        return dict(zip(self._variant.vectors, np.moveaxis(np.exp(self._at(y)[1]), -1, 0), strict=False))

    def _at(self, y: Array) -> tuple[Array, Array]:
        """(all parameters in a row, the log sds of their vectors) at each of many points."""
        x = y.reshape(-1, self.dimensions) @ self._factor.T + self._centre
        theta, effects = np.empty((len(x), self._plan.begins[-1])), np.empty(len(self._of))
        log_sds = np.empty((len(x), len(self._plan.widths)))
        for number, point in enumerate(x):
            keen = parameters(point, self._plan, effects, theta[number], log_sds[number])
            log_sds[number, :2] -= keen
        return theta.reshape(*y.shape[:-1], -1), log_sds.reshape(*y.shape[:-1], -1)

    def _begin(self) -> tuple[Array, Array, float]:
        """(centre, factor) of the Laplace approximation at the mode of most mass, and the share of all mass that the
        next one has. Leaves the plan with coordinates that suit every sd.

        With every m, d and v - 1 turned round, many chances stay nearly as they are: the search begins also at such
        points beside the best modes, and at some drawn at random. It needs coordinates whose modes have sds several
        times too large; there priors weigh too little to compare masses, so modes are found again in better ones.
        """
        start = np.zeros(self.dimensions)
        start[self._sds] = _BEGIN_SD
        if self._variant.dispersed:
            start[-1] = _BEGIN_RHO
        scores = int(self._plan.begins[3]) - 3
        turned = np.ones(self.dimensions)
        turned[:scores] = turned[self._sds.stop : self._sds.stop + 1 + self._variant.offset] = -1
        aside = np.zeros((1 + _RANDOM, self.dimensions))
        aside[1:, :scores] = np.random.default_rng(0).normal(size=(_RANDOM, scores))
        modes = [self._mode(start + one, self._plan) for one in aside]
        for _ in range(_TURNS):
            modes += [self._mode(turned * mode.x, self._plan) for mode in _apart(modes)[:2]]
        best, *others = _apart([self._mode(*self._measured(mode)) for mode in _apart(modes)])
        share = float(expit(max((other.mass - best.mass for other in others), default=-math.inf)))
        self._plan = best.plan
        return best.x, np.asarray(np.linalg.cholesky(np.linalg.inv(best.curve))), share

    def _mode(self, start: Array, plan: Plan) -> _Mode:
        """The mode above a point."""

        def downhill(x: Array) -> tuple[float, Array]:
            gradient = np.empty(self.dimensions)
            return -float(log_density(x, plan, gradient)), -gradient

        found = minimize(downhill, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10000})
        x = np.asarray(found.x)
        steps = np.eye(self.dimensions) * _STEP
        curve = np.stack([downhill(x + step)[1] - downhill(x - step)[1] for step in steps]) / (2 * _STEP)
        values, vectors = np.linalg.eigh((curve + curve.T) / 2)
        values = np.maximum(values, _FLATTEST)
        mass = np.nan_to_num(-found.fun - np.log(values).sum() / 2, nan=-np.inf)
        effects, log_sds = np.empty(len(self._of)), np.empty(len(plan.widths))
        parameters(x, plan, effects, theta := np.empty(plan.begins[-1]), log_sds)
        variance = np.exp(2 * log_sds)[self._of]
        return _Mode(x, float(mass), (vectors * values) @ vectors.T, plan, effects, theta, variance)

    def _measured(self, mode: _Mode) -> tuple[Array, Plan]:
        """The mode in coordinates where each effect is as if measured by the data alone, with an error that does not
        depend on the sd; and those coordinates.
        """
        count = len(self._of)
        others = np.r_[0:count, self._sds.stop : self.dimensions]
        unknown = np.diag(np.linalg.inv(mode.curve[np.ix_(others, others)]))[:count]  # share of the prior variance
        noise = np.sqrt(mode.variance / np.maximum(1 / unknown - 1, _FAR**-1))
        hat = mode.effects * (1 + noise**2 / mode.variance)
        return np.concatenate([np.zeros(count), mode.x[count:]]), mode.plan._replace(hat=hat, noise=noise)


class _Mode(NamedTuple):
    """A mode of the posterior density in the coordinates of plan. mass: its logarithm by Laplace's approximation, up to
    a constant; curve: the curvature; effects, theta: as `parameters` gives them; variance: the prior's of each effect.
    """

    x: Array
    mass: float
    curve: Array
    plan: Plan
    effects: Array
    theta: Array
    variance: Array


def _apart(modes: list[_Mode]) -> list[_Mode]:
    """The modes that differ, that of most mass first."""
    found: list[_Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.mass):
        if all(np.linalg.norm(mode.theta - one.theta) > _ANOTHER * np.linalg.norm(one.theta) for one in found):
            found.append(mode)
    return found
