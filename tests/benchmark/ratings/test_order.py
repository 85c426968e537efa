"""Who is ahead of whom, on which rank, and where two methods disagree."""

from __future__ import annotations

import numpy as np
import pytest

from liescope.benchmark.ratings.rank_order import JointScores, conflicts, pairs, ranked, ranks, taus

NAMES = ("a", "b", "c", "d", "e", "f")
RISING = JointScores(NAMES, np.arange(6.0) + np.random.default_rng(0).uniform(-0.3, 0.3, size=(500, 6)))
FALLING = JointScores(NAMES, -RISING.draws)
NOISE = JointScores(NAMES, np.random.default_rng(1).normal(size=(4000, 6)))


def test_draws_with_a_known_order_give_certain_chances_and_ranks() -> None:
    table = ranks(RISING)
    assert table["model"].to_list() == list("fedcba")
    assert table.select("rank", "lo", "hi").rows() == [(n, n, n) for n in (1, 2, 3, 4, 5, 6)]
    assert table["best"].to_list() == [1, 0, 0, 0, 0, 0]
    ahead = {(row["model"], row["other"]): row["chance"] for row in pairs(RISING).to_dicts()}
    assert len(ahead) == 30
    assert all(chance == (one > other) for (one, other), chance in ahead.items())


def test_chances_of_a_pair_and_of_being_best_add_up_to_one() -> None:
    tied = JointScores(("a", "b"), np.array([[1.0, 1.0], [2.0, 1.0]]))
    assert tied.ahead() == pytest.approx(np.array([[0.5, 0.75], [0.25, 0.5]]))
    assert ranks(tied)["best"].to_list() == [0.75, 0.25]
    chance = NOISE.ahead()
    assert chance + chance.T == pytest.approx(np.ones((6, 6)))
    table = ranks(NOISE)
    assert table["best"].sum() == pytest.approx(1)
    assert table["rank"].sum() == pytest.approx(21)
    assert table.select("lo", "hi").rows() == [(1, 6)] * 6


def test_differences_use_the_joint_draws() -> None:
    base = np.random.default_rng(2).normal(size=1000)
    together = JointScores(("a", "b"), np.stack([base, base - 0.1], axis=1))
    row = pairs(together).to_dicts()[0]
    assert (row["model"], row["other"], row["chance"]) == ("a", "b", 1)
    assert (row["difference"], row["lo"], row["hi"]) == pytest.approx((0.1, 0.1, 0.1))


def test_equal_methods_agree_and_opposite_ones_contradict_each_other_in_every_pair() -> None:
    same = {"one": RISING, "two": RISING}
    assert taus(same).select("tau", "lo", "hi").rows() == [(pytest.approx(1), None, None)]
    assert conflicts(same).is_empty()
    opposite = {"one": RISING, "two": FALLING}
    assert taus(opposite)["tau"].to_list() == pytest.approx([-1])
    found = conflicts(opposite)
    assert found.height == 15
    assert all(sorted(row) == [0, 1] for row in found.select("one", "two").rows())
    assert ranked(opposite).rows() == [(name, at, 7 - at) for at, name in enumerate("fedcba", 1)]


def test_a_pair_is_a_conflict_only_where_one_method_is_sure() -> None:
    a_little = JointScores(("a", "b"), np.array([[1.0, 0.0]] * 6 + [[0.0, 1.0]] * 4))
    against = JointScores(("a", "b"), np.array([[1.0, 0.0]] * 4 + [[0.0, 1.0]] * 6))
    sure = JointScores(("a", "b"), np.array([[0.0, 1.0]] * 10))
    assert conflicts({"one": a_little, "two": against}).is_empty()
    assert conflicts({"one": against, "two": sure}).is_empty()
    for methods in ({"one": a_little, "two": sure}, {"two": sure, "one": a_little}):
        (row,) = conflicts(methods).to_dicts()
        assert row == {"ahead": "b", "behind": "a", "one": pytest.approx(0.4), "two": 1.0}


def test_a_model_that_a_method_does_not_know_is_left_out_of_its_ranks_and_pairs() -> None:
    fewer = JointScores(("b", "c"), FALLING.draws[:, 1:3])
    methods = {"one": RISING, "two": fewer}
    assert ranked(methods).filter(model="a").rows() == [("a", 6, None)]
    (tau,) = taus(methods).to_dicts()
    assert (tau["models"], tau["tau"], tau["lo"]) == (2, pytest.approx(-1), None)
    assert conflicts(methods).select("ahead", "behind").rows() in ([("c", "b")], [("b", "c")])


def test_the_interval_of_tau_is_fiellers() -> None:
    names = tuple("abcdefghij")
    one = JointScores(names, np.arange(10.0)[None])
    other = JointScores(names, np.array([[1.0, 0, 3, 2, 5, 4, 7, 6, 9, 8]]))  # 5 of 45 pairs are swapped
    (row,) = taus({"one": one, "other": other}).to_dicts()
    assert row["tau"] == pytest.approx(35 / 45)
    half = 1.959964 * np.sqrt(0.437 / 6)
    bounds = np.tanh(np.arctanh(35 / 45) + np.array([-half, half]))
    assert (row["lo"], row["hi"]) == pytest.approx(tuple(bounds))
