"""The kinds of detector, each in a module of its own that is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from liescope.common.errors import MissingExtra, UnknownName
from liescope.detectors.protocol import Detector
from liescope.detectors.textualize import TextConfig

# kind: module, class. A new detector is one module and one line here.
_KINDS = {
    "tfidf": ("liescope.detectors.tfidf", "TfidfDetector"),
    "embedding": ("liescope.detectors.embedding", "EmbeddingDetector"),
    "encoder": ("liescope.detectors.encoder", "EncoderDetector"),
}
KINDS = tuple(_KINDS)


def make(kind: str, text: TextConfig, options: Mapping[str, Any]) -> Detector:
    """A detector that has learned nothing yet. Raises UnknownName, MissingExtra, UsageError for a bad option."""
    return cast(Detector, _class(kind)(text, options))


def load_parts(kind: str, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Detector:
    """A detector from the parts that it saved. Raises UnknownName, MissingExtra, BadData."""
    return cast(Detector, _class(kind).load(folder, text, options))


def _class(kind: str) -> Any:
    if kind not in _KINDS:
        raise UnknownName("kind of detector", kind, KINDS)
    module, name = _KINDS[kind]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or "torch").replace("_", "-"), "train") from error
