"""A detector that keeps a list of what it was shown, in order: what it learned from, and what it scored."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from liescope.detectors import Example
from liescope.detectors.protocol import Progress, silent
from tests.detectors.counting import CountingDetector


class RecordingDetector(CountingDetector):
    """Naive Bayes on words, with a grid of two settings. patience: fits until it is interrupted; -1 for no end."""

    kind = "recording"
    grid = MappingProxyType({"context": (0, 1), "smoothing": (1.0, 5.0)})
    seen: ClassVar[list[tuple[str, frozenset[str]]]] = []
    patience: ClassVar[int] = -1

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        if len(self.fits()) == self.patience:
            raise KeyboardInterrupt
        self.seen.append(("fit", frozenset(e.statement_id for e in examples)))
        return super().fit(examples, y, groups, progress)

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        self.seen.append(("score", frozenset(e.statement_id for e in examples)))
        return super().predict_proba(examples, progress)

    @classmethod
    def fits(cls) -> list[frozenset[str]]:
        return [ids for what, ids in cls.seen if what == "fit"]
