"""From a score of each player to the probability that the player is one of those who deceive.

With a known number k of deceivers, the players' labels are independent Bernoulli draws given that k of them are true
(conditional Bernoulli; Chen and Liu 1997); with k = 1 this is the softmax. Without, they are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logit

Floats = NDArray[np.float64]
_EDGE, _NEAR, _ROUNDS = 1e-6, 1e-6, 100


def posterior(logits: Floats, deceivers: int | None) -> Floats:
    """(n,): the probability of each player. logits: (n,), finite; deceivers: how many there are, None if not known."""
    n = len(logits)
    if deceivers is None:
        return np.asarray(expit(logits), dtype=np.float64)
    if deceivers <= 0 or deceivers >= n:
        return np.full(n, float(deceivers >= n and n > 0))
    return np.asarray(np.exp(log_marginals(logits, deceivers)))


def log_partition(logits: Floats, deceivers: int) -> float:
    """The log of the sum over all sets of k players of the product of their odds."""
    return float(_forward(logits, deceivers)[-1, deceivers])


def log_marginals(logits: Floats, deceivers: int) -> Floats:
    """(n,): the log-probability that each player is among the k, by forward and backward sums."""
    ahead, behind = _forward(logits, deceivers), _forward(logits[::-1], deceivers)[::-1]
    rest = [
        np.logaddexp.reduce([ahead[i, taken] + behind[i + 1, deceivers - 1 - taken] for taken in range(deceivers)])
        for i in range(len(logits))
    ]
    found: Floats = np.minimum(logits + np.array(rest) - ahead[-1, deceivers], 0.0)
    return found


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
    if deceivers is None:
        return float(log_expit(np.where(deceives, logits, -logits)).sum())
    if deceives.sum() != deceivers:
        return -np.inf
    return float(logits[deceives].sum()) - log_partition(logits, deceivers)


def _forward(logits: Floats, deceivers: int) -> Floats:
    """(n + 1, k + 1): log of the elementary symmetric sums of the first i odds."""
    sums = np.full((len(logits) + 1, deceivers + 1), -np.inf)
    sums[:, 0] = 0.0
    for i, one in enumerate(logits):
        sums[i + 1, 1:] = np.logaddexp(sums[i, 1:], sums[i, :-1] + one)
    return sums
