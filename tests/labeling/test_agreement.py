"""Agreement is computed from counts, and chance agreement is taken off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.common.agreement import agreement, from_counts

labels = st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=40)


def test_a_known_table_gives_its_known_kappa() -> None:
    """Two raters and fifty cases, 35 of them agreed on: raw 0.7, chance 0.5, kappa 0.4."""
    result = from_counts({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    assert (result.pairs, result.raw) == (50, pytest.approx(0.7))
    assert result.kappa == pytest.approx(0.4)


def test_perfect_agreement_is_one_and_opposition_below_zero() -> None:
    assert agreement([True, False, True], [True, False, True]).kappa == 1
    assert (agreement([True, False], [False, True]).kappa or 0) < 0


def test_where_chance_explains_everything_there_is_no_kappa() -> None:
    assert agreement([True, True], [True, True]).kappa is None
    assert agreement([None, True], [True, None]).raw is None


@given(labels)
def test_agreement_is_symmetric_and_leaves_out_what_is_missing(pairs: list[tuple[bool | None, bool | None]]) -> None:
    one, two = [first for first, _ in pairs], [second for _, second in pairs]
    there, back = agreement(one, two), agreement(two, one)
    assert there.pairs == sum(None not in pair for pair in pairs) == back.pairs
    assert there.raw == back.raw
    assert there.kappa == (None if back.kappa is None else pytest.approx(back.kappa))
    assert there.kappa is None or there.kappa <= 1
