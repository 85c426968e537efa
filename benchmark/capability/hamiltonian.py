"""Hamiltonian Monte Carlo on the compiled density: `hmc`, which draws every fit.

Each chain moves by leapfrog steps in coordinates in which the posterior is nearly a standard normal distribution. While
it tunes, the step is learned by dual averaging (Hoffman and Gelman 2014, section 3.2), and the draws of all chains
correct the coordinates several times. Lengths are drawn at random, so that no trajectory comes back to where it began
(Neal 2011, section 5.4.3.2).
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.backend import Array, Sample
from liescope.benchmark.capability.density import Density, compiled, whitened

_ROUNDS = (0.1, 0.2, 0.3, 0.4)  # shares of the tuning; after each but the last, coordinates are corrected
_AT_ONCE = 500  # draws, after which an interrupt is heard
_LENGTH = 1.8  # of a trajectory, in the mean
_MOST = 200  # leapfrog steps
_DIVERGED = 1000.0  # error of the energy
_GAMMA, _T0, _KAPPA = 0.05, 10.0, 0.75  # of dual averaging


@compiled
def _chain(where: Any, random: Any, start: Array, step: float, tune: int, target: float, out: Array) -> float:
    """Fill out, shape (draws, dimensions + 3): each the point, its log density, the energy, 1 for a divergence; the
    step. The first of them, tune, adapt it. where: the coordinates of a density.
    """
    size = start.size
    y, gradient = start.copy(), np.empty(size)
    height = whitened(y, *where, gradient)
    middle, log_mean, error = math.log(10 * step), math.log(step), 0.0
    moved, slope, momentum = np.empty(size), np.empty(size), np.empty(size)
    for draw in range(len(out)):
        if draw == tune:
            step = math.exp(log_mean)
        steps = min(math.ceil(_LENGTH * (0.5 + random.random()) / step), _MOST)
        energy = -height
        for i in range(size):
            momentum[i] = random.standard_normal()
            energy += 0.5 * momentum[i] ** 2
        moved[:], slope[:], reached, now, diverged = y, gradient, height, energy, False
        for _ in range(steps):
            for i in range(size):
                momentum[i] += 0.5 * step * slope[i]
                moved[i] += step * momentum[i]
            reached = whitened(moved, *where, slope)
            now = -reached
            for i in range(size):
                momentum[i] += 0.5 * step * slope[i]
                now += 0.5 * momentum[i] ** 2
            if not now - energy < _DIVERGED:
                diverged = True
                break
        accept = 0.0 if diverged else min(1.0, math.exp(energy - now))
        if random.random() < accept:
            y[:], gradient[:], height = moved, slope, reached
        row = out[draw]
        row[:size], row[size], row[size + 1], row[size + 2] = y, height, energy, 1.0 if diverged else 0.0
        if draw < tune:
            count = draw + 1.0
            error += (target - accept - error) / (count + _T0)
            log_step = middle - math.sqrt(count) / _GAMMA * error
            log_mean += count**-_KAPPA * (log_step - log_mean)
            step = math.exp(log_step)
    return step


def hmc(density: Density, settings: SamplerOptions) -> Sample:
    """Sample; equal settings, densities and versions give equal draws."""
    size, chains, target = density.dimensions, settings.chains, settings.target_accept
    randoms = [np.random.default_rng(seed) for seed in np.random.SeedSequence(settings.seed).spawn(chains)]
    points, steps = np.stack([random.normal(size=size) for random in randoms]), [0.2] * chains

    def advance(draws: int, tune: int) -> Array:
        nonlocal points, steps
        out = np.empty((chains, draws, size + 3))
        where = density.coordinates
        each = zip(randoms, points, steps, out, strict=True)
        steps = list(pool.map(lambda one: _chain(where, *one[:3], tune, target, one[3]), each))
        points = out[:, -1, :size]
        return out

    with ThreadPoolExecutor(min(chains, os.cpu_count() or 1)) as pool:
        for number, share in enumerate(_ROUNDS):
            tune = max(1, round(share * settings.tune))
            seen = advance(tune, tune)[..., :size]
            if number + 1 < len(_ROUNDS):
                points = density.correct(seen[:, tune // 3 :], points)
        starts = range(0, settings.draws, _AT_ONCE)
        out = np.concatenate([advance(min(_AT_ONCE, settings.draws - start), 0) for start in starts], axis=1)
    return Sample(out[..., :size], out[..., size], out[..., size + 1], out[..., size + 2] > 0)
