"""The log density of the capability model and its gradient, compiled by numba: loops over rows, nothing else.

A gradient of counts costs two logarithms of a rising factorial and their derivatives for each row. Both come from one
recurrence (few wins) or one Stirling series (many), which is several times cheaper than gamma functions one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np

from liescope.benchmark.capability.backend import Array

_DIRECT = 12  # factors that are multiplied one by one; more, and two Stirling series are cheaper
_LARGE = 8.0  # from here on the series below are exact to 1e-11
_EDGE = 1e-9  # nearest that a chance comes to 0 and 1
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled without the interpreter's lock, and kept on disk where there is a place for it."""
    compiled: Callable[..., Any]
    try:
        compiled = numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder that numba may write to
        compiled = numba.njit(nogil=True)(function)
    return compiled


@_compiled
def _gamma(x: float) -> tuple[float, float]:
    """(ln Γ(x), its derivative) for x above 0."""
    product, slope = 1.0, 0.0
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


@_compiled
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


@_compiled
def _lowered(theta: Array, at: Any, scaled: bool, row: int) -> float:
    eta = theta[at[0, row]] - theta[at[1, row]]
    first = 2
    if scaled:
        eta *= theta[at[2, row]]
        first = 3
    for term in range(first, at.shape[0]):
        eta += theta[at[term, row]]
    return float(eta)


@_compiled
def _raise(gradient: Array, theta: Array, at: Any, scaled: bool, row: int, slope: float) -> None:
    """Add the derivative by the parameters of a row, slope: by its logit."""
    i, j = at[0, row], at[1, row]
    first, by = 2, slope
    if scaled:
        k = at[2, row]
        gradient[k] += slope * (theta[i] - theta[j])
        first, by = 3, slope * theta[k]
    gradient[i] += by
    gradient[j] -= by
    for term in range(first, at.shape[0]):
        gradient[at[term, row]] += slope


@_compiled
def binomial(theta: Array, at: Any, scaled: bool, wins: Any, games: Any, gradient: Array) -> float:
    """The log likelihood of the rows, without its constant; adds its derivative by theta to gradient.

    theta: all parameters in a row. at: for each term and row the place in it, shape (terms, rows): m, d, v where
    scaled, then whatever is added.
    """
    total = 0.0
    for row in range(wins.size):
        if games[row] == 0:
            continue
        eta = _lowered(theta, at, scaled, row)
        small = math.exp(-abs(eta))
        chance = 1.0 / (1.0 + small) if eta > 0 else small / (1.0 + small)
        total += wins[row] * eta - games[row] * (max(eta, 0.0) + math.log1p(small))
        _raise(gradient, theta, at, scaled, row, wins[row] - games[row] * chance)
    return total


@_compiled
def beta_binomial(
    theta: Array, at: Any, scaled: bool, wins: Any, games: Any, sizes: Any, times: Any, rho: float, gradient: Array
) -> tuple[float, float]:
    """(as `binomial`, for counts whose chance varies between rows; the derivative by the logit of rho).

    sizes: the different numbers of games; times: how many rows have each.
    """
    strength = (1.0 - rho) / rho
    total, by_strength = 0.0, 0.0
    for number in range(sizes.size):
        value, slope = _rising(strength, sizes[number])
        total -= times[number] * value
        by_strength -= times[number] * slope
    for row in range(wins.size):
        if games[row] == 0:
            continue
        eta = _lowered(theta, at, scaled, row)
        small = math.exp(-abs(eta))
        likely = 1.0 / (1.0 + small)
        chance, slope = (likely if eta > 0 else 1.0 - likely), small * likely * likely * (1.0 - 2.0 * _EDGE)
        chance = _EDGE + (1.0 - 2.0 * _EDGE) * chance
        won = _rising(chance * strength, wins[row])
        lost = _rising((1.0 - chance) * strength, games[row] - wins[row])
        total += won[0] + lost[0]
        by_strength += chance * won[1] + (1.0 - chance) * lost[1]
        _raise(gradient, theta, at, scaled, row, strength * slope * (won[1] - lost[1]))
    return total, -strength * by_strength


class DensityData(NamedTuple):
    """The data of a density, as `liescope.benchmark.capability.density` lays them out.

    A vector of parameters (m, d, v, b, then shifts) is a mean and effects around it, whose sum is 0: its block. Each
    effect c has a prior N(0, sd of its block) and is written as w hat + spread z: w = sd² / (sd² + noise²) and
    spread = noise sqrt(w), as if it had been measured as hat with an error of noise. So z is nearly N(0, 1) whatever
    the sd, where other coordinates have a funnel.

    at, wins, games, sizes, times: of the rows (`beta_binomial`). begins: where each vector begins in theta, and
    the end. family: for each place in theta the family whose effect it shares, -1 for none. blocks: where each block
    begins in z, and the end: those of the vectors, each one effect shorter than its vector, then two of families if
    there are any (of m and of d). hat, noise: of each effect. learned: whether the sds are parameters, with Rayleigh
    priors of these scales; else these are the sds. mean_sd: the prior's of the mean of d. scaled: whether there is v,
    third of the vectors; pivots: whether there is b, the fourth, with a slope on v, and pivot_sd: that of its prior.
    scattered: whether counts are beta-binomial. rho: (a, b) of its Beta.
    """

    at: Any
    wins: Any
    games: Any
    sizes: Any
    times: Any
    begins: Any
    family: Any
    blocks: Any
    hat: Array
    noise: Array
    sds: Array
    learned: bool
    mean_sd: float
    scaled: bool
    pivots: bool
    pivot_sd: float
    scattered: bool
    rho: tuple[float, float]


