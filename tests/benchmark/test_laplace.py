"""The fast fit: the sampler's posterior, nearly; both symmetries fixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.counts import PLAYERS, SCHEMA
from liescope.benchmark.capability.model import effective, laplace
from liescope.benchmark.capability.posterior import Posterior

pytestmark = pytest.mark.slow


def test_it_agrees_with_the_sampler_on_the_published_cells(published_fit: Posterior) -> None:
    fast = laplace(published_fit.cells, draws=4000)
    for name in ("m", "d", "v"):
        drawn = published_fit.draws[name].reshape(-1, 10)
        assert np.abs((fast.mode[name] - drawn.mean(axis=0)) / drawn.std(axis=0)).max() < 0.25
        assert np.abs(fast.draws[name][0].std(axis=0) / drawn.std(axis=0) - 1).max() < 0.15


def test_every_draw_has_the_zero_and_the_unit_of_the_model(published_fit: Posterior) -> None:
    fast = laplace(published_fit.cells, offset=True, draws=50)
    assert fast.draws["m"].shape == (1, 50, 10)
    for name, mean in (("m", 0), ("v", 1), ("b", 0)):
        assert np.allclose(fast.draws[name].mean(axis=-1), mean)
        assert fast.mode[name].mean() == pytest.approx(mean)


def test_planted_offsets_of_villagers_come_back(simulate: Callable[..., pl.DataFrame]) -> None:
    """Two villagers who lean to the mafia and to the town, whatever they hear."""
    m, d, v = np.array([0.8, 0.0, -0.8]), np.array([0.2, 0.9, -0.3]), np.array([1.3, 1.0, 0.7])
    lean = {"a": 0.9, "b": 0.0, "c": -0.9}
    cells = simulate((m, d, v), games=1, seed=1)
    place = {model: number for number, model in enumerate("abc")}
    i, j, k = ([place[model] for model in cells[column]] for column in PLAYERS)
    leans = np.array([lean[model] for model in cells["villager"]])
    chance = 1 / (1 + np.exp(-(v[k] * (m[i] - d[j]) + leans)))
    some = cells.with_columns(games=4000, mafia_wins=np.rint(4000 * chance).astype(np.int64)).cast(dict(SCHEMA))
    assert np.allclose(laplace(some, offset=True).mode["b"], [0.9, 0.0, -0.9], atol=0.05)
    assert np.allclose(laplace(some, offset=True).mode["m"], m, atol=0.05)
    assert "b" not in laplace(some).names


def test_dispersed_games_count_for_fewer() -> None:
    assert effective(np.array([0.0, 1.0, 101.0]), 0.01) == pytest.approx([0.0, 1.0, 50.5])
    assert effective(np.array([100.0]), 0.0) == 100
    cells = pl.DataFrame([("a", "b", "a", 30, 100), ("b", "a", "b", 60, 100)], SCHEMA, orient="row")
    narrow, wide = (laplace(cells, dispersion=size) for size in (0.0, 0.1))
    assert (wide.draws["d"].std(axis=1) > narrow.draws["d"].std(axis=1)).all()
    assert (wide.draws["rho"] == 0.1).all()


def test_without_any_games_the_prior_is_left() -> None:
    cells = pl.DataFrame([("a", "b", "c", 0, 1), ("c", "a", "b", 1, 1)], SCHEMA, orient="row")
    fast = laplace(cells, draws=4000)
    assert fast.draws["d"].std() > 1.7  # the prior's deviation is 2
    assert np.isfinite(fast.draws["v"]).all()
