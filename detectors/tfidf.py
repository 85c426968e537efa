"""Words, pairs of words and, if asked, character n-grams, weighted by TF-IDF, into a logistic regression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import FeatureUnion, Pipeline

from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example
from liescope.detectors.linear import deceptive_last, dump, fit_quietly, load, logistic
from liescope.detectors.options import Options
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.textualize import TextConfig, textualize

_FILE = "pipeline.skops"


class TfidfOptions(Options):
    """words: n-grams of 1 to this many words; chars: n-grams of 2 to this many characters inside words; 0 is none.
    min_count: statements that a feature must occur in. strength: scikit-learn's C.
    """

    words: int = Field(default=2, ge=0, le=5)
    chars: int = Field(default=0, ge=0, le=8)
    min_count: int = Field(default=2, ge=1)
    strength: float = Field(default=4.0, gt=0)
    seed: int = 0

    @model_validator(mode="after")
    def _something_to_count(self) -> Self:
        if self.words == 0 and self.chars < 2:
            raise ValueError("words, or chars of 2 or more, must be counted")
        return self


class TfidfDetector:
    """A Detector. Raises UsageError for options that cannot be."""

    kind: ClassVar[str] = "tfidf"

    def __init__(self, text: TextConfig, options: Mapping[str, Any]) -> None:
        self._options = TfidfOptions.read(self.kind, options)
        self.text = text
        self._model: Any = None

    @property
    def options(self) -> Mapping[str, Any]:
        return self._options.model_dump()

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        _groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        o = self._options
        shared = {"min_df": o.min_count, "sublinear_tf": True}
        parts = []
        if o.words:
            words = TfidfVectorizer(ngram_range=(1, o.words), token_pattern=r"(?u)\b\w+\b", **shared)
            parts.append(("words", words))
        if o.chars >= 2:
            parts.append(("chars", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, o.chars), **shared)))
        model = Pipeline([("text", FeatureUnion(parts)), ("head", logistic(o.strength, o.seed))])
        progress("fitting tfidf", 0, 1)
        try:
            fit_quietly(model, [textualize(example, self.text) for example in examples], y)
        except ValueError as error:
            raise UsageError(f"these statements give TF-IDF nothing to count ({error})") from error
        progress("fitting tfidf", 1, 1)
        self._model = model
        return self

    def predict_proba(self, examples: Sequence[Example], _progress: Progress = silent) -> NDArray[np.float64]:
        if not examples:
            return np.empty((0, 2))
        return deceptive_last(self._model, [textualize(example, self.text) for example in examples])

    def save(self, folder: Path) -> None:
        dump(self._model, folder / _FILE)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Self:
        detector = cls(text, options)
        detector._model = load(folder / _FILE)
        if not isinstance(detector._model, Pipeline):
            raise BadData(f"{folder / _FILE} does not hold a TF-IDF pipeline; train the detector again")
        return detector
