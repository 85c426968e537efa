"""Intervals cover what they should, and resample games instead of rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest, pearsonr

from liescope.benchmark.analyses.intervals import fisher, game_difference, game_means, newcombe, wilson, with_wilson


@pytest.mark.parametrize(("won", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (33, 60)])
def test_wilson_is_scipys(won: int, n: int) -> None:
    known = binomtest(won, n).proportion_ci(method="wilson")
    assert wilson(won, n) == pytest.approx((known.low, known.high))


def test_wilson_needs_trials_and_refuses_what_cannot_be() -> None:
    assert wilson(0, 0) == (None, None)
    with pytest.raises(ValueError, match="impossible"):
        wilson(3, 2)
    empty = with_wilson(pl.DataFrame({"won": [0], "n": [0]}), "won", "n")
    assert empty.select("rate", "lo", "hi").row(0) == (None, None, None)


def test_newcombe_gives_the_published_example() -> None:
    # Newcombe (1998), Table II, method 10: 56/70 against 48/80.
    assert newcombe(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    lo, hi = newcombe(3, 10, 7, 12)
    assert newcombe(7, 12, 3, 10) == pytest.approx((-(hi or 0), -(lo or 0)))


def test_a_perfect_correlation_of_few_games_has_no_interval_rather_than_none_of_its_width() -> None:
    assert fisher(1.0, 4) == (1.0, None, None)
    assert fisher(-1.0, 60) == (-1.0, None, None)


def test_fisher_is_scipys() -> None:
    one, two = np.random.default_rng(1).normal(size=(2, 20))
    known = pearsonr(one, two)
    bounds = known.confidence_interval()
    assert fisher(float(known.statistic), 20) == pytest.approx((known.statistic, bounds.low, bounds.high))


def test_many_rows_of_one_game_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(2).normal(size=12)
    once = pl.DataFrame({"game_id": [f"g{i}" for i in range(12)], "group": "a", "x": values})
    often = pl.concat([once] * 50)
    one, many = game_means(once, ["group"], "x"), game_means(often, ["group"], "x")
    assert many.select("mean", "lo", "hi").row(0) == pytest.approx(one.select("mean", "lo", "hi").row(0))
    assert (one["n"].item(), many["n"].item(), many["games"].item()) == (12, 600, 12)


def test_the_bootstrap_covers_the_mean_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(3)
    hits = 0
    for trial in range(150):
        shift = random.normal(size=30)
        rows = pl.DataFrame(
            {
                "game_id": np.repeat([f"g{i}" for i in range(30)], 5),
                "group": "a",
                "x": np.repeat(shift, 5) + random.normal(size=150),
            }
        )
        lo, hi = game_means(rows, ["group"], "x", draws=400, seed=trial).select("lo", "hi").row(0)
        hits += lo <= 0 <= hi
    assert 0.86 <= hits / 150 <= 1


def test_values_that_are_missing_take_no_part_and_one_game_has_no_interval() -> None:
    rows = pl.DataFrame({"game_id": ["a", "a", "b"], "group": ["x", "x", "x"], "v": [1.0, 3.0, None]})
    assert game_means(rows, ["group"], "v").row(0) == ("x", 2.0, None, None, 2, 1)
    assert game_means(rows.filter(pl.col("v") > 9), ["group"], "v").is_empty()
    assert game_difference(rows, rows.clear(), "v") == (None, None, None)


def test_a_difference_turned_round_changes_its_sign() -> None:
    random = np.random.default_rng(4)
    one, two = (
        pl.DataFrame({"game_id": [f"{n}{i}" for i in range(25)], "v": random.normal(m, 1, 25)})
        for n, m in [("a", 2), ("b", 0)]
    )
    difference, lo, hi = game_difference(one, two, "v")
    back, low, high = game_difference(two, one, "v")
    assert difference == pytest.approx(-(back or 0))
    assert all(x < y for x, y in pairwise([0, lo or 0, difference or 0, hi or 0]))
    assert (low or 0) < (back or 0) < (high or 0) < 0


def test_a_difference_to_a_single_game_has_no_interval() -> None:
    one = pl.DataFrame({"game_id": ["a", "b"], "x": [1.0, 2.0]})
    two = pl.DataFrame({"game_id": ["c"], "x": [1.0]})
    assert game_difference(one, two, "x") == (0.5, None, None)
    assert game_difference(one, two.head(0), "x") == (None, None, None)


def test_the_games_of_the_two_sides_of_a_difference_are_drawn_apart() -> None:
    values = np.random.default_rng(5).normal(size=30)
    one = pl.DataFrame({"game_id": [f"g{i:02}" for i in range(30)], "v": values})
    difference, lo, hi = game_difference(one, one, "v")
    spread = float(values.std() / np.sqrt(30))
    assert difference == 0
    assert hi == pytest.approx(1.96 * np.sqrt(2) * spread, rel=0.15)
    assert lo == pytest.approx(-1.96 * np.sqrt(2) * spread, rel=0.15)
