"""Lie detectors: what a kind of one is made of. What is done with them is in `liescope` itself: train, load, score,
evaluate, bench, transfer, and audit a corpus.

Nothing is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liescope.detectors.classifier import LieDetector as LieDetector
    from liescope.detectors.detector import Detector as Detector
    from liescope.detectors.detector import DetectorOptions as DetectorOptions
    from liescope.detectors.detector_registry import DETECTORS as DETECTORS
    from liescope.detectors.detector_registry import make as make
    from liescope.detectors.examples import TARGETS as TARGETS
    from liescope.detectors.examples import Example as Example
    from liescope.detectors.examples import Labelled as Labelled
    from liescope.detectors.saved import LoadedDetector as LoadedDetector
    from liescope.detectors.text_form import TextConfig as TextConfig
    from liescope.detectors.text_form import textualize as textualize

_HOMES = {
    "classifier": ("LieDetector",),
    "detector": ("Detector", "DetectorOptions"),
    "detector_registry": ("DETECTORS", "make"),
    "examples": ("TARGETS", "Example", "Labelled"),
    "saved": ("LoadedDetector",),
    "text_form": ("TextConfig", "textualize"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"liescope.detectors.{module}"), name)
    raise AttributeError(f"module 'liescope.detectors' has no attribute {name!r}")
