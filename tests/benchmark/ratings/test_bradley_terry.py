"""Bradley-Terry ratings of games of one against two: what was planted comes back, with honest intervals."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from liescope.benchmark.capability.counts import PLAYERS, SCHEMA
from liescope.benchmark.ratings.bradley_terry import OVERALL, rate
from liescope.benchmark.ratings.ratings_report import ELO, elo_table

MODELS = "abcd"
PLANTED = {
    "mafioso": np.array([0.9, 0.1, -0.3, -0.7]),
    "detective": np.array([-0.8, 1.4, 0.2, -0.8]),
    "villager": np.array([1.0, -0.5, -0.5, 0.0]),
}
ADVANTAGE = -0.4


def chances() -> np.ndarray:
    m, d, v = PLANTED.values()
    return expit(ADVANTAGE + m[:, None, None] - (d[:, None] + v) / 2)


def counted(wins: np.ndarray, games: int) -> pl.DataFrame:
    names = product(MODELS[: len(wins)], repeat=3)
    rows = [(*name, int(won), games) for name, won in zip(names, wins.ravel(), strict=True)]
    return pl.DataFrame(rows, SCHEMA, orient="row")


def expected(games: int) -> pl.DataFrame:
    """Counts as the planted ratings expect them, without luck."""
    return counted(np.rint(games * chances()), games)


def widths(ratings: object) -> np.ndarray:
    return np.sqrt(np.diag(ratings.covariance))  # type: ignore[attr-defined]


def test_planted_ratings_come_back() -> None:
    found = rate(expected(100_000))
    assert found.mean[0] == pytest.approx(ADVANTAGE, abs=2e-3)
    for role, planted in PLANTED.items():
        assert found.names[role] == tuple(MODELS)
        assert found.mean[found.place(role)] == pytest.approx(planted, abs=2e-3)
    assert (found.rho, found.undetermined) == (0.0, 0)


def test_one_rating_for_all_roles_comes_back() -> None:
    rating = np.array([1.2, 0.2, -0.4, -1.0])
    p = expit(0.3 + rating[:, None, None] - (rating[:, None] + rating) / 2)
    found = rate(counted(np.rint(100_000 * p), 100_000), overall=True)
    assert found.mean == pytest.approx([0.3, *rating], abs=2e-3)


def test_names_and_the_order_of_rows_do_not_matter() -> None:
    cells = expected(50)
    renamed = cells.with_columns(pl.col(PLAYERS).replace_strict(dict(zip("abcd", "dbca", strict=True))))
    one, other = rate(cells), rate(renamed.sample(fraction=1, shuffle=True, seed=3))
    for role in PLAYERS:
        assert one.mean[one.place(role)] == pytest.approx(other.mean[other.place(role)][[3, 1, 2, 0]])


def test_twice_the_games_narrow_the_intervals_by_the_root_of_two() -> None:
    few, many = rate(expected(2000)), rate(expected(4000))
    assert widths(few) / widths(many) == pytest.approx(np.sqrt(2), rel=0.01)


def test_without_scatter_the_intervals_are_as_wide_as_ratings_of_other_games_scatter() -> None:
    random = np.random.default_rng(2)
    again = np.array([rate(counted(random.binomial(200, chances()), 200)).mean for _ in range(60)])
    assert again.std(axis=0) / widths(rate(expected(200))) == pytest.approx(1, abs=0.3)


def test_intervals_cover_the_truth_where_combinations_scatter() -> None:
    random, rho = np.random.default_rng(5), 0.03
    truth = np.concatenate([[ADVANTAGE], *PLANTED.values()])
    inside, rhos = [], []
    for _ in range(60):
        cells = random.beta(*(part * (1 - rho) / rho for part in (chances(), 1 - chances())))
        found = rate(counted(random.binomial(100, cells), 100))
        inside.append(np.abs(found.mean - truth) < 1.96 * widths(found))
        rhos.append(found.rho)
    assert 0.92 < np.mean(inside) < 0.98
    assert np.mean(rhos) == pytest.approx(rho, abs=0.005)


def test_scatter_widens_intervals() -> None:
    random = np.random.default_rng(1)
    found = rate(counted(random.binomial(100, random.beta(20 * chances(), 20 * (1 - chances()))), 100))
    assert (widths(found) > 1.5 * widths(rate(expected(100)))).all()


def test_no_interval_of_one_who_won_everything_is_narrower_than_of_the_others() -> None:
    """The only intervals of a rating are those of the posterior; one of games that were all won has no width."""
    wins = np.rint(5 * chances())
    wins[0] = 5
    cells = counted(wins, 5)
    table = elo_table(cells, rate(cells)).filter(role="mafioso")
    assert [name for name in table.columns if name.endswith(("_lo", "_hi"))] == []
    width = table["hi"] - table["lo"]
    assert table["model"][int(width.arg_max())] == "a"


def test_who_won_everything_has_a_finite_rating_with_a_wide_interval() -> None:
    wins = np.rint(20 * chances())
    wins[0] = 20
    found = rate(counted(wins, 20))
    sd = widths(found)[found.place("mafioso")]
    assert np.argmax(found.mean[found.place("mafioso")]) == 0
    assert np.isfinite(found.mean).all()
    assert sd[0] > 1.5 * sd[1:].max()


def test_single_games_cannot_tell_the_scatter_and_models_apart_cannot_be_compared() -> None:
    assert rate(counted(np.rint(chances()), 1)).rho is None
    alone = pl.DataFrame([("a", "a", "a", 3, 10), ("b", "b", "b", 6, 10)], SCHEMA, orient="row")
    assert rate(alone).undetermined == 2
    assert rate(alone, overall=True).undetermined == 1


def test_four_hundred_points_are_odds_of_ten_to_one() -> None:
    cells = expected(1000)
    table = elo_table(cells, rate(cells))
    assert np.log(10) * ELO == pytest.approx(400)
    for role, planted in PLANTED.items():
        part = table.filter(role=role).sort("model")
        assert part["rating"].to_numpy() == pytest.approx(1500 + 400 * planted / np.log(10), abs=4)
        assert part.select((pl.col("lo") < pl.col("rating")) & (pl.col("rating") < pl.col("hi"))).to_series().all()
        assert part["rating"].mean() == pytest.approx(1500)


def test_a_game_counts_for_the_side_of_whoever_held_the_role() -> None:
    cells = pl.DataFrame([("a", "b", "b", 3, 10), ("b", "a", "b", 4, 10)], SCHEMA, orient="row")
    table = elo_table(cells, rate(cells)).sort("role", "model")
    assert table.select("role", "model", "games", "wins").rows() == [
        ("detective", "a", 10, 6),
        ("detective", "b", 10, 7),
        ("mafioso", "a", 10, 3),
        ("mafioso", "b", 10, 4),
    ]
    overall = elo_table(cells, rate(cells, overall=True)).sort("model")
    assert overall.select("role", "model", "games", "wins").rows() == [(OVERALL, "a", 20, 9), (OVERALL, "b", 40, 24)]
