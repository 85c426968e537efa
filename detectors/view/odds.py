"""The way back from the probabilities of players to their scores, and how likely scores make a set of deceivers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, logit

from liescope.detectors.view.posterior import posterior

Floats = NDArray[np.float64]
_EDGE, _NEAR, _ROUNDS = 1e-6, 1e-6, 100


def logits_of(players: Floats, deceivers: int | None) -> Floats:
    """(n,): scores whose `posterior` is this one, up to a constant that changes nothing; probabilities of 0 and 1 are
    moved in by a millionth. Found as Chen, Dempster and Liu (1994, "Weighted finite population sampling to maximize
    entropy", section 4) do, by raising the odds of whoever comes out too improbable; here by half the log-odds missing.
    """
    inside = np.clip(players, _EDGE, 1 - _EDGE)
    logits: Floats = np.asarray(logit(inside))
    if deceivers is None or deceivers <= 0 or deceivers >= len(players):
        return logits
    if deceivers == 1:
        return np.asarray(np.log(inside))
    for _ in range(_ROUNDS):
        gap = logit(inside) - logit(np.clip(posterior(logits, deceivers), _EDGE, 1 - _EDGE))
        logits = logits + gap / 2
        if np.abs(gap).max() < _NEAR:
            break
    return logits


def log_likelihood(logits: Floats, deceives: NDArray[np.bool_], deceivers: int | None) -> float:
    """The log-probability that exactly these players deceive. deceives: (n,); deceivers: how many do, None if that is
    not known.
    """
    if deceivers is None:
        return float(log_expit(np.where(deceives, logits, -logits)).sum())
    if deceives.sum() != deceivers:
        return -np.inf
    sums = np.full(deceivers + 1, -np.inf)  # by size, the log of the summed odds of all sets of that size so far
    sums[0] = 0.0
    for one in logits:
        sums[1:] = np.logaddexp(sums[1:], sums[:-1] + one)
    return float(logits[deceives].sum() - sums[deceivers])
