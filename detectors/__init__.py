"""Text in, probability of deception out: three kinds of detector, one protocol, one honest evaluation."""

from detectors.examples import TARGETS, Example, Labelled
from detectors.protocol import Detector
from detectors.registry import KINDS, make
from detectors.textualize import TextConfig, textualize

__all__ = ["KINDS", "TARGETS", "Detector", "Example", "Labelled", "TextConfig", "make", "textualize"]
