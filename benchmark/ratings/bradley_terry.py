"""Bradley-Terry ratings of Mini-Mafia: one deceiver against a town of two.

    logit p = a + r_i - (r_j + r_k) / 2

p is the chance that deceiver i wins against discloser j and judge k, a the mafia's advantage where all are equal
(Bradley and Terry 1952; teams as in Huang, Weng and Lin 2006, here with the mean of a team, so that sides of one and of
two compare). A model has one rating for each role that it held, or, in a second fit, one for all roles.

The fit is one maximum of the posterior over all games at once, so it does not depend on their order. Elo's update game
by game climbs towards the same maximum, but with an answer that depends on the order of the games and on the size of
its steps, and with no interval; it is made for players who change, and these do not.

Priors are Normal(0, 2), on the scale of logits, so that a model which won all its games has a finite rating. Intervals
are those of the normal distribution around the maximum (Laplace). Cells may differ from what ratings predict by more
than luck; each cell's own chance then has a Beta distribution around the prediction, with the correlation rho
between its games, and n games count as n / (1 + (n - 1) rho) (Williams 1982, model II).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.capability.model import effective
from liescope.benchmark.ratings.rank_order import DRAWS, JointScores

PRIOR_SD = 2.0
OVERALL = "overall"
_SIGNS = dict(zip(PLAYERS, (1.0, -0.5, -0.5), strict=True))
_MOST_RHO = 0.5
_VAGUE = 0.05  # standard deviation of rho from which on cells cannot tell it
_STEPS, _CLOSE = 100, 1e-9


@dataclass(frozen=True)
class Ratings:
    """Ratings in logits; the mean of each group is 0.

    names: by group (a role, or OVERALL), the models in order. mean, covariance: of all ratings, group by group, and
    before them of the mafia's advantage. rho: the correlation between games of a cell beyond the ratings, None where
    the cells cannot tell. undetermined: how many differences of ratings no game tells, so that only the prior speaks.
    """

    names: Mapping[str, tuple[str, ...]]
    mean: Array
    covariance: Array
    rho: float | None
    undetermined: int

    @cached_property
    def draws(self) -> Array:
        """Draws from the normal distribution around the maximum: shape (DRAWS, 1 + ratings)."""
        values, vectors = np.linalg.eigh(self.covariance)
        normal = np.random.default_rng(1).standard_normal((DRAWS, len(self.mean)))
        return np.asarray(self.mean + (normal * np.sqrt(np.maximum(values, 0))) @ vectors.T)

    def place(self, group: str) -> slice:
        """Where the ratings of a group stand among all."""
        groups = list(self.names)
        begin = 1 + sum(len(self.names[name]) for name in groups[: groups.index(group)])
        return slice(begin, begin + len(self.names[group]))

    def scores(self, group: str) -> JointScores:
        """The ratings of a group."""
        return JointScores(self.names[group], self.draws[:, self.place(group)])


def rate(cells: pl.DataFrame, overall: bool = False) -> Ratings:
    """Rate the models of these counts, by role or, if `overall`, with one rating for all roles.

    cells: counts as in `liescope.benchmark.capability.counts.Counts`, not empty.
    """
    names = _groups(cells, overall)
    design = _design(cells, names, overall)
    wins, games = (cells[name].to_numpy().astype(float) for name in ("mafia_wins", "games"))
    rank = int(np.linalg.matrix_rank((design.linear.T @ design.linear).toarray()))
    rho, weight = _weighed(design, wins, games, cells.height - rank)
    found = _maxima(design, (weight * wins)[None], (weight * games)[None])
    centred = _centring(names, overall)
    covariance = np.linalg.inv(_information(design, weight * games, found)[0])
    free = 1 + sum(len(group) - 1 for group in names.values())
    return Ratings(
        names,
        centred @ found[0],
        centred @ covariance @ centred.T,
        rho,
        free - rank,
    )


@dataclass(frozen=True, slots=True)
class _Design:
    """logit p of each cell as a linear function of the advantage and the ratings, shape (cells, ratings), and the outer
    product of each of its rows with itself, shape (cells, ratings^2).
    """

    linear: csr_array
    squares: csr_array


def _groups(cells: pl.DataFrame, overall: bool) -> dict[str, tuple[str, ...]]:
    if overall:
        return {OVERALL: tuple(sorted(set().union(*(cells[role] for role in PLAYERS))))}
    return {role: tuple(sorted(set(cells[role]))) for role in PLAYERS}


def _design(cells: pl.DataFrame, names: Mapping[str, tuple[str, ...]], overall: bool) -> _Design:
    groups = [OVERALL if overall else role for role in PLAYERS]
    places = {pair: at for at, pair in enumerate(((g, name) for g, models in names.items() for name in models), 1)}
    columns = [np.zeros(cells.height, np.int64)] + [
        np.array([places[group, name] for name in cells[role]]) for group, role in zip(groups, PLAYERS, strict=True)
    ]
    signs, size = (1.0, *_SIGNS.values()), 1 + len(places)
    terms = list(zip(columns, signs, strict=True))
    linear = _sums(terms, size)
    return _Design(linear, _sums([(i * size + j, x * y) for i, x in terms for j, y in terms], size**2))


def _sums(terms: Sequence[tuple[npt.NDArray[np.int64], float]], size: int) -> csr_array:
    """A sparse matrix with a row for each cell. terms: (its column in each row, value), added up."""
    cells = len(terms[0][0])
    values = np.repeat([value for _, value in terms], cells)
    rows = np.tile(np.arange(cells), len(terms))
    return csr_array((values, (rows, np.concatenate([column for column, _ in terms]))), shape=(cells, size))


def _centring(names: Mapping[str, tuple[str, ...]], overall: bool) -> Array:
    """The linear map that makes the mean of every group 0 and leaves every win probability as it is."""
    size = 1 + sum(map(len, names.values()))
    matrix = np.eye(size)
    begin = 1
    for group, models in names.items():
        part = slice(begin, begin + len(models))
        matrix[part, part] -= 1 / len(models)
        matrix[0, part] = 0.0 if overall else _SIGNS[group] / len(models)
        begin = part.stop
    return matrix


def _maxima(design: _Design, wins: Array, games: Array) -> Array:
    """The maximum of the posterior for each of several sets of counts, by Newton's method: shape (sets, ratings).

    wins, games: shape (sets, cells); they may be fractions.
    """
    theta = np.zeros((len(wins), design.linear.shape[1]))

    def height(at: Array) -> Array:
        logits = at @ design.linear.T
        likely = (wins * logits - games * np.logaddexp(0, logits)).sum(axis=1)
        return np.asarray(likely - (at**2).sum(axis=1) / (2 * PRIOR_SD**2))

    for _ in range(_STEPS):
        slope = (wins - games * expit(theta @ design.linear.T)) @ design.linear - theta / PRIOR_SD**2
        step = np.linalg.solve(_information(design, games, theta), slope[..., None])[..., 0]
        if np.abs(step).max() < _CLOSE:
            break
        before = height(theta)
        while (lower := height(theta + step) < before).any() and np.abs(step[lower]).max() > _CLOSE:
            step[lower] /= 2
        theta = theta + step
    return theta


def _information(design: _Design, games: Array, theta: Array) -> Array:
    """The negative Hessian of the posterior: shape (sets, ratings, ratings)."""
    chance = expit(theta @ design.linear.T)
    size = theta.shape[1]
    likely = ((games * chance * (1 - chance)) @ design.squares).reshape(-1, size, size)
    return np.asarray(likely + np.eye(size) / PRIOR_SD**2)


def _weighed(design: _Design, wins: Array, games: Array, spare: int) -> tuple[float | None, Array]:
    """(rho, how much each cell's games count). spare: cells beyond what the ratings need to fit them.

    rho is where Pearson's X^2 has its expected value. Where rho is 0, X^2 has the standard deviation sqrt(2 spare),
    which gives that of the estimate.
    """
    if spare < 1 or np.mean(games - 1) * np.sqrt(spare / 2) < 1 / _VAGUE:
        return None, np.ones(len(games))
    rho, weight = 0.0, np.ones(len(games))
    for _ in range(3):  # the prediction and rho hardly change after the second round
        chance = expit(design.linear @ _maxima(design, (weight * wins)[None], (weight * games)[None])[0])
        squares = (wins - games * chance) ** 2 / (games * chance * (1 - chance))

        def excess(value: float, squares: Array = squares) -> float:
            return float((squares * effective(games, value) / games).sum() - spare)

        if excess(0.0) <= 0:
            return 0.0, np.ones(len(games))
        rho = float(brentq(excess, 0.0, _MOST_RHO)) if excess(_MOST_RHO) < 0 else _MOST_RHO
        weight = effective(games, rho) / games
    return rho, weight
