"""How sure a detector is: calibrated probabilities, label sets with guaranteed coverage, and whether texts could come
from the same source as those that these were chosen on.

Calibration divides log-odds by one number, the temperature, fitted on held-out games (Platt 1999 without the offset;
Guo et al. 2017, "On calibration of modern neural networks"), which keeps the ranking and the 0.5. The players of a game
have a temperature of their own.

Label sets hold the true label as often as promised, for each class (Vovk 2012), however good the detector is.
Conformal prediction (Vovk, Gammerman and Shafer 2005) needs exchangeable units: games, not their statements. Each of a
game's n statements of a class weighs 1/n, and one game of unknown score stands for the game to come (Lee, Barber and
Willett 2023, arXiv:2306.06342). Promised: in a new game that is exchangeable with these, a statement of a class drawn
at random is covered with at least this probability. With too few games to promise it, every set is the full one.

That games are exchangeable can be tested without any label: by a permutation test on their mean features (hashed words,
length, scores), with games as units, which is exact for any number of games. Where it fails, nothing is promised and no
verdict given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Reading, Strict, read_parquet
from liescope.common.statistics import Bools, Floats, expit, log_expit, logit
from liescope.detectors.examples import Example
from liescope.detectors.logistic import TRAIN_AGAIN, numbers
from liescope.detectors.text_form import TextConfig, View, textualize
from liescope.detectors.tf_idf import hashed
from liescope.detectors.view.joint_posterior import seated

LEVELS = tuple(percent / 100 for percent in range(50, 100))
"""The coverages that a model keeps a limit for; one in between is answered by the next above."""
ABSTAIN = "abstain"
_EDGE, _HOTTEST = 1e-9, 20.0  # distance of scores from 0 and 1; largest temperature
Limits = Annotated[tuple[float | None, ...], Field(min_length=len(LEVELS), max_length=len(LEVELS))]
Temperature = Annotated[float, Field(ge=1 / _HOTTEST, le=_HOTTEST)]
Players = Mapping[str, float]
"""The probability that each player of a game deceives."""


def level_of(coverage: float) -> int:
    """The index in `LEVELS` of the lowest coverage that is at least this one. Raises UsageError."""
    if not LEVELS[0] <= coverage <= LEVELS[-1]:
        raise UsageError(f"--coverage must be from {LEVELS[0]} to {LEVELS[-1]}, not {coverage}")
    return int(np.searchsorted(LEVELS, coverage - 1e-9))  # forgives a coverage rounded up past its level


class LabelSets(Strict):
    """Which labels a score allows, by coverage in `LEVELS`: deceptive from its limit up, honest up to its limit; None:
    always. games: how many games the limits of honest, and of deceptive, were chosen on.
    """

    honest: Limits
    deceptive: Limits
    games: tuple[int, int]

    @classmethod
    def of(cls, y: Bools, score: Floats, games: NDArray[Any]) -> LabelSets:
        """Limits chosen on calibration games. y, score, games: (n,), of statements whose games were not trained on."""
        ups = limits(-score[~y], games[~y])
        honest = tuple(None if up is None else -up for up in ups)
        counted = (len(np.unique(games[~y])), len(np.unique(games[y])))
        return cls(honest=honest, deceptive=limits(score[y], games[y]), games=counted)

    def allowed(self, score: Floats, coverage: float) -> Bools:
        """(n, 2): whether the set holds honest, and deceptive. An empty set is replaced by the one at the next higher
        coverage that is not: it holds the label that fits better. Raises UsageError for an odd coverage.
        """
        found = np.zeros((len(score), 2), dtype=bool)
        for level in range(level_of(coverage), len(LEVELS)):
            below, above = self.honest[level], self.deceptive[level]
            empty = ~found.any(axis=1)
            found[empty, 0] = below is None or score[empty] <= below
            found[empty, 1] = above is None or score[empty] >= above
        return found | ~found.any(axis=1, keepdims=True)

    def verdicts(self, score: Floats, coverage: float) -> list[str]:
        """(n,): "honest" or "deceptive" where the set holds that alone, else "abstain"."""
        allowed = self.allowed(score, coverage).tolist()
        return [ABSTAIN if honest == lie else "deceptive" if lie else "honest" for honest, lie in allowed]

    def abstains_because(self, coverage: float) -> str:
        """Why verdicts at this coverage abstain, where they do. Raises UsageError for an odd coverage."""
        level = level_of(coverage)
        below, above = self.honest[level], self.deceptive[level]
        if below is None or above is None:
            return f"too few validation games to promise {LEVELS[level]:.0%}"
        return f"at {LEVELS[level]:.0%}, honest needs a score below {above:.3g}, deceptive one above {below:.3g}"


def limits(fit: Floats, games: NDArray[Any]) -> tuple[float | None, ...]:
    """By coverage in `LEVELS`, the highest limit that keeps it: at least that share of the weight has a fit as high.
    fit: (n,), how well a statement fits its own class; games: (n,). None where there are too few games to promise it.
    """
    _, game, said = np.unique(games, return_inverse=True, return_counts=True)
    order = np.argsort(-fit, kind="stable")
    reached = (1 / said[game[order]]).cumsum() / (len(said) + 1)
    # The small addend keeps the sum of 9 tenths from falling short of 0.9.
    places = np.searchsorted(reached + 1e-9, LEVELS)
    return tuple(float(fit[order[place]]) if place < len(order) else None for place in places)


def tempered(score: Floats, temperature: float) -> Floats:
    """(n,): probabilities, their log-odds divided by the temperature."""
    return np.asarray(expit(logit(score, _EDGE) / temperature), dtype=np.float64)


def fit_temperature(score: Floats, y: Bools) -> float | None:
    """The temperature with the least log loss on held-out scores; None without both classes."""
    if not len(y) or y.all() or not y.any():
        return None
    odds = logit(score, _EDGE)
    return _best_temperature(lambda one: _loss(odds / one, y))


def cross_fitted(score: Floats, y: Bools, fold: NDArray[np.int64]) -> tuple[Floats, float | None]:
    """(n,) out-of-fold scores, those of each fold calibrated on the other folds; and the temperature fitted on all of
    them. The scores unchanged, and None, where that does not lower the log loss.
    """
    found = score.copy()
    for number in np.unique(fold):
        rest = fold != number
        if one := fit_temperature(score[rest], y[rest]):
            found[~rest] = tempered(score[~rest], one)
    if not len(y) or _loss(logit(found, _EDGE), y) >= _loss(logit(score, _EDGE), y):
        return score, None
    return found, fit_temperature(score, y)


def fit_players(games: Sequence[Players], counts: Sequence[int | None], lies: Bools) -> float:
    """The temperature of players' log-odds that makes the true sets of deceivers most likely; 1 without games. counts:
    how many deceive in each game; lies: (players of all games,) who does.
    """
    together, logits = seated(games, counts)
    return _best_temperature(lambda one: together.loss(logits / one, lies, ~lies)[0] / max(len(games), 1))


def _best_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss; 1 unless another is better."""
    from scipy.optimize import minimize_scalar

    reach = float(np.log(_HOTTEST))
    found = minimize_scalar(lambda at: loss(float(np.exp(at))), bounds=(-reach, reach), method="bounded")
    return min(1.0, float(np.exp(found.x)), key=loss)


