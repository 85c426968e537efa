"""Rows of every table of an analysis have one order, by one rule."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest

from liescope.benchmark.analyses.analysis import Means, in_one_order

KEYS = ("model", "kind", "turn")


@pytest.mark.parametrize("sort", [(), ("kind",), ("turn",)])
def test_rows_have_one_order_however_they_were_counted(sort: tuple[str, ...]) -> None:
    declared = Means("statements", "value", KEYS, order={"kind": ("late", "early")}, sort=sort)
    rows = list(product(("bo", "ada"), ("early", "late"), ("b", "a")))
    tables = [
        in_one_order(
            declared, pl.DataFrame(rows, schema=KEYS, orient="row").sample(fraction=1, shuffle=True, seed=seed)
        )
        for seed in range(10)
    ]
    places = {"kind": ["late", "early"].index, "model": ["ada", "bo"].index, "turn": ["a", "b"].index}
    by = dict.fromkeys((*sort, *KEYS))
    expected = sorted(rows, key=lambda row: [places[key](row[KEYS.index(key)]) for key in by])
    assert all(table.rows() == expected for table in tables)
