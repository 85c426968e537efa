"""Nash averaging: a model's win rate against, and beside, the best that all models of these games can do together.

The mafia chooses a deceiver, the town a discloser and a judge, each side knowing the win rate of every combination.
That is a zero-sum game of two players. In its equilibrium neither side gains by another choice; each model's rating is
its side's win rate when it takes its role and the two others are chosen as in the equilibrium (Balduzzi et al. 2018).
Unlike a mean over opponents it does not change when weak or equal models join. Alpha-rank would treat discloser and
judge as two populations with interests of their own, which they do not have.

Win rates are uncertain, so all of this is computed for many draws of them. The chance of a combination has a Beta
distribution around what a model of the games predicts, as wide as played combinations depart from their predictions,
and updated by its own games where it was played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import linprog, minimize
from scipy.special import expit

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.benchmark.ratings.bradley_terry import Ratings
from liescope.benchmark.ratings.rank_order import JointScores

_CLOSE = 1e-7  # of the payoffs' range
_LEAST = 1e-12  # of a probability, so that its logarithm is finite


def equilibrium(payoff: Array) -> tuple[Array, Array, float]:
    """(the rows' strategy, the columns' strategy, value) of the zero-sum game in which the row player gets
    payoff[row, column] and the column player loses it.

    Strategies are probabilities of the rows and columns; neither side gains by another choice. Where several
    equilibria exist, each side's is the one of maximum entropy, so that equals are treated equally (Balduzzi et al.
    2018, "Re-evaluating evaluation", Proposition 4).
    """
    rows, columns, value = _vertices(payoff)
    close = _CLOSE * float(np.ptp(payoff)) + _LEAST
    open_rows = payoff @ columns > value - close  # the others are worse against this column strategy: never played
    open_columns = rows @ payoff < value + close
    if (open_rows == (rows > _LEAST)).all() and (open_columns == (columns > _LEAST)).all():
        return rows, columns, value  # strictly complementary vertices: the only equilibrium
    return (
        _most_even(payoff, rows, open_rows, value - close),
        _most_even(-payoff.T, columns, open_columns, -value - close),
        value,
    )


def _vertices(payoff: Array) -> tuple[Array, Array, float]:
    """Some equilibrium, by linear programming: maximise the value that the rows' strategy secures."""
    rows, columns = payoff.shape
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-payoff.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs-ds",
    )
    mixed = (np.maximum(part, 0) for part in (found.x[:-1], -found.ineqlin.marginals))
    one, other = (part / part.sum() for part in mixed)
    return one, other, float(found.x[-1])


