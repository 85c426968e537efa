"""The players' own public judgement: who deceives, from the votes and from who left the game.

A vote is a choice among the other living players, in which a deceiver has weight e^b and anybody else weight 1
(a conditional logit; McFadden 1974). Voters who deceive have a b of their own: they know each other, and do not vote
at random. The posterior sums over every set of players who may deceive, in which each voter is on either side. Voters
who heard the same talk follow each other: how much their joint votes are worth is learned too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_json
from liescope.common.statistics import Bools, Floats, expit, logit
from liescope.detectors.detector import ROLE, Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example, roles_by_game
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.joint_posterior import posterior
from liescope.detectors.view.transcript import EXILED, KILLED, VOTED, GameMoment

_Number = Annotated[float, Field(ge=-40, le=40)]
MOST_SETS = 2**16
"""Sets of players that are summed over; any game of 16 seats has as few."""
_VOTES_COME_LAST = (
    "observers: no vote came before any of these statements, so while a game goes on it knows only who was killed; "
    "after the whole game it knows the votes"
)


@dataclass(frozen=True, slots=True)
class CountedVote:
    """Players by their seats. candidates: the living, without the voter."""

    voter: int
    target: int
    candidates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountedGame:
    """The counts of a game. deceivers: how many there are, None if not known; killed: players found dead; exiled: those
    voted out without ending the game.
    """

    seats: int
    deceivers: int | None
    killed: tuple[int, ...]
    exiled: tuple[int, ...]
    votes: tuple[CountedVote, ...]


class Habits(Strict):
    """What was learned about players. deceptive, honest: the log-odds with which a voter of that side prefers a
    deceiver to an honest player; killed, exiled: how much leaving the game in that way shifts the log-odds of
    deceiving; prevalence: the share of players who deceive, for games where their number is not known; trust: the power
    to which the probability of all votes of a game is raised, below 1 where voters follow each other.
    """

    deceptive: _Number = 0.0
    honest: _Number = 0.0
    killed: _Number = 0.0
    exiled: _Number = 0.0
    prevalence: Annotated[float, Field(gt=0, lt=1)] = 0.5
    trust: _Number = 1.0


def counted_of(moment: GameMoment) -> CountedGame:
    """A game as far as it is seen. Of several votes of a player on one day the last counts, as in a revote; a vote for
    oneself, or for nobody alive, does not.
    """
    game = moment.transcript
    place = {name: at for at, name in enumerate(game.names)}
    alive, votes = dict.fromkeys(place.values()), dict[tuple[int, int], CountedVote]()
    left: dict[str, list[int]] = {KILLED: [], EXILED: []}
    turns = [turn for turn in game.turns[: moment.upto] if turn.player in place]
    for turn in turns:
        who = place[turn.player]
        if turn.kind in left:
            alive.pop(who, None)
            left[turn.kind].append(who)
        elif turn.kind == VOTED:
            candidates = tuple(other for other in alive if other != who)
            if place.get(turn.target) in candidates:
                votes[turn.day, who] = CountedVote(who, place[turn.target], candidates)
    if turns and turns[-1].kind == EXILED:
        left[EXILED].pop()
    return CountedGame(len(place), game.deceivers, tuple(left[KILLED]), tuple(left[EXILED]), tuple(votes.values()))


def posterior_of(counted: CountedGame, habits: Habits) -> Floats:
    """(seats,): the probability that each player deceives. Votes say nothing where there are over `MOST_SETS` sets."""
    odds = _prior(counted, habits)
    if not _tells(counted) or _size(counted) > MOST_SETS:
        return posterior(odds, counted.deceivers)
    sets = _sets(counted)
    logs = sets @ odds + _log_chances(counted, sets, habits)
    weights = np.exp(logs - logs.max())
    found: Floats = weights @ sets / weights.sum()
    return found


def _voted_before(moment: GameMoment) -> bool:
    return any(turn.kind == VOTED for turn in moment.transcript.turns[: moment.upto])


def _prior(counted: CountedGame, habits: Habits) -> Floats:
    """(seats,): log-odds without the votes."""
    odds = np.full(counted.seats, 0.0 if counted.deceivers is not None else logit(habits.prevalence))
    odds[list(counted.killed)] += habits.killed
    odds[list(counted.exiled)] += habits.exiled
    return odds


def _tells(counted: CountedGame) -> bool:
    """Whether votes tell anything."""
    return bool(counted.votes) and (counted.deceivers is None or 0 < counted.deceivers < counted.seats)


def _size(counted: CountedGame) -> int:
    return 2**counted.seats if counted.deceivers is None else math.comb(counted.seats, counted.deceivers)


def _sets(counted: CountedGame) -> Bools:
    """(sets, seats): every set of players who may be the deceivers."""
    if counted.deceivers is None:
        return np.array(list(product((False, True), repeat=counted.seats)), dtype=bool)
    chosen = combinations(range(counted.seats), counted.deceivers)
    return np.array([[at in one for at in range(counted.seats)] for one in chosen], dtype=bool)


def _log_chances(counted: CountedGame, sets: Bools, habits: Habits) -> Floats:
    """(sets,): the log of the probability of all votes if those of each set deceive, times `trust`."""
    open_to = np.zeros((counted.seats, len(counted.votes)))
    for at, vote in enumerate(counted.votes):
        open_to[list(vote.candidates), at] = 1
    weight = np.where(sets[:, [vote.voter for vote in counted.votes]], habits.deceptive, habits.honest)
    lying = sets @ open_to
    total = np.log(lying * np.exp(weight) + open_to.sum(axis=0) - lying)
    return np.asarray(habits.trust * (sets[:, [vote.target for vote in counted.votes]] * weight - total).sum(axis=1))


def habit_of(votes: Mapping[tuple[int, int, bool], int], prior: float) -> float:
    """The log-odds with which voters prefer a deceiver: their posterior mode. votes: how many, by (deceiving
    candidates, honest candidates, whether a deceiver was named); prior: how many random votes to add.
    """
    from scipy.optimize import brentq

    def slope(b: float) -> float:
        found = prior * (0.5 - expit(b))
        for (lying, honest, named), count in votes.items():
            found += count * (named - expit(b + math.log(lying / honest)))
        return float(found)

    return float(brentq(slope, -30.0, 30.0))


def trust_of(games: Mapping[tuple[CountedGame, tuple[bool, ...]], int], habits: Habits, prior: float) -> float:
    """The trust that makes the true deceivers most likely (a composite likelihood; Varin, Reid and Firth 2011). games:
    how many, by their counts and whether each player deceives; habits: with a trust of 1; prior: the weight that pulls
    towards 1. Tables that are too large for the sum are left out.
    """
    from scipy.optimize import minimize_scalar

    parts = []
    for (counted, lying), count in games.items():
        if _tells(counted) and _size(counted) <= MOST_SETS:
            sets = _sets(counted)
            true = int((sets == lying).all(axis=1).argmax())
            parts.append((sets @ _prior(counted, habits), _log_chances(counted, sets, habits), true, count))

    def loss(trust: float) -> float:
        logs = [(odds + trust * chances, true, count) for odds, chances, true, count in parts]
        missed = sum(count * (np.logaddexp.reduce(at) - at[true]) for at, true, count in logs)
        return float(missed + prior * (trust - 1) ** 2)

    return float(minimize_scalar(loss, bounds=(0.0, 2.0), method="bounded").x)


_FILE = "observers.json"
_LARGEST = 2**12  # bytes


class ObserversOptions(DetectorOptions):
    """How strongly the learned numbers are shrunk towards chance."""

    prior_votes: float = Field(default=2.0, gt=0, description="votes at random added to those of either side")


class ObserversDetector(Detector):
    """The votes of the players, weighed by what votes were worth in the games of training. It reads no words."""

    kind = "observers"
    options_type = ObserversOptions
    packages = ("scipy",)
    publication = Publication(
        needs="It reads no words but who voted for whom and who left the game when, so it takes whole games."
    )

    options: ObserversOptions
    _habits: Habits

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, _progress: Progress = silent) -> Self:
        """Raises UsageError for another target than the role, which is what a vote is about."""
        if any(example.target != ROLE for example in examples):
            raise UsageError(f"votes say who deceives, and nothing of statements; train observers with --target {ROLE}")
        games = {example.game_id: example.seen.transcript for example in examples if example.seen}
        known = roles_by_game(examples, y)
        votes: dict[bool, Counter[tuple[int, int, bool]]] = {True: Counter(), False: Counter()}
        sides, dead, out = list[bool](), list[bool](), list[bool]()
        whole = Counter[tuple[CountedGame, tuple[bool, ...]]]()
        for key, game in games.items():
            counted = counted_of(GameMoment(game))
            role = [known[key].get(name) for name in game.names]
            sides += [lies for lies in role if lies is not None]
            dead += [lies for at in counted.killed if (lies := role[at]) is not None]
            out += [lies for at in counted.exiled if (lies := role[at]) is not None]
            if all(lies is not None for lies in role):
                whole[counted, tuple(lies is True for lies in role)] += 1
            for vote in counted.votes:
                side, others = role[vote.voter], [role[at] for at in vote.candidates]
                lying, honest = others.count(True), others.count(False)
                if side is not None and lying and honest and None not in others:
                    votes[side][lying, honest, role[vote.target] is True] += 1
        prior = self.options.prior_votes
        share = float((sum(sides) + prior * y.mean()) / (len(sides) + prior))

        def moved(players: Sequence[bool]) -> float:
            return float(logit((sum(players) + prior * share) / (len(players) + prior)) - logit(share))

        sided = {"deceptive": habit_of(votes[True], prior), "honest": habit_of(votes[False], prior)}
        habits = Habits(**sided, killed=moved(dead), exiled=moved(out), prevalence=share)
        self._habits = habits.model_copy(update={"trust": trust_of(whole, habits, prior)})
        if any(votes.values()) and not any(_voted_before(e.seen) for e in examples if e.seen):
            self.notes = (_VOTES_COME_LAST,)
        return self

    def player_posteriors(
        self, moments: Sequence[GameMoment], _progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        """The posterior from votes and departures; before any, the share of players who deceive."""
        games = [counted_of(moment) for moment in moments]
        found = {counted: posterior_of(counted, self._habits).tolist() for counted in dict.fromkeys(games)}
        return [dict(zip(m.transcript.names, found[t], strict=True)) for m, t in zip(moments, games, strict=True)]

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        """By what happened before each statement; without its game, the share of players who deceive."""
        seen = [example.seen for example in examples if example.seen]
        found = iter(self.player_posteriors(seen, progress))
        share = self._habits.prevalence
        score = np.array([next(found).get(e.speaker, share) if e.seen else share for e in examples], dtype=np.float64)
        return np.column_stack([1 - score, score])

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(self._habits.model_dump_json(), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        detector._habits = read_json(folder / _FILE, TypeAdapter(Habits), _LARGEST, TRAIN_AGAIN)
        return detector
