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
from liescope.common.statistics import Floats
from liescope.detectors.detector import DetectorOptions
from liescope.detectors.kinds.whole_game import (
    AnsweredQuestions,
    GameOptions,
    LinearAtTable,
    WhoDeceives,
    solve,
)
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.candidate import Candidate, Reason, strongest
from liescope.detectors.view.table_features import FEATURES, in_words, table_features


class TableOptions(GameOptions):
    """What is read of a table."""

    strength: float = Field(default=0.01, gt=0, description="inverse of the L2 penalty, scikit-learn's C")


class TableDetector(LinearAtTable):
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

    def learn(self, lesson: AnsweredQuestions) -> None:
        features = self.features(lesson.candidates)
        if not features.any():
            raise UsageError(
                "nobody at these tables differs from anybody else there; table learns from games of several"
            )
        self._weights, self._offset = solve(features, lesson, np.full(features.shape[1], 1 / self.options.strength))

    def features(self, candidates: Sequence[Candidate]) -> Floats:
        return table_features(candidates, self.options.window, self.options.votes)

    def reasons_at(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        (seat,) = self.features([Candidate(asked.moment, player, asked.focus)])
        added, named = seat * self._weights, list(FEATURES)
        return [Reason(self.kind, in_words(named[i], seat[i]), float(added[i])) for i in strongest(added, most)]

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        detector.read_weights(folder, len(FEATURES))
        return detector
