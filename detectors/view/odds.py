"""The way back from the probabilities of players to their scores, and how likely scores make a set of deceivers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from liescope.detectors.view.posterior import Floats, Tables, posterior

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
    """The log-probability that exactly these players deceive. deceives: (n,)."""
    if deceivers is not None and deceives.sum() != deceivers:
        return -np.inf
    return -Tables.of([len(logits)], [deceivers]).loss(logits, deceives, ~deceives)[0]
