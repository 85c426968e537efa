"""How sure a saved detector is: its calibration, and what it may conclude at a coverage. Fitted on held-out games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from liescope.detectors.calibrate import NONE, Calibration, Temperature, cross_fitted, fit_players, tempered
from liescope.detectors.conformal import LabelSets, PlayerSets
from liescope.detectors.examples import Example, Labelled
from liescope.detectors.protocol import ROLE, Detector, Progress, silent
from liescope.detectors.view.transcript import Moment, Transcript

Players = Mapping[str, float]
Truth = Mapping[str, frozenset[str]]
"""Who deceives, by game."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """A whole game and the probability that each of its players deceives."""

    game: Transcript
    players: Players


def judge_games(detector: Detector, examples: Sequence[Example], progress: Progress = silent) -> list[Judged]:
    """The games of some examples, as the detector judges their players; none for targets of single statements."""
    games = {e.game_id: e.seen.transcript for e in examples if e.seen and e.target == ROLE}
    found = detector.player_posteriors([Moment(game) for game in games.values()], progress)
    return [Judged(game, players) for game, players in zip(games.values(), found, strict=True)]


class Confidence(BaseModel):
    """statements: the map of statements' scores; players: what players' log-odds are divided by, in a whole game;
    labels: what a score allows; suspects: who cannot be ruled out in a whole game. None for what the training could not
    tell, or was not asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    statements: Calibration | None = None
    players: Temperature | None = None
    labels: LabelSets | None = None
    suspects: PlayerSets | None = None

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

    def with_sets(self, data: Labelled, score: Floats, games: Sequence[Judged], truth: Truth) -> Self:
        """With the sets that validation games give. score: (n,), calibrated; games: not calibrated."""
        calibrated = self.of_players([one.players for one in games], [one.game.deceivers for one in games])
        known = [(truth.get(one.game.game_id), players) for one, players in zip(games, calibrated, strict=True)]
        least = [min(players[name] for name in who) for who, players in known if who]
        return self.model_copy(
            update={
                "labels": LabelSets.of(data.y, score, data.groups),
                "suspects": PlayerSets.of(np.array(least)) if least else None,
            }
        )

    def of_scores(self, score: Floats) -> Floats:
        """(n,): calibrated probabilities of statements."""
        return self.statements(score) if self.statements else score

    def of_players(self, games: Sequence[Players], deceivers: Sequence[int | None]) -> list[Players]:
        """Calibrated probabilities of players. deceivers: how many are known to, by game."""
        if self.players is None:
            return list(games)
        return [tempered(players, count, self.players) for players, count in zip(games, deceivers, strict=True)]
