"""Lie detectors: train, load, score statements, evaluate, bench; audit a corpus.

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
    from liescope.detectors.saved import load as load
    from liescope.detectors.scoring import ScoredFile as ScoredFile
    from liescope.detectors.scoring import score as score
    from liescope.detectors.scoring import score_file as score_file
    from liescope.detectors.study.audit import AuditResult as AuditResult
    from liescope.detectors.study.audit import audit as audit
    from liescope.detectors.study.bench import bench as bench
    from liescope.detectors.study.bench_result import BenchResult as BenchResult
    from liescope.detectors.study.evaluate import evaluate as evaluate
    from liescope.detectors.study.findings import EvaluationResult as EvaluationResult
    from liescope.detectors.study.transfer import TransferResult as TransferResult
    from liescope.detectors.study.transfer import transfer as transfer
    from liescope.detectors.text_form import TextConfig as TextConfig
    from liescope.detectors.text_form import textualize as textualize
    from liescope.detectors.training import TrainResult as TrainResult
    from liescope.detectors.training import train as train

_HOMES = {
    "classifier": ("LieDetector",),
    "detector": ("Detector", "DetectorOptions"),
    "detector_registry": ("DETECTORS", "make"),
    "examples": ("TARGETS", "Example", "Labelled"),
    "saved": ("LoadedDetector", "load"),
    "scoring": ("ScoredFile", "score", "score_file"),
    "study.audit": ("AuditResult", "audit"),
    "study.bench": ("bench",),
    "study.bench_result": ("BenchResult",),
    "study.evaluate": ("evaluate",),
    "study.findings": ("EvaluationResult",),
    "study.transfer": ("TransferResult", "transfer"),
    "text_form": ("TextConfig", "textualize"),
    "training": ("TrainResult", "train"),
}
__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"liescope.detectors.{module}"), name)
    raise AttributeError(f"module 'liescope.detectors' has no attribute {name!r}")
