"""Detectors that keep a list of what they were shown, in order: what they learned from, and what they scored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from liescope.detectors import Example
from liescope.detectors.detector import Progress, silent
from liescope.detectors.kinds.linear import LinearDetector, lesson
from liescope.detectors.view.candidate import Candidate
from tests.detectors.counting import CountingDetector


class RecordingDetector(CountingDetector):
    """Naive Bayes on words."""

    kind = "recording"
    seen: ClassVar[list[tuple[str, frozenset[str]]]] = []

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        self.seen.append(("fit", frozenset(e.statement_id for e in examples)))
        return super().fit(examples, y, groups, progress)

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        self.seen.append(("score", frozenset(e.statement_id for e in examples)))
        return super().predict_proba(examples, progress)

    @classmethod
    def fits(cls) -> list[frozenset[str]]:
        return [ids for what, ids in cls.seen if what == "fit"]


class RecordingTables(LinearDetector):
    """A detector of whole games that suspects whoever spoke least; it records the games that it was shown."""

    kind = "recording-tables"
    seen: ClassVar[list[tuple[str, frozenset[str]]]] = []

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        _groups: NDArray[np.str_],
        _progress: Progress = silent,
    ) -> Self:
        self.seen.append(("fit", _games(lesson(examples, y, self.options.moments).candidates)))
        return self

    def scores(self, candidates: Sequence[Candidate], _progress: Progress) -> NDArray[np.float64]:
        self.seen.append(("score", _games(candidates)))
        said = [[turn.player for _, turn in one.moment.transcript.said(one.moment.upto)] for one in candidates]
        return np.array([-float(who.count(one.player)) for one, who in zip(candidates, said, strict=True)])


def _games(candidates: Sequence[Candidate]) -> frozenset[str]:
    return frozenset(one.moment.transcript.game_id for one in candidates)
