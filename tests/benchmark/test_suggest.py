"""Which games to play next: properties of the choice, and that it beats others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.counts import PLAYERS, SCHEMA
from liescope.benchmark.capability.model import Laplace, laplace
from liescope.benchmark.capability.suggest import suggest, with_models
from tests.performance.bench_suggest import Players, World, compare, difference

WORLD = World(models=6, first=20, more=300)


@pytest.fixture(scope="module")
def begun() -> Laplace:
    players = Players(WORLD, seed=1)
    return players.fit(players.play(players.background(WORLD.first)))


@pytest.mark.parametrize("games", [1, 7, 100, 303])
def test_a_plan_has_as_many_games_as_asked_for_in_cells_of_these_models(begun: Laplace, games: int) -> None:
    found = suggest(begun, games)
    assert found.plan["games"].sum() == games
    assert found.plan["games"].min() > 0
    assert found.plan.select(PLAYERS).is_duplicated().sum() == 0
    assert set().union(*(found.plan[column] for column in PLAYERS)) <= set(begun.names["m"])
    assert found.then < found.now


def test_more_games_tell_more_each_less_than_the_one_before(begun: Laplace) -> None:
    now, *then = [suggest(begun, games).then for games in (1, 200, 400, 800)]
    falls = -np.diff([now, *then])
    assert (falls > 0).all()
    assert falls[0] / 200 > falls[1] / 200 > falls[2] / 400


def test_it_tells_more_than_games_spread_evenly(begun: Laplace) -> None:
    for games, also in ((400, ()), (60, ("new",))):
        found = suggest(begun, games, also)
        assert found.then < found.evenly < found.now


def test_the_expected_deviation_is_what_a_fit_of_such_games_has() -> None:
    """Where many games fix the scores, the Gaussian is exact: games that go as expected give the expected deviation."""
    players = Players(replace(WORLD, first=3000), seed=2)
    first = players.play(players.background(3000))
    fit = players.fit(first)
    found = suggest(fit, 20_000)
    after = players.fit(first, players.play(found.plan))
    variances = [after.draws[name][0].var(axis=0) for name in ("m", "d", "v")]
    assert found.then == pytest.approx(float(np.sqrt(np.concatenate(variances).mean())), rel=0.1)


def test_how_a_villager_responds_is_asked_of_speakers_far_apart() -> None:
    """m and d of six models lie evenly between -1 and 1, all villagers respond alike."""
    scale = dict(zip("abcdef", np.linspace(-1, 1, 6), strict=True))
    rows = [(i, j, k, round(200 / (1 + np.exp(scale[j] - scale[i]))), 200) for i in scale for j in scale for k in scale]
    played = pl.DataFrame(rows, SCHEMA, orient="row")
    plan = suggest(laplace(played), 300).plan
    gaps = [abs(scale[i] - scale[j]) * games for i, j, _, games in plan.rows()]
    assert sum(gaps) / 300 > 1.5  # 0.78 on average over all pairs, 2 at most
    assert len(set(plan["villager"])) == 6


def test_dispersion_spreads_games_over_more_combinations(begun: Laplace) -> None:
    plain, dispersed = (suggest(laplace(begun.cells, dispersion=size), 300).plan for size in (0.0, 0.2))
    assert dispersed.height > plain.height
    assert dispersed["games"].max() < plain["games"].max()


def test_a_new_model_gets_most_of_the_games_in_every_role(begun: Laplace) -> None:
    plan = suggest(begun, 100, also=["new"]).plan
    with_new = [plan.filter(pl.col(column) == "new")["games"].sum() for column in PLAYERS]
    assert min(with_new) >= 15
    assert plan.filter(pl.any_horizontal(pl.col(PLAYERS) == "new"))["games"].sum() >= 80


def test_the_prior_speaks_for_models_and_roles_that_were_never_seen(begun: Laplace) -> None:
    wider = with_models(begun, ["new"])
    assert wider.names["d"] == (*begun.names["d"], "new")
    assert np.array_equal(wider.draws["d"][..., :-1], begun.draws["d"])
    for name, mean in (("m", 0), ("d", 0), ("v", 1)):
        assert wider.draws[name][..., -1].mean() == pytest.approx(mean, abs=0.3)
        assert wider.draws[name][..., -1].std() == pytest.approx(2, abs=0.2)
    some = laplace(begun.cells.filter(pl.col("detective") != "model-3"))
    assert set(with_models(some).names["d"]) == set(begun.names["d"])
    assert with_models(begun).draws["m"].shape == begun.draws["m"].shape


def test_terms_that_games_were_dealt_and_models_without_v_are_no_hindrance(begun: Laplace) -> None:
    """A shift by the mafioso's name, and main effects."""
    shifted = replace(
        begun,
        names={**begun.names, "name": ("Ann", "Ben")},
        draws={**begun.draws, "name": np.zeros((1, 2000, 2))},
    )
    assert suggest(shifted, 100).plan.equals(suggest(begun, 100).plan)
    offset = laplace(begun.cells, offset=True)
    additive = replace(offset, draws={name: draws for name, draws in offset.draws.items() if name != "v"})
    found = suggest(additive, 100)
    assert found.plan["games"].sum() == 100
    assert found.then < found.evenly


def test_suggested_games_beat_random_ones() -> None:
    """Twelve sets of players with known scores; tests/performance/bench_suggest.py says by how much, over more."""
    suggested, random = compare(WORLD, ("suggested", "random"), 12)
    _, least, _ = difference(random[:, 1], suggested[:, 1])
    assert least > 0  # narrower intervals, surely
    assert suggested[:, 0].mean() < random[:, 0].mean()  # smaller errors, on average
