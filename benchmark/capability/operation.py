"""A log density with its gradient as an operation of PyTensor, for PyMC's own sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.op import Op

from liescope.benchmark.capability.backend import Target


class LogDensity(Op):
    """From a point to (the log density, its gradient)."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.itypes, self.otypes = [pt.dvector], [pt.dscalar, pt.dvector]

    def perform(self, _node: Any, inputs: Any, outputs: Any) -> None:
        """The arithmetic."""
        value, gradient = self._target.whitened(np.asarray(inputs[0], dtype=np.float64))
        outputs[0][0], outputs[1][0] = np.asarray(value), gradient

    def _pulled(self, _inputs: Any, outputs: Any, slopes: Any) -> list[Any]:
        """The gradient of what is made of the log density; the gradient itself is not differentiated."""
        return [slopes[0] * outputs[1]]

    L_op = _pulled
