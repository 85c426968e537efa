"""How often 95% intervals hold the truth, by the number of independent groups.

`python tests/performance/bench_intervals.py`. Each row plants a truth, draws groups (games with their siblings) and
counts how often the interval holds it, beside the percentiles of a bootstrap over whole groups. Monte Carlo error:
about 0.5 points at 2,000 trials.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator

import numpy as np

from liescope.common.statistics import CHANGE, POSITIVE, PROPORTION, REAL, Bounds, Floats, Rows, Scale, difference, mean

GROUPS = (5, 10, 20, 50)
DRAWS = 400
Sizes = Callable[[np.random.Generator, int], Floats]


def alone(random: np.random.Generator, groups: int) -> Floats:
    """One row a group."""
    return np.ones(groups)


def several(random: np.random.Generator, groups: int) -> Floats:
    """About eight rows a group."""
    return 1.0 + random.poisson(7, groups)


def uneven(random: np.random.Generator, groups: int) -> Floats:
    """Every fifth group has twenty forks, the others are alone."""
    return np.where(np.arange(groups) % 5 == 0, 20.0, 1.0)


def shares(random: np.random.Generator, counts: Floats, p: float, alike: float) -> Rows:
    """Yes or no with mean p, rows of a group correlated by `alike` (beta-binomial)."""
    each = random.beta(p * (1 / alike - 1), (1 - p) * (1 / alike - 1), len(counts)) if alike else p
    hits = random.binomial(counts.astype(int), each).astype(float)
    return Rows(counts, hits, hits)


def measured(random: np.random.Generator, counts: Floats, group: Floats, spread: float) -> Rows:
    """Numbers around those of their group."""
    values = [group[at] + random.normal(0, spread, int(count)) for at, count in enumerate(counts)]
    return Rows(counts, np.array([v.sum() for v in values]), np.array([(v**2).sum() for v in values]))


def one_sample(random: np.random.Generator, groups: int) -> Iterator[tuple[str, float, Rows, Scale]]:
    for p in (0.05, 0.2, 0.5):
        yield f"share {p:g}, rows alone", p, shares(random, alone(random, groups), p, 0), PROPORTION
        yield f"share {p:g}, 8 rows, not alike", p, shares(random, several(random, groups), p, 0), PROPORTION
        yield f"share {p:g}, 8 rows, alike .1", p, shares(random, several(random, groups), p, 0.1), PROPORTION
        yield f"share {p:g}, 8 rows, alike .4", p, shares(random, several(random, groups), p, 0.4), PROPORTION
        yield f"share {p:g}, uneven, alike .5", p, shares(random, uneven(random, groups), p, 0.5), PROPORTION
    counts = several(random, groups)
    yield "suspicion, beta(4,6) a group", 0.4, bounded(random, counts, random.beta(4, 6, groups)), PROPORTION
    yield "number, normal groups", 0.0, measured(random, counts, random.normal(0, 1, groups), 1), REAL
    votes = [np.round(random.beta(1.5, 1.5, groups) * 2) / 2 for _ in range(2)]
    yield "forks: pairs of vote shares", 0.0, Rows.of(votes[0] - votes[1]), CHANGE
    skewed = random.lognormal(0, 0.6, groups)
    yield "length, lognormal groups", float(np.exp(0.18)), Rows.of(skewed), POSITIVE


def bounded(random: np.random.Generator, counts: Floats, group: Floats) -> Rows:
    values = [random.beta(10 * group[at], 10 * (1 - group[at]), int(count)) for at, count in enumerate(counts)]
    return Rows(counts, np.array([v.sum() for v in values]), np.array([(v**2).sum() for v in values]))


def two_samples(random: np.random.Generator, groups: int) -> Iterator[tuple[str, float, Rows, Rows]]:
    def apart(one: Rows, two: Rows) -> tuple[Rows, Rows]:
        none = np.zeros(groups)
        first = Rows(*(np.concatenate([part, none]) for part in (one.counts, one.sums, one.squares)))
        return first, Rows(*(np.concatenate([none, part]) for part in (two.counts, two.sums, two.squares)))

    sides = [shares(random, alone(random, groups), p, 0) for p in (0.7, 0.4)]
    yield "difference .3, rows alone", 0.3, *apart(*sides)
    sides = [shares(random, several(random, groups), p, 0.2) for p in (0.5, 0.4)]
    yield "difference .1, 8 rows, alike .2", 0.1, *apart(*sides)
    luck = random.normal(0, 1, groups)
    won = [Rows.of((luck + random.normal(0, 0.7, groups) < at).astype(float)) for at in (0.6, 0.0)]
    truth = math.erf(0.6 / math.sqrt(2 * 1.49)) / 2
    yield "paired shares, alike", truth, won[0], won[1]
    level = random.beta(4, 6, groups)
    each = several(random, groups)
    moved = [bounded(random, each, np.clip(level + random.normal(0, 0.03, groups), 0.01, 0.99)) for _ in range(2)]
    yield "same games on both sides", 0.0, moved[0], moved[1]


def bootstrap(random: np.random.Generator, *sides: Rows) -> tuple[float, float]:
    """Percentiles over whole groups, of one mean or of the difference of two."""
    groups = len(sides[0].counts)
    times = random.multinomial(groups, np.full(groups, 1 / groups), size=DRAWS)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = [(times @ side.sums) / (times @ side.counts) for side in sides]
    values = drawn[0] - (drawn[1] if len(drawn) == 2 else 0)
    lo, hi = np.nanquantile(values, [0.025, 0.975])
    return float(lo), float(hi)


def main(trials: int) -> None:
    found: dict[str, dict[int, list[tuple[bool, bool, float]]]] = {}
    none: dict[str, int] = {}
    for groups in GROUPS:
        random = np.random.default_rng(groups)
        for _ in range(trials):
            cases: list[tuple[str, float, Bounds, tuple[Rows, ...]]] = []
            for name, truth, rows, scale in one_sample(random, groups):
                cases.append((name, truth, mean(rows, scale), (rows,)))
            for name, truth, one, two in two_samples(random, groups):
                cases.append((name, truth, difference(one, two), (one, two)))
            for name, truth, (lo, hi), sides in cases:
                if lo is None or hi is None:
                    none[name] = none.get(name, 0) + 1
                    continue
                low, high = bootstrap(random, *sides)
                row = (lo <= truth <= hi, low <= truth <= high, hi - lo)
                found.setdefault(name, {}).setdefault(groups, []).append(row)
    print(f"{'':34}" + "".join(f"{groups:>16}" for groups in GROUPS))
    print(f"{'held, of 95%; bootstrap':34}" + f"{'rule  boot width':>16}" * len(GROUPS))
    for name, by in found.items():
        cells = []
        for groups in GROUPS:
            rows = np.array(by.get(groups, [(np.nan,) * 3]), dtype=float).mean(axis=0)
            cells.append(f"{100 * rows[0]:>6.1f}{100 * rows[1]:>6.1f}{rows[2]:>4.2f}")
        print(f"{name:34}" + "".join(cells) + (f"  none: {none[name]}" if name in none else ""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2000)
    main(parser.parse_args().trials)
