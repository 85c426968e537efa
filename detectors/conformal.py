"""Sets of labels that hold the true one as often as promised, for each class, whatever the detector is worth.

Conformal prediction (Vovk, Gammerman and Shafer 2005) needs exchangeable units. Statements of one game are not; games
are. So a game is the unit, and a calibration game weighs as much as another however much is said in it: each of its n
statements of a class has weight 1/n, and one game of unknown score stands for the game to come (hierarchical conformal
prediction, Lee, Barber and Willett 2023, arXiv:2306.06342, which averages over the draws of the subsampling of Dunn,
Wasserman and Ramdas 2022, arXiv:1809.07441). Each class has its own calibration (Vovk 2012, "Conditional validity of
inductive conformal predictors"), so that a promise for the common class does not pay for the rare one.

Promised: in a new game that is exchangeable with the calibration games and has statements of a class, one of them drawn
at random is covered with at least this probability. With too few games to promise it, every set is the full one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from liescope.common.errors import UsageError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LEVELS = tuple(percent / 100 for percent in range(50, 100))
"""The coverages that a model keeps a limit for; one in between is answered by the next above."""
COVERAGE = 0.9
ABSTAIN = "abstain"

Limits = Annotated[tuple[float | None, ...], Field(min_length=len(LEVELS), max_length=len(LEVELS))]


class LabelSets(BaseModel):
    """What a score allows, by coverage in `LEVELS`: deceptive from its limit up, honest up to its limit; None: always.

    games: how many games the limits of each class were chosen on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    honest: Limits
    deceptive: Limits
    games: tuple[int, int]

    @classmethod
    def of(cls, y: Bools, score: Floats, games: NDArray[Any]) -> LabelSets:
        """Limits chosen on calibration games. y, score, games: (n,), of statements whose games were not trained on."""
        ups = limits(-score[~y], games[~y])
        return cls(
            honest=tuple(None if up is None else -up for up in ups),
            deceptive=limits(score[y], games[y]),
            games=(len(np.unique(games[~y])), len(np.unique(games[y]))),
        )

    def allowed(self, score: Floats, coverage: float) -> Bools:
        """(n, 2): whether the set holds honest, and deceptive. A set that would be empty is taken at the next higher
        coverage at which it is not: it holds the label that fits better. Raises UsageError for an odd coverage.
        """
        found = np.zeros((len(score), 2), dtype=bool)
        for level in range(level_of(coverage), len(LEVELS)):
            below, above = self.honest[level], self.deceptive[level]
            empty = ~found.any(axis=1)
            found[empty, 0] = below is None or score[empty] <= below
            found[empty, 1] = above is None or score[empty] >= above
        return found | ~found.any(axis=1, keepdims=True)

    def abstains_because(self, coverage: float) -> str:
        """Why a verdict at this coverage abstains where it does. Raises UsageError for an odd coverage."""
        level = level_of(coverage)
        below, above = self.honest[level], self.deceptive[level]
        if below is None or above is None:
            return f"too few validation games to promise {LEVELS[level]:.0%}"
        return f"at {LEVELS[level]:.0%}, honest needs a score below {above:.3g}, deceptive one above {below:.3g}"


class PlayerSets(BaseModel):
    """Who cannot be ruled out, by coverage in `LEVELS`: players whose probability is at least the limit; None: anyone.

    One score a game, the least probability among those who deceive: so a set holds all of them as often as promised.
    games: how many games the limits were chosen on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    limits: Limits
    games: int

    @classmethod
    def of(cls, least: Floats) -> PlayerSets:
        """least: (games,), the least probability of those who deceive in each calibration game."""
        return cls(limits=limits(least, np.arange(len(least))), games=len(least))

    def suspects(self, players: Floats, deceivers: int | None, coverage: float) -> Bools:
        """(n,): who is in the set: never fewer than deceive, or than one. Raises UsageError for an odd coverage."""
        least = self.limits[level_of(coverage)]
        found = np.full(len(players), least is None) if least is None else players >= least
        found[np.argsort(-players, kind="stable")[: 1 if deceivers is None else deceivers]] = True
        return found


def limits(fit: Floats, games: NDArray[Any]) -> tuple[float | None, ...]:
    """By coverage in `LEVELS`, the highest limit that keeps it: at least this weight of fits is as high. fit: (n,), how
    well a statement fits the class that it is of; games: (n,). None where there are too few games to promise it.
    """
    _, game, said = np.unique(games, return_inverse=True, return_counts=True)
    order = np.argsort(-fit, kind="stable")
    reached = (1 / said[game[order]]).cumsum() / (len(said) + 1)
    # The small addend keeps the sum of 9 tenths from falling short of 0.9.
    places = np.searchsorted(reached + 1e-9, LEVELS)
    return tuple(float(fit[order[place]]) if place < len(order) else None for place in places)


def level_of(coverage: float) -> int:
    """The place in `LEVELS` of the lowest coverage that is at least the one asked for. Raises UsageError."""
    if not LEVELS[0] <= coverage <= LEVELS[-1]:
        raise UsageError(f"--coverage must be from {LEVELS[0]} to {LEVELS[-1]}, not {coverage}")
    return int(np.searchsorted(LEVELS, coverage - 1e-9))


def verdicts(allowed: Bools) -> Sequence[str]:
    """(n,): "honest" or "deceptive" where the set holds that alone, else "abstain"."""
    return [ABSTAIN if honest == lie else "deceptive" if lie else "honest" for honest, lie in allowed]
