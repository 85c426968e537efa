"""Intervals hold the truth as often as they say for few groups too, and never promise what cannot be."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, pearsonr, ttest_1samp

from liescope.common.statistics import (
    CHANGE,
    POSITIVE,
    PROPORTION,
    REAL,
    Rows,
    Scale,
    difference,
    estimate,
    fisher,
    game_weights,
    holm,
    jackknife,
    joined,
    mean,
    p_value,
    paired,
    share,
    student,
    wilson,
)


@pytest.mark.parametrize(("won", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (33, 60)])
def test_wilson_is_scipys(won: int, n: int) -> None:
    known = binomtest(won, n).proportion_ci(method="wilson")
    assert wilson(won, n) == pytest.approx((known.low, known.high))


def test_wilson_needs_trials_and_refuses_what_cannot_be() -> None:
    assert wilson(0, 0) == (None, None)
    with pytest.raises(ValueError, match="impossible"):
        wilson(3, 2)


def test_a_difference_of_shares_has_the_published_interval() -> None:
    # Newcombe (1998), Table II, method 10: 56/70 against 48/80.
    assert joined(56 / 70, wilson(56, 70), 48 / 80, wilson(48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert joined(0.0, wilson(0, 0), 3 / 4, wilson(3, 4)) == (None, None)


def test_fisher_is_scipys_and_a_perfect_correlation_has_no_interval_rather_than_none_of_its_width() -> None:
    one, two = np.random.default_rng(1).normal(size=(2, 20))
    known = pearsonr(one, two)
    bounds = known.confidence_interval()
    assert fisher(float(known.statistic), 20) == pytest.approx((known.statistic, bounds.low, bounds.high))
    assert fisher(1.0, 4) == (1.0, None, None)
    assert fisher(-1.0, 60) == (-1.0, None, None)


def test_rows_that_are_groups_of_their_own_have_the_classical_intervals() -> None:
    assert mean(Rows.of([1.0] * 7 + [0.0] * 13)) == pytest.approx(wilson(7, 20))
    numbers = np.random.default_rng(2).normal(3, 2, 15)
    known = ttest_1samp(numbers, 0).confidence_interval()
    assert mean(Rows.of(numbers), REAL) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("value", [0.0, 0.5, 0.9, 1.0])
def test_groups_that_all_agree_have_an_interval_with_a_width(value: float) -> None:
    def agreeing(groups: int) -> tuple[float | None, float | None]:
        return mean(Rows(np.full(groups, 10.0), np.full(groups, 10 * value), np.full(groups, 10 * value**2)))

    lo, hi = agreeing(6)
    assert 0 <= lo <= value <= hi <= 1
    assert hi - lo > 0.3  # six games, however long, do not show that the seventh is alike
    if value in (0.0, 1.0):
        assert (lo, hi) == pytest.approx(wilson(6 * value, 6))
    assert agreeing(160) == pytest.approx((value, value), abs=0.025)  # and 160 do not leave it open


def test_without_limits_groups_that_agree_show_no_error() -> None:
    for scale in (REAL, POSITIVE):
        assert mean(Rows.of([0.5] * 6), scale) == (None, None)
    assert mean(Rows.of([0.0] * 6), POSITIVE) == (None, None)


@pytest.mark.parametrize(
    ("scale", "value"), [(PROPORTION, 0.9), (CHANGE, 0.71), (POSITIVE, 0.1), ((1.0, math.inf), 1.1)]
)
def test_no_bound_lies_where_no_figure_can(scale: tuple[float, float], value: float) -> None:
    for error in (1e-3, 0.05, 0.4, 1.0, 40.0):
        lo, hi = student(value, error, 2, scale)
        assert scale[0] <= lo < value < hi <= scale[1]
    many = student(value, 1e-3, 400, scale)
    assert many == pytest.approx((value - 1.97e-3, value + 1.97e-3), abs=1e-4)  # far from the limits it is Student's


def test_a_difference_of_shares_stays_within_minus_one_and_one() -> None:
    ends = Rows.of([1.0, 1.0]), Rows.of([0.0, 0.0])
    lo, hi = difference(*ends)
    assert -1 <= lo < 1 <= hi <= 1


def test_below_two_groups_there_is_no_interval() -> None:
    alone = Rows(np.array([9.0]), np.array([4.0]), np.array([4.0]))
    assert mean(alone) == (None, None)
    outweighed = Rows(np.array([50.0, 1.0]), np.array([20.0, 1.0]), np.array([20.0, 1.0]))
    assert mean(outweighed) == (None, None)
    assert mean(Rows.of([0.5])) == (None, None)
    assert paired([1.0], [0.0]) == (None, None)


def test_a_mean_outside_its_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="outside its scale"):
        mean(Rows.of([3.0, 4.0]))


def shared(random: np.random.Generator, groups: int) -> tuple[float, Rows]:
    counts = 1.0 + random.poisson(7, groups)
    hits = random.binomial(counts.astype(int), random.beta(0.8, 3.2, groups)).astype(float)
    return 0.2, Rows(counts, hits, hits)


def suspected(random: np.random.Generator, groups: int) -> tuple[float, Rows]:
    return 0.4, Rows.of(random.beta(2, 3, groups))


def lengths(random: np.random.Generator, groups: int) -> tuple[float, Rows]:
    return math.exp(0.08), Rows.of(random.lognormal(0, 0.4, groups))


@pytest.mark.parametrize("groups", [5, 10, 20])
@pytest.mark.parametrize(("drawn", "scale"), [(shared, PROPORTION), (suspected, PROPORTION), (lengths, POSITIVE)])
def test_the_interval_holds_the_truth_for_few_groups(
    drawn: Callable[[np.random.Generator, int], tuple[float, Rows]], scale: tuple[float, float], groups: int
) -> None:
    """Percentiles of a bootstrap hold 66 to 85% of these at five groups."""
    random, held, trials = np.random.default_rng(groups), 0, 600
    for _ in range(trials):
        truth, rows = drawn(random, groups)
        lo, hi = mean(rows, scale)
        held += lo is not None and hi is not None and lo <= truth <= hi
    assert held / trials > 0.91


def test_differences_hold_the_truth_for_few_pairs() -> None:
    random, held, trials = np.random.default_rng(7), {5: 0, 10: 0}, 500
    truth = math.erf(0.6 / math.sqrt(2 * 1.49)) / 2
    for pairs in held:
        for _ in range(trials):
            luck = random.normal(0, 1, pairs)
            one, two = ((luck + random.normal(0, 0.7, pairs) < at).astype(float) for at in (0.6, 0.0))
            lo, hi = paired(one, two)
            held[pairs] += lo is not None and hi is not None and lo <= truth <= hi
    assert min(held.values()) / trials > 0.92


def test_agreement_within_pairs_narrows_their_difference_but_not_to_nothing() -> None:
    outcomes = [(1.0, 1.0)] * 30 + [(1.0, 0.0)] * 6 + [(0.0, 0.0)] * 14
    one, two = zip(*outcomes, strict=True)
    near, far = paired(one, two), paired(one, (*two[14:], *two[:14]))
    assert (near[1] or 0) - (near[0] or 0) < (far[1] or 0) - (far[0] or 0)
    lo, hi = paired([1.0, 0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0])
    assert (hi or 0) - (lo or 0) > 0.3  # five pairs that agree do not show that there is no difference


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    numbers = np.random.default_rng(3).normal(size=12)
    table = np.column_stack([numbers, np.ones(12)])
    found = jackknife(table, lambda sums: sums[:, 0] / sums[:, 1])
    assert found == pytest.approx((numbers.mean(), *mean(Rows.of(numbers), REAL)))


@pytest.mark.parametrize("groups", [4, 30])
def test_p_is_below_a_twentieth_exactly_where_the_interval_leaves_zero_out(groups: int) -> None:
    numbers = np.random.default_rng(4).normal(0.4, 0.6, groups)
    known = ttest_1samp(numbers, 0)
    assert p_value(float(numbers.mean()), mean(Rows.of(numbers), REAL), groups) == pytest.approx(known.pvalue)
    assert p_value(0.2, (0.0, 0.5), groups) == pytest.approx(0.05)
    assert p_value(-0.2, (-0.5, 0.0), groups) == pytest.approx(0.05)
    assert p_value(0.3, (None, None), groups) is None


def test_holm_is_the_published_step_down() -> None:
    assert holm([0.01, None, 0.04, 0.03, 0.005]) == pytest.approx([0.03, None, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def estimated(games: npt.ArrayLike, span: Scale = PROPORTION) -> tuple[float, float, float]:
    """Of the mean of a number for each game."""
    numbers = np.asarray(games, np.float64)
    values = share(numbers, np.ones(len(numbers)), np.arange(len(numbers)), game_weights(len(numbers), 0))
    value, lo, hi = estimate(values, len(numbers), span)
    assert value is not None
    assert lo is not None
    assert hi is not None
    return value, lo, hi


def test_where_many_games_decide_and_lean_to_no_side_the_interval_is_students() -> None:
    numbers = np.linspace(-0.3, 0.3, 30)
    known = ttest_1samp(numbers, 0).confidence_interval()
    for span, middle in ((PROPORTION, 0.5), (CHANGE, 0.0), (REAL, 9.0)):
        assert estimated(middle + numbers, span) == pytest.approx((middle, middle + known.low, middle + known.high))


@pytest.mark.parametrize("games", [15, 87, 300])
@pytest.mark.parametrize("fooled", [0.0, 0.01, 1.0])
def test_one_game_that_fools_a_detector_moves_the_interval_by_little(games: int, fooled: float) -> None:
    value, lo, hi = estimated(np.r_[1 - fooled, np.ones(games - 1)])
    assert 1 - 8 / games < lo < value <= hi == pytest.approx(1)
    assert lo <= value * 0.025 ** (1 / games) + 1e-9


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]) | st.integers(0, 100).map(lambda n: n / 100), min_size=2, max_size=120),
    st.sampled_from([PROPORTION, CHANGE]),
)
def test_an_interval_holds_its_value_stays_within_its_span_and_turns_round_with_the_score(
    games: list[float], span: Scale
) -> None:
    value, lo, hi = estimated(games, span)
    assert span[0] <= lo <= value <= hi <= span[1]
    assert hi > lo
    turned = estimated(sum(span) - np.array(games), span)
    assert turned == pytest.approx((sum(span) - value, sum(span) - hi, sum(span) - lo), abs=1e-9)


def test_two_scorers_that_agree_in_every_game_may_differ_in_as_many_as_so_few_games_can_miss() -> None:
    few, many = (estimated(np.zeros(games), CHANGE) for games in (20, 2000))
    assert few == pytest.approx((0, 0.025 ** (1 / 20) - 1, 1 - 0.025 ** (1 / 20)))
    assert many[2] < 0.002
    assert estimated(np.full(20, 0.5), CHANGE)[1] > 0.2
    assert estimated(np.full(20, 3.0), REAL) == (3, 3, 3)  # without a limit nothing bounds what was not seen
