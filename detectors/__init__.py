"""Text in, probability of deception out: three kinds of detector, one protocol, one honest evaluation."""

from liescope.detectors.examples import TARGETS, Example, Labelled
from liescope.detectors.protocol import Detector
from liescope.detectors.registry import KINDS, make
from liescope.detectors.textualize import TextConfig, textualize

__all__ = ["KINDS", "TARGETS", "Detector", "Example", "Labelled", "TextConfig", "make", "textualize"]
