"""Equilibria of zero-sum games, and the ratings that they give."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.counts import PLAYERS, SCHEMA
from liescope.benchmark.ratings.bradley_terry import rate
from liescope.benchmark.ratings.nash import Expected, average, by_ratings, equilibrium

CYCLE = np.array([[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]])
NOTHING = pl.DataFrame(schema=SCHEMA)


def certain(chances: np.ndarray) -> Expected:
    """Known chances of mafiosos A…, detectives B…, villagers C…"""
    names = {
        role: tuple(f"{role} {at}" for at in range(size)) for role, size in zip(PLAYERS, chances.shape, strict=True)
    }
    return Expected("a certain one", names, chances[None], np.zeros(1))


@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (8, 3), (6, 20)])
def test_neither_side_gains_by_another_choice(shape: tuple[int, int]) -> None:
    for seed in range(10):
        payoff = np.random.default_rng(seed).uniform(size=shape)
        rows, columns, value = equilibrium(payoff)
        assert (payoff @ columns).max() == pytest.approx(value, abs=1e-8)
        assert (rows @ payoff).min() == pytest.approx(value, abs=1e-8)
        assert rows.sum() == pytest.approx(1)
        assert min(rows.min(), columns.min()) >= 0


def test_a_cycle_is_played_evenly() -> None:
    rows, columns, value = equilibrium(CYCLE)
    assert rows == pytest.approx([1 / 3] * 3)
    assert columns == pytest.approx([1 / 3] * 3)
    assert value == pytest.approx(0.5)


def test_equals_are_treated_equally() -> None:
    rows, columns, value = equilibrium(np.full((3, 5), 0.25))
    assert rows == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert columns == pytest.approx([1 / 5] * 5, abs=1e-6)
    assert value == pytest.approx(0.25)
    # A copy of the first row: the four play the cycle, and the copies share what the first had.
    rows, columns, value = equilibrium(CYCLE[[0, 1, 2, 0]])
    assert rows == pytest.approx([1 / 6, 1 / 3, 1 / 3, 1 / 6], abs=1e-4)
    assert columns == pytest.approx([1 / 3] * 3, abs=1e-4)


def test_of_several_equilibria_the_most_even_is_chosen() -> None:
    # The row player has 1/2 from the first row, from an even mix of the others, and from any mix of both; the mix
    # of maximum entropy is even over all three.
    rows, _, value = equilibrium(np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]))
    assert value == pytest.approx(0.5)
    assert rows == pytest.approx([1 / 3] * 3, abs=1e-4)


def test_both_sides_are_one_game_seen_from_either() -> None:
    payoff = np.random.default_rng(4).uniform(size=(4, 6))
    rows, columns, value = equilibrium(payoff)
    swapped = equilibrium(-payoff.T)
    assert swapped[0] == pytest.approx(columns, abs=1e-8)
    assert swapped[1] == pytest.approx(rows, abs=1e-8)
    assert swapped[2] == pytest.approx(-value)


def test_a_cycle_of_mafiosos_and_villagers_gives_them_equal_shares_and_ratings() -> None:
    found = average(NOTHING, certain(CYCLE[:, None, :]))
    for role in ("mafioso", "villager"):
        assert found.shares[role].mean == pytest.approx([1 / 3] * 3, abs=1e-6)
        assert found.ratings[role].mean == pytest.approx([0.5] * 3, abs=1e-6)
    assert found.shares["detective"].mean == pytest.approx([1])


def test_copies_of_a_weak_model_change_nobody_elses_rating() -> None:
    chances = np.random.default_rng(2).uniform(0.2, 0.8, size=(3, 3, 3))
    before = average(NOTHING, certain(chances))
    weak = int(np.argmin(before.ratings["detective"].mean))
    after = average(NOTHING, certain(np.concatenate([chances, chances[:, [weak] * 3]], axis=1)))
    for role in PLAYERS:
        size = len(before.ratings[role].names)
        assert after.ratings[role].mean[:size] == pytest.approx(before.ratings[role].mean, abs=1e-6)
    # A plain mean over opponents does change.
    assert np.ptp(chances.mean(axis=(1, 2)) - chances[:, [0, 1, 2, weak, weak, weak]].mean(axis=(1, 2))) > 0.01


def test_the_best_of_all_is_chosen_and_rated_by_the_value_of_the_game() -> None:
    m, d, v = np.array([0.0, 1.0]), np.array([0.5, -0.5, 0.0]), np.array([0.1, 0.3])
    chances = 1 / (1 + np.exp(d[:, None] + v - m[:, None, None]))
    found = average(NOTHING, certain(chances))
    best = (1, 0, 1)
    for role, at in zip(PLAYERS, best, strict=True):
        assert found.shares[role].mean[at] == pytest.approx(1)
        town = chances[best] if role == "mafioso" else 1 - chances[best]
        assert found.ratings[role].mean[at] == pytest.approx(town)
    assert found.value == pytest.approx(chances[best])


def test_a_combination_that_was_played_often_follows_its_own_games() -> None:
    # Ratings expect 0.3 everywhere, and combinations depart from it; the first villager was played, and loses.
    cells = pl.DataFrame([("mafioso 0", "detective 0", "villager 0", 9000, 10_000)], SCHEMA, orient="row")
    names = {"mafioso": ("mafioso 0",), "detective": ("detective 0",), "villager": ("villager 0", "villager 1")}
    found = average(cells, Expected("0.3", names, np.full((200, 1, 1, 2), 0.3), np.full(200, 0.02)))
    rating = found.ratings["villager"]
    assert rating.mean == pytest.approx([0.1, 0.7], abs=0.03)
    assert rating.draws[:, 0].std() < 0.01
    assert rating.draws[:, 1].std() == pytest.approx(np.sqrt(0.02 * 0.3 * 0.7), rel=0.2)
    assert (found.played, found.combinations) == (1, 2)


def test_role_ratings_predict_every_combination_of_their_models() -> None:
    rows = [(i, j, k, 5 + 3 * (i == "a"), 16) for i in "ab" for j in "ab" for k in "ab"][:-1]
    ratings = rate(pl.DataFrame(rows, SCHEMA, orient="row"))
    expected = by_ratings(ratings)
    assert expected.chances.shape == (len(expected.rho), 2, 2, 2)
    mean = expected.chances.mean(axis=(0, 2, 3))
    assert mean == pytest.approx([0.5, 5 / 16], abs=0.05)