def _most_even(payoff: Array, start: Array, open_rows: npt.NDArray[np.bool_], secured: float) -> Array:
    """The strategy of maximum entropy over the open rows that secures as much against every column."""
    part = payoff[open_rows]
    if len(part) == 1:
        return start
    found = minimize(
        lambda x: float(x @ np.log(x)),
        np.maximum(start[open_rows], _LEAST),
        jac=lambda x: np.log(x) + 1,
        bounds=[(_LEAST, 1.0)] * len(part),
        constraints=[
            {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda x: x @ part - secured, "jac": lambda _: part.T},
        ],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    even = np.zeros(len(start))
    even[open_rows] = found.x / found.x.sum()
    return even


MOST_DRAWS, LEAST_DRAWS = 200, 20
_WORK = 4_000_000  # combinations, over all draws


@dataclass(frozen=True, slots=True)
class Expected:
    """The chances that mafia wins as some model of the games predicts them, in draws of its uncertainty.

    model: which one. names: by role. chances: shape (draws, deceivers, disclosers, judges). rho: the correlation
    between games of one combination beyond them, shape (draws,).
    """

    model: str
    names: Mapping[str, tuple[str, ...]]
    chances: Array
    rho: Array


@dataclass(frozen=True, slots=True)
class Nash:
    """The equilibrium in every draw.

    ratings: by role, the win rate of a model's side (0 to 1) when it takes the role and the others play the
    equilibrium; shares: by role, how often the equilibrium chooses a model. value: the mafia's win rate in it, shape
    (draws,). played: combinations with games, of `combinations`; model: what the others are drawn around.
    """

    ratings: Mapping[str, JointScores]
    shares: Mapping[str, JointScores]
    value: Array
    played: int
    combinations: int
    model: str


def by_fit(posterior: Posterior) -> Expected | None:
    """What a fit of the capability model predicts; None for one that takes combinations to depart from it by nothing,
    or that predicts only games whose details are known.
    """
    if posterior.variant.needs_games or not posterior.variant.dispersed:
        return None
    names = {role: posterior.names[name] for role, name in zip(PLAYERS, PARAMETERS, strict=True)}
    draws = _draws_for(names)
    every = pl.DataFrame(list(product(*names.values())), PLAYERS, orient="row")
    chances = posterior.chances(every, draws).reshape(-1, *map(len, names.values()))
    return Expected("the capability model", names, chances, posterior.rho(draws)[:, 0])


def _draws_for(names: Mapping[str, tuple[str, ...]]) -> int:
    """How many draws are worth their time: fewer for many models."""
    return int(np.clip(_WORK // prod(map(len, names.values())), LEAST_DRAWS, MOST_DRAWS))


def by_ratings(ratings: Ratings) -> Expected:
    """What role ratings predict; no rho where the cells could not tell it."""
    drawn = ratings.draws[: _draws_for(ratings.names)]
    m, d, v = (drawn[:, ratings.place(role)] for role in PLAYERS)
    logits = drawn[:, 0, None, None, None] + m[:, :, None, None] - (d[:, None, :, None] + v[:, None, None, :]) / 2
    rho = np.full(len(drawn), ratings.rho or 0.0)
    return Expected("the role ratings", ratings.names, np.asarray(expit(logits)), rho)


def average(cells: pl.DataFrame, expected: Expected) -> Nash:
    """Nash averaging of these counts, whose models are all among those of `expected`."""
    wins, games = np.zeros(expected.chances.shape[1:]), np.zeros(expected.chances.shape[1:])
    places = [{name: at for at, name in enumerate(expected.names[role])} for role in PLAYERS]
    index = tuple(
        np.array([place[name] for name in cells[role]], int) for place, role in zip(places, PLAYERS, strict=True)
    )
    wins[index], games[index] = cells["mafia_wins"].to_numpy(), cells["games"].to_numpy()
    random = np.random.default_rng(1)
    found = [
        _solved(_drawn(chances, float(rho), wins, games, random))
        for chances, rho in zip(expected.chances, expected.rho, strict=True)
    ]
    ratings, shares = (
        {
            role: JointScores(expected.names[role], np.array([one[at] for one in drawn]))
            for at, role in enumerate(PLAYERS)
        }
        for drawn in ([one[0] for one in found], [one[1] for one in found])
    )
    value = np.array([one[2] for one in found])
    return Nash(ratings, shares, value, cells.height, games.size, expected.model)


def _drawn(chances: Array, rho: float, wins: Array, games: Array, random: np.random.Generator) -> Array:
    """The mafia's win rate in every combination."""
    if rho <= 0:
        return chances
    worth = (1 - rho) / rho  # games that the prediction counts as
    rates = random.beta(worth * chances + wins, worth * (1 - chances) + games - wins)
    return np.asarray(rates)


def _solved(rates: Array) -> tuple[list[Array], list[Array], float]:
    """(ratings by role, shares by role, value) of one table of win rates, shape (deceivers, disclosers, judges)."""
    mafia, town, value = equilibrium(rates.reshape(len(rates), -1))
    pair = town.reshape(rates.shape[1:])
    disclosers, judges = pair.sum(axis=1), pair.sum(axis=0)
    town_wins = 1 - np.tensordot(mafia, rates, axes=1)
    ratings = [rates.reshape(len(rates), -1) @ town, town_wins @ judges, disclosers @ town_wins]
    return ratings, [mafia, disclosers, judges], value
