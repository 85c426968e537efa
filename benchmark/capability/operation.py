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

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        """The arithmetic."""
        value, gradient = self._target.whitened(np.asarray(inputs[0], dtype=np.float64))
        outputs[0][0], outputs[1][0] = np.asarray(value), gradient

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> list[Any]:
        """The gradient as PyTensor asks for it; only that of the log density is known."""
        return [output_grads[0] * outputs[1]]
