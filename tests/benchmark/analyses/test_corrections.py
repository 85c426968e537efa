"""A table of many rows claims no more than all its rows together allow."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import f_oneway

from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.conditions_of_play import POOLED
from liescope.benchmark.analyses.intervals import LEAST, Alike, Interval, Zero, adjusted_omnibus, game_means
from liescope.common.statistics import REAL


def means(values: dict[str, np.ndarray]) -> pl.DataFrame:
    rows = [
        {"game": "g", "condition": "", "model": model, "role": "r", "family": f"{model}{at}", "x": float(value)}
        for model, drawn in values.items()
        for at, value in enumerate(drawn)
    ]
    return game_means(pl.DataFrame(rows), ["game", "condition", "model", "role"], "x", REAL)


def test_of_many_rows_without_any_effect_hardly_a_table_has_one_left() -> None:
    """Of 40 intervals about two leave zero out by chance; corrected, a table in twenty has any row below .05."""
    random = np.random.default_rng(1)
    plain = corrected = 0
    for _ in range(60):
        table = Zero("mean").added(means({f"m{at:02}": random.normal(0, 1, 12) for at in range(40)}))
        plain += (table["p"] < 0.05).sum()
        corrected += (table["p_holm"] < 0.05).any()
    assert 70 < plain < 180
    assert corrected <= 9


def test_a_planted_effect_among_many_rows_is_still_found() -> None:
    random = np.random.default_rng(2)
    drawn = {f"m{at:02}": random.normal(0, 1, 30) for at in range(20)} | {"planted": random.normal(1.5, 1, 30)}
    table = Zero("mean").added(means(drawn))
    assert table.filter(pl.col("p_holm") < 0.05)["model"].to_list() == ["planted"]
    assert table.filter(model="planted")["p"].item() == LEAST
    assert "corrected for the 21 rows" in Zero("mean").words(table)


def test_p_is_below_a_twentieth_where_the_interval_of_the_row_leaves_zero_out() -> None:
    random = np.random.default_rng(3)
    table = Zero("mean").added(means({f"m{at}": random.normal(0.5, 1, 6) for at in range(60)}))
    outside = (table["lo"] > 0) | (table["hi"] < 0)
    assert (outside == (table["p"] < 0.05)).all()
    assert outside.any()
    assert not outside.all()


def test_rows_of_a_panel_are_compared_as_by_an_analysis_of_variance() -> None:
    random = np.random.default_rng(4)
    drawn = {name: random.normal(at / 8, 1, 60) for at, name in enumerate("abc")}
    table = Alike(("role",)).added(means(drawn))
    known = f_oneway(*drawn.values(), equal_var=False).pvalue
    assert table["p_equal"].unique().to_list() == pytest.approx([known], rel=1e-6)


def test_rows_over_all_models_take_no_part_in_comparing_them() -> None:
    random = np.random.default_rng(5)
    table = means({name: random.normal(0, 1, 20) for name in "ab"})
    pooled = pl.concat([table, table.head(1).with_columns(model=pl.lit(POOLED), mean=pl.lit(9.0))])
    found = Alike(("role",)).added(pooled)
    assert found.head(2)["p_equal"].to_list() == Alike(("role",)).added(table)["p_equal"].to_list()
    assert found["p_equal"][2] is None


@pytest.mark.parametrize("games", [40, 200])
def test_names_that_change_nothing_are_told_to_matter_about_once_in_twenty(games: int) -> None:
    random = np.random.default_rng(6)
    below = 0
    for _ in range(150):
        rows = [
            (at, name, role, float(town != (role == "mafioso")))
            for at in range(games)
            for town in [random.random() < 0.6]
            for name, role in zip(
                random.permutation(list("ABCD"))[:3], ("mafioso", "detective", "villager"), strict=True
            )
        ]
        table = pl.DataFrame(rows, ["family", "name", "role", "won"], orient="row")
        p, names, compared = adjusted_omnibus(table, "name", "won", ["role"])
        assert (names, compared) == (4, games)
        below += p is not None and p < 0.05
    assert below / 150 < 0.11


def test_a_name_that_matters_is_found_by_the_one_test_of_all() -> None:
    random = np.random.default_rng(7)
    rows = [
        (at, name, float(random.random() < (0.8 if name == "A" else 0.4)))
        for at in range(200)
        for name in [random.choice(list("ABCD"))]
    ]
    table = pl.DataFrame(rows, ["family", "name", "won"], orient="row").with_columns(role=pl.lit("x"))
    p, _, _ = adjusted_omnibus(table, "name", "won", ["role"])
    assert p is not None
    assert p < 0.001


def test_every_table_of_differences_is_corrected_for_its_rows() -> None:
    """A new analysis that prints differences declares how its rows are read."""
    differences = {
        Interval.DIFFERENCE,
        Interval.MEAN_DIFFERENCE,
        Interval.CLUSTERED,
        Interval.PAIRS,
        Interval.PAIRED_OR_NOT,
        Interval.STUDENT,
        Interval.FISHER,
    }
    assert [one.name for one in ANALYSES if one.interval in differences and not one.corrections] == []
