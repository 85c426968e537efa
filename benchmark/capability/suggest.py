"""Which games to play next: the combinations that lower the variances of a fit's scores most (A-optimal design).

Bayesian experimental design (Chaloner and Verdinelli 1995) with the trace of the covariance as its criterion, not the
expected information gain. For each of a few draws of the posterior, taken as the
truth, the information that n games of a combination give about the parameters is n p (1 - p) times the square of
the logit's gradient; that of the games already played and of the prior, inverted, is the covariance to begin with.
Blocks of games are given out one by one, each to the combination that lowers the sum of the variances of all m, d and v
most, on average over these draws, and every covariance is brought up to date after each, so that the next block
knows of those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.special import expit

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import PLAYERS, Counts
from liescope.benchmark.capability.model import PRIORS, effective, free
from liescope.benchmark.capability.results import ROLES, Fit, FitDraws
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.common.errors import UsageError
from liescope.common.report.contents import Report, Section

MOST_GAMES = 100_000
BLOCK = 5  # games given to a combination at once; fewer where there would be less than LEAST_BLOCKS of them
LEAST_BLOCKS = 50
DRAWS = 24  # of the posterior, each taken as the truth
_STEP = 1e-4  # of a numerical derivative


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Games to play next.

    plan: the columns of PLAYERS and games, most games first. now, then, evenly: the root mean square of the standard
    deviations of all m, d and v: at present, expected after the plan, and after as many games spread evenly over
    all combinations.
    """

    plan: pl.DataFrame
    now: float
    then: float
    evenly: float

    def to_json(self) -> dict[str, Any]:
        """The plan as rows under "games", the three deviations under "sd"."""
        return {"games": self.plan.to_dicts(), "sd": {"now": self.now, "then": self.then, "evenly": self.evenly}}


def check_suggestible(conditions: Mapping[str, Counts], games: int | None, also: Sequence[str]) -> None:
    """Raises UsageError for a suggestion of games that cannot be made from these counts, by condition."""
    if games is None:
        if also:
            raise UsageError("--suggest-for names models for the games of --suggest N; say how many games")
        return
    if games not in range(1, MOST_GAMES + 1):
        raise UsageError(f"--suggest takes from 1 to {MOST_GAMES:,} games, not {games:,}")
    if len(conditions) > 1:
        raise UsageError(
            f"--suggest needs games of one condition, and these are of {len(conditions)}: name the runs of one, or "
            "choose one with --condition"
        )
    (counts,) = conditions.values()
    for model in also:
        if any(model in set(counts.cells[column]) for column in PLAYERS):
            raise UsageError(f"{model} has played in these games; --suggest-for takes the name of a new model")


Gain = Callable[[Array, Array, Array], Array]
"""The worth of a measurement of each combination: of the squared covariances of its logit with the scores, added up;
of its logit's variance; of the precision of the measurement."""


def less_variance(covered: Array, variance: Array, precision: Array) -> Array:
    """How much the sum of the scores' variances falls."""
    return precision * covered / (1 + precision * variance)


def more_information(_covered: Array, variance: Array, precision: Array) -> Array:
    """How much is learned of the logit, in nats (expected information gain); offsets count as much as scores."""
    return np.log1p(precision * variance) / 2


