"""Fits of the same counts with the same settings are sampled once in a process, however many tests look at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability import hamiltonian
from liescope.benchmark.capability.backend import Sample
from liescope.benchmark.capability.density import Density
from liescope.benchmark.capability.hamiltonian import hmc

_KNOWN: dict[tuple[object, ...], Sample] = {}


def _once(density: Density, settings: SamplerOptions) -> Sample:
    """The sample of an equal density: the same height and slope at a point that has nothing special."""
    height, slope = density.whitened(np.random.default_rng(density.dimensions).normal(size=density.dimensions))
    key = (settings, density.dimensions, height, slope.tobytes())
    if key not in _KNOWN:
        _KNOWN[key] = hmc(density, settings)
    return _KNOWN[key]


@contextmanager
def shared_fits() -> Iterator[None]:
    """Within the block, where what a sampler does is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hamiltonian, "hmc", _once)
        yield