@_compiled
def _log_sd(x: Array, plan: DensityData, block: int) -> float:
    return float(x[plan.blocks[-1] + block]) if plan.learned else math.log(plan.sds[block])


@_compiled
def parameters(x: Array, plan: DensityData, effects: Array, theta: Array) -> None:
    """All parameters in a row, into theta, and the effects behind them; x: as `log_density` takes it."""
    vectors = plan.begins.size - 1
    for block in range(plan.blocks.size - 1):
        variance = math.exp(2.0 * _log_sd(x, plan, block))
        for e in range(plan.blocks[block], plan.blocks[block + 1]):
            w = variance / (variance + plan.noise[e] * plan.noise[e])
            effects[e] = w * plan.hat[e] + plan.noise[e] * math.sqrt(w) * x[e]
    for vector in range(vectors):
        start, end, first = plan.begins[vector], plan.begins[vector + 1], plan.blocks[vector]
        size = end - start
        total = 0.0
        for e in range(first, plan.blocks[vector + 1]):
            total += effects[e]
        root = math.sqrt(size)
        shift = total / (root + size)
        for p in range(start, end - 1):
            theta[p] = effects[first + p - start] - shift
        theta[end - 1] = -total / root
        if plan.blocks.size - 1 > vectors and vector < 2:
            first = plan.blocks[vectors + vector]
            mean = 0.0
            for p in range(start, end):
                mean += effects[first + plan.family[p]] / size
            for p in range(start, end):
                theta[p] += effects[first + plan.family[p]] - mean
    at = plan.blocks[-1] + (plan.blocks.size - 1) * plan.learned
    for p in range(plan.begins[1], plan.begins[2]):
        theta[p] += x[at]
    if plan.pivots:
        for p in range(plan.begins[2], plan.begins[3]):
            theta[p + plan.begins[3] - plan.begins[2]] += x[at + 1] * theta[p]
    if plan.scaled:
        for p in range(plan.begins[2], plan.begins[3]):
            theta[p] += 1.0


@_compiled
def log_density(x: Array, plan: DensityData, gradient: Array) -> float:
    """The log posterior density, up to a constant, and its gradient.

    x: z of all effects, the log sds of the blocks (where learned), the mean of d, the slope of b on v
    (where b pivots), the logit of rho (where scattered).
    """
    vectors, blocks, effects_of = plan.begins.size - 1, plan.blocks.size - 1, plan.blocks[-1]
    effects, theta = np.empty(effects_of), np.empty(plan.begins[-1])
    parameters(x, plan, effects, theta)
    slopes = np.zeros(theta.size)
    gradient[:] = 0.0
    at = effects_of + blocks * plan.learned
    mean = x[at]
    total = -0.5 * (mean / plan.mean_sd) ** 2
    gradient[at] = -mean / plan.mean_sd**2
    if plan.scattered:
        rho = min(max(1.0 / (1.0 + math.exp(-x[-1])), _EDGE), 1.0 - _EDGE)
        likelihood, by = beta_binomial(
            theta, plan.at, plan.scaled, plan.wins, plan.games, plan.sizes, plan.times, rho, slopes
        )
        total += likelihood + plan.rho[0] * math.log(rho) + plan.rho[1] * math.log1p(-rho)
        gradient[-1] = by + plan.rho[0] * (1.0 - rho) - plan.rho[1] * rho
    else:
        total += binomial(theta, plan.at, plan.scaled, plan.wins, plan.games, slopes)
    for p in range(plan.begins[1], plan.begins[2]):
        gradient[at] += slopes[p]
    if plan.pivots:
        pivot = x[at + 1]
        total -= 0.5 * (pivot / plan.pivot_sd) ** 2
        gradient[at + 1] = -pivot / plan.pivot_sd**2
        for p in range(plan.begins[2], plan.begins[3]):
            slope = slopes[p + plan.begins[3] - plan.begins[2]]
            gradient[at + 1] += slope * (theta[p] - 1.0)
            slopes[p] += pivot * slope
    by_effect = np.zeros(effects_of)
    for vector in range(vectors):
        start, end, first = plan.begins[vector], plan.begins[vector + 1], plan.blocks[vector]
        size = end - start
        every = 0.0
        for p in range(start, end):
            every += slopes[p]
        root, last = math.sqrt(size), slopes[end - 1]
        for p in range(start, end - 1):
            by_effect[first + p - start] = slopes[p] - (every - last) / (root + size) - last / root
        if blocks > vectors and vector < 2:
            for p in range(start, end):
                by_effect[plan.blocks[vectors + vector] + plan.family[p]] += slopes[p] - every / size
    for block in range(blocks):
        log_sd = _log_sd(x, plan, block)
        variance = math.exp(2.0 * log_sd)
        by_sd = 0.0
        for e in range(plan.blocks[block], plan.blocks[block + 1]):
            w = variance / (variance + plan.noise[e] * plan.noise[e])
            spread = plan.noise[e] * math.sqrt(w)
            slope = by_effect[e] - effects[e] / variance
            total += math.log(spread) - log_sd - 0.5 * effects[e] * effects[e] / variance
            gradient[e] = slope * spread
            moves = (1.0 - w) * (2.0 * w * plan.hat[e] + spread * x[e])
            by_sd += slope * moves + effects[e] * effects[e] / variance - w
        if plan.learned:
            prior = variance / plan.sds[block] ** 2
            total += 2.0 * log_sd - 0.5 * prior
            gradient[effects_of + block] = by_sd + 2.0 - prior
    return float(total)


@_compiled
def whitened(y: Array, plan: DensityData, centre: Array, factor: Array, across: Array, gradient: Array) -> float:
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