def suggest(fit: FitDraws, games: int, also: Sequence[str] = (), gain: Gain = less_variance) -> Suggestion:
    """The games that lower the sum of the scores' variances most (A-optimal). games: how many, at least 1. also: new
    models, of which only the prior is known.

    Where counts are dispersed (rho), further games of a combination are worth less than those of another.
    """
    design = _DrawnDesign(_few(fit), also)
    now, evenly = design.sd(), design.sd_evenly(games)
    given = np.zeros(design.cells.height)
    size = min(BLOCK, max(1, games // LEAST_BLOCKS))
    for block in [size] * (games // size) + [games % size] * (games % size > 0):
        precision = design.precision(given, block)
        best = int(gain(design.covered, design.variance, precision).mean(axis=1).argmax())
        given[best] += block
        design.measure(best, precision[best])
    plan = design.cells.with_columns(games=given.astype(np.int64)).filter(pl.col("games") > 0)
    return Suggestion(plan.sort("games", *PLAYERS, descending=[True, False, False, False]), now, design.sd(), evenly)


def with_models(fit: Fit, also: Sequence[str] = ()) -> Fit:
    """The fit with draws of the prior for the models of `also` and for every role that a model of the fit never held.

    Their scores are on the scale of the models that the fit has: the mean of whose m is 0, and of whose v is 1.
    """
    every = set(also).union(*(fit.names[name] for name in ROLES if name in fit.names))
    random = np.random.default_rng(0)
    names, draws = dict(fit.names), dict(fit.draws)
    for name in [name for name in ROLES if name in names]:
        new = tuple(sorted(every - set(names[name])))
        names[name] += new
        if name in draws:
            prior = random.normal(float(name == "v"), PRIORS[name], (*draws[name].shape[:2], len(new)))
            draws[name] = np.concatenate([draws[name], prior], axis=2)
    return replace(fit, names=names, draws=draws)


class _DrawnDesign:
    """For each draw (last axis): the covariance of all parameters, and what it means for each combination.

    at: the places of a cell's parameters, shape (parameters of a cell, cells); gradient: of the logit by them, shape
    (parameters of a cell, cells, draws). state: the covariance, shape (parameters, parameters, draws). variance: of the
    logit, shape (cells, draws); covered: the sum over all scores of the squared covariance with the logit.
    """

    def __init__(self, fit: FitDraws, also: Sequence[str]) -> None:
        roles = [name for name in ROLES if name in fit.draws]
        known = {name: len(fit.names[name]) for name in roles}
        fit = with_models(fit, also)
        names = {name: fit.names[name] for name in roles}
        self._basis, _ = free(names, known)
        self._is_score = np.concatenate([np.full(len(names[name]), float(name in PARAMETERS)) for name in roles])
        models = sorted(set().union(*names.values()))
        self.cells = pl.DataFrame(list(product(models, repeat=3)), dict.fromkeys(PLAYERS, pl.String), orient="row")
        begins = np.cumsum([0, *map(len, names.values())])
        self._at = np.stack(
            [begin + _places(names[name], self.cells[ROLES[name]]) for name, begin in zip(roles, begins, strict=False)]
        )
        levels = {name: pl.lit(of[0]) for name, of in fit.names.items() if name not in ROLES}  # of the other terms
        rows = self.cells.with_columns(**levels)
        logits = fit.logits(rows).T
        moved = (replace(fit, draws={**fit.draws, name: fit.draws[name] + _STEP}) for name in roles)
        self._gradient = np.stack([(other.logits(rows).T - logits) / _STEP for other in moved])
        chance = expit(logits)
        self._certain = chance * (1 - chance)
        played = self.cells.join(fit.cells, on=PLAYERS, how="left", maintain_order="left")["games"].fill_null(0)
        self._played = played.to_numpy().astype(np.float64)
        self._dispersion = float(fit.draws["rho"].mean()) if "rho" in fit.draws else 0.0
        self._state = self._covariances(self._played)
        self.variance = self._quadratic(self._state)
        self.covered = self._quadratic(np.einsum("abs,b,bcs->acs", self._state, self._is_score, self._state))

    def _covariances(self, games: Array) -> Array:
        """Of all parameters, by the prior and so many games of each cell, if a draw is the truth."""
        weights = self._certain * effective(games, self._dispersion)[:, None]
        seen = np.flatnonzero(games)
        found = []
        for draw in range(weights.shape[1]):
            slopes = np.zeros((len(seen), len(self._basis)))
            for at, gradient in zip(self._at, self._gradient, strict=True):
                slopes[np.arange(len(seen)), at[seen]] = gradient[seen, draw]
            moves = slopes @ self._basis
            information = moves.T @ (moves * weights[seen, draw, None]) + np.eye(moves.shape[1])
            found.append(self._basis @ np.linalg.solve(information, self._basis.T))
        return np.stack(found, axis=-1)

    def _quadratic(self, matrix: Array) -> Array:
        """gradient' matrix gradient, shape (cells, draws); matrix: shape (parameters, parameters, draws)."""
        rows = list(zip(self._at, self._gradient, strict=True))
        parts = (matrix[at, to] * one * other for at, one in rows for to, other in rows)
        return np.asarray(sum(parts), dtype=np.float64)

    def _along(self, vectors: Array) -> Array:
        """gradient' vector, shape (cells, draws); vectors: shape (parameters, draws)."""
        parts = (vectors[at] * gradient for at, gradient in zip(self._at, self._gradient, strict=True))
        return np.asarray(sum(parts), dtype=np.float64)

    def precision(self, given: Array, block: int) -> Array:
        """What a block of games adds to the precision of each logit, after the games given; shape (cells, draws)."""
        after, before = (effective(self._played + games, self._dispersion) for games in (given + block, given))
        return np.asarray(self._certain * (after - before)[:, None], dtype=np.float64)

    def measure(self, cell: int, precision: Array) -> None:
        """Take in games of a cell; precision: what they add, shape (draws)."""
        direction = np.einsum("pas,as->ps", self._state[:, self._at[:, cell]], self._gradient[:, cell])
        weight = precision / (1 + precision * self.variance[cell])
        scores = direction * self._is_score[:, None]
        along = self._along(direction)
        crossed = self._along(np.einsum("pqs,qs->ps", self._state, scores))
        self.covered += weight * along * (weight * np.square(scores).sum(axis=0) * along - 2 * crossed)
        self.variance -= weight * np.square(along)
        self._state -= weight * direction[:, None] * direction[None]

    def sd(self) -> float:
        """The root mean square of the scores' standard deviations."""
        return self._sd(self._state)

    def sd_evenly(self, games: int) -> float:
        """The same if only so many games were played, as many of each cell."""
        return self._sd(self._covariances(self._played + games / len(self._played)))

    def _sd(self, covariances: Array) -> float:
        variances = np.einsum("pps,p->s", covariances, self._is_score)
        return float(np.sqrt(variances.mean() / self._is_score.sum()))


def _few(fit: Fit) -> Fit:
    """The fit with a few draws, of all its chains."""
    flat = {name: draws.reshape(1, -1, draws.shape[-1]) for name, draws in fit.draws.items()}
    count = next(iter(flat.values())).shape[1]
    chosen = np.linspace(0, count - 1, min(DRAWS, count)).astype(int)
    return replace(fit, draws={name: draws[:, chosen] for name, draws in flat.items()})


def _places(models: Sequence[str], column: pl.Series) -> npt.NDArray[np.int64]:
    place = {model: number for number, model in enumerate(models)}
    return np.array([place[model] for model in column], dtype=np.int64)


FILE = "suggest.csv"


def part(suggestion: Suggestion) -> Report:
    """A section of the page, and the table that `play --cells` takes."""
    section = Section(
        "suggest",
        "Games to play next",
        (
            summary(suggestion),
            "They were chosen one after the other, each to lower the sum of the variances of all m, d and v most, if "
            "the fitted model holds (A-optimal: not the games of the highest expected information). To play them: "
            f"liescope play mini-mafia --cells {FILE} --out runs/NAME, with a --player NAME=PLAYER for each name in "
            "the file that is no player. Then fit again: games chosen in two steps tell more than in one.",
        ),
        table=suggestion.plan,
        file=FILE,
    )
    return Report(sections=(section,), tables={FILE.removesuffix(".csv"): suggestion.plan})


def summary(suggestion: Suggestion) -> str:
    """How much the games are expected to tell, in a sentence."""
    plan = suggestion.plan
    return (
        f"{plan['games'].sum()} games in {plan.height} combinations, chosen for small variances of the scores. Their "
        f"standard deviation (root mean square) is {suggestion.now:.3f} now and should be {suggestion.then:.3f} with "
        f"these games, or {suggestion.evenly:.3f} with as many spread evenly over all combinations."
    )
