"""Who deceives, by what everybody saw of the votes: a posterior over the sets of players who may."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from liescope.detectors.view.posterior import Floats, posterior
from liescope.detectors.view.transcript import EXILED, KILLED, VOTED, Moment

MOST_SETS = 20_000
"""Sets of players that are summed over; any table of 14 seats has fewer."""
_CHAINS, _STEPS = 512, 30  # sets that are followed at once, and steps of each for each player


@dataclass(frozen=True, slots=True)
class Vote:
    """Players by their place at the table. candidates: the living, without the voter."""

    voter: int
    target: int
    candidates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """What is counted of a game. deceivers: how many there are, None if not known; killed: players found dead."""

    seats: int
    deceivers: int | None
    killed: tuple[int, ...]
    votes: tuple[Vote, ...]


@dataclass(frozen=True, slots=True)
class Habits:
    """What was learned of players. deceptive, honest: the log-odds with which a voter of that side prefers one who
    deceives to one who does not; killed: by how much being found dead moves the log-odds of deceiving; prevalence: the
    share of players who deceive, for tables where their number is not known.
    """

    deceptive: float = 0.0
    honest: float = 0.0
    killed: float = 0.0
    prevalence: float = 0.5


def table_of(moment: Moment) -> Table:
    """A game as far as it is seen. Of several votes of a player on one day the last counts, as in a revote; one for the
    voter, or for nobody alive, does not.
    """
    game = moment.transcript
    place = {name: at for at, name in enumerate(game.names)}
    alive, killed, votes = dict.fromkeys(place.values()), list[int](), dict[tuple[int, int], Vote]()
    for turn in game.turns[: moment.upto]:
        who = place.get(turn.player)
        if who is None:
            continue
        if turn.kind in (KILLED, EXILED):
            alive.pop(who, None)
            if turn.kind == KILLED:
                killed.append(who)
        elif turn.kind == VOTED:
            candidates = tuple(other for other in alive if other != who)
            if place.get(turn.target) in candidates:
                votes[turn.day, who] = Vote(who, place[turn.target], candidates)
    return Table(len(place), game.deceivers, tuple(killed), tuple(votes.values()))


def posterior_of(table: Table, habits: Habits) -> Floats:
    """(seats,): the probability that each player deceives. Exact up to `MOST_SETS` sets, else sampled."""
    n, k = table.seats, table.deceivers
    odds = np.zeros(n) if k is not None else np.full(n, logit(habits.prevalence))
    odds[list(table.killed)] += habits.killed
    if not table.votes or (k is not None and not 0 < k < n):
        return posterior(odds, k)
    if (2**n if k is None else math.comb(n, k)) > MOST_SETS:
        return _sampled(table, habits, odds)
    sets = np.array(list(_sets(n, k)), dtype=bool)
    logs = sets @ odds + _log_chances(table, sets, habits)
    weights = np.exp(logs - logs.max())
    found: Floats = weights @ sets / weights.sum()
    return found


def _sets(n: int, k: int | None) -> Iterator[tuple[bool, ...]]:
    if k is None:
        yield from product((False, True), repeat=n)
    else:
        for chosen in combinations(range(n), k):
            yield tuple(at in chosen for at in range(n))


def _log_chances(table: Table, sets: NDArray[np.bool_], habits: Habits) -> Floats:
    """(sets,): the log of the probability of all votes if those of each set deceive."""
    open_to = np.zeros((table.seats, len(table.votes)))
    for at, vote in enumerate(table.votes):
        open_to[list(vote.candidates), at] = 1
    weight = np.where(sets[:, [vote.voter for vote in table.votes]], habits.deceptive, habits.honest)
    lying = sets @ open_to
    total = np.log(lying * np.exp(weight) + open_to.sum(axis=0) - lying)
    return np.asarray((sets[:, [vote.target for vote in table.votes]] * weight - total).sum(axis=1))


def _sampled(table: Table, habits: Habits, odds: Floats) -> Floats:
    """By Metropolis: in each of many sets, one player at a time changes side, or two change places if the number of
    those who deceive is known.
    """
    draw = np.random.default_rng(0)
    n, k, row = table.seats, table.deceivers, np.arange(_CHAINS)
    order = draw.random((_CHAINS, n)).argsort(axis=1)
    sets = order < k if k is not None else draw.random((_CHAINS, n)) < expit(odds)
    logs = sets @ odds + _log_chances(table, sets, habits)
    found = np.zeros(n)
    for step in range(steps := _STEPS * n):
        changed = sets.copy()
        one, other = draw.integers(n, size=(2, _CHAINS))
        if k is None:
            changed[row, one] ^= True
        else:
            changed[row, one], changed[row, other] = sets[row, other], sets[row, one]
        after = changed @ odds + _log_chances(table, changed, habits)
        taken = np.log(draw.random(_CHAINS)) < after - logs
        sets, logs = np.where(taken[:, None], changed, sets), np.where(taken, after, logs)
        if step >= steps // 2:
            found += sets.mean(axis=0)
    return found / (steps - steps // 2)


def habit_of(votes: Mapping[tuple[int, int, bool], int], prior: float) -> float:
    """The log-odds with which voters prefer one who deceives: the mode of their posterior.

    votes: how many, by (candidates who deceive, candidates who do not, whether one who deceives was named); prior:
    votes at random that are added to them.
    """
    from scipy.optimize import brentq

    def slope(b: float) -> float:
        found = prior * (0.5 - expit(b))
        for (lying, honest, named), count in votes.items():
            found += count * (named - expit(b + math.log(lying / honest)))
        return float(found)

    return float(brentq(slope, -30.0, 30.0))
