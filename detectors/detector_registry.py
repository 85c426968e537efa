"""The kinds of detector: names and where their classes are. A class declares everything else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.registry import Registry, version_of
from liescope.common.settings import Setting, declare

if TYPE_CHECKING:
    from liescope.detectors.detector import Detector
    from liescope.detectors.text_form import TextConfig

DETECTORS: Registry[type[Detector]] = Registry(
    "kind of detector",
    "liescope.detectors",
    {
        "duo": "liescope.detectors.kinds.duo:DuoDetector",
        "tfidf": "liescope.detectors.kinds.tfidf:TfidfDetector",
        "embedding": "liescope.detectors.kinds.embedding:EmbeddingDetector",
        "linear": "liescope.detectors.kinds.linear:LinearDetector",
        "encoder": "liescope.detectors.kinds.encoder:EncoderDetector",
        "judge": "liescope.detectors.kinds.judge:JudgeDetector",
        "probe": "liescope.detectors.kinds.probe:ProbeDetector",
    },
)


def declared_options() -> list[Setting]:
    """The options of every kind, as options of a command."""
    return declare({kind: DETECTORS[kind].options_type for kind in DETECTORS})


def make(kind: str, text: TextConfig, options: Mapping[str, Any]) -> Detector:
    """An untrained detector.

    Raises UnknownName for a kind, UsageError for an option or view that it lacks, MissingExtra.
    """
    chosen = DETECTORS[kind]
    if text.view != "words" and not chosen.reads_reasoning:
        able = ", ".join(other for other in DETECTORS if DETECTORS[other].reads_reasoning)
        raise UsageError(f"{kind} reads what was said, never the reasoning behind it; these kinds do: {able}")
    versions_of(kind)
    return chosen(text, chosen.options_type.of(options, kind))


def load_parts(kind: str, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Detector:
    """A detector from its saved parts. Raises UnknownName, MissingExtra, and BadData for what `save` never writes."""
    chosen = DETECTORS[kind]
    versions_of(kind)
    try:
        read = chosen.options_type.of(options, kind)
    except UsageError as error:
        raise BadData(f"{folder} has options that no detector of Liescope has ({error})") from error
    return chosen.load(folder, text, read)


def versions_of(kind: str) -> dict[str, str]:
    """The versions of Liescope, numpy, the kind's own package and those that it needs. Raises MissingExtra."""
    chosen = DETECTORS[kind]
    found = {name: version_of(name) for name in ("liescope", "numpy", DETECTORS.package_of(kind)) if name}
    for name in chosen.packages:
        try:
            found[name] = version_of(name)
        except PackageNotFoundError as error:
            raise MissingExtra(name, chosen.extra or "all") from error
    return found
