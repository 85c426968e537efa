"""The fit knows what it knows, known scores come back, and large fits take little memory; more data: `make bench`."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability import results
from liescope.benchmark.capability.counts import SCHEMA
from liescope.benchmark.capability.model import DEFAULT, undetermined
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from liescope.benchmark.capability.results import goodness, predictions
from tests.performance.bench_calibration import KEPT, LIKELIHOOD, calibrate, cube, uniformity
from tests.performance.bench_recovery import recover, summary

pytestmark = pytest.mark.long


@pytest.mark.timeout(900)  # compiles a model and samples it 20 times
def test_parameters_drawn_from_the_stated_priors_come_back_with_uniform_ranks() -> None:
    """With so few games that a wrong prior shows as well as a wrong likelihood."""
    few = cube(3, games=5).gather_every(4)
    found = calibrate(few, DEFAULT, sets=20, settings=SamplerOptions(draws=100, tune=150, chains=2))
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


def test_scores_of_thirty_models_on_five_backgrounds_are_not_pulled_apart_by_their_priors() -> None:
    """Under priors of fixed width m and d came out two to three times too far apart."""
    settings = SamplerOptions(draws=400, tune=400, chains=2)
    sets = [recover("background 30 x 5 x 50", 0.02, number, settings) for number in (1, 2)]
    found = summary(sets)
    for name in ("m", "d"):
        assert 0.6 < found[name]["slope"] < 1.25, name
        assert found[name]["inside"] >= 0.85, name
        assert found[name]["rmse"] < 1.2 * found[name]["mode"], name
    assert found["v"]["inside"] >= 0.8


MODELS = tuple(f"model-{n:03}" for n in range(12))


@pytest.fixture(scope="module")
def sampled() -> Posterior:
    """A made-up sample of the default model over the full cube, and counts that it would give."""
    random = np.random.default_rng(1)
    names = {**dict.fromkeys(("m", "d", "v", "b"), MODELS), "rho": ("every combination",)}
    draws = {name: random.normal(float(name == "v"), 0.05, (2, 1000, 12)) for name in ("m", "d", "v", "b")}
    draws["rho"] = np.full((2, 1000, 1), 0.02)
    rows = [(*key, int(random.binomial(50, random.beta(24.5, 24.5))), 50) for key in product(MODELS, repeat=3)]
    good = Diagnostics(1.0, 2000, 2000, 1.0, 0, 1000, 2, 1.0)
    return Posterior(pl.DataFrame(rows, SCHEMA, orient="row"), names, draws, good, SamplerOptions(), DEFAULT)


def test_no_array_of_draws_holds_all_combinations(sampled: Posterior) -> None:
    whole = 2000 * len(MODELS) ** 3 * 8
    tracemalloc.start()
    found = predictions(sampled)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.height == len(MODELS) ** 3
    assert most < 2.5 * whole  # all at once would hold six such arrays
    assert 0.93 < found["inside"].to_numpy().mean() < 0.97


def test_the_size_of_the_blocks_changes_no_result(sampled: Posterior, monkeypatch: pytest.MonkeyPatch) -> None:
    few = Posterior(sampled.rows.head(70), *(getattr(sampled, name) for name in Posterior.__slots__[1:]))
    whole, at_once = goodness(few), predictions(few)
    monkeypatch.setattr(results, "AT_ONCE", 9)
    parts, in_blocks = goodness(few), predictions(few)
    assert parts.chi2 == pytest.approx(whole.chi2)
    assert parts.chi2_replicated == pytest.approx(whole.chi2_replicated, rel=0.02)
    assert_frame_equal(in_blocks.drop("lo", "hi", "inside"), at_once.drop("lo", "hi", "inside"), rel_tol=1e-9)
    assert np.abs((in_blocks["lo"] - at_once["lo"]).to_numpy()).max() <= 0.04  # two games of 50


def test_what_a_large_design_determines_is_found_without_a_matrix_of_all_its_combinations() -> None:
    cube = pl.DataFrame([(*key, 1, 2) for key in product(range(30), repeat=3)], SCHEMA, orient="row", strict=False)
    tracemalloc.start()
    assert undetermined(cube, DEFAULT) == (0, 4 * 30 - 3)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < cube.height * 4 * 30 * 8
