"""How far labels and observers agree: Cohen's kappa, Krippendorff's alpha, and the truth behind unequal observers.

`dawid_skene` weighs several observers' yes and no answers about the same items by how reliable their agreement shows
them to be. Dawid and Skene (1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm"): the
true answers are unknown; each observer has a recall and a false positive rate, and answers independently given the
truth. With one coin, an observer has a single accuracy for both classes. Estimated by EM, from the share of yes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from liescope.common.statistics import Bools, Floats, Weights


def alpha(item: NDArray[np.int64], yes: Bools, game: NDArray[np.int64], weights: Weights) -> Floats:
    """(weights,): Krippendorff's alpha for two values: 1 for perfect agreement, 0 for chance; NaN where no item has two
    answers, or where all of them are alike. item, yes, game: of each answer.

    Krippendorff (2019), Content Analysis, chapter 12: 1 - D_observed / D_expected over the answers of the items that
    have at least two; an item's pairs weigh 1 / (answers - 1).
    """
    answers = np.bincount(item).astype(float)
    flags = np.bincount(item, weights=yes.astype(float))
    first = np.unique(item, return_index=True)[1]
    pairable = answers >= 2
    split = np.where(pairable, 2 * flags * (answers - flags) / np.maximum(answers - 1, 1), 0.0)
    games = weights.shape[1]
    pairs, ones, every = (
        weights @ np.bincount(game[first], weights=np.where(pairable, column, 0.0), minlength=games)
        for column in (split, flags, answers)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = 2 * ones * (every - ones) / (every - 1)
        return np.asarray(1 - pairs / expected, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Agreement:
    """counts: how many statements carry each (first label, second label); pairs: their sum; raw: the share that agrees;
    kappa: agreement beyond chance, 1 for perfect, 0 for chance. raw is None without pairs; so is kappa, and also if
    chance alone would agree fully (both labels constant and equal).
    """

    counts: Mapping[tuple[Hashable, Hashable], int]
    pairs: int
    raw: float | None
    kappa: float | None


def agreement(first: Sequence[Hashable | None], second: Sequence[Hashable | None]) -> Agreement:
    """Agreement of two columns of equal length, row by row. Raises ValueError for different lengths."""
    pairs = zip(first, second, strict=True)
    return from_counts(Counter((one, two) for one, two in pairs if one is not None and two is not None))


def from_counts(counts: Mapping[tuple[Hashable, Hashable], int]) -> Agreement:
    """Agreement from how often each pair of labels occurs.

    Cohen (1960): kappa = (raw - chance) / (1 - chance), where chance is the agreement expected if the two columns
    were independent, each with its observed shares.
    """
    pairs = sum(counts.values())
    if not pairs:
        return Agreement(dict(counts), 0, None, None)
    rows: Counter[Hashable] = Counter()
    columns: Counter[Hashable] = Counter()
    for (one, two), count in counts.items():
        rows[one] += count
        columns[two] += count
    raw = sum(count for (one, two), count in counts.items() if one == two) / pairs
    chance = sum(count * columns[label] for label, count in rows.items()) / pairs**2
    kappa = (raw - chance) / (1 - chance) if chance < 1 else None
    return Agreement(dict(counts), pairs, raw, kappa)


Codes = NDArray[np.int64]
_STEPS, _CLOSE = 500, 1e-7
_PRIOR = 0.5  # of each answer, added to the counts of an observer: nobody is certain after a few answers


@dataclass(frozen=True, slots=True)
class Flags:
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


def dawid_skene(answers: Flags, one_coin: bool = False) -> Weighed:
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


def residuals(answers: Flags, truth: Bools) -> Floats:
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
