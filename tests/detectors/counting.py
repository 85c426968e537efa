"""A detector of a few lines, as somebody outside Liescope would write one: words counted by class, kept as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData
from liescope.detectors import Detector, DetectorOptions, Example, TextConfig, textualize
from liescope.detectors.detector import Progress, silent


class CountingOptions(DetectorOptions):
    smoothing: float = Field(default=1.0, gt=0, description="what is added to the count of each word")


class CountingDetector(Detector):
    """Naive Bayes on words."""

    kind = "counting"
    options_type = CountingOptions
    folds = 2

    options: CountingOptions

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        super().__init__(text, options)
        self._odds: dict[str, float] = {}
        self._prior = 0.0

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        _groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        counts: dict[str, list[float]] = {}
        for done, (example, lie) in enumerate(zip(examples, y, strict=True), start=1):
            for word in self._words(example):
                counts.setdefault(word, [self.options.smoothing] * 2)[int(lie)] += 1
            progress("counting words", done, len(examples))
        share = y.mean()
        self._prior = log(share / (1 - share))
        self._odds = {word: log(lies / truths) - self._prior for word, (truths, lies) in counts.items()}
        return self

    def predict_proba(self, examples: Sequence[Example], _progress: Progress = silent) -> NDArray[np.float64]:
        lie = [1 / (1 + exp(-self._evidence(example))) for example in examples]
        return np.array([(1 - share, share) for share in lie]).reshape(-1, 2)

    def save(self, folder: Path) -> None:
        (folder / "odds.json").write_text(json.dumps([self._prior, self._odds]), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        try:
            detector._prior, detector._odds = json.loads((folder / "odds.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise BadData(f"{folder / 'odds.json'} cannot be read; train the detector again") from error
        return detector

    def _evidence(self, example: Example) -> float:
        return max(-30.0, min(30.0, self._prior + sum(self._odds.get(word, 0.0) for word in self._words(example))))

    def _words(self, example: Example) -> set[str]:
        return set(re.findall(r"\w+", textualize(example, self.text).lower()))
