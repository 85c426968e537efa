"""How often the 95% intervals of detectors hold the truth, in few games and near 1.

`python tests/performance/bench_auroc_intervals.py` prints the table; a number after it is how many worlds each row has.

Games are simulated: of some players one or two deceive, each says something a few times, and a score is a shift for
those who deceive, a part that is the game's, one that is the player's and one that is the statement's, all normal. So
the true AUROC, within games and pooled, is known. Beside the interval that is printed everywhere stands the
bias-corrected percentile interval of the same resamples. Last, twelve cells truly at one half: how often the interval
of the worst lies wholly below it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from liescope.common.statistics import Floats, estimate, game_weights, resampled, worst
from liescope.detectors.evaluation.metrics import Scored, pooled_auroc, within_games

_NORMAL = NormalDist()
_DRAWS = 200


@dataclass(frozen=True)
class Design:
    """Players, how many deceive, statements of each; the standard deviations of a game's and of a player's part."""

    players: int
    deceive: int
    said: int
    game: float
    player: float


DESIGNS = {"3 players, 2 statements each": Design(3, 1, 2, 0.5, 0.7), "6 players, 10 each": Design(6, 2, 10, 0.3, 0.6)}


def played(rng: np.random.Generator, design: Design, games: int, shift: float) -> Scored:
    """Some games of a design. shift: of the scores of those who deceive."""
    shape = (games, design.players, design.said)
    y = np.zeros(shape, bool)
    y[:, : design.deceive] = True
    score = shift * y + rng.normal(0, design.game, (games, 1, 1)) + rng.normal(0, design.player, (*shape[:2], 1))
    score = score + rng.normal(0, np.sqrt(1 - design.player**2), shape)
    return Scored(y.ravel(), score.ravel(), np.repeat(np.arange(games), y[0].size), games)


def percentile(values: Floats) -> tuple[float, float]:
    """The bias-corrected percentile interval."""
    drawn = resampled(values)
    below = (drawn < values[0]).mean() + (drawn == values[0]).mean() / 2
    bias = _NORMAL.inv_cdf(float(np.clip(below, 1 / (len(drawn) + 1), 1 - 1 / (len(drawn) + 1))))
    lo, hi = np.quantile(drawn, [_NORMAL.cdf(2 * bias - 1.96), _NORMAL.cdf(2 * bias + 1.96)])
    return min(lo, values[0]), max(hi, values[0])


def coverage(design: Design, games: int, truth: float, within: bool, worlds: int) -> tuple[float, float]:
    """(ours, percentile): the shares of worlds whose interval holds the truth."""
    spread = 2.0 if within else 2.0 * (1 + design.game**2)
    shift, held = _NORMAL.inv_cdf(truth) * np.sqrt(spread), np.zeros(2)
    rng = np.random.default_rng(games)
    for world in range(worlds):
        data, weights = played(rng, design, games, shift), game_weights(games, _DRAWS, world)
        values = within_games(data, weights) if within else pooled_auroc(data, weights)
        _, lo, hi = estimate(values, games)
        low, high = percentile(values)
        held += (lo is not None and hi is not None and lo <= truth <= hi, low <= truth <= high)
    return float(held[0] / worlds), float(held[1] / worlds)


def below_chance(games: int, worlds: int) -> tuple[float, float]:
    """(ours, that of the cell alone): how often the worst of twelve cells truly at .5 lies wholly below it."""
    found = np.zeros(2)
    for world in range(worlds):
        rng, weights = np.random.default_rng(world), game_weights(games, _DRAWS, world)
        cells = [(within_games(played(rng, Design(6, 2, 10, 0.3, 0.6), games, 0.0), weights), games) for _ in range(12)]
        at, (_, _, hi) = worst(cells)
        _, _, alone = estimate(*cells[at])
        found += (hi is not None and hi < 0.5, alone is not None and alone < 0.5)
    return float(found[0] / worlds), float(found[1] / worlds)


def main(worlds: int = 300) -> None:
    print("| games of | figure | AUROC | games | interval | percentile |\n|---|---|---:|---:|---:|---:|")
    for name, design in DESIGNS.items():
        for within in (True, False):
            for truth in (0.5, 0.8, 0.96, 0.99):
                for games in (5, 10, 20, 50):
                    ours, plain = coverage(design, games, truth, within, worlds)
                    figure = "within games" if within else "pooled"
                    print(f"| {name} | {figure} | {truth} | {games} | {ours:.3f} | {plain:.3f} |", flush=True)
    print("\n| twelve cells at .5, games of each | worst wholly below | its own interval |\n|---:|---:|---:|")
    for games in (10, 20, 50):
        ours, alone = below_chance(games, worlds)
        print(f"| {games} | {ours:.3f} | {alone:.3f} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
