"""A frozen sentence encoder, and a logistic regression over its embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from liescope.common.errors import BadData
from liescope.common.sentence_encoder import load_encoder
from liescope.detectors.examples import Example
from liescope.detectors.linear import deceptive_last, dump, fit_quietly, load, logistic
from liescope.detectors.options import Options
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.textualize import TextConfig, textualize

_FILE, _PROBE_FILE = "head.skops", "probe.npy"
_PROBE = "speaker: I checked player1 last night and I trust player2."
_CHUNK = 1024


class EmbeddingOptions(Options):
    """encoder: a Hub id or a folder, "" for the bundled all-MiniLM-L6-v2. strength: scikit-learn's C."""

    encoder: str = ""
    batch_size: int = Field(default=64, ge=1)
    strength: float = Field(default=0.03, gt=0)
    seed: int = 0


class EmbeddingDetector:
    """A Detector. Raises UsageError for options that cannot be and for an encoder that cannot be had."""

    kind: ClassVar[str] = "embedding"

    def __init__(self, text: TextConfig, options: Mapping[str, Any]) -> None:
        self._options = EmbeddingOptions.read(self.kind, options)
        self.text = text
        self._encoder = sentence_encoder(self._options.encoder)
        self._head: Any = None

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
        head = Pipeline([("scale", StandardScaler()), ("head", logistic(self._options.strength, self._options.seed))])
        fit_quietly(head, self.embed(examples, progress), y)
        self._head = head
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        if not examples:
            return np.empty((0, 2))
        return deceptive_last(self._head, self.embed(examples, progress))

    def embed(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float32]:
        """(n, width) float32. A text is embedded once in the life of the encoder's memory, so that the folds of a
        cross-validation share the work.
        """
        return self._encoder.embed([textualize(e, self.text) for e in examples], self._options.batch_size, progress)

    def save(self, folder: Path) -> None:
        dump(self._head, folder / _FILE)
        np.save(folder / _PROBE_FILE, self._encoder.embed([_PROBE], 1), allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Self:
        detector = cls(text, options)
        detector._head = load(folder / _FILE)
        if not isinstance(detector._head, Pipeline):
            raise BadData(f"{folder / _FILE} does not hold a logistic head; train the detector again")
        try:
            probe = np.load(folder / _PROBE_FILE, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise BadData(f"{folder / _PROBE_FILE} cannot be read ({error}); train the detector again") from error
        now = detector._encoder.embed([_PROBE], 1)
        if probe.shape != now.shape or not np.allclose(probe, now, atol=1e-3):
            raise BadData(
                f"the encoder {detector._options.encoder or 'all-MiniLM-L6-v2'!r} is not the one that {folder} was "
                "trained with (it embeds a fixed sentence differently); install that version, or train again"
            )
        return detector


class SentenceEncoder:
    """A sentence-transformers model with a memory of what it has embedded."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._seen: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str], batch_size: int, progress: Progress = silent) -> NDArray[np.float32]:
        """(n, width) float32. An embedding depends on its text alone up to rounding of the last digits (padding)."""
        new = sorted({text for text in texts if text not in self._seen}, key=len)
        for start in range(0, len(new), _CHUNK):
            part = new[start : start + _CHUNK]
            vectors = self._model.encode(
                part, batch_size=batch_size, convert_to_numpy=True, show_progress_bar=False, precision="float32"
            )
            self._seen.update(zip(part, vectors.astype(np.float32), strict=True))
            progress("embedding statements", min(start + _CHUNK, len(new)), len(new))
        return np.stack([self._seen[text] for text in texts])


@lru_cache(maxsize=2)
def sentence_encoder(name: str) -> SentenceEncoder:
    """The encoder of a Hub id or folder; "" is the bundled one. Raises MissingExtra, UsageError."""
    return SentenceEncoder(load_encoder(name))
