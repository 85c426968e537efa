"""From a score of each player to the probability that the player is one of those who deceive.

With a known number k of deceivers, the players' labels are independent Bernoulli draws given that k of them are true
(conditional Bernoulli; Chen and Liu 1997); with k = 1 this is the softmax. Without, they are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


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


def _forward(logits: Floats, deceivers: int) -> Floats:
    """(n + 1, k + 1): log of the elementary symmetric sums of the first i odds."""
    sums = np.full((len(logits) + 1, deceivers + 1), -np.inf)
    sums[:, 0] = 0.0
    for i, logit in enumerate(logits):
        sums[i + 1, 1:] = np.logaddexp(sums[i, 1:], sums[i, :-1] + logit)
    return sums
