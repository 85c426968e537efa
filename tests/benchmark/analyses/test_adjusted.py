"""A difference within strata: what it compares, what it leaves out, and how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.analyses.intervals import adjusted_difference


def rows(*strata: tuple[int, int, int, int]) -> pl.DataFrame:
    """Each stratum: (wins, rows) with the fact, (wins, rows) without; every row is a game of its own."""
    found = []
    for number, (wins, held, others, without) in enumerate(strata):
        found += [(number, 1, int(at < wins)) for at in range(held)]
        found += [(number, 0, int(at < others)) for at in range(without)]
    table = pl.DataFrame(found, ["stratum", "fact", "won"], orient="row")
    return table.with_columns(family=pl.int_range(pl.len()))


def test_it_is_the_difference_of_mantel_and_haenszel() -> None:
    strata = [(6, 10, 8, 20), (9, 12, 1, 3), (2, 30, 4, 15)]
    weights = [held * without / (held + without) for _, held, _, without in strata]
    gaps = [wins / held - others / without for wins, held, others, without in strata]
    expected = np.average(gaps, weights=weights)
    assert adjusted_difference(rows(*strata), "fact", "won", ["stratum"])[0] == pytest.approx(expected)


def test_a_stratum_without_a_comparison_counts_nothing() -> None:
    compared = adjusted_difference(rows((6, 10, 8, 20)), "fact", "won", ["stratum"])
    more = adjusted_difference(rows((6, 10, 8, 20), (50, 50, 0, 0), (0, 0, 3, 70)), "fact", "won", ["stratum"])
    assert more == pytest.approx(compared)
    assert adjusted_difference(rows((5, 9, 0, 0), (0, 0, 1, 9)), "fact", "won", ["stratum"]) == (None, None, None, 0)
    assert adjusted_difference(rows().cast(pl.Int64), "fact", "won", ["stratum"])[0] is None


def test_what_comes_with_the_stratum_is_not_taken_for_the_fact() -> None:
    strong, weak = (72, 80, 18, 20), (4, 20, 16, 80)  # the fact is common where wins are, and changes nothing
    mixed = rows(strong, weak)
    whole = mixed.with_columns(stratum=pl.lit(0))
    assert adjusted_difference(whole, "fact", "won", ["stratum"])[0] == pytest.approx(0.76 - 0.34)
    difference, lo, hi, games = adjusted_difference(mixed, "fact", "won", ["stratum"])
    assert (difference, games) == (pytest.approx(0), 200)
    assert lo is not None
    assert hi is not None
    assert lo < 0 < hi


def test_rows_of_one_game_are_no_further_evidence() -> None:
    once = rows((60, 100, 45, 100))
    twice = pl.concat([once, once])
    first, again = (adjusted_difference(table, "fact", "won", ["stratum"]) for table in (once, twice))
    assert again == pytest.approx(first, abs=0.002)
    _, lo, hi, games = adjusted_difference(
        twice.with_columns(family=pl.int_range(pl.len())), "fact", "won", ["stratum"]
    )
    assert games == 400
    assert (hi or 0) - (lo or 0) < 0.8 * ((first[2] or 0) - (first[1] or 0))


def test_no_interval_is_printed_without_variance() -> None:
    assert adjusted_difference(rows((5, 5, 0, 5)), "fact", "won", ["stratum"]) == (1.0, None, None, 10)


@pytest.mark.parametrize(("strata", "size"), [(1, 24), (4, 60), (40, 8), (50, 2)])
def test_intervals_hold_the_truth_as_often_as_they_say(strata: int, size: int) -> None:
    """Several rows of a game share its outcome, as the seats of a team do; strata may be small."""
    random = np.random.default_rng(5)
    truth, hits, trials = 0.1, 0, 400
    for _ in range(trials):
        level = np.repeat(random.uniform(0.2, 0.7, strata), size)
        fact = random.random(strata * size) < 0.4
        won = random.random(strata * size) < level + truth * fact
        table = pl.DataFrame({"stratum": np.repeat(np.arange(strata), size), "fact": fact, "won": won})
        _, lo, hi, _ = adjusted_difference(table.with_row_index("family"), "fact", "won", ["stratum"])
        hits += lo is not None and hi is not None and lo <= truth <= hi
    assert 0.92 < hits / trials < 0.98
