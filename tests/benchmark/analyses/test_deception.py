"""How often roles deceive and how: counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from liescope.benchmark.analyses.deception import TYPES
from liescope.benchmark.analyses.frames import Frames
from tests.benchmark.analyses.made import made, table_of

flags_per_statement = table_of("flags_per_statement")
type_composition = table_of("type_composition")
type_yield = table_of("type_yield")

KINDS = ("none", "omission", "omission", "fabrication")


@pytest.fixture
def hand() -> Frames:
    """A jester with four statements in two games: three deceptive by its own report, two by most of its peers'."""
    statements = [
        {
            "game_id": f"g{number // 2}",
            "statement_id": str(number),
            "speaker_role": "jester",
            "label_self": kind != "none",
            "self_type": kind,
            "peer_rate": rate,
            "peer_ratings": 4,
            "peer_suspicion": suspicion,
        }
        for number, (kind, rate, suspicion) in enumerate(
            zip(KINDS, (0.0, 1.0, 0.75, 0.5), (0.1, 0.8, 0.6, 0.3), strict=True)
        )
    ]
    rated = zip(KINDS, (False, True, True, False), (0.1, 0.8, 0.6, 0.3), strict=True)
    ratings = [
        {
            "game_id": f"g{number // 2}",
            "speaker_role": "jester",
            "self_type": kind,
            "flag": flag,
            "type": "omission" if flag else "none",
            "suspicion": suspicion,
        }
        for number, (kind, flag, suspicion) in enumerate(rated)
    ]
    return made(statements=statements, ratings=ratings)


def test_the_shares_of_all_types_add_up_to_one(hand: Frames) -> None:
    table = type_composition(hand)
    own = dict(table.filter(pl.col("by") == "self").select("type", "mean").iter_rows())
    assert own == {name: {"none": 0.25, "omission": 0.5, "fabrication": 0.25}.get(name, 0.0) for name in TYPES}
    seen = dict(table.filter(pl.col("by") == "peers").select("type", "mean").iter_rows())
    assert seen["omission"] == 1.0
    assert sum(seen.values()) == 1.0


def test_what_a_type_draws_is_the_mean_over_its_statements(hand: Frames) -> None:
    table = type_yield(hand)
    found = {(row["type"], row["metric"]): (row["mean"], row["n"]) for row in table.to_dicts()}
    assert found["omission", "suspicion"] == (pytest.approx(0.7), 2)
    assert found["omission", "flagged"] == (pytest.approx(0.875), 2)
    assert found["fabrication", "flagged"] == (0.5, 1)
    assert found["none", "suspicion"] == (pytest.approx(0.1), 1)


def test_a_statement_that_more_observers_rated_counts_once() -> None:
    """Appendix F.2 takes the mean over statements of what their observers thought, not over all ratings."""
    told = [("a", 1.0, 9), ("b", 0.0, 1)]
    common = {"game_id": "g", "speaker_role": "jester", "self_type": "omission"}
    rows = [
        {**common, "statement_id": name, "peer_suspicion": rate, "peer_rate": rate, "peer_ratings": count}
        for name, rate, count in told
    ]
    assert type_yield(made(statements=rows))["mean"].to_list() == [0.5, 0.5]


def test_flags_a_statement_are_counts_where_rates_are_shares(hand: Frames) -> None:
    (row,) = flags_per_statement(hand).to_dicts()
    assert (row["mean"], row["n"], row["observers"]) == (pytest.approx(2.25), 4, 4.0)
