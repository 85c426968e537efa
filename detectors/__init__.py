"""Lie detectors: train, load, score statements, evaluate, bench; audit a corpus.

Nothing is imported before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liescope.detectors.classifier import LieDetector
    from liescope.detectors.detector import Detector, DetectorOptions
    from liescope.detectors.detector_registry import DETECTORS, make
    from liescope.detectors.examples import TARGETS, Example, Labelled
    from liescope.detectors.saved import LoadedDetector, load
    from liescope.detectors.scoring import ScoredFile, score, score_file
    from liescope.detectors.study.audit import audit
    from liescope.detectors.study.audit_result import AuditResult
    from liescope.detectors.study.bench import bench
    from liescope.detectors.study.bench_result import BenchResult
    from liescope.detectors.study.evaluate import evaluate
    from liescope.detectors.study.findings import EvaluationResult
    from liescope.detectors.study.transfer import transfer
    from liescope.detectors.study.transfer_result import TransferResult
    from liescope.detectors.text_form import TextConfig, textualize
    from liescope.detectors.training import TrainResult, train

_HOMES = {
    "classifier": ("LieDetector",),
    "detector": ("Detector", "DetectorOptions"),
    "detector_registry": ("DETECTORS", "make"),
    "examples": ("TARGETS", "Example", "Labelled"),
    "saved": ("LoadedDetector", "load"),
    "scoring": ("ScoredFile", "score", "score_file"),
    "study.audit": ("audit",),
    "study.audit_result": ("AuditResult",),
    "study.bench": ("bench",),
    "study.bench_result": ("BenchResult",),
    "study.evaluate": ("evaluate",),
    "study.findings": ("EvaluationResult",),
    "study.transfer": ("transfer",),
    "study.transfer_result": ("TransferResult",),
    "text_form": ("TextConfig", "textualize"),
    "training": ("TrainResult", "train"),
}
__all__ = [
    "DETECTORS",
    "TARGETS",
    "AuditResult",
    "BenchResult",
    "Detector",
    "DetectorOptions",
    "EvaluationResult",
    "Example",
    "Labelled",
    "LieDetector",
    "LoadedDetector",
    "ScoredFile",
    "TextConfig",
    "TrainResult",
    "TransferResult",
    "audit",
    "bench",
    "evaluate",
    "load",
    "make",
    "score",
    "score_file",
    "textualize",
    "train",
    "transfer",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"liescope.detectors.{module}"), name)
    raise AttributeError(f"module 'liescope.detectors' has no attribute {name!r}")
