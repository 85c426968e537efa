"""Sets of labels and of suspects: coverage as promised on exchangeable games, by class; more at a higher coverage."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.detectors.calibrate import LEVELS, LabelSets, PlayerSets, level_of, limits, verdicts

Floats = NDArray[np.float64]
Drawn = tuple[NDArray[np.bool_], Floats, NDArray[np.int64]]


def drawn(rng: np.random.Generator, games: int, tell: float = 1.0) -> Drawn:
    """(y, score, game) of games that are exchangeable and whose statements are not: each game has its own offset, and
    talkative games are the odd ones.
    """
    offset = rng.normal(size=games)
    said = 1 + rng.poisson(2 + 6 * (offset > 1))
    game = np.repeat(np.arange(games), said)
    y = rng.random(len(game)) < 0.3
    return y, 1 / (1 + np.exp(-(offset[game] + tell * (2 * y - 1) + rng.normal(size=len(game))))), game


def by_game(covered: NDArray[np.bool_], game: NDArray[np.int64]) -> float:
    """The probability that a statement drawn at random from a game drawn at random is covered."""
    _, code, said = np.unique(game, return_inverse=True, return_counts=True)
    return float(np.bincount(code, covered / said[code]).mean())


@pytest.mark.parametrize("coverage", [0.6, 0.8, 0.9])
def test_each_class_is_covered_as_promised_and_hardly_more(coverage: float) -> None:
    rng, found = np.random.default_rng(0), {False: list[float](), True: list[float]()}
    for _ in range(300):
        sets = LabelSets.of(*drawn(rng, 60, tell=0.2))
        y, score, game = drawn(rng, 60, tell=0.2)
        allowed = sets.allowed(score, coverage)
        for label, means in found.items():
            means.append(by_game(allowed[y == label, int(label)], game[y == label]))
    for means in found.values():
        error = np.std(means) / np.sqrt(len(means))
        assert coverage - 3 * error <= np.mean(means) <= coverage + 1 / 50 + 3 * error


def test_statements_as_units_would_promise_too_much_or_too_little() -> None:
    """The talkative games of the simulation are odd: limits that count statements alike miss the promise by game."""
    rng, means = np.random.default_rng(1), list[float]()
    for _ in range(100):
        y, score, _ = drawn(rng, 60)
        sets = LabelSets.of(y, score, np.arange(len(y)))
        y, score, game = drawn(rng, 60)
        means.append(by_game(sets.allowed(score, 0.8)[y, 1], game[y]))
    assert abs(np.mean(means) - 0.8) > 0.03


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_no_deceiver_is_ruled_out_more_often_than_promised(coverage: float) -> None:
    rng = np.random.default_rng(2)

    def game(deceivers: int) -> tuple[Floats, NDArray[np.bool_]]:
        who = rng.permutation(6) < deceivers
        return 1 / (1 + np.exp(-rng.normal(2.0 * who - 1, 1.5))), who

    held = []
    for _ in range(400):
        sets = PlayerSets.of(np.array([players[who].min() for players, who in (game(2) for _ in range(40))]))
        players, who = game(2)
        suspects = sets.suspects(players, 2, coverage)
        assert suspects.sum() >= 2
        held.append(bool(suspects[who].all()))
    assert np.mean(held) >= coverage - 3 * np.sqrt(coverage * (1 - coverage) / 400)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 4))
def test_sets_grow_with_the_coverage_and_are_never_empty(seed: int, games: int, tell: float) -> None:
    sets, score = LabelSets.of(*drawn(np.random.default_rng(seed), games, tell)), np.linspace(0, 1, 41)
    before = np.zeros((len(score), 2), dtype=bool)
    for coverage in LEVELS:
        allowed = sets.allowed(score, coverage)
        assert allowed.any(axis=1).all()
        assert (allowed >= before).all()
        before = allowed


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_suspects_grow_with_the_coverage_and_are_never_fewer_than_deceive(
    least: list[float], odds: list[float]
) -> None:
    sets, players = PlayerSets.of(np.array(least)), np.array(odds)
    grown = [sets.suspects(players, None, coverage) for coverage in LEVELS]
    assert grown[0].any()
    assert all((more >= less).all() for less, more in pairwise(grown))


@given(st.integers(0, 2**32 - 1), st.integers(0, 18))
def test_what_few_games_cannot_promise_is_not_promised(seed: int, games: int) -> None:
    """At 0.95, 19 games are needed: with fewer, nothing is ruled out, however clear the scores."""
    y, score, game = drawn(np.random.default_rng(seed), games, tell=20)
    assert set(verdicts(LabelSets.of(y, score, game).allowed(np.linspace(0, 1, 11), 0.95))) == {"abstain"}
    assert PlayerSets.of(np.ones(games)).suspects(np.array([0.9, 0.1, 0.0]), 1, 0.95).all()


def test_limits_of_one_statement_a_game_are_those_of_split_conformal_prediction() -> None:
    fit = np.random.default_rng(3).random(99)
    expected = np.sort(fit)[::-1]
    for level, limit in zip(LEVELS, limits(fit, np.arange(99)), strict=True):
        assert limit == expected[round(level * 100) - 1]


def test_a_game_counts_once_however_much_is_said_in_it() -> None:
    rng = np.random.default_rng(4)
    fit, game, said = rng.random(50), np.arange(50), rng.integers(1, 9, 50)
    assert limits(np.repeat(fit, said), np.repeat(game, said)) == limits(fit, game)


def test_between_two_classes_that_lie_far_apart_the_nearer_one_is_named() -> None:
    y, game = np.repeat([False, True], 200), np.arange(400)
    score = np.r_[np.linspace(0, 0.2, 200), np.linspace(0.8, 1, 200)]
    allowed = LabelSets.of(y, score, game).allowed(np.array([0.1, 0.19, 0.5, 0.81, 0.9]), 0.9)
    assert verdicts(allowed) == ["honest", "honest", "abstain", "deceptive", "deceptive"]


@pytest.mark.parametrize(("coverage", "level"), [(0.5, 0.5), (0.9, 0.9), (0.901, 0.91), (0.99, 0.99)])
def test_a_coverage_in_between_is_answered_by_the_next_above(coverage: float, level: float) -> None:
    assert LEVELS[level_of(coverage)] == level


@pytest.mark.parametrize("coverage", [0.0, 0.49, 0.995, 1.0, float("nan")])
def test_a_coverage_out_of_range_is_an_error(coverage: float) -> None:
    with pytest.raises(UsageError, match=r"from 0\.5 to 0\.99"):
        level_of(coverage)


def test_of_a_set_without_any_label_nothing_is_said() -> None:
    assert list(verdicts(np.array([[False, False], [True, True], [True, False], [False, True]]))) == [
        *("abstain", "abstain"),
        *("honest", "deceptive"),
    ]
