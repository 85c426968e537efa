"""Words, pairs of words and, if asked, character n-grams, weighted by TF-IDF, into a logistic regression."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, silent
from liescope.detectors.examples import Example
from liescope.detectors.logistic import dump, fit_quietly, logistic, numbers, opened, restore_logistic
from liescope.detectors.textualize import TextConfig, textualize
from liescope.detectors.view.candidate import Reason, strongest

_FILE = "pipeline.skops"


CHARS = 3
"""How many characters are read together where words cannot see: in scripts that put no space between words, and where
signs that are no letters, such as emoji, stand in many texts.
"""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SIGNS = re.compile(r"[\u2190-\u2bff\u3000-\u303f\U0001f000-\U0001faff]")
_SHARE, _OFTEN = 0.2, 0.1  # of all letters, in a script without spaces; of the texts, with such a sign


def blind(texts: Sequence[str]) -> str:
    """What words cannot see of these texts, in words; "" if they see all that matters."""
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
    packages = ("scikit-learn", "skops")
    library = "sklearn"
    plain_use = """import skops.io
from huggingface_hub import hf_hub_download

pipeline = skops.io.load(hf_hub_download({repo}, "pipeline.skops"), trusted=[])
print(pipeline.predict_proba([{text}])[:, 1])
"""

    options: TfidfOptions
    _model: Any = None

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, _progress: Progress = silent) -> Self:
        texts = [textualize(example, self.text) for example in examples]
        self.options, self.notes = resolved(self.options, texts)
        self._model = _pipeline(self.options)
        with _something_to_count():
            fit_quietly(self._model, texts, y)
        return self

    def predict_proba(self, examples: Sequence[Example], _progress: Progress = silent) -> Floats:
        if not examples:
            return np.empty((0, 2))
        texts = [textualize(example, self.text) for example in examples]
        return np.asarray(self._model.predict_proba(texts), dtype=np.float64)

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        if not examples:
            return []
        counted, head = self._model["text"], self._model["head"]
        named = [feature.partition("__") for feature in counted.get_feature_names_out()]
        features = counted.transform([textualize(example, self.text) for example in examples]).tocsr()
        found = []
        for start, end in pairwise(features.indptr):
            at = features.indices[start:end]
            added = features.data[start:end] * head.coef_[0, at]
            top = strongest(added, most)
            found.append([Reason(named[at[i]][0], named[at[i]][2], float(added[i])) for i in top])
        return found

    def save(self, folder: Path) -> None:
        dump(self._model, folder / _FILE)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        own = TfidfOptions.model_validate(options.model_dump())
        with opened(folder / _FILE) as saved:
            if own.chars is None:
                read = "chars" in dict(saved["text"].transformer_list)
                own = own.model_copy(update={"chars": CHARS if read else 0})
            detector, model = cls(text, own), _pipeline(own)
            restore_logistic(model["head"], saved["head"], restore_vectorizer(model["text"], saved["text"]))
        detector._model = model
        return detector


@contextmanager
def _something_to_count() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(f"these statements give TF-IDF nothing to count ({error})") from error


def resolved(o: TfidfOptions, texts: Sequence[str]) -> tuple[TfidfOptions, tuple[str, ...]]:
    """The options with characters read where nobody says it and these texts need it; and the note that says so."""
    if o.chars is not None:
        return o, ()
    why = blind(texts)
    note = (f"sequences of 2 to {CHARS} characters are read beside words, because of {why}",) if why else ()
    return o.model_copy(update={"chars": CHARS if why else 0}), note


def vectorizer(o: TfidfOptions) -> Any:
    """An unfitted scikit-learn transformer from texts to their weighted n-grams, of words, characters or both."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import FeatureUnion

    shared: dict[str, Any] = {"min_df": o.min_count, "sublinear_tf": True}
    parts = []
    if o.words:
        words = TfidfVectorizer(ngram_range=(1, o.words), token_pattern=r"(?u)\b\w+\b", **shared)
        parts.append(("words", words))
    if (o.chars or 0) >= 2:
        parts.append(("chars", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, o.chars), **shared)))
    return FeatureUnion(parts)


def _pipeline(o: TfidfOptions) -> Any:
    """An unfitted scikit-learn pipeline: `text` (one vectorizer or two), `head`."""
    from sklearn.pipeline import Pipeline

    return Pipeline([("text", vectorizer(o)), ("head", logistic(o.strength, o.seed))])


def restore_vectorizer(fresh: Any, learned: Any) -> int:
    """Copy only vocabularies and weights into an unfitted `vectorizer` from one that was read; returns the number of
    features. Raises ValueError if they do not fit.
    """
    pairs = zip(fresh.transformer_list, learned.transformer_list, strict=True)
    return sum(_restore(own, read) for (_, own), (_, read) in pairs)


def _restore(fresh: Any, learned: Any) -> int:
    """Copy only vocabulary and weights from a vectorizer that was read; returns the number of features."""
    vocabulary: dict[str, int] = {word: int(place) for word, place in learned.vocabulary_.items()}
    if not all(isinstance(word, str) for word in vocabulary) or sorted(vocabulary.values()) != [
        *range(len(vocabulary))
    ]:
        raise ValueError("its vocabulary does not number its words from 0")
    fresh.vocabulary_ = vocabulary
    fresh.fixed_vocabulary_ = False
    fresh.idf_ = numbers(learned.idf_, (len(vocabulary),))
    return len(vocabulary)
