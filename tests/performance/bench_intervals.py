"""How often the intervals of `estimate` hold the truth, and how wide they are, in worlds of which some chose the rule
and others were drawn once it stood.

A world deals games, liars and scores; its truth is that of 60,000 of its games. A row is a world with so many games,
drawn 300 times: the AUROC within games, pooled over them (of 25 and 87 games), and the difference of two scorers of the
same statements.

Run: python tests/performance/bench_intervals.py [difference] (about fifteen minutes of CPU, five for the difference)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from liescope.common.statistics import CHANGE, PROPORTION, Floats, Scale, Weights, estimate, game_weights
from liescope.detectors.study.metrics import Scored, pairs_within, pooled_auroc

SIZES, POOLED_SIZES = (15, 25, 50, 87, 150, 300), (25, 87)
DRAWN, MANY = 300, 60_000
HELD = (0.94, 0.99)


@dataclass(frozen=True, slots=True)
class World:
    """signal, skill: how far lies score above the rest, on average and as a standard deviation between games, where a
    statement's noise has .7 and a player's .7, of Student's t with `tails` degrees of freedom, 0 for a normal; offset:
    of a game's scores; seats, said: fewest and most players of a game, statements of a player; liars: of the players;
    fooled: share of the games where the score is turned round for all liars, or for each with a chance of `for_each`;
    levels: of the score within its signal, 0 for no ties.
    """

    name: str
    signal: float
    skill: float = 0.0
    tails: float = 0.0
    offset: float = 0.5
    seats: tuple[int, int] = (5, 5)
    said: tuple[int, int] = (2, 2)
    liars: float = 0.3
    fooled: float = 0.0
    for_each: float = 1.0
    levels: int = 0

    def deal(self, games: int, random: np.random.Generator, scorers: int = 1) -> list[Scored]:
        """The games as each scorer sees them: a statement's noise and the games that fool are its own, and each hears
        .8 of the signal of the one before.
        """
        seats = random.integers(self.seats[0], self.seats[1] + 1, games)
        game = np.repeat(np.arange(games), seats)
        place = np.arange(len(game)) - np.repeat(seats.cumsum() - seats, seats)
        lies = place < np.clip(np.round(self.liars * seats), 1, seats - 1)[game]
        speaker = np.repeat(np.arange(len(game)), random.integers(self.said[0], self.said[1] + 1, len(game)))

        def noise(size: int) -> Floats:
            return random.standard_t(self.tails, size) if self.tails else random.normal(size=size)

        skill = random.normal(self.signal, self.skill, games)[game]
        shared = 0.7 * noise(len(game))[speaker] + random.normal(0, self.offset, games)[game][speaker]
        found = []
        for scorer in range(scorers):
            turned = (random.random(games) < self.fooled)[game] & (random.random(len(game)) < self.for_each)
            score = (np.where(turned, -skill, skill) * lies * 0.8**scorer)[speaker] + shared + 0.7 * noise(len(speaker))
            score = np.round(score * self.levels / abs(self.signal)) if self.levels else score
            found.append(Scored(lies[speaker], score, game[speaker], games))
        return found


CHOSE = (
    World("nearly perfect", 5),
    World("one game of 87 fooled", 6, fooled=1 / 87),
    World("2% of games fooled", 6, fooled=0.02),
    World("half fooled", 6, fooled=0.03, for_each=0.5),
    World("uneven, fooled", 4, seats=(3, 8), said=(1, 8), fooled=0.02),
    World("heavy tails", 6, tails=2, seats=(3, 8)),
    World("heavy tails, near 1", 8, tails=3),
    World("chance", 0, seats=(8, 8), said=(4, 4)),
    World("middling", 1),
    World("ties", 3, levels=1),
    World("ties, fooled", 6, levels=1, fooled=0.02),
    World("below chance", -1.5),
    World("uneven skill", 3, skill=1.5),
    World("one of 87 fooled, 3 players", 7, seats=(3, 3), said=(3, 3), fooled=1 / 87),
    World("1% fooled, 8 players", 6, seats=(8, 8), liars=0.25, fooled=0.01),
    World("3% fooled", 7, seats=(4, 6), fooled=0.03),
    World("1% fooled, uneven", 7, seats=(3, 8), said=(1, 5), fooled=0.01),
    World("5% half fooled", 6, seats=(6, 8), fooled=0.05, for_each=0.5),
    World("2% half fooled, ties", 6, seats=(5, 8), fooled=0.02, for_each=0.5, levels=2),
    World("perfect", 20),
    World("perfect, ties", 20, levels=1),
    World("strong, Cauchy tails", 8, tails=1),
    World("strong, heavy tails, uneven", 5, tails=2, seats=(3, 8), said=(1, 4)),
    World("strong, heavy tails, ties", 4, tails=3, levels=2),
    World("good, skill uneven", 2.5, skill=2, seats=(4, 7)),
    World("good, many statements", 2, seats=(7, 8), said=(4, 8)),
    World("good, 10% fooled", 4, fooled=0.1),
    World("weak, 3 players, one each", 0.5, seats=(3, 3), said=(1, 1)),
    World("weak, games far apart", 0.7, offset=3),
    World("chance, 3 players", 0, seats=(3, 3), said=(1, 1)),
    World("chance, heavy tails, uneven", 0, tails=2, seats=(3, 8), said=(1, 6)),
    World("below chance, strong", -4, fooled=0.02),
    World("two levels, weak", 1, levels=1, said=(1, 1)),
)
"""Those that chose the rule."""
FRESH = (
    World("2% fooled, ties, 4 players", 5, seats=(4, 4), fooled=0.02, levels=2),
    World("1% fooled, fine ties", 4, seats=(5, 7), fooled=0.01, levels=4),
    World("2% half fooled, many statements", 4, said=(4, 8), seats=(6, 8), fooled=0.02, for_each=0.5),
    World("3% half fooled, uneven", 6, seats=(3, 8), said=(1, 6), fooled=0.03, for_each=0.5),
    World("one of 87 fooled, uneven", 5, seats=(3, 8), said=(2, 4), fooled=1 / 87),
    World("one of 87 fooled, games apart", 7, offset=1.5, fooled=1 / 87),
    World("4% fooled, 3 players", 6, seats=(3, 3), said=(1, 1), fooled=0.04),
    World("perfect, 8 players", 30, seats=(8, 8), said=(4, 4)),
    World("almost perfect, heavy tails", 10, tails=3, seats=(4, 7)),
    World("strong, heavier tails", 7, tails=1.5),
    World("strong, one level", 3.5, levels=1, seats=(3, 8)),
    World("strong, skill uneven, heavy tails", 4, skill=1.5, tails=3),
    World("good, half of each game lies", 2, liars=0.5, seats=(4, 8)),
    World("good, 15% half fooled", 3, fooled=0.15, for_each=0.5),
    World("good, fine ties, uneven", 1.8, levels=3, seats=(3, 8), said=(1, 4)),
    World("weak, skill uneven", 0.5, skill=1, seats=(5, 7)),
    World("weak, many statements", 0.4, seats=(6, 8), said=(3, 6)),
    World("chance, 5 players, games apart", 0, offset=2),
    World("below chance, ties", -2, levels=1),
    World("below chance, almost 0", -6, seats=(4, 6), fooled=0.01),
)
"""Those drawn once it stood."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of scorers of the same games, over weights: shape (weights,)."""

    name: str
    scorers: int
    sizes: Sequence[int]
    span: Scale
    figure: Callable[[Sequence[Scored], Weights], Floats]


