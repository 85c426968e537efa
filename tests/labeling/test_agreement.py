"""Agreement is computed from counts, and chance agreement is taken off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.common.statistics import kappa

tables = st.lists(st.integers(0, 40), min_size=9, max_size=9).map(lambda counts: np.reshape(counts, (3, 3)))


def test_a_known_table_gives_its_known_kappa() -> None:
    """Two raters and fifty cases, 35 of them agreed on: raw 0.7, chance 0.5, kappa 0.4; in opposition it is -1."""
    raw, found = kappa(np.array([[[20, 5], [10, 15]], [[7, 0], [0, 7]], [[0, 7], [7, 0]]]))
    assert raw.tolist() == pytest.approx([0.7, 1.0, 0.0])
    assert found.tolist() == pytest.approx([0.4, 1.0, -1.0])


def test_where_chance_explains_everything_there_is_no_kappa() -> None:
    raw, found = kappa(np.array([[[2, 0], [0, 0]], [[0, 0], [0, 0]]]))
    assert raw.tolist() == pytest.approx([1.0, np.nan], nan_ok=True)
    assert np.isnan(found).all()


@given(tables)
def test_agreement_is_symmetric_and_at_most_one(table: np.ndarray) -> None:
    assert np.array_equal(kappa(table), kappa(table.T), equal_nan=True)
    assert not kappa(table)[1] > 1
