"""Known scores come back from the sampled default model on the design that the guide recommends.

More data sets and designs: tests/performance/bench_recovery.py.
"""

from __future__ import annotations

import pytest

from liescope.benchmark.capability.backend import Settings
from tests.performance.bench_recovery import recover, summary

pytestmark = pytest.mark.long


def test_scores_of_thirty_models_on_five_backgrounds_are_not_pulled_apart_by_their_priors() -> None:
    """Under priors of fixed width m and d came out two to three times too far apart."""
    settings = Settings(draws=400, tune=400, chains=2)
    sets = [recover("background 30 x 5 x 50", 0.02, number, settings) for number in (1,)]
    found = summary(sets)
    for name in ("m", "d"):
        assert 0.6 < found[name]["slope"] < 1.25, name
        assert found[name]["inside"] >= 0.85, name
        assert found[name]["rmse"] < 1.2 * found[name]["mode"], name
    assert found["v"]["inside"] >= 0.8
