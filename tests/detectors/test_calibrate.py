"""Calibration finds temperatures again and never makes scores worse; sets of labels cover as promised on exchangeable
games, by class, and more at a higher coverage.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.special import expit, logit

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats
from liescope.detectors.calibrate import (
    LEVELS,
    Confidence,
    LabelSets,
    cross_fitted,
    fit_players,
    fit_temperature,
    level_of,
    limits,
    tempered,
)
from liescope.detectors.view.joint_posterior import SeatedCandidates


def scored(seed: int, n: int, temperature: float) -> tuple[Floats, Bools]:
    """(score, y): labels drawn by probabilities whose log-odds the scores multiply by the temperature."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 2, n)
    return expit(odds * temperature), rng.random(n) < expit(odds)


def log_loss(score: Floats, y: Bools) -> float:
    return float(-np.log(np.clip(np.where(y, score, 1 - score), 1e-9, 1)).mean())


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_spoiled_the_scores_is_found(temperature: float) -> None:
    assert fit_temperature(*scored(0, 20_000, temperature)) == pytest.approx(temperature, rel=0.06)


def test_calibrating_lowers_the_log_loss_of_new_scores() -> None:
    confidence = Confidence(statements=fit_temperature(*scored(1, 5_000, 3.0)))
    score, y = scored(2, 5_000, 3.0)
    assert log_loss(confidence.of_scores(score), y) < log_loss(score, y) - 0.1
    assert Confidence.model_validate_json(confidence.model_dump_json()) == confidence


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.1, 10))
def test_a_temperature_keeps_order_and_side(scores: list[float], temperature: float) -> None:
    score = np.sort(scores)
    found = tempered(score, temperature)
    assert (np.diff(found) >= 0).all()
    assert ((found > 0.5) <= (score > 0.5)).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_out_of_fold_scores_are_never_worse_than_before() -> None:
    for seed, temperature in enumerate([0.3, 0.9, 1.0, 1.1, 3.0]):
        score, y = scored(seed, 300, temperature)
        found, fitted = cross_fitted(score, y, np.arange(300) % 5)
        assert log_loss(found, y) <= log_loss(score, y)
        assert (fitted is None) == (found is score)


def test_the_scores_of_a_fold_are_calibrated_without_its_labels() -> None:
    score, y = scored(5, 400, 4.0)
    fold = np.arange(400) % 4
    before, _ = cross_fitted(score, y, fold)
    after, _ = cross_fitted(score, np.where(fold == 0, ~y, y), fold)
    assert (before[fold == 0] == after[fold == 0]).all() or after is score
    assert (before != score).any()


@pytest.mark.parametrize("y", [[], [True, True], [False]])
def test_without_both_classes_there_is_no_temperature(y: list[bool]) -> None:
    assert fit_temperature(np.full(len(y), 0.3), np.array(y, dtype=bool)) is None


@pytest.mark.parametrize("saved", [{"statements": 0}, {"players": 1e9}, {"code": "print()"}])
def test_a_saved_calibration_that_is_none_is_refused(saved: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Confidence.model_validate(saved)


@pytest.mark.parametrize("count", [1, 2, None])
def test_the_temperature_of_players_is_found_and_undone(count: int | None) -> None:
    rng, temperature = np.random.default_rng(6), 2.5
    sets = np.array([[i >> j & 1 for j in range(5)] for i in range(32)], dtype=bool)
    sets = sets if count is None else sets[sets.sum(axis=1) == count]
    table = SeatedCandidates.of([5], [count])
    games, lies, logits = [], [], rng.normal(0, 1.5, (1500, 5))
    for one in logits:
        likely = np.exp([one[who].sum() for who in sets])
        lies.append(sets[rng.choice(len(sets), p=likely / likely.sum())])
        games.append(dict(zip("abcde", table.posterior(one * temperature).tolist(), strict=True)))
    found = fit_players(games, [count] * len(games), np.concatenate(lies))
    assert found == pytest.approx(temperature, rel=0.15)
    (undone,) = Confidence(players=temperature).of_players(games[:1], [count])
    assert list(undone.values()) == pytest.approx(table.posterior(logits[0]), abs=0.01)


def test_without_games_or_a_temperature_players_keep_their_probabilities() -> None:
    assert fit_players([], [], np.empty(0, dtype=bool)) == 1
    assert Confidence(players=2.0).of_players([], []) == []
    players = {"a": 0.7, "b": 0.2, "c": 0.1}
    assert Confidence().of_players([players], [1]) == [players]
    assert logit(Confidence(players=2.0).of_players([players], [None])[0]["a"]) == pytest.approx(logit(0.7) / 2)


def drawn(rng: np.random.Generator, games: int, tell: float = 1.0) -> tuple[Bools, Floats, np.ndarray]:
    """(y, score, game) of games that are exchangeable and whose statements are not: each game has its own offset, and
    talkative games are the odd ones.
    """
    offset = rng.normal(size=games)
    said = 1 + rng.poisson(2 + 6 * (offset > 1))
    game = np.repeat(np.arange(games), said)
    y = rng.random(len(game)) < 0.3
    return y, 1 / (1 + np.exp(-(offset[game] + tell * (2 * y - 1) + rng.normal(size=len(game))))), game


def by_game(covered: Bools, game: np.ndarray) -> float:
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


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(0, 4))
def test_sets_grow_with_the_coverage_and_are_never_empty(seed: int, games: int, tell: float) -> None:
    sets, score = LabelSets.of(*drawn(np.random.default_rng(seed), games, tell)), np.linspace(0, 1, 41)
    before = np.zeros((len(score), 2), dtype=bool)
    for coverage in LEVELS:
        allowed = sets.allowed(score, coverage)
        assert allowed.any(axis=1).all()
        assert (allowed >= before).all()
        before = allowed


@given(st.integers(0, 2**32 - 1), st.integers(0, 18))
def test_what_few_games_cannot_promise_is_not_promised(seed: int, games: int) -> None:
    """At 0.95, 19 games are needed: with fewer, nothing is ruled out, however clear the scores."""
    y, score, game = drawn(np.random.default_rng(seed), games, tell=20)
    sets = LabelSets.of(y, score, game)
    assert set(sets.verdicts(np.linspace(0, 1, 11), 0.95)) == {"abstain"}
    assert sets.abstains_because(0.95) == "too few validation games to promise 95%"


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
    found = LabelSets.of(y, score, game).verdicts(np.array([0.1, 0.19, 0.5, 0.81, 0.9]), 0.9)
    assert found == ["honest", "honest", "abstain", "deceptive", "deceptive"]


@pytest.mark.parametrize(("coverage", "level"), [(0.5, 0.5), (0.9, 0.9), (0.901, 0.91), (0.99, 0.99)])
def test_a_coverage_in_between_is_answered_by_the_next_above(coverage: float, level: float) -> None:
    assert LEVELS[level_of(coverage)] == level
    for odd in (0.0, 0.49, 0.995, 1.0, float("nan")):
        with pytest.raises(UsageError, match=r"from 0\.5 to 0\.99"):
            level_of(odd)
