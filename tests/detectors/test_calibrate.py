"""Calibration: temperatures are found again, scores that are right stay as they are, and so does their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError
from scipy.special import expit, logit

from liescope.common.errors import UnknownName
from liescope.detectors.calibrate import (
    ISOTONIC,
    METHODS,
    TEMPERATURE,
    Calibration,
    cross_fitted,
    fit_calibration,
    fit_players,
    log_loss,
    tempered,
)
from liescope.detectors.view.joint_posterior import SeatedCandidates, logits_of

Floats = NDArray[np.float64]


def drawn(seed: int, n: int, temperature: float) -> tuple[Floats, NDArray[np.bool_]]:
    """(score, y): labels drawn by probabilities whose log-odds the scores multiply by the temperature."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 2, n)
    return expit(odds * temperature), rng.random(n) < expit(odds)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_that_spoiled_the_scores_is_found(temperature: float) -> None:
    found = fit_calibration(TEMPERATURE, *drawn(0, 20_000, temperature))
    assert found is not None
    assert found.temperature == pytest.approx(temperature, rel=0.06)


@pytest.mark.parametrize("method", [TEMPERATURE, ISOTONIC])
def test_calibrating_lowers_the_log_loss_of_new_scores(method: str) -> None:
    found = fit_calibration(method, *drawn(1, 5_000, 3.0))
    assert found is not None
    score, y = drawn(2, 5_000, 3.0)
    assert log_loss(found(score), y) < log_loss(score, y) - 0.1
    assert Calibration.model_validate_json(found.model_dump_json()) == found


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.1, 10))
def test_a_temperature_keeps_order_and_side(scores: list[float], temperature: float) -> None:
    score = np.sort(scores)
    found = Calibration(temperature=temperature)(score)
    assert (np.diff(found) >= 0).all()
    assert ((found > 0.5) <= (score > 0.5)).all()
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("method", METHODS)
def test_out_of_fold_scores_are_never_worse_than_before(method: str) -> None:
    for seed, temperature in enumerate([0.3, 0.9, 1.0, 1.1, 3.0]):
        score, y = drawn(seed, 300, temperature)
        found, calibration = cross_fitted(method, score, y, np.arange(300) % 5)
        assert log_loss(found, y) <= log_loss(score, y)
        assert (calibration is None) == (found is score)


def test_the_scores_of_a_fold_are_calibrated_without_its_labels() -> None:
    score, y = drawn(5, 400, 4.0)
    fold = np.arange(400) % 4
    before, _ = cross_fitted(ISOTONIC, score, y, fold)
    after, _ = cross_fitted(ISOTONIC, score, np.where(fold == 0, ~y, y), fold)
    assert (before[fold == 0] == after[fold == 0]).all() or after is score
    assert (before != score).any()


@pytest.mark.parametrize("y", [[], [True, True], [False]])
def test_without_both_classes_there_is_no_map(y: list[bool]) -> None:
    for method in METHODS:
        assert fit_calibration(method, np.full(len(y), 0.3), np.array(y, dtype=bool)) is None


def test_a_method_that_is_not_known_is_named() -> None:
    with pytest.raises(UnknownName, match="method of calibration"):
        fit_calibration("platt", np.array([0.5]), np.array([True]))


@pytest.mark.parametrize(
    "saved",
    [
        {"temperature": 0},
        {"temperature": 1e9},
        {"points": [[0.2, 0.5], [0.2, 0.6]]},
        {"points": [[0.2, 0.5], [0.3, 0.4]]},
        {"points": [[0.2, 1.5]]},
        {"code": "print()"},
    ],
)
def test_a_saved_map_that_is_none_is_refused(saved: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Calibration.model_validate(saved)


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=9), st.data())
def test_scores_are_found_again_from_their_posterior(odds: list[float], data: st.DataObject) -> None:
    """Of two tables at once, whether or not it is known how many deceive."""
    counts = [data.draw(st.sampled_from([None, *range(len(odds) + 1)])) for _ in range(2)]
    tables = SeatedCandidates.of([len(odds)] * 2, counts)
    expected = tables.posterior(np.array(odds * 2))
    assert tables.posterior(logits_of(expected, tables)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("count", [1, 2, None])
def test_the_temperature_of_players_is_found_and_undone(count: int | None) -> None:
    rng, temperature = np.random.default_rng(6), 2.5
    sets = np.array([[i >> j & 1 for j in range(5)] for i in range(32)], dtype=bool)
    sets = sets if count is None else sets[sets.sum(axis=1) == count]
    table = SeatedCandidates.of([5], [count])
    games, truth, logits = [], [], rng.normal(0, 1.5, (1500, 5))
    for one in logits:
        likely = np.exp([one[who].sum() for who in sets])
        who = sets[rng.choice(len(sets), p=likely / likely.sum())]
        games.append(dict(zip("abcde", table.posterior(one * temperature).tolist(), strict=True)))
        truth.append(frozenset(name for name, lies in zip("abcde", who, strict=True) if lies))
    found = fit_players(games, truth, [count] * len(games))
    assert found == pytest.approx(temperature, rel=0.15)
    (undone,) = tempered(games[:1], [count], temperature)
    assert list(undone.values()) == pytest.approx(table.posterior(logits[0]), abs=0.01)


def test_without_games_players_keep_their_probabilities() -> None:
    assert fit_players([], [], []) == 1
    assert tempered([], [], 2.0) == []
    players = {"a": 0.7, "b": 0.2, "c": 0.1}
    assert tempered([players], [1], 1.0)[0] == pytest.approx(players)
    assert logit(tempered([players], [None], 2.0)[0]["a"]) == pytest.approx(logit(0.7) / 2)
