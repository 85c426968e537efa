"""Probabilities of who deceives, against sums over all sets of players."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.detectors.view.joint_posterior import SeatedCandidates, seated

scores = st.lists(st.floats(-8, 8), min_size=2, max_size=7).map(np.array)


def posterior(logits: np.ndarray, deceivers: int | None) -> np.ndarray:
    """Of the players of one game."""
    return SeatedCandidates.of([len(logits)], [deceivers]).posterior(logits)


@given(scores, st.integers(1, 3))
def test_the_posterior_is_the_share_of_the_sets_that_hold_a_player(logits: np.ndarray, deceivers: int) -> None:
    deceivers = min(deceivers, len(logits))
    sets = {chosen: np.exp(logits[list(chosen)].sum()) for chosen in combinations(range(len(logits)), deceivers)}
    share = [sum(w for chosen, w in sets.items() if i in chosen) / sum(sets.values()) for i in range(len(logits))]
    assert posterior(logits, deceivers) == pytest.approx(share, abs=1e-9)


@given(scores, st.integers(0, 7))
def test_probabilities_of_a_table_sum_to_the_number_of_its_deceivers(logits: np.ndarray, deceivers: int) -> None:
    deceivers = min(deceivers, len(logits))
    assert posterior(logits, deceivers).sum() == pytest.approx(deceivers)


@given(scores)
def test_where_nobody_knows_how_many_deceive_each_player_stands_alone(logits: np.ndarray) -> None:
    assert posterior(logits, None) == pytest.approx(1 / (1 + np.exp(-logits)))


def test_tables_of_different_sizes_do_not_touch_each_other() -> None:
    logits = np.random.default_rng(0).normal(size=12)
    together = SeatedCandidates.of([4, 3, 5], [1, None, 2]).posterior(logits)
    apart = [posterior(logits[:4], 1), posterior(logits[4:7], None), posterior(logits[7:], 2)]
    assert together == pytest.approx(np.concatenate(apart))


@given(st.lists(st.floats(-8, 8), min_size=2, max_size=9), st.data())
def test_scores_are_found_again_from_their_posterior(odds: list[float], data: st.DataObject) -> None:
    """Of two tables at once, whether or not it is known how many deceive."""
    counts = [data.draw(st.sampled_from([None, *range(len(odds) + 1)])) for _ in range(2)]
    expected = SeatedCandidates.of([len(odds)] * 2, counts).posterior(np.array(odds * 2))
    tables, found = seated(
        [dict(zip("abcdefghi", one.tolist(), strict=False)) for one in np.split(expected, 2)], counts
    )
    assert tables.posterior(found) == pytest.approx(expected, abs=1e-4)


def test_the_loss_has_the_gradient_that_small_steps_show_and_sums_over_players_without_a_label() -> None:
    tables = SeatedCandidates.of([4, 6, 3, 5], [1, 2, None, 2])
    logits = np.random.default_rng(1).normal(size=18)
    true, false = np.zeros(18, bool), np.zeros(18, bool)
    true[[1, 5, 10, 14]] = True
    false[[0, 2, 7, 11, 12, 15]] = True
    loss, gradient = tables.loss(logits, true, false)
    steps = np.eye(18) * 1e-6
    found = [(tables.loss(logits + s, true, false)[0] - tables.loss(logits - s, true, false)[0]) / 2e-6 for s in steps]
    assert gradient == pytest.approx(found, abs=1e-6)
    odds = np.exp(logits[4:10])
    sets = {chosen: odds[list(chosen)].prod() for chosen in combinations(range(6), 2)}
    agree = sum(weight for chosen, weight in sets.items() if 1 in chosen and 3 not in chosen)
    first = -np.log(np.exp(logits[1]) / np.exp(logits[:4]).sum())
    second = -np.log(agree / sum(sets.values()))
    third = -np.log(1 / (1 + np.exp(-logits[10]))) + np.log1p(np.exp(logits[11])) + np.log1p(np.exp(logits[12]))
    odds = np.exp(logits[13:])
    sets = {chosen: odds[list(chosen)].prod() for chosen in combinations(range(5), 2)}
    fourth = -np.log(sum(w for chosen, w in sets.items() if 1 in chosen and 2 not in chosen) / sum(sets.values()))
    assert loss == pytest.approx(first + second + third + fourth)
