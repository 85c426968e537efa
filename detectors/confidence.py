"""How sure a saved detector is: its calibration, and what it may conclude at a coverage. Fitted on held-out games."""

from __future__ import annotations

from collections import defaultdict
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
    """A game as far as it was seen, and the probability that each of its players deceives."""

    moment: Moment
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
    wholes = [Moment(game) for game in {moment.transcript.game_id: moment.transcript for moment in seen}.values()]
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
        calibrated = self.of_players([one.players for one in judged], [one.moment for one in judged])
        least: dict[str, list[float]] = defaultdict(list)  # by game, of those who deceive; of the whole game first
        for one, players in zip(judged, calibrated, strict=True):
            if who := truth.get(one.game.game_id):
                least[one.game.game_id].append(min(players[name] for name in who))
        sets = {
            "suspects": PlayerSets.of(np.array([found[0] for found in least.values()])),
            "online": PlayerSets.of(np.array([min(found) for found in least.values()])),
        }
        return self.model_copy(update={"labels": LabelSets.of(data.y, score, data.groups), **(sets if least else {})})

    def of_scores(self, score: Floats) -> Floats:
        """(n,): calibrated probabilities of statements."""
        return self.statements(score) if self.statements else score

    def of_players(self, found: Sequence[Players], moments: Sequence[Moment]) -> list[Players]:
        """Calibrated probabilities of players, by moment."""
        if self.players is None:
            return list(found)
        return tempered(found, [moment.transcript.deceivers for moment in moments], self.players)

    def suspects_at(self, moment: Moment, players: Players, coverage: float) -> tuple[str, ...] | None:
        """Who cannot be ruled out, most suspect first. players: calibrated. Raises UsageError for an odd coverage."""
        over = moment.upto is None or moment.upto >= len(moment.transcript.turns)
        sets = self.suspects if over else self.online
        if sets is None:
            return None
        among = sets.suspects(np.array(list(players.values())), moment.transcript.deceivers, coverage)
        left = [name for name, kept in zip(players, among, strict=True) if kept]
        return tuple(sorted(left, key=lambda name: (-players[name], name)))
