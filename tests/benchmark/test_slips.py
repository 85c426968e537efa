"""How often votes slip or are drawn, with what the counts leave open."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.counts import PLAYERS
from liescope.benchmark.capability.posterior import slips_of

ROWS = pl.DataFrame(  # of each role: the model, its readable votes, those of them that slipped, those that were drawn
    [
        ("a", 40, 10, 0, "b", 200, 150, 20, "a", 30, 0),
        ("a", 12, 1, 3, "a", 9, 0, 0, "b", 5, 45),
        ("b", 0, 0, 6, "b", 31, 0, 2, "a", 0, 10),
    ],
    [
        *("mafioso", "mafioso_votes", "mafioso_slips", "mafioso_drawn"),
        *("detective", "detective_votes", "detective_slips", "detective_drawn"),
        *("villager", "villager_votes", "villager_drawn"),
    ],
    orient="row",
)


def test_each_rate_has_laplace_s_estimate_and_the_spread_that_its_votes_leave() -> None:
    """(1 + events) / (2 + votes) in the mean over all rows of a model; only readable votes can slip."""
    found = slips_of(ROWS, 20_000, 0)
    assert set(found.drawn) == {(role, model) for role in PLAYERS for model in "ab"}
    assert set(found.slip) == {key for key in found.drawn if key[0] != "villager"}
    for role, model in found.drawn:
        mine = ROWS.filter(pl.col(role) == model)
        read, drawn = mine[f"{role}_votes"].sum(), mine[f"{role}_drawn"].sum()
        rates = [(found.drawn[role, model], drawn, read + drawn)]
        if role != "villager":
            rates.append((found.slip[role, model], mine[f"{role}_slips"].sum(), read))
        for draws, events, votes in rates:
            mean = (1 + events) / (2 + votes)
            assert draws.shape == (20_000,)
            assert draws.mean() == pytest.approx(mean, abs=0.005)
            assert draws.std() == pytest.approx(np.sqrt(mean * (1 - mean) / (3 + votes)), rel=0.05)