def within(scorers: Sequence[Scored], weights: Weights) -> Floats:
    """Of one scorer its AUROC within games, of two the difference."""
    (right, pairs), *others = (pairs_within(one) for one in scorers)
    ahead = right - sum((other for other, _ in others), np.zeros(len(right)))
    return np.asarray((weights @ ahead) / (weights @ pairs))


MEASURES = (
    Measure("within games", 1, SIZES, PROPORTION, within),
    Measure("pooled", 1, POOLED_SIZES, PROPORTION, lambda scorers, weights: pooled_auroc(scorers[0], weights)),
    Measure("difference of two", 2, SIZES, CHANGE, within),
)


def row(world: World, measure: Measure, games: int, truth: float) -> Floats:
    """Coverage, truths below and above the interval, and width: shape (4,)."""
    random, weights = np.random.default_rng(games), game_weights(games, 0)
    ends = []
    for _ in range(DRAWN):
        values = measure.figure(world.deal(games, random, measure.scorers), weights)
        ends.append(estimate(values, games, measure.span)[1:])
    lo, hi = np.array(ends, dtype=float).T
    below, above = (truth < lo - 1e-9).mean(), (truth > hi + 1e-9).mean()
    return np.array([1 - below - above, below, above, (hi - lo).mean()])


def table(title: str, worlds: Sequence[World], measure: Measure) -> None:
    """Prints a row for each world and number of games, and what they come to."""
    print(f"\n{title}: {measure.name}\n{'':34}{'games':>6}{'truth':>8}   held  (below above)  width")
    rows = []
    for world in worlds:
        everyone = world.deal(MANY, np.random.default_rng(1), measure.scorers)
        truth = float(measure.figure(everyone, np.ones((1, MANY), np.float32))[0])
        for games in measure.sizes:
            held, below, above, width = row(world, measure, games, truth)
            rows.append((games, held))
            print(f"{world.name:34}{games:6}{truth:8.4f}  {held:.3f} ({below:.3f} {above:.3f}) {width:.3f}", flush=True)
    for games in measure.sizes:
        held = np.array([found for size, found in rows if size == games])
        print(
            f"{games} games: held {held.min():.3f} to {held.max():.3f}, on average {held.mean():.3f}; of {len(held)} "
            f"below {HELD[0]}: {(held < HELD[0]).sum()}, above {HELD[1]}: {(held > HELD[1]).sum()}"
        )


if __name__ == "__main__":
    for measure in MEASURES:
        if all(word in measure.name for word in sys.argv[1:]):
            for title, worlds in (("worlds that chose", CHOSE), ("worlds that did not choose", FRESH)):
                table(title, worlds, measure)
