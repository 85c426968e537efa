"""Simulation-based calibration: the fit knows what it knows. More data sets: tests/performance/bench_calibration.py."""

from __future__ import annotations

import numpy as np
import pytest

from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.variants import DEFAULT
from tests.performance.bench_calibration import KEPT, LIKELIHOOD, calibrate, cube, uniformity

pytestmark = pytest.mark.long


@pytest.mark.timeout(900)  # compiles a model and samples it 20 times
def test_parameters_drawn_from_the_stated_priors_come_back_with_uniform_ranks() -> None:
    """With so few games that a wrong prior shows as well as a wrong likelihood."""
    few = cube(3, games=5).gather_every(4)
    found = calibrate(few, DEFAULT, sets=20, settings=Settings(draws=100, tune=150, chains=2))
    assert set(found.uniform) == {"m", "d", "v", "b", "rho", LIKELIHOOD}
    for name, p in found.uniform.items():
        assert p > 0.002, name
    assert found.held["d"].mean(axis=(0, 2)) == pytest.approx([0.5, 0.8, 0.95], abs=0.15)


def test_ranks_that_crowd_at_one_end_at_both_or_in_the_middle_are_not_uniform() -> None:
    random = np.random.default_rng(1)
    even = random.random((200, 20))
    shapes = {"one": even**1.5, "both": random.beta(0.6, 0.6, even.shape), "middle": random.beta(1.7, 1.7, even.shape)}
    ranks = {name: (values * (KEPT + 1)).astype(np.int64) for name, values in shapes.items()}
    for name, crowded in ranks.items():
        assert (uniformity(crowded) < 0.05).mean() > 0.8, name
    assert (uniformity((even * (KEPT + 1)).astype(np.int64)) < 0.05).mean() < 0.2
