"""TF-IDF features for many trials on the same statements: each statement's n-grams are counted once.

Which n-grams are features, and their weights, follow from the statements that a trial learns from, as in scikit-learn's
TfidfVectorizer; only the counting is shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from sklearn.feature_extraction.text import TfidfTransformer

from liescope.common.errors import UsageError
from liescope.detectors.examples import Example
from liescope.detectors.kinds.tfidf import TfidfOptions, vectorizer
from liescope.detectors.textualize import TextConfig, textualize

_Row = tuple[NDArray[np.int32], NDArray[np.float64]]


class SharedCounts:
    """The counts of every statement asked for so far, under one way to make text of it and one way to count."""

    def __init__(self, text: TextConfig, analyze: Any) -> None:
        self._text = text
        self._analyze = analyze
        self._places: dict[str, int] = {}
        self._rows: dict[Example, _Row] = {}

    def matrix(self, examples: Sequence[Example]) -> csr_array:
        """(n, n-grams seen so far) counts."""
        rows = [self._rows.get(example) or self._count(example) for example in examples]
        ends = np.cumsum([0, *(len(places) for places, _ in rows)])
        places, counts = (np.concatenate(part) for part in zip(*rows, strict=True))
        return csr_array((counts, places, ends), shape=(len(rows), len(self._places)))

    def _count(self, example: Example) -> _Row:
        found = Counter(self._analyze(textualize(example, self._text)))
        places = np.array([self._places.setdefault(gram, len(self._places)) for gram in found], dtype=np.int32)
        row = self._rows[example] = (places, np.array(list(found.values()), dtype=np.float64))
        return row


def features(
    text: TextConfig, o: TfidfOptions, learn: Sequence[Example], others: Sequence[Example]
) -> tuple[csr_array, csr_array]:
    """The features of statements that are learned from, and of others. Raises UsageError if there are none."""
    made = []
    for counts in _shared(text, o.words, o.chars):
        learned = counts.matrix(learn)
        kept = np.flatnonzero(np.bincount(learned.indices, minlength=learned.shape[1]) >= o.min_count)
        scored = counts.matrix(others)[:, kept]
        weigh = TfidfTransformer(sublinear_tf=True)
        if len(kept):
            made.append((weigh.fit_transform(learned[:, kept]), weigh.transform(scored)))
    if not made:
        raise UsageError(f"these statements give TF-IDF nothing to count in at least {o.min_count} of them")
    first, second = (hstack(part, format="csr") for part in zip(*made, strict=True))
    return first, second


@lru_cache(maxsize=4)
def _shared(text: TextConfig, words: int, chars: int) -> tuple[SharedCounts, ...]:
    parts = vectorizer(TfidfOptions(words=words, chars=chars)).transformer_list
    return tuple(SharedCounts(text, part.build_analyzer()) for _, part in parts)