def _loss(log_odds: Floats, y: Bools) -> float:
    return float(-log_expit(np.where(y, log_odds, -log_odds)).mean())


class Confidence(Strict):
    """statements, players: what their log-odds are divided by; labels: what a score allows; each None if not known."""

    statements: Temperature | None = None
    players: Temperature | None = None
    labels: LabelSets | None = None

    def words(self) -> str:
        """What calibration does to scores, for people; "" for nothing."""
        return f"their log-odds are divided by {self.statements:.3g}" if self.statements else ""

    def of_scores(self, score: Floats) -> Floats:
        """(n,): calibrated probabilities of statements."""
        return tempered(score, self.statements) if self.statements else score

    def before(self, score: float) -> float:
        """The log-odds of a statement before calibration, of its calibrated probability."""
        return float(logit(score, _EDGE) * (self.statements or 1))

    def of_players(self, games: Sequence[Players], counts: Sequence[int | None]) -> list[Players]:
        """Calibrated probabilities of players, by game. counts: how many are known to deceive."""
        if self.players is None:
            return list(games)
        together, logits = seated(games, counts)
        found = iter(together.posterior(logits / self.players).tolist())
        return [{name: next(found) for name in players} for players in games]


ALPHA = 0.01
"""How often texts of exchangeable games are taken for others."""
UNLIKE = "{:,} statements are not like the games that verdicts were chosen on: nothing is promised, so they get none"
_WORDS, _WIDTH = 256, 259  # hashed words, plus three numbers
_MOST, _DEALS = 500, 999  # calibration games kept; other games that the test looks at; permutations
_SCHEMA = {"game": pl.List(pl.Float32), "statement": pl.List(pl.Float32)}


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationGames:
    """game, statement: (games, features) of each calibration game, and of one of its statements drawn at random."""

    game: Floats
    statement: Floats

    @classmethod
    def of(cls, examples: Sequence[Example], score: Floats, seed: int, view: View = "words") -> Self:
        """examples: all statements of the calibration games; score: (n,), calibrated; view: what is read of them."""
        draw = np.random.default_rng(seed)
        names = np.array([example.game_id for example in examples], dtype=np.str_)
        own = [np.flatnonzero(names == name) for name in draw.permutation(list(dict.fromkeys(names)))[:_MOST]]
        kept, features = np.concatenate(own), np.empty((len(examples), _WIDTH))  # of the rest nothing is computed
        features[kept] = _features([examples[at] for at in kept.tolist()], score[kept], view)
        wholes, lone = [features[rows].mean(axis=0) for rows in own], [features[draw.choice(rows)] for rows in own]
        return cls(np.stack(wholes), np.stack(lone))

    def others(self, examples: Sequence[Example], score: Floats, view: View = "words") -> Bools:
        """(n,): statements unlike these, of games beside games, lone ones beside lone ones. score: calibrated."""
        features, found = _features(examples, score, view), np.zeros(len(examples), dtype=bool)
        games = np.array([example.game_id for example in examples], dtype=np.str_)
        for rows, own in ((np.flatnonzero(games != ""), self.game), (np.flatnonzero(games == ""), self.statement)):
            if len(rows):
                _, unit = np.unique(games[rows], return_inverse=True)
                unit = unit if own is self.game else np.arange(len(rows))
                theirs = np.zeros((unit.max() + 1, _WIDTH))
                np.add.at(theirs, unit, features[rows])
                found[rows] = _chance(own, theirs / np.bincount(unit)[:, None]) <= ALPHA
        return found

    def save(self, path: Path) -> None:
        """Write it as Parquet."""
        pl.DataFrame([self.game.tolist(), self.statement.tolist()], schema=_SCHEMA).write_parquet(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises BadData for what `save` never writes."""
        table = read_parquet(path, _SCHEMA, _MOST, TRAIN_AGAIN)
        with Reading(path, TRAIN_AGAIN):
            return cls(*(numbers(table[name].to_list(), (table.height, _WIDTH)) for name in _SCHEMA))


def _features(examples: Sequence[Example], score: Floats, view: View) -> Floats:
    """(n, features): the words in view, names masked, hashed to length 1; how many; the score's log-odds and square."""
    if not examples:
        return np.empty((0, _WIDTH))
    texts = [textualize(example, TextConfig(view=view)) for example in examples]
    words = hashed([re.findall(r"\w+", text.lower()) for text in texts], _WORDS)
    odds = logit(score, 1e-6)
    count = np.log1p([len(text.split()) for text in texts])
    # rounded as the saved features are, so that equal games compare as equal
    return np.column_stack([words, odds, odds**2, count]).astype(np.float32).astype(np.float64)


def _chance(own: Floats, theirs: Floats) -> float:
    """The p-value of one common distribution: how often the means of randomly dealt units are as far apart."""
    theirs = theirs[np.random.default_rng(0).permutation(len(theirs))[:_MOST]]
    both = np.vstack([own, theirs])
    both = (both - both.mean(axis=0)) / np.where(both.std(axis=0) > 0, both.std(axis=0), 1.0)
    if len(theirs) == 1:  # every way to deal them, the actual one first
        distance = (both**2).sum(axis=1)[::-1]
    else:  # centred on 0, so that the sum over one side determines both means
        distance = ((_dealt(len(own), len(theirs)) @ both) ** 2).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-9)).mean())


@lru_cache(maxsize=2)
def _dealt(own: int, theirs: int) -> Floats:
    """(deals, units): 1 where a unit is dealt to their side; the actual deal first, then random, repeatable ones."""
    side = np.repeat([0.0, 1.0], [own, theirs])
    return np.vstack([side, np.random.default_rng(0).permuted(np.tile(side, (_DEALS, 1)), axis=1)])
