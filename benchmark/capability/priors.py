"""What the priors did to a fit: what they expect before any game, and how far scores would move under others.

The prior of every width is scaled: with learned widths the scale of each Rayleigh prior, in `paper` the fixed widths of
m, d and v. The draws are reweighted by the ratio of the priors, without sampling again (power scaling; Kallioinen et
al. 2024, doi:10.1007/s11222-023-10366-5), and the weights are Pareto-smoothed. Where these cannot be trusted, the move
is a straight line in the log of the scale, with the slope that the draws have there.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array, smoothed
from liescope.benchmark.capability.counts import schema
from liescope.benchmark.capability.model import MEAN_SD, PIVOT_SD, RHO_PRIOR
from liescope.benchmark.capability.posterior import Posterior

FACTORS = {"half": 0.5, "double": 2.0}
RELIABLE = 0.7  # the largest k of weights that can be trusted
MUCH_MOVED, MUCH_SPREAD = 0.3, 1.25
MOVES = schema("text parameter widths", "number shift spread k")


def before_any_game(posterior: Posterior, draws: int) -> Posterior:
    """Draws from the priors of a fit, in one chain."""
    random = np.random.default_rng(posterior.settings.seed)
    variant, found = posterior.variant, {}
    for name in variant.vectors:
        size, width = len(posterior.names[name]), variant.prior_sd(name)
        widths = random.rayleigh(width, draws) if variant.dispersed else np.full(draws, width)
        around = widths[:, None] * random.normal(size=(draws, size))
        found[name] = around - around.mean(axis=1, keepdims=True)
    _, second, *by = variant.form.parameters
    mean_sd = MEAN_SD / (1 if variant.dispersed else math.sqrt(len(posterior.names[second])))
    found[second] += random.normal(0, mean_sd, (draws, 1))
    if variant.offset:
        found["b"] += random.normal(0, PIVOT_SD, (draws, 1)) * found["v"]
    for factor in by:
        found[factor] += 1
    if variant.dispersed:
        found["rho"] = random.beta(*RHO_PRIOR, (draws, 1))
    return replace(posterior, draws={name: values[None] for name, values in found.items()}, sds={})


def moves(posterior: Posterior) -> pl.DataFrame:
    """How the scores would move if the widths of the priors were half or twice as large: a frame of MOVES, two rows for
    each of m, d, v and b that several players have.

    shift: of the mean that moves most, in its posterior standard deviations; spread: the factor by which the standard
    deviation of the means over players changes; k: of the tail of the weights, above `RELIABLE` or null if
    shift and spread are those of the straight line.
    """
    energy, found = _energy(posterior), []
    for word, factor in FACTORS.items():
        weights, k = smoothed((1 - factor**-2) / 2 * energy)
        if not k <= RELIABLE:
            weights = (1 + math.log(factor) * (energy - energy.mean())) / energy.size
        tail = k if math.isfinite(k) else None
        for name, draws in posterior.flat().items():
            if name in posterior.form.roles and draws.shape[1] > 1:
                mean, moved = draws.mean(axis=0), weights @ draws
                shift = np.abs(moved - mean) / np.maximum(draws.std(axis=0), 1e-12)
                found.append((name, word, float(shift.max()), float(moved.std() / max(mean.std(), 1e-12)), tail))
    return pl.DataFrame(found, MOVES, orient="row")


def _energy(posterior: Posterior) -> Array:
    """Twice the negative log of the part of the prior that widths scale, in each draw, up to a constant."""
    flat, squares = posterior.flat(), []
    for name in posterior.variant.vectors:
        drawn = posterior.sds[name].reshape(-1, 1) if posterior.variant.dispersed else flat[name]
        squares.append(np.square(drawn / posterior.variant.prior_sd(name)).sum(axis=1))
    return np.asarray(sum(squares))


def moved_sentence(posterior: Posterior) -> str:
    """How far other priors would move the scores, "" if players cannot be compared."""
    table = moves(posterior)
    if table.is_empty():
        return ""
    shift, least, most = table.select(pl.col("shift").max(), pl.col("spread").min(), most=pl.col("spread").max()).row(0)
    matter = shift >= MUCH_MOVED or most >= MUCH_SPREAD or least <= 1 / MUCH_SPREAD
    rough = " and ".join(table.filter(pl.col("k").fill_null(math.inf) > RELIABLE)["widths"].unique(maintain_order=True))
    return (
        f"{'THE PRIORS MATTER: if' if matter else 'If'} the widths of the priors were half or twice as large, scores "
        f"would move by up to {shift:.2f} of their standard deviation and lie {least:.2f} to {most:.2f} times as far "
        f"apart{f' ({rough}: a rough figure, as these draws do not reach so far)' if rough else ''}."
    )
