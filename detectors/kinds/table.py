"""How players stand at their table into a linear model of who deceives: who talks how much, who names, accuses and
supports whom, and how one speaks, none of it in the words of one game.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Reading
from liescope.detectors.detector import TRAIN_AGAIN, DetectorOptions, Progress
from liescope.detectors.examples import Example
from liescope.detectors.kinds.whole_game import AnsweredQuestions, WhoDeceives, WholeGameDetector, question, solve
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.candidate import Candidate, Reason
from liescope.detectors.view.joint_posterior import Floats
from liescope.detectors.view.table_features import FEATURES, in_words, table_features

_WEIGHTS = "weights.npy"
_FIELD = "table"


class TableOptions(DetectorOptions):
    """What is read of a table."""

    strength: float = Field(default=0.01, gt=0, description="inverse of the L2 penalty, scikit-learn's C")
    votes: bool = Field(default=True, description="read votes once they are public")
    moments: int = Field(default=1, ge=0, description="moments of each game to learn at, beside its end")
    window: int = Field(default=10, ge=0, description="earlier statements read for a target of single statements")


class TableDetector(WholeGameDetector):
    """How players talk, accuse and vote, beside the others at the table, into a linear model of who deceives."""

    kind = "table"
    options_type = TableOptions
    packages = ("scikit-learn", "scipy")
    needs = (
        "It reads a whole game: who spoke how much, who named, accused and supported whom, and the votes, each beside "
        "the others at the table. It knows English words for hedges, reasons, suspicion and the like, and no others. A "
        "statement without its game, or a conversation with one speaker, tells it nothing."
    )

    options: TableOptions
    _weights: Floats
    _offset: float

    @property
    def moments(self) -> int:
        return self.options.moments

    def learn(self, lesson: AnsweredQuestions, progress: Progress) -> None:
        features = self._features(lesson.candidates)
        if not features.any():
            raise UsageError(
                "nobody at these tables differs from anybody else there; table learns from games of several"
            )
        progress("fitting table", 0, 1)
        self._weights, self._offset = solve(features, lesson, np.full(features.shape[1], 1 / self.options.strength))
        progress("fitting table", 1, 1)

    def scores(self, candidates: Sequence[Candidate], _progress: Progress) -> Floats:
        return np.asarray(self._features(candidates) @ self._weights + self._offset)

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        return [self._reasons(question(example), example.speaker, most) for example in examples]

    def _reasons(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        seat = next(one for one in asked.candidates() if one.player == player)
        features = self._features([seat])[0]
        added = features * self._weights
        strongest = [at for at in np.argsort(-np.abs(added), kind="stable")[:most] if added[at]]
        named = list(FEATURES)
        return [Reason(_FIELD, in_words(named[at], features[at]), float(added[at])) for at in strongest]

    def save(self, folder: Path) -> None:
        np.save(folder / _WEIGHTS, np.append(self._weights, self._offset), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        from liescope.detectors.logistic import numbers

        detector = cls(text, options)
        with Reading(folder / _WEIGHTS, TRAIN_AGAIN):
            learned = numbers(np.load(folder / _WEIGHTS, allow_pickle=False), (len(FEATURES) + 1,))
        detector._weights, detector._offset = learned[:-1], float(learned[-1])
        return detector

    def _features(self, candidates: Sequence[Candidate]) -> Floats:
        return table_features(candidates, self.options.window, self.options.votes)
