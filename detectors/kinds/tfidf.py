"""Words, pairs of words and, if asked, character n-grams, weighted by TF-IDF, into a logistic regression."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from pydantic import Field, model_validator

from liescope.common.errors import BadData, UsageError
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.logistic import TRAIN_AGAIN, fit_logistic, read_numbers, two_columns, write_numbers
from liescope.detectors.text_form import TextConfig, textualize
from liescope.detectors.tf_idf import AT_ONCE, Features, Ngrams, read_features, write_features
from liescope.detectors.view.candidate import Reason, strongest

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FEATURES, _WEIGHTS = "words.json", "words.npy"
CHARS = 3
"""How many characters are read together where words cannot see: in scripts that put no space between words, and where
signs that are no letters, such as emoji, stand in many texts.
"""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SIGNS = re.compile(r"[\u2190-\u2bff\u3000-\u303f\U0001f000-\U0001faff]")
_SHARE, _OFTEN = 0.2, 0.1  # share of letters in a script without spaces; share of texts with such a letter


def blind(texts: Sequence[str]) -> str:
    """What word features miss in these texts, as a phrase; "" if they miss nothing that matters."""
    letters, unspaced = sum(map(len, texts)), sum(len(_UNSPACED.findall(text)) for text in texts)
    if unspaced > _SHARE * letters:
        return "a script without spaces between words"
    signed = sum(_SIGNS.search(text) is not None for text in texts)
    return "emoji and other signs" if signed > _OFTEN * len(texts) else ""


class TfidfOptions(DetectorOptions):
    """A feature is an n-gram of words, or of characters inside words."""

    words: int = Field(default=2, ge=0, le=5, description="n-grams of 1 to this many words, 0 for none")
    chars: int | None = Field(
        default=None,
        ge=0,
        le=8,
        description=f"n-grams of 2 to this many characters, 0 for none; {CHARS} where words cannot see, else none",
    )
    min_count: int = Field(default=2, ge=1, description="statements that a feature must occur in")
    strength: float = Field(default=4.0, gt=0, description="inverse of the L2 penalty, scikit-learn's C")

    @model_validator(mode="after")
    def _something_to_count(self) -> Self:
        if self.words == 0 and (self.chars or 0) < 2:
            raise ValueError("give --words of 1 or more, or --chars of 2 or more")
        return self


class TfidfDetector(Detector):
    """TF-IDF with a logistic regression."""

    kind = "tfidf"
    options_type = TfidfOptions
    reads_reasoning = True
    packages = ("scipy",)
    publication = Publication(
        library="sklearn",
        plain_use="""import json

import numpy as np
from huggingface_hub import hf_hub_download
from sklearn.feature_extraction.text import TfidfVectorizer

ways = {{
    "words": {{"ngram_range": (1, 5), "token_pattern": r"(?u)\\b\\w+\\b"}},
    "chars": {{"ngram_range": (2, 8), "analyzer": "char_wb"}},
}}
with open(hf_hub_download({repo}, "words.json"), encoding="utf-8") as file:
    fields = json.load(file)
values = []
for name, field in fields.items():
    counts = TfidfVectorizer(vocabulary=field["features"], sublinear_tf=True, **ways[name])
    counts.idf_ = np.array(field["idf"])
    values.append(counts.transform([{text}]).toarray())
*weights, offset = np.load(hf_hub_download({repo}, "words.npy"))
print(1 / (1 + np.exp(-np.hstack(values) @ weights - offset)))
""",
    )

    options: TfidfOptions
    _fields: dict[str, Features]
    _weights: Floats
    _offset: float

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, _progress: Progress = silent) -> Self:
        texts = [textualize(example, self.text) for example in examples]
        self.options, self.notes = resolved(self.options, texts)
        self._fields, values = learned(self.options, texts)
        del texts
        self._weights, self._offset = fit_logistic(values, y, self.options.strength)
        return self

    def predict_proba(self, examples: Sequence[Example], _progress: Progress = silent) -> Floats:
        parts = (self._values(examples[at : at + AT_ONCE]) for at in range(0, len(examples), AT_ONCE))
        odds = [np.empty(0), *(values @ self._weights + self._offset for values in parts)]
        return two_columns(expit(np.concatenate(odds)))

    def _values(self, examples: Sequence[Example]) -> csr_array:
        return _ngrams(self.options).weighed([textualize(example, self.text) for example in examples], self._fields)

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        named = [(name, gram) for name, field in self._fields.items() for gram in field.place]
        values, found = self._values(examples), list[list[Reason]]()
        for start, end in pairwise(values.indptr):
            at = values.indices[start:end]
            added = values.data[start:end] * self._weights[at]
            found.append([Reason(*named[int(at[i])], float(added[i])) for i in strongest(added, most)])
        return found

    def save(self, folder: Path) -> None:
        write_features(folder / _FEATURES, self._fields)
        write_numbers(folder / _WEIGHTS, np.append(self._weights, self._offset))

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        own = TfidfOptions.model_validate(options.model_dump())
        fields = read_features(folder / _FEATURES)
        if own.chars is None:
            own = own.model_copy(update={"chars": CHARS if "chars" in fields else 0})
        detector = cls(text, own)
        if tuple(fields) != _ngrams(own).fields:
            raise BadData(f"{folder} has other features than its options say; {TRAIN_AGAIN}")
        numbers = read_numbers(folder / _WEIGHTS, (1 + sum(len(field.place) for field in fields.values()),))
        detector._fields, detector._weights, detector._offset = fields, numbers[:-1], float(numbers[-1])
        return detector


def learned(o: TfidfOptions, texts: Sequence[str]) -> tuple[dict[str, Features], csr_array]:
    """The features of these texts, and their values. Raises UsageError if there are none."""
    try:
        return _ngrams(o).learned(texts, o.min_count)
    except ValueError as error:
        raise UsageError(f"these statements give TF-IDF nothing to count ({error})") from error


def _ngrams(o: TfidfOptions) -> Ngrams:
    return Ngrams(o.words, o.chars or 0)


def resolved(o: TfidfOptions, texts: Sequence[str]) -> tuple[TfidfOptions, tuple[str, ...]]:
    """The options, with characters on if the user left that open and these texts need them; and a note on it."""
    if o.chars is not None:
        return o, ()
    why = blind(texts)
    note = (f"sequences of 2 to {CHARS} characters are read beside words, because of {why}",) if why else ()
    return o.model_copy(update={"chars": CHARS if why else 0}), note
