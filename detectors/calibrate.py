"""Probabilities that mean what they say: a map from a detector's scores to calibrated ones, fitted on held-out games.

temperature: log-odds divided by one number (Platt 1999 without the offset; Guo et al. 2017, "On calibration of modern
neural networks"), which keeps the ranking and the 0.5. isotonic: the best non-decreasing map (Zadrozny and Elkan 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import expit, log_expit, logit

from liescope.common.errors import UnknownName
from liescope.detectors.view.posterior import Tables, logits_of

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


def _seated(games: Sequence[Mapping[str, float]], counts: Sequence[int | None]) -> tuple[Tables, Floats]:
    """The tables of some games, and the log-odds of their players."""
    tables = Tables.of([len(players) for players in games], counts)
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
