"""Lie detectors: train, load, score statements, evaluate, bench; audit a corpus."""

from typing import TYPE_CHECKING, Any

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
from liescope.detectors.textualize import TextConfig, textualize
from liescope.detectors.training import TrainResult, train

if TYPE_CHECKING:
    from liescope.detectors.classifier import LieDetector

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
    if name != "LieDetector":
        raise AttributeError(f"module 'liescope.detectors' has no attribute {name!r}")
    from liescope.detectors.classifier import LieDetector  # its base is scikit-learn's, which takes a while to import

    return LieDetector
