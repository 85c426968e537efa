"""A sentence encoder as it is, and a logistic regression over its embeddings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.sentence_encoder import LOCAL, PART, encoder_folder, kept_name, load_encoder, saved_name
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors import precision as network
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.logistic import ScaledLogistic, two_columns
from liescope.detectors.text_form import CutTexts, TextConfig, fit_texts

_FILE = "head.npy"
_MEMORY = 100_000
_NO_LIMIT = 2**20


class EmbeddingOptions(network.NetworkOptions):
    """Of the encoder, and of the regression."""

    batch_size: int = Field(default=64, ge=1, description="statements at a time")
    strength: float = Field(default=0.03, gt=0, description="inverse of the L2 penalty, scikit-learn's C")


class EmbeddingDetector(Detector):
    """Embeddings of statements with a logistic regression."""

    kind = "embedding"
    options_type = EmbeddingOptions
    reads_reasoning = True
    packages = ("scipy", "sentence-transformers")
    extra = "train"
    publication = Publication(
        library="sentence-transformers",
        built_on="encoder",
        plain_use="""import numpy as np
from huggingface_hub import hf_hub_download
from sentence_transformers import SentenceTransformer

mean, spread, weights = np.load(hf_hub_download({repo}, "head.npy"))
embedded = SentenceTransformer({repo}).encode([{text}])
print(1 / (1 + np.exp(-(embedded - mean[:-1]) / spread[:-1] @ weights[:-1] - weights[-1])))
""",
    )

    options: EmbeddingOptions
    _encoder: SentenceEncoder
    _head: ScaledLogistic

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, progress: Progress = silent) -> Self:
        o = self.options
        precision = network.to_learn_in(o.precision, network.device())
        self._encoder = sentence_encoder(encoder_folder(o.encoder), precision)
        read = self._encoder.read(examples, self.text)
        self.notes = read.notes
        embedded = self._encoder.embed(read.texts, o.batch_size, progress, remember=True)
        self._head = ScaledLogistic.learned(embedded, y, o.strength)
        self.options = o.model_copy(update={"encoder": kept_name(o.encoder), "precision": precision})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        if not examples:
            return np.empty((0, 2))
        texts = self._encoder.read(examples, self.text).texts
        embedded = self._encoder.embed(texts, self.options.batch_size, progress)
        return two_columns(expit(self._head.odds(embedded)))

    def save(self, folder: Path) -> None:
        self._encoder.save(folder, self.options.encoder)
        self._head.write(folder / _FILE)

    def published_beside(self) -> Mapping[str, Path]:
        """The encoder, unless it is in the model's folder already. Raises what `encoder_folder` raises."""
        if self.options.encoder == LOCAL:
            return {}
        folder = encoder_folder(self.options.encoder)
        names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        return {name: (folder / name).resolve() for name in names if not re.search(r"(^|/)\.|\.md$", name)}

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        o = detector.options
        precision, detector.notes = network.to_score_in(o.precision, network.device())
        named = encoder_folder(saved_name(folder, o.encoder, "modules.json"))
        detector._encoder = sentence_encoder(named, precision)
        sign = detector._encoder.embed([network.SENTENCE], 1)
        network.check_sign(folder, sign, o.encoder)
        detector._head = ScaledLogistic.read(folder / _FILE, sign.shape[1])
        return detector


class SentenceEncoder:
    """A sentence-transformers model that remembers what it has embedded, so that folds share the work."""

    def __init__(self, model: Any, precision: network.Precision) -> None:
        self._model, self._precision = model, precision
        self._seen: dict[str, NDArray[np.float32]] = {}

    def read(self, examples: Sequence[Example], config: TextConfig) -> CutTexts:
        """The texts of statements, within the encoder's limit."""
        return fit_texts(examples, config, self._model.tokenizer, self._model.max_seq_length or _NO_LIMIT)

    def embed(
        self, texts: Sequence[str], batch_size: int, progress: Progress = silent, remember: bool = False
    ) -> NDArray[np.float32]:
        """(n, width) float32. An embedding depends on its text alone up to rounding of the last digits (padding).

        remember: keep every embedding; else only while there is room, so that a stream of any length can be scored.
        """
        new = sorted({text for text in texts if text not in self._seen}, key=len)
        fresh: dict[str, NDArray[np.float32]] = {}
        step = 4 * batch_size
        for start in range(0, len(new), step):
            progress("embedding statements", start, len(new))
            part = new[start : start + step]
            with network.computing(self._precision, self._model.device):
                vectors = self._model.encode(
                    part, batch_size=batch_size, convert_to_numpy=True, show_progress_bar=False, precision="float32"
                )
            fresh.update(zip(part, vectors.astype(np.float32), strict=True))
        if new:
            progress("embedding statements", len(new), len(new))
        found = np.stack([fresh[text] if text in fresh else self._seen[text] for text in texts])
        if remember or len(self._seen) + len(fresh) <= _MEMORY:
            self._seen |= fresh
        return found

    def save(self, folder: Path, name: str) -> None:
        """Write into a detector's folder how it embeds a fixed sentence and, if the detector calls it `LOCAL`, its
        weights as safetensors, with vocabulary and settings.
        """
        network.keep_sign(folder, self.embed([network.SENTENCE], 1))
        if name == LOCAL:
            self._model.save(str(folder / PART), create_model_card=False, safe_serialization=True)


def sentence_encoder(folder: Path, precision: network.Precision = "fp32") -> SentenceEncoder:
    """The encoder in a folder, loaded again only if its weights change. Raises MissingExtra, UsageError."""
    weights = folder / "model.safetensors"
    return _loaded(folder, precision, weights.stat().st_mtime_ns if weights.is_file() else 0)


@lru_cache(maxsize=2)
def _loaded(folder: Path, precision: network.Precision, _changed: int) -> SentenceEncoder:
    return SentenceEncoder(load_encoder(folder), precision)
