"""Several observers' yes and no answers about the same items, weighed by how reliable their agreement shows them to be.

Dawid and Skene (1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm"): the true answers
are unknown; each observer has a recall and a false positive rate, and answers independently given the truth. With one
coin, an observer has a single accuracy for both classes. Estimated by EM, from the share of yes answers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.evaluation.metrics import Bools, Floats

Codes = NDArray[np.int64]
_STEPS, _CLOSE = 500, 1e-7
_PRIOR = 0.5  # of each answer, added to the counts of an observer: nobody is certain after a few answers


@dataclass(frozen=True, slots=True)
class Answers:
    """n answers. item, observer: (n,) codes from 0; yes: (n,)."""

    item: Codes
    observer: Codes
    yes: Bools

    @property
    def most(self) -> int:
        """The most answers that any item has."""
        return int(np.bincount(self.item).max(initial=0))


@dataclass(frozen=True, slots=True)
class Weighed:
    """posterior: (items,) the probability of yes; recall, false_positive_rate: (observers,)."""

    posterior: Floats
    recall: Floats
    false_positive_rate: Floats


def dawid_skene(answers: Answers, one_coin: bool = False) -> Weighed:
    """Raises ValueError if the answers cannot tell the observers' errors from the truth: two to an item are needed for
    one coin, three for the full model.
    """
    if answers.most < (2 if one_coin else 3):
        raise ValueError(f"at most {answers.most} answers to an item, and {2 if one_coin else 3} are needed")
    item, observer, yes = answers.item, answers.observer, answers.yes
    items, observers = int(item.max()) + 1, int(observer.max()) + 1
    posterior = np.bincount(item, weights=yes, minlength=items) / np.bincount(item, minlength=items)
    recall = false = np.empty(observers)
    for _ in range(_STEPS):
        prevalence = np.clip(posterior.mean(), 1e-6, 1 - 1e-6)
        lie = posterior[item]
        if one_coin:
            accuracy = _rate(np.where(yes, lie, 1 - lie), np.ones(len(lie)), observer, observers)
            recall, false = accuracy, 1 - accuracy
        else:
            recall = _rate(lie * yes, lie, observer, observers)
            false = _rate((1 - lie) * yes, 1 - lie, observer, observers)
        said = np.where(yes, np.log(recall / false)[observer], np.log((1 - recall) / (1 - false))[observer])
        odds = np.log(prevalence / (1 - prevalence)) + np.bincount(item, weights=said, minlength=items)
        last, posterior = posterior, 1 / (1 + np.exp(-np.clip(odds, -500, 500)))
        if np.abs(posterior - last).max() < _CLOSE:
            break
    return Weighed(posterior, recall, false)


def residuals(answers: Answers, truth: Bools) -> Floats:
    """(n,): each answer less the share of yes that its observer gives to items of that truth, in standard deviations;
    NaN for an observer that always answers such items alike, whose errors correlate with nothing. truth: (items,).
    """
    group = answers.observer * 2 + truth[answers.item]
    count = np.bincount(group)
    share = np.bincount(group, weights=answers.yes) / np.maximum(count, 1)
    spread = np.sqrt(share * (1 - share))[group]
    gap = answers.yes - share[group]
    return np.asarray(np.divide(gap, spread, out=np.full(len(gap), np.nan), where=spread > 0), dtype=np.float64)


def pairs_of(values: Floats, item: Codes, items: int) -> tuple[Floats, Floats]:
    """(sum of the products of all pairs, number of pairs) of each item's values that are no NaN, each (items,)."""
    values, item = values[np.isfinite(values)], item[np.isfinite(values)]
    count = np.bincount(item, minlength=items)
    total = np.bincount(item, weights=values, minlength=items)
    squares = np.bincount(item, weights=values**2, minlength=items)
    return (total**2 - squares) / 2, count * (count - 1) / 2


def effective(count: Floats, correlation: Floats) -> Floats:
    """How many independent observers `count` observers are worth whose errors correlate: n / (1 + (n - 1) rho), the
    design effect of Kish (1965, section 5.4). NaN where errors are so opposed that no number of them is worth as much.
    """
    shared = 1 + (count - 1) * correlation
    return np.asarray(count / np.where(shared > 0, shared, np.nan), dtype=np.float64)


def _rate(part: Floats, whole: Floats, observer: Codes, observers: int) -> Floats:
    above, below = (np.bincount(observer, weights=column, minlength=observers) for column in (part, whole))
    return np.asarray((above + _PRIOR) / (below + 2 * _PRIOR), dtype=np.float64)
