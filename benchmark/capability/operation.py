"""A log density with its gradient as an operation of PyTensor, for PyMC's own sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.tensor as pt
from pytensor.graph.op import Op

from liescope.benchmark.capability.backend import Target


def height(target: Target, y: Any) -> Any:
    """The log density at the tensor y, with its gradient."""

    def perform(_operation: Any, _node: Any, inputs: Any, outputs: Any) -> None:
        value, gradient = target.whitened(np.asarray(inputs[0], dtype=np.float64))
        outputs[0][0], outputs[1][0] = np.asarray(value), gradient

    def pulled(_operation: Any, _inputs: Any, outputs: Any, slopes: Any) -> list[Any]:
        return [slopes[0] * outputs[1]]

    members = {"perform": perform, "L_op": pulled, "itypes": [pt.dvector], "otypes": [pt.dscalar, pt.dvector]}
    return type("LogDensity", (Op,), members)()(y)[0]
