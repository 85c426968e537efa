"""From a score of each player to the probability that the player is one of those who deceive.

With a known number k of deceivers, the players' labels are independent Bernoulli draws given that k of them are true
(conditional Bernoulli; Chen and Liu 1997); with k = 1 this is the softmax. Without, they are independent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools, Floats, expit, logit
from liescope.detectors.view.transcript import KILLED, GameMoment


@dataclass(frozen=True, slots=True)
class SeatedCandidates:
    """place: (games, most players) the row of each player, -1 for none; deceivers: (games,) -1 where not known."""

    place: NDArray[np.int64]
    deceivers: NDArray[np.int64]

    @classmethod
    def of(cls, sizes: Sequence[int], deceivers: Sequence[int | None]) -> SeatedCandidates:
        """Games whose players are consecutive rows."""
        place = np.full((len(sizes), max(sizes, default=0)), -1, dtype=np.int64)
        start = 0
        for row, size in zip(place, sizes, strict=True):
            row[:size] = np.arange(start, start + size)
            start += size
        known = [-1 if k is None else min(k, size) for k, size in zip(deceivers, sizes, strict=True)]
        return cls(place, np.array(known, dtype=np.int64))

    def posterior(self, logits: Floats) -> Floats:
        """(rows,): the probability of each player. logits: (rows,), finite."""
        found = expit(logits)
        known = self.deceivers >= 0
        marginal, _ = self._marginals(logits, known, np.zeros(len(logits), bool), np.zeros(len(logits), bool))
        inside = self.place[known]
        found[inside[inside >= 0]] = marginal[inside >= 0]
        return np.asarray(found, dtype=np.float64)

    def loss(self, logits: Floats, true: Bools, false: Bools) -> tuple[float, Floats]:
        """Minus the log-likelihood of what is known about the players, and its gradient (rows,). true, false: (rows,)
        who is known to deceive, and known not to; the likelihood sums over the possibilities for the others.
        """
        known = self.deceivers >= 0
        gradient = np.zeros(len(logits))
        free, all_sets = self._marginals(logits, known, np.zeros_like(true), np.zeros_like(false))
        fixed, its_sets = self._marginals(logits, known, true, false)
        place = self.place[known]
        gradient[place[place >= 0]] = (free - fixed)[place >= 0]
        rows = self.place[~known]
        rows = rows[rows >= 0]
        told = rows[true[rows] | false[rows]]
        gradient[told] = expit(logits[told]) - true[told]
        apart = np.logaddexp(0, np.where(true[told], -logits[told], logits[told])).sum()
        return float((all_sets - its_sets).sum() + apart), gradient

    def _marginals(self, logits: Floats, which: Bools, true: Bools, false: Bools) -> tuple[Floats, Floats]:
        """(games, most players) marginals, and (games,) log partitions, over the sets that agree with true and false;
        games in which no set agrees are left unconstrained.
        """
        place, k = self.place[which], self.deceivers[which]
        if not len(place):
            return np.zeros(place.shape), np.zeros(0)
        absent = place < 0
        score = np.where(absent, -np.inf, logits[place])
        must, never = true[place] & ~absent, false[place] & ~absent
        possible = (must.sum(1) <= k) & ((~absent & ~never).sum(1) >= k)
        must, never = must & possible[:, None], never & possible[:, None]
        ins = np.where(never, -np.inf, score)
        outs = np.where(must, -np.inf, 0.0)
        most = int(k.max(initial=0))
        ahead = _forward(ins, outs, most)
        behind = _forward(ins[:, ::-1], outs[:, ::-1], most)[:, ::-1]
        total = ahead[np.arange(len(k)), -1, k]
        marginal = np.zeros(place.shape)
        taken = np.arange(most + 1)
        rest = k[:, None] - 1 - taken
        for i in range(place.shape[1]):
            after = np.take_along_axis(behind[:, i + 1], np.maximum(rest, 0), axis=1)
            both = np.where(rest >= 0, ahead[:, i] + after, -np.inf)
            marginal[:, i] = np.exp(np.minimum(np.logaddexp.reduce(both, axis=1) + ins[:, i] - total, 0.0))
        return marginal, total


def _forward(ins: Floats, outs: Floats, most: int) -> Floats:
    """(games, n + 1, most + 1): log sums over sets of the first i players, by their size."""
    games, n = ins.shape
    sums = np.full((games, n + 1, most + 1), -np.inf)
    sums[:, 0, 0] = 0.0
    for i in range(n):
        stay = sums[:, i] + outs[:, i, None]
        join = np.full_like(stay, -np.inf)
        join[:, 1:] = sums[:, i, :-1] + ins[:, i, None]
        sums[:, i + 1] = np.logaddexp(stay, join)
    return sums


_EDGE, _NEAR, _ROUNDS = 1e-6, 1e-6, 100  # distance from 0 and 1; log-odds taken as met; most rounds


def seated(games: Sequence[Mapping[str, float]], deceivers: Sequence[int | None]) -> tuple[SeatedCandidates, Floats]:
    """The players of some games, and (rows,) their scores, whose posterior equals the games' probabilities, up to a
    constant per game that changes nothing; probabilities are kept a millionth away from 0 and 1. Found as in Chen,
    Dempster and Liu (1994, "Weighted finite population sampling to maximize entropy", section 4), by raising the odds
    of players that come out too improbable; here by half the missing log-odds.
    """
    seats = SeatedCandidates.of([len(players) for players in games], deceivers)
    inside = np.clip([chance for players in games for chance in players.values()], _EDGE, 1 - _EDGE)
    wanted = logit(inside)
    alone, several = _rows(seats, seats.deceivers == 1), _rows(seats, seats.deceivers > 1)
    logits = wanted.copy()
    logits[alone] = np.log(inside[alone])
    for _ in range(_ROUNDS if len(several) else 0):
        gap = (wanted - logit(seats.posterior(logits), _EDGE))[several]
        logits[several] += gap / 2
        if np.abs(gap).max() < _NEAR:
            break
    return seats, logits


def _rows(seats: SeatedCandidates, which: Bools) -> NDArray[np.int64]:
    """The rows of the players of some games, without those in which everybody deceives."""
    size = (seats.place >= 0).sum(axis=1)
    place = seats.place[which & (seats.deceivers < size)]
    return np.asarray(place[place >= 0], dtype=np.int64)


def log_odds(probability: float) -> float:
    """The log-odds of a probability, kept a millionth away from 0 and 1."""
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return log(inside / (1 - inside))


NEVER = log_odds(0.0)
"""The log-odds of a player who is ruled out."""


def player_logits(moment: GameMoment, scores: Mapping[int, float]) -> list[float]:
    """By player, in the order of their names: the log-odds of a player's statements, averaged with that of being dealt
    the role, so that saying little makes nobody more or less suspect; where nobody knows how many are dealt it, with
    the mean over all statements. Killed players are ruled out: the deceivers do the killing.
    """
    game, own = moment.transcript, defaultdict[str, list[float]](list)
    for at, turn in game.said(moment.upto):
        if at in scores:
            own[turn.player].append(log_odds(scores[at]))
    dealt, every = (game.deceivers or 0) / len(game.names), [one for said in own.values() for one in said]
    prior = log_odds(dealt) if 0 < dealt < 1 else sum(every) / max(len(every), 1)
    killed = {turn.player for turn in game.turns[: moment.upto] if turn.kind == KILLED}
    means = {name: (sum(own[name]) + prior) / (len(own[name]) + 1) for name in game.names}
    return [NEVER if name in killed else round(mean, 9) for name, mean in means.items()]  # hides rounding: equals tie
