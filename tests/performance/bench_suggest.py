"""How much better scores become by games that `fit --suggest` chose than by as many chosen otherwise.

Players with known scores play a small background design; then each way of choosing adds the same number of games, and
the model is fitted again (`liescope.benchmark.capability.model`). Printed for each way: the root mean square error of
m, d and v, the mean width of their 95% intervals, the share of intervals that hold the truth, and both figures minus
those of the suggestion, paired by replication, with 95% intervals of Student's t.

Run: python tests/performance/bench_suggest.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl
from scipy.special import expit
from scipy.stats import t as student

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import PLAYERS, SCHEMA, tally
from liescope.benchmark.capability.model import Laplace, laplace, logits, normalise
from liescope.benchmark.capability.suggest import BLOCK, less_variance, more_information, suggest
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.generate.runs.plan_games import designed

REPLICATIONS = 40
WAYS = ("suggested", "in two steps", "by information", "random", "even", "background")


@dataclass(frozen=True)
class World:
    """models: how many; first: games of each cell of the first design, with two backgrounds; more: games to add;
    offset: whether villagers lean; dispersion: correlation of games of one cell beyond the formula.
    """

    models: int
    first: int
    more: int
    offset: bool = False
    dispersion: float = 0.0

    def __str__(self) -> str:
        extra = f", offsets, dispersion {self.dispersion}" if self.offset else ""
        return f"{self.models} models, {self.first} games a cell of two backgrounds, then {self.more} games{extra}"


WORLDS = (World(5, 20, 300), World(10, 20, 1000), World(10, 20, 1000, offset=True, dispersion=0.02))


class Players:
    """Known scores, and games drawn from them. truth: by parameter, shape (models)."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.random = world, np.random.default_rng(seed)
        self.models = tuple(f"model-{number}" for number in range(world.models))
        normal = self.random.normal
        scores = normalise(*(normal(mean, 0.5, world.models) for mean in (0, 0.4, 1)))
        self.truth = dict(zip(PARAMETERS, scores, strict=True))
        if world.offset:
            lean = normal(0, 0.3, world.models)
            self.truth["b"] = lean - lean.mean()
        self.cube = pl.DataFrame(list(product(self.models, repeat=3)), list(PLAYERS), orient="row")
        named = dict.fromkeys(self.truth, self.models)
        chance = expit(logits(self.cube, named, {name: values[None] for name, values in self.truth.items()})[0])
        if world.dispersion:  # every cell has a chance of its own, which further games of it share
            size = (1 - world.dispersion) / world.dispersion
            chance = self.random.beta(chance * size, (1 - chance) * size)
        self._chances = self.cube.with_columns(chance=chance)

    def play(self, plan: pl.DataFrame) -> pl.DataFrame:
        """Counts of a plan: mafioso, detective, villager, games."""
        drawn = plan.join(self._chances, on=PLAYERS, maintain_order="left")
        wins = self.random.binomial(drawn["games"].to_numpy(), drawn["chance"].to_numpy())
        return drawn.with_columns(mafia_wins=wins).select(list(SCHEMA))

    def background(self, games: int) -> pl.DataFrame:
        """Each model in each role against the first two models, so many games of each cell."""
        cells = designed("background", PLAYERS, self.models, self.models[:2])
        return pl.DataFrame(cells, list(PLAYERS), orient="row").with_columns(games=pl.lit(games, pl.Int64))

    def spread(self, games: int, at: Array) -> pl.DataFrame:
        """Games given to the cells of the cube at these places, as evenly as they can be."""
        given = np.bincount(at, np.full(len(at), games // len(at)), self.cube.height).astype(np.int64)
        given += np.bincount(self.random.permutation(at)[: games % len(at)], minlength=self.cube.height)
        return self.cube.with_columns(games=given).filter(pl.col("games") > 0)

    def fit(self, *counts: pl.DataFrame) -> Laplace:
        return laplace(tally(pl.concat(counts)), offset=self.world.offset, dispersion=self.world.dispersion, draws=2000)


def add(players: Players, begun: pl.DataFrame, way: str) -> Laplace:
    """The fit after the games that a way of choosing adds."""
    games = players.world.more
    everywhere = np.arange(players.cube.height)
    if way == "random":
        plan = players.spread(games, players.random.choice(everywhere, games // BLOCK))
    elif way == "even":
        plan = players.spread(games, everywhere)
    elif way == "background":
        design = players.cube.join(players.background(1), on=PLAYERS, how="left", maintain_order="left")
        plan = players.spread(games, np.flatnonzero(design["games"].is_not_null()))
    elif way == "in two steps":
        begun = pl.concat([begun, players.play(suggest(players.fit(begun), games // 2).plan)])
        plan = suggest(players.fit(begun), games - games // 2).plan
    else:
        gain = more_information if way == "by information" else less_variance
        plan = suggest(players.fit(begun), games, gain=gain).plan
    return players.fit(begun, players.play(plan))


def errors(players: Players, fit: Laplace) -> tuple[float, float, float]:
    """Of all m, d and v: root mean square error, mean width of 95% intervals, share of those that hold the truth."""
    drawn = np.concatenate([fit.draws[name][0] for name in PARAMETERS], axis=1)
    truth = np.concatenate([players.truth[name] for name in PARAMETERS])
    lo, hi = np.quantile(drawn, (0.025, 0.975), axis=0)
    off = drawn.mean(axis=0) - truth
    return float(np.sqrt(np.square(off).mean())), float((hi - lo).mean()), float(((lo <= truth) & (truth <= hi)).mean())


def compare(world: World, ways: Sequence[str], replications: int, seed: int = 0) -> Array:
    """`errors` of each way, shape (ways, replications, 3); all ways of a replication have the same players and the same
    first games.
    """
    found = []
    for replication in range(replications):
        begun = Players(world, seed + replication)
        first = begun.play(begun.background(world.first))
        found.append([])
        for way in ways:
            players = Players(world, seed + replication)
            players.random = np.random.default_rng((replication, 1))
            found[-1].append(errors(players, add(players, first, way)))
    return np.array(found).swapaxes(0, 1)


def difference(one: Array, other: Array) -> tuple[float, float, float]:
    """The mean of one minus other, paired, and its 95% interval."""
    gap = one - other
    half = float(student.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap)))
    return float(gap.mean()), float(gap.mean()) - half, float(gap.mean()) + half


def bench_suggest() -> None:
    for world in WORLDS:
        found = compare(world, WAYS, REPLICATIONS)
        print(f"\n{world}; {REPLICATIONS} replications")
        print(f"{'':15}{'RMSE':>6} {'less suggested':>24} {'width':>6} {'less suggested':>24} {'held':>5}")
        for way, measured in zip(WAYS, found, strict=True):
            rmse, width, held = measured.mean(axis=0)
            apart = (difference(measured[:, at], found[0][:, at]) for at in (0, 1))
            rmses, widths = (f"{gap:+.3f} ({lo:+.3f} to {hi:+.3f})" if way != WAYS[0] else "" for gap, lo, hi in apart)
            print(f"{way:15}{rmse:6.3f} {rmses:>24} {width:6.3f} {widths:>24} {held:5.1%}")
    players = Players(World(30, 20, 1000), seed=1)
    fit = players.fit(players.play(players.background(20)))
    begin = time.perf_counter()
    suggest(fit, 1000)
    print(f"\n1000 games among the {players.cube.height} cells of 30 models: {time.perf_counter() - begin:.1f} s")


if __name__ == "__main__":
    bench_suggest()
