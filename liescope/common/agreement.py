"""How far two labels or raters agree: the share of pairs that are equal, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Agreement:
    """counts: how many statements carry each (first label, second label); pairs: how many in all; raw: the share that
    agrees; kappa: agreement beyond chance, 1 for perfect, 0 for chance. raw is None without pairs; so is kappa, and
    also if chance alone would agree fully (both labels constant and equal).
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
