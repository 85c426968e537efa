"""A detector that looks at nothing but question marks and a list of words."""

import json

import numpy as np
from pydantic import Field

from liescope.detectors import Detector, DetectorOptions, textualize


class DoubtOptions(DetectorOptions):
    marks: str = Field(default="maybe,perhaps,not sure", description="words of doubt, separated by commas")


class DoubtDetector(Detector):
    kind = "doubt"
    options_type = DoubtOptions
    packages = ("numpy",)

    def fit(self, examples, y, groups, progress=None):
        counts = self._counts(examples)
        self._threshold = float(np.median(counts))
        self._sign = 1.0 if counts[y].mean() >= counts[~y].mean() else -1.0
        return self

    def predict_proba(self, examples, progress=None):
        deceptive = 1 / (1 + np.exp(-self._sign * (self._counts(examples) - self._threshold)))
        return np.column_stack([1 - deceptive, deceptive])

    def save(self, folder):
        (folder / "doubt.json").write_text(json.dumps([self._threshold, self._sign]))

    @classmethod
    def load(cls, folder, text, options):
        detector = cls(text, options)
        detector._threshold, detector._sign = json.loads((folder / "doubt.json").read_text())
        return detector

    def _counts(self, examples):
        texts = [textualize(example, self.text).lower() for example in examples]
        words = self.options.marks.split(",")
        return np.array([text.count("?") + sum(text.count(word) for word in words) for text in texts], dtype=float)
