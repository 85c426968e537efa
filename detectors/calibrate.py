"""How sure a detector is: probabilities that mean what they say, and sets of labels that keep a promise.

Calibration maps scores to probabilities, fitted on held-out games. temperature: log-odds divided by one number (Platt
1999 without the offset; Guo et al. 2017, "On calibration of modern neural networks"), which keeps the ranking and the
0.5. isotonic: the best non-decreasing map (Zadrozny and Elkan 2002).

Sets of labels hold the true one as often as promised, for each class, whatever the detector is worth. Conformal
prediction (Vovk, Gammerman and Shafer 2005) needs exchangeable units. Statements of one game are not; games are. So a
game is the unit, and a calibration game weighs as much as another however much is said in it: each of its n statements
of a class has weight 1/n, and one game of unknown score stands for the game to come (hierarchical conformal prediction,
Lee, Barber and Willett 2023, arXiv:2306.06342, which averages over the draws of the subsampling of Dunn, Wasserman and
Ramdas 2022, arXiv:1809.07441). Each class has its own calibration (Vovk 2012, "Conditional validity of inductive
conformal predictors"), so that a promise for the common class does not pay for the rare one.

Promised: in a new game that is exchangeable with the calibration games and has statements of a class, one of them drawn
at random is covered with at least this probability. With too few games to promise it, every set is the full one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import expit, log_expit, logit

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.detector import ROLE, Detector, Progress, silent
from liescope.detectors.examples import Example, Labelled
from liescope.detectors.view.joint_posterior import SeatedCandidates, logits_of
from liescope.detectors.view.transcript import GameMoment, Transcript

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

    def suspects(self, players: Floats, deceivers: int | None, coverage: float, wider: float = np.inf) -> Bools:
        """(n,): who is in the set: never fewer than deceive, or than one. wider: a limit for this game, where it is
        lower. Raises UsageError for an odd coverage.
        """
        least = self.limits[level_of(coverage)]
        found = players >= min(-np.inf if least is None else least, wider)
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


Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NONE, TEMPERATURE, ISOTONIC = "none", "temperature", "isotonic"
METHODS = (TEMPERATURE, ISOTONIC, NONE)
_EDGE = 1e-9
_HOTTEST = 20.0

Share = Annotated[float, Field(ge=0, le=1)]
Temperature = Annotated[float, Field(ge=1 / _HOTTEST, le=_HOTTEST)]


class Calibration(BaseModel):
    """A map of probabilities. temperature: what log-odds are divided by; points: (score, probability) pairs of a
    non-decreasing map, linear between them; with points, the temperature is not used.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    temperature: Temperature = 1.0
    points: tuple[tuple[Share, Share], ...] = ()

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(self.points)):
            raise ValueError("the points of a calibration must rise")
        return self

    def words(self) -> str:
        """What it does, for people."""
        if self.points:
            return f"a non-decreasing map through {len(self.points)} points (isotonic regression)"
        return f"their log-odds are divided by {self.temperature:.3g}"

    def __call__(self, score: Floats) -> Floats:
        """(n,): calibrated probabilities."""
        if self.points:
            found, probability = np.array(self.points).T
            return np.asarray(np.interp(score, found, probability), dtype=np.float64)
        return np.asarray(expit(_log_odds(score) / self.temperature), dtype=np.float64)


def fit_calibration(method: str, score: Floats, y: Bools) -> Calibration | None:
    """The map of a method with the least log loss on held-out scores; None for no map. Raises UnknownName."""
    if method not in METHODS:
        raise UnknownName("method of calibration", method, METHODS)
    if method == NONE or not len(y) or y.all() or not y.any():
        return None
    if method == TEMPERATURE:
        signed = np.where(y, 1, -1) * _log_odds(score)
        return Calibration(temperature=_best_temperature(lambda one: -float(log_expit(signed / one).mean())))
    from sklearn.isotonic import IsotonicRegression

    edge = 1 / (len(y) + 2)  # no finite number of games makes a lie certain
    fitted = IsotonicRegression(y_min=edge, y_max=1 - edge).fit(score, y)
    return Calibration(points=tuple(zip(fitted.X_thresholds_.tolist(), fitted.y_thresholds_.tolist(), strict=True)))


def cross_fitted(method: str, score: Floats, y: Bools, fold: NDArray[np.int64]) -> tuple[Floats, Calibration | None]:
    """(n,) out-of-fold scores, those of each fold calibrated on the other folds; and the map fitted on all of them. The
    scores as they are, and None, where calibrating so does not lower the log loss.
    """
    found = score.copy()
    for number in np.unique(fold):
        rest = fold != number
        if one := fit_calibration(method, score[rest], y[rest]):
            found[~rest] = one(score[~rest])
    if log_loss(found, y) >= log_loss(score, y):
        return score, None
    return found, fit_calibration(method, score, y)


def log_loss(score: Floats, y: Bools) -> float:
    """The mean of minus the log-probability of the truth; 0 for no statement."""
    return float(-log_expit(np.where(y, 1, -1) * _log_odds(score)).mean()) if len(y) else 0.0


def fit_players(
    games: Sequence[Mapping[str, float]], deceivers: Sequence[frozenset[str]], counts: Sequence[int | None]
) -> float:
    """The temperature of players' log-odds under which the true sets of deceivers are most likely; 1 for no game.

    games: the probability of each player; deceivers: who did deceive; counts: how many were known to.
    """
    if not games:
        return 1.0
    tables, logits = _seated(games, counts)
    lies = np.array([name in who for players, who in zip(games, deceivers, strict=True) for name in players])
    return _best_temperature(lambda one: tables.loss(logits / one, lies, ~lies)[0] / len(games))


