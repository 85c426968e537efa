"""Metrics agree with scikit-learn and with figures worked out by hand; intervals are by game."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from liescope.common.statistics import GROUPS, REAL, Estimate, Weights, estimate, game_weights, worst
from liescope.detectors.study.metrics import (
    NO_THRESHOLDS,
    Scored,
    best_threshold,
    brier,
    decision_metrics,
    pooled_auroc,
    rank_metrics,
    root,
    squared_error,
    threshold_at,
    within_games,
    words_of,
)


def counts(games: int, seed: int) -> Weights:
    """How often each game occurs, in some weightings of the games."""
    return np.random.default_rng(seed).integers(0, 4, (10, games)).astype(np.float32)


def calibration_error(data: Scored, weights: Weights) -> Estimate:
    """As reports have it."""
    return root(estimate(squared_error(data, weights), data.games, REAL))


def sample(seed: int, n: int = 400, games: int = 60, ties: bool = False) -> Scored:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    score = np.clip(rng.normal(0.4 + 0.15 * y, 0.2), 0, 1)
    return Scored(y, score.round(1) if ties else score, rng.integers(0, games, n), games)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_ranking_metrics_equal_scikit_learns_on_every_weighting(seed: int, ties: bool) -> None:
    data = sample(seed, ties=ties)
    weights = counts(data.games, seed)
    found = rank_metrics(data, weights, {"recall": 0.05})
    for draw, row in enumerate(weights):
        w = row[data.game]
        assert found["auroc"][draw] == pytest.approx(roc_auc_score(data.y, data.score, sample_weight=w))
        assert found["average_precision"][draw] == pytest.approx(
            average_precision_score(data.y, data.score, sample_weight=w)
        )
        fpr, recall, _ = roc_curve(data.y, data.score, sample_weight=w, drop_intermediate=False)
        assert found["recall"][draw] == pytest.approx(np.interp(0.05, fpr, recall))


def test_the_pooled_auroc_counts_one_step_for_each_run_of_lies_and_a_tie_as_half() -> None:
    game, weights = np.zeros(6, np.int64), np.ones((1, 1), np.float32)
    y = np.array([True, True, False, True, False, False])
    for score, right in (
        ([6, 5, 4, 3, 2, 1], 8.0),  # one honest statement above one lie
        ([6, 5, 4, 4, 4, 1], 8.0),  # that lie is tied with two, above the third
        ([3, 3, 3, 3, 3, 3], 4.5),
        ([3, 2, 3, 2, 3, 2], 3.0),
        ([1, 2, 3, 4, 5, 6], 1.0),
    ):
        (found,) = pooled_auroc(Scored(y, np.array(score, np.float64), game, 1), weights)
        assert found == right / 9, score


def test_a_weighted_metric_equals_the_metric_of_the_resampled_statements() -> None:
    cuts = {"1pct": 0.8, "5pct": 0.6, "macro_f1": 0.5}
    data = replace(sample(3, ties=True), cuts=cuts)  # some scores are the thresholds themselves
    weights = counts(data.games, 1)
    found = decision_metrics(data, weights)
    errors = brier(data, weights)
    for draw, row in enumerate(weights):
        rows = np.repeat(np.arange(len(data.y)), row[data.game].astype(int))
        y, score = data.y[rows], data.score[rows]
        assert errors[draw] == pytest.approx(brier_score_loss(y, score))
        assert found["recall_at_1pct_fpr"][draw] == pytest.approx((score > 0.8)[y].mean())
        assert found["realised_fpr_at_5pct"][draw] == pytest.approx((score > 0.6)[~y].mean())
        assert found["lie_f1"][draw] == pytest.approx(f1_score(y, score > 0.5))
        assert found["macro_f1"][draw] == pytest.approx(f1_score(y, score > 0.5, average="macro"))
        assert found["balanced_accuracy"][draw] == pytest.approx(balanced_accuracy_score(y, score > 0.5))
        for name, at in {"g_mean2": 0.5, "g_mean2_at_5pct_fpr": 0.6}.items():
            recalls = recall_score(y, score > at, average=None)
            assert found[name][draw] == pytest.approx(recalls.prod())


def test_recall_at_a_rate_flags_as_many_honest_statements_in_every_weighting_and_parts_ties_at_random() -> None:
    data = Scored(np.array([True, True, False, False]), np.array([0.9, 0.5, 0.5, 0.1]), np.zeros(4, np.int64), 1)
    rates = {"none": 0.0, "quarter": 0.25, "half": 0.5, "all": 1.0}
    found = rank_metrics(data, np.ones((1, 1), np.float32), rates)
    assert [found[name][0] for name in rates] == [0.5, 0.75, 1.0, 1.0]
    # A rate for each draw: that of another scorer, which differs from weighting to weighting.
    assert rank_metrics(data, np.ones((2, 1), np.float32), {"r": np.array([0.0, 0.5])})["r"].tolist() == [0.5, 1.0]


def test_the_squared_calibration_error_of_two_games_worked_out_by_hand() -> None:
    # Two games, two bins of two statements. Gaps of the first game: .2 and .1; of the second: .6 and .3.
    score, y = np.array([0.1, 0.2, 0.8, 0.9]), np.array([False, True, True, True])
    data = Scored(y, score, np.array([0, 1, 0, 1]), 2)
    (found,) = squared_error(data, np.ones((1, 2), np.float32), bins=2)
    low, high = (-0.1, 0.8), (0.2, 0.1)
    # What is left of the squared gaps is twice the product of the two games, times G / (G - 1) = 2.
    assert found == pytest.approx(2 * (2 * low[0] * low[1] / 2 + 2 * high[0] * high[1] / 2) / 4)


def worlds(shift: float, count: int = 150) -> list[tuple[float, float, float]]:
    """Calibration errors of many samples whose scores are the probabilities of a lie, or are off by `shift`."""
    found = []
    for world in range(count):
        rng = np.random.default_rng(world)
        chance = np.repeat(rng.beta(2, 4, 150), 4) * 0.7 + rng.random(600) * 0.2
        data = Scored(rng.random(600) < chance, chance + shift, np.repeat(np.arange(150), 4), 150)
        value, lo, hi = calibration_error(data, game_weights(150, world))
        found.append((value, lo, hi))
    return found


@pytest.mark.long
def test_scores_that_are_right_have_no_calibration_error_and_an_interval_that_says_so() -> None:
    found = worlds(0.0)
    assert all(lo <= value <= hi for value, lo, hi in found)
    assert np.median([value for value, _, _ in found]) < 0.02
    assert np.mean([lo == 0 for _, lo, _ in found]) > 0.93


@pytest.mark.long
def test_scores_that_are_off_have_that_calibration_error_and_an_interval_that_holds_it() -> None:
    found = worlds(0.1)
    assert all(lo <= value <= hi for value, lo, hi in found)
    assert np.sqrt(np.mean([value**2 for value, _, _ in found])) == pytest.approx(0.1, abs=0.01)
    assert 0.88 <= np.mean([lo <= 0.1 <= hi for _, lo, hi in found]) <= 0.99


@pytest.mark.parametrize("ties", [False, True])
def test_the_threshold_for_f1_is_the_best_there_is(ties: bool) -> None:
    data = sample(7, ties=ties)
    at = best_threshold(data.y, data.score)
    macro = [f1_score(data.y, data.score > other, average="macro") for other in [-np.inf, *np.unique(data.score)]]
    assert f1_score(data.y, data.score > at, average="macro") == pytest.approx(max(macro))
    assert best_threshold(np.array([True, True]), np.array([0.1, 0.2])) is None


def test_where_most_lie_a_score_that_knows_nothing_flags_everything() -> None:
    y = np.array([True] * 9 + [False])
    at = best_threshold(y, np.full(10, 0.9))
    assert 0 <= at < 0.9
    assert best_threshold(~y, np.full(10, 0.1)) == 0.1
    assert best_threshold(y, np.zeros(10)) == 0.0


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.05, 0.5])
@pytest.mark.parametrize("ties", [False, True])
def test_a_threshold_keeps_its_false_positive_rate_where_it_was_chosen_and_wastes_none(rate: float, ties: bool) -> None:
    data = sample(7, ties=ties)
    at = threshold_at(data.y, data.score, rate)
    honest = data.score[~data.y]
    assert (honest > at).mean() <= rate
    lower = honest[honest < at]
    if len(lower):
        assert (honest > lower.max()).mean() > rate


@pytest.mark.parametrize(
    ("rate", "honest", "flagged"), [(0.05, 100, 5), (0.05, 20, 1), (0.18, 150, 27), (0.01, 300, 3)]
)
def test_a_rate_that_is_a_whole_number_of_statements_flags_just_that_number(
    rate: float, honest: int, flagged: int
) -> None:
    score = np.arange(honest, dtype=float)
    at = threshold_at(np.zeros(honest, dtype=bool), score, rate)
    assert (score > at).sum() == flagged


@pytest.mark.parametrize("label", [True, False])
def test_one_class_leaves_undefined_what_compares_two(label: bool) -> None:
    at = dict.fromkeys(NO_THRESHOLDS, 0.5)
    data = Scored(np.full(6, label), np.linspace(0, 1, 6), np.arange(6), 6, cuts=at)
    weights = game_weights(6, 0)
    undefined = {**rank_metrics(data, weights), **decision_metrics(data, weights)}
    for name in ("auroc", "average_precision", "matched_recall_1pct", "macro_f1", "balanced_accuracy"):
        assert estimate(undefined[name], 6) == (None, None, None)
    assert estimate(brier(data, weights), 6)[0] is not None


def test_no_statement_at_all_gives_nothing_and_no_warning() -> None:
    empty = Scored(np.empty(0, bool), np.empty(0), np.empty(0, np.int64), 0)
    weights = game_weights(0, 0)
    found = {**rank_metrics(empty, weights), **decision_metrics(empty, weights)}
    assert all(estimate(values, 0) == (None, None, None) for values in found.values())
    assert estimate(brier(empty, weights), 0) == calibration_error(empty, weights) == (None, None, None)


def test_a_figure_that_one_game_alone_defines_has_no_interval() -> None:
    honest = Scored(np.arange(10) > 0, np.linspace(0, 1, 10), np.arange(10), 10)
    assert estimate(pooled_auroc(honest, game_weights(10, 0)), 10) == (1.0, None, None)


def test_statements_of_one_game_are_not_counted_as_independent() -> None:
    # The same 40 statements copied ten times within their games: no game is new, so the interval must not shrink.
    data = sample(11, n=40, games=20)
    copied = Scored(np.tile(data.y, 10), np.tile(data.score, 10), np.tile(data.game, 10), 20)
    weights = game_weights(20, 0)
    once, often = (estimate(rank_metrics(sample, weights)["auroc"], 20) for sample in (data, copied))
    assert often == pytest.approx(once)


def test_equal_seeds_leave_the_same_games_out_each_once_after_a_first_row_of_ones() -> None:
    for games in (9, 120):
        first, again = game_weights(games, 5), game_weights(games, 5)
        assert (first == again).all()
        assert (first[0] == 1).all()
        assert first[1:].sum(axis=0).tolist() == [GROUPS - 1] * games


def games_of(rng: np.random.Generator, shares: np.ndarray) -> Scored:
    """A game for each share: 40 statements, that share of them deceptive, scores that know nothing."""
    y = np.concatenate([np.arange(40) < round(40 * share) for share in shares])
    return Scored(y, rng.random(len(y)), np.repeat(np.arange(len(shares)), 40), len(shares))


def test_a_scorer_that_knows_only_how_many_deceive_ranks_well_over_games_and_not_at_all_within_them() -> None:
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.1, 0.6, 30)
    data = games_of(rng, shares)
    knows = replace(data, score=data.y.reshape(30, 40).mean(axis=1).repeat(40))
    weights = game_weights(30, 0)
    pooled = estimate(rank_metrics(knows, weights, {})["auroc"], 30)
    assert pooled[1] > 0.55
    value, lo, hi = estimate(within_games(knows, weights), 30)
    assert 0.44 < lo < value == 0.5 < hi < 0.56
    _, lo, hi = estimate(within_games(data, weights), 30)
    assert lo < 0.5 < hi


@pytest.mark.parametrize("ties", [False, True])
def test_the_auroc_within_games_is_that_of_each_game_weighed_by_its_pairs_and_a_game_of_one_class_has_none(
    ties: bool,
) -> None:
    data = sample(5, n=150, games=40, ties=ties)
    weights = counts(40, 0)
    aurocs, pairs = np.zeros(40), np.zeros(40)
    for game in range(40):
        y, score = data.y[data.game == game], data.score[data.game == game]
        pairs[game] = y.sum() * (~y).sum()
        aurocs[game] = roc_auc_score(y, score) if pairs[game] else 0.0
    assert (pairs == 0).any()
    expected = (weights @ (aurocs * pairs)) / (weights @ pairs)
    assert within_games(data, weights) == pytest.approx(expected)


def test_games_that_share_a_beginning_are_resampled_as_one_and_compared_within_each() -> None:
    alone = sample(2, n=200, games=20)
    twice = Scored(
        *(np.tile(column, 2) for column in (alone.y, alone.score, alone.game)), 20, np.r_[alone.game, alone.game + 20]
    )
    weights = game_weights(20, 0)
    once, both = (estimate(within_games(data, weights), 20) for data in (alone, twice))
    assert both == pytest.approx(once)


def test_the_interval_of_a_perfect_figure_of_few_games_is_not_a_point() -> None:
    data = Scored(np.tile([True, False], 10), np.tile([0.9, 0.1], 10), np.repeat(np.arange(10), 2), 10)
    value, lo, hi = estimate(within_games(data, game_weights(10, 0)), 10)
    assert (value, hi) == (1.0, 1.0)
    assert lo == pytest.approx(binomtest(10, 10).proportion_ci().low)


def test_a_figure_that_some_games_alone_decide_has_an_interval_within_its_span() -> None:
    data = Scored(np.array([True, False] * 2), np.array([0.9, 0.1, 0.1, 0.9]), np.array([0, 0, 1, 1]), 2)
    value, lo, hi = estimate(within_games(data, game_weights(2, 0)), 2)
    assert value == 0.5
    assert 0 <= lo < 0.05 < 0.95 < hi <= 1


@pytest.mark.long
def test_an_interval_near_one_covers_the_true_value_in_few_games() -> None:
    # AUROC within games .96 of 12 games of 6 players, two of whom lie; the percentile bootstrap holds it in 85%.
    rng, hits, worlds_ = np.random.default_rng(1), 0, 150
    y = np.zeros((12, 6, 4), bool)
    y[:, :2] = True
    for world in range(worlds_):
        score = 2.476 * y + rng.normal(0, 0.6, (12, 6, 1)) + rng.normal(0, 0.8, y.shape)
        data = Scored(y.ravel(), score.ravel(), np.repeat(np.arange(12), 24), 12)
        _, lo, hi = estimate(within_games(data, game_weights(12, world)), 12)
        hits += lo <= 0.96 <= hi
    assert hits / worlds_ >= 0.92


@pytest.mark.long
def test_the_worst_of_twelve_cells_at_chance_is_seldom_wholly_below_it() -> None:
    below, alone, worlds_ = 0, 0, 150
    for world in range(worlds_):
        rng = np.random.default_rng(world)
        weights = game_weights(20, world)
        cells = [(within_games(games_of(rng, np.full(20, 0.3)), weights), 20) for _ in range(12)]
        at, (value, lo, hi) = worst(cells)
        assert lo <= value == min(values[0] for values, _ in cells) <= hi
        below += hi < 0.5
        single = estimate(cells[at][0], 20)[2]
        alone += single < 0.5
    assert below / worlds_ <= 0.07
    assert alone / worlds_ > 0.1


def test_conversations_with_one_label_each_are_compared_within_their_tasks_weighed_by_pairs() -> None:
    rng = np.random.default_rng(5)
    task = np.repeat([0, 1, 2], [30, 12, 5])
    y = np.r_[rng.random(42) < 0.5, np.ones(5, dtype=bool)]  # the third task has one class
    score = np.round(rng.random(47) + 0.3 * y + 0.4 * task, 1)
    data = Scored(y, score, np.arange(47), 47, task)
    weights = counts(47, 0)
    for draw, found in zip(weights, within_games(data, weights), strict=True):
        right = pairs = 0.0
        for one in (0, 1):
            mine = np.repeat(np.flatnonzero(task == one), draw[task == one].astype(int))
            if y[mine].any() and not y[mine].all():
                both = y[mine].sum() * (~y[mine]).sum()
                right, pairs = right + both * roc_auc_score(y[mine], score[mine]), pairs + both
        assert found == pytest.approx(right / pairs)


def test_a_metric_of_another_version_goes_by_its_own_name() -> None:
    assert words_of("sharpness") == "sharpness"
    assert words_of("sharpness_difference").startswith("sharpness")
