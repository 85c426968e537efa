"""Metrics agree with scikit-learn and with figures worked out by hand; intervals are by game."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from liescope.detectors.evaluation.bootstrap import codes, estimate, game_weights, interval
from liescope.detectors.evaluation.metrics import Scored, calibration_error, metrics, rank_metrics, threshold_at

NO_THRESHOLDS = {"1pct": None, "5pct": None}


def sample(seed: int, n: int = 400, games: int = 60, ties: bool = False) -> Scored:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    score = np.clip(rng.normal(0.4 + 0.15 * y, 0.2), 0, 1)
    return Scored(y, score.round(1) if ties else score, rng.integers(0, games, n), games)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_ranking_metrics_equal_scikit_learns_on_every_resample(seed: int, ties: bool) -> None:
    data = sample(seed, ties=ties)
    weights = game_weights(data.games, 20, seed)
    auroc, precision = rank_metrics(data, weights)
    for draw, row in enumerate(weights):
        w = row[data.game]
        assert auroc[draw] == pytest.approx(roc_auc_score(data.y, data.score, sample_weight=w))
        assert precision[draw] == pytest.approx(average_precision_score(data.y, data.score, sample_weight=w))


def test_a_weighted_metric_equals_the_metric_of_the_resampled_statements() -> None:
    data = sample(3)
    weights = game_weights(data.games, 5, 1)
    found = metrics(data, {"1pct": 0.8, "5pct": 0.6}, weights)
    for draw, row in enumerate(weights):
        rows = np.repeat(np.arange(len(data.y)), row[data.game].astype(int))
        y, score = data.y[rows], data.score[rows]
        assert found["brier"][draw] == pytest.approx(brier_score_loss(y, score))
        assert found["recall_at_1pct_fpr"][draw] == pytest.approx((score > 0.8)[y].mean())
        assert found["realised_fpr_at_5pct"][draw] == pytest.approx((score > 0.6)[~y].mean())


def test_the_calibration_error_of_four_statements_worked_out_by_hand() -> None:
    # Two bins. Below one half: scores .2 and .4, one deceptive: |1 - .6| = .4. Above: .6 and .9, both: |2 - 1.5| = .5.
    data = Scored(np.array([False, True, True, True]), np.array([0.2, 0.4, 0.6, 0.9]), np.zeros(4, np.int64), 1)
    assert calibration_error(data, np.ones((1, 1), np.float32), bins=2)[0] == pytest.approx((0.4 + 0.5) / 4)


def test_a_score_of_one_falls_into_the_last_bin_and_is_calibrated_when_it_is_right() -> None:
    data = Scored(np.array([True, False]), np.array([1.0, 0.0]), np.zeros(2, np.int64), 1)
    assert calibration_error(data, np.ones((1, 1), np.float32))[0] == 0


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.5])
@pytest.mark.parametrize("ties", [False, True])
def test_a_threshold_keeps_its_false_positive_rate_where_it_was_chosen_and_wastes_none(rate: float, ties: bool) -> None:
    data = sample(7, ties=ties)
    at = threshold_at(data.y, data.score, rate)
    honest = data.score[~data.y]
    assert at is not None
    assert (honest > at).mean() <= rate
    lower = honest[honest < at]
    if len(lower):
        assert (honest > lower.max()).mean() > rate


def test_a_threshold_cannot_be_chosen_without_honest_statements() -> None:
    assert threshold_at(np.array([True]), np.array([0.5]), 0.05) is None


@pytest.mark.parametrize("label", [True, False])
def test_one_class_leaves_undefined_what_compares_two(label: bool) -> None:
    data = Scored(np.full(6, label), np.linspace(0, 1, 6), np.arange(6), 6)
    found = {name: estimate(values) for name, values in metrics(data, NO_THRESHOLDS, game_weights(6, 50, 0)).items()}
    for name in ("auroc", "average_precision", "recall_at_1pct_fpr"):
        assert found[name] == (None, None, None)
    assert found["brier"][0] is not None


def test_no_statement_at_all_gives_nothing_and_no_warning() -> None:
    empty = Scored(np.empty(0, bool), np.empty(0), np.empty(0, np.int64), 0)
    found = metrics(empty, NO_THRESHOLDS, game_weights(0, 10, 0))
    assert all(estimate(values) == (None, None, None) for values in found.values())


def test_the_interval_covers_the_true_value_about_as_often_as_it_says() -> None:
    # 120 worlds of 60 games of 6 statements; a game's shared luck moves all its scores.
    rng = np.random.default_rng(0)
    truth = 0.6  # P(honest right) of a game on average: a Bernoulli share is the simplest metric with a known truth
    hits = 0
    for world in range(120):
        share = np.clip(rng.normal(truth, 0.2, 60), 0.01, 0.99)
        right = rng.random((60, 6)) < share[:, None]
        data = Scored(np.ones(360, bool), right.ravel().astype(float), np.repeat(np.arange(60), 6), 60)
        found = metrics(data, {"1pct": 0.5, "5pct": 0.5}, game_weights(60, 300, world))["recall_at_1pct_fpr"]
        _, lo, hi = estimate(found)
        assert lo is not None
        assert hi is not None
        hits += lo <= np.clip(truth, 0, 1) <= hi
    assert 0.88 <= hits / 120 <= 0.99


def test_statements_of_one_game_are_not_counted_as_independent() -> None:
    # The same 40 statements copied ten times within their games: no game is new, so the interval must not shrink.
    data = sample(11, n=40, games=20)
    copied = Scored(np.tile(data.y, 10), np.tile(data.score, 10), np.tile(data.game, 10), 20)
    weights = game_weights(20, 500, 0)
    once, often = interval(rank_metrics(data, weights)[0]), interval(rank_metrics(copied, weights)[0])
    assert often == pytest.approx(once)


def test_equal_seeds_give_equal_resamples_and_a_first_row_of_ones() -> None:
    first, again = game_weights(9, 4, 5), game_weights(9, 4, 5)
    assert (first == again).all()
    assert (first[0] == 1).all()
    assert (first[1:].sum(axis=1) == 9).all()


def test_games_become_numbers() -> None:
    numbers, games = codes(np.array(["b", "a", "b"]))
    assert numbers.tolist() == [1, 0, 1]
    assert games == 2