def tempered(
    games: Sequence[Mapping[str, float]], counts: Sequence[int | None], temperature: float
) -> list[Mapping[str, float]]:
    """The players' probabilities with their log-odds divided by the temperature before they are normalised."""
    tables, logits = _seated(games, counts)
    found = iter(tables.posterior(logits / temperature).tolist())
    return [{name: next(found) for name in players} for players in games]


def _seated(games: Sequence[Mapping[str, float]], counts: Sequence[int | None]) -> tuple[SeatedCandidates, Floats]:
    """The tables of some games, and the log-odds of their players."""
    tables = SeatedCandidates.of([len(players) for players in games], counts)
    return tables, logits_of(np.array([chance for players in games for chance in players.values()]), tables)


def _best_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss; 1 unless another is better."""
    from scipy.optimize import minimize_scalar

    reach = float(np.log(_HOTTEST))
    found = minimize_scalar(lambda at: loss(float(np.exp(at))), bounds=(-reach, reach), method="bounded")
    best = float(np.exp(found.x))
    return best if loss(best) < loss(1.0) else 1.0


def _log_odds(score: Floats) -> Floats:
    return np.asarray(logit(np.clip(score, _EDGE, 1 - _EDGE)), dtype=np.float64)


Players = Mapping[str, float]
Truth = Mapping[str, frozenset[str]]
"""Who deceives, by game."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A game as far as it was seen, and the probability that each of its players deceives."""

    moment: GameMoment
    players: Players

    @property
    def game(self) -> Transcript:
        return self.moment.transcript


def judge_games(
    detector: Detector, examples: Sequence[Example], progress: Progress = silent, sooner: bool = False
) -> list[Judged]:
    """The whole games of some examples, as the detector judges their players; none for targets of single statements.
    sooner: each game at the moment of each example, too.
    """
    seen = [e.seen for e in examples if e.seen and e.target == ROLE]
    wholes = [GameMoment(game) for game in {moment.transcript.game_id: moment.transcript for moment in seen}.values()]
    moments = [*wholes, *(seen if sooner else ())]
    found = detector.player_posteriors(moments, progress)
    return [Judged(moment, players) for moment, players in zip(moments, found, strict=True)]


class Confidence(BaseModel):
    """statements: the map of statements' scores; players: what players' log-odds are divided by, in a whole game;
    labels: what a score allows; suspects: who cannot be ruled out in a whole game; online: who cannot be at any moment
    of a game. None for what the training could not tell, or was not asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    statements: Calibration | None = None
    players: Temperature | None = None
    labels: LabelSets | None = None
    suspects: PlayerSets | None = None
    online: PlayerSets | None = None

    @classmethod
    def fitted(
        cls,
        method: str,
        score: Floats,
        y: NDArray[np.bool_],
        fold: NDArray[np.int64],
        games: Sequence[Judged],
        truth: Truth,
    ) -> tuple[Self, Floats]:
        """The calibration by out-of-fold scores and games, and the scores calibrated by the other folds'."""
        calibrated, statements = cross_fitted(method, score, y, fold)
        known = [one for one in games if one.game.game_id in truth] if method != NONE else []
        found = fit_players(
            [one.players for one in known],
            [truth[one.game.game_id] for one in known],
            [one.game.deceivers for one in known],
        )
        return cls(statements=statements, players=None if found == 1 else found), calibrated

    def with_sets(self, data: Labelled, score: Floats, judged: Sequence[Judged], truth: Truth) -> Self:
        """With the sets that validation games give. score: (n,), calibrated; judged: whole and sooner, not yet so."""
        least = self.least(judged, truth)
        sets = {
            "suspects": PlayerSets.of(np.array([found[0] for found in least.values()])),
            "online": PlayerSets.of(np.array([min(found) for found in least.values()])),
        }
        return self.model_copy(update={"labels": LabelSets.of(data.y, score, data.groups), **(sets if least else {})})

    def least(self, judged: Sequence[Judged], truth: Truth) -> dict[str, list[float]]:
        """By game, the least probability of those who deceive, of the whole game first. judged: not yet calibrated."""
        calibrated = self.of_players([one.players for one in judged], [one.moment for one in judged])
        found: dict[str, list[float]] = defaultdict(list)
        for one, players in zip(judged, calibrated, strict=True):
            if who := truth.get(one.game.game_id):
                found[one.game.game_id].append(min(players[name] for name in who))
        return dict(found)

    def of_scores(self, score: Floats) -> Floats:
        """(n,): calibrated probabilities of statements."""
        return self.statements(score) if self.statements else score

    def of_players(self, found: Sequence[Players], moments: Sequence[GameMoment]) -> list[Players]:
        """Calibrated probabilities of players, by moment."""
        if self.players is None:
            return list(found)
        return tempered(found, [moment.transcript.deceivers for moment in moments], self.players)

    def suspects_at(
        self, moment: GameMoment, players: Players, coverage: float, wider: float = np.inf
    ) -> tuple[str, ...] | None:
        """Who cannot be ruled out, most suspect first. players: calibrated; wider: see `PlayerSets.suspects`. Raises
        UsageError for an odd coverage.
        """
        over = moment.upto is None or moment.upto >= len(moment.transcript.turns)
        sets = self.suspects if over else self.online
        if sets is None:
            return None
        among = sets.suspects(np.array(list(players.values())), moment.transcript.deceivers, coverage, wider)
        left = [name for name, kept in zip(players, among, strict=True) if kept]
        return tuple(sorted(left, key=lambda name: (-players[name], name)))
