"""Adapting a trained detector to games of a corpus that it has not seen, with few labels or none."""

from liescope.detectors.adapt.adapting import AdaptResult, adapt, propose

__all__ = ["AdaptResult", "adapt", "propose"]
