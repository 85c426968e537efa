"""The background method predicts combinations that were not played."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from liescope.benchmark import published_counts
from liescope.benchmark.capability.counts import SCHEMA
from liescope.benchmark.ratings.z_scores import predicted_rate

MANY = 10**9  # games, so that Laplace's rule and chance are nothing
SKILLS = {"a": -0.5, "b": 0.0, "c": 0.7, "d": 1.4}


def linear() -> pl.DataFrame:
    """Mafiosi whose rate is linear in their skill in each of three backgrounds."""
    lines = {"x": (0.3, 0.1), "y": (0.5, 0.2), "z": (0.4, 0.02)}
    rows = [
        (name, b, b, round((mu + slope * skill) * MANY), MANY)
        for (name, skill), (b, (mu, slope)) in product(SKILLS.items(), lines.items())
    ]
    return pl.DataFrame(rows, SCHEMA, orient="row")


def test_where_backgrounds_set_only_place_and_scale_every_held_out_cell_is_predicted() -> None:
    cells = linear()
    for row in range(cells.height):
        held_out = cells.slice(row, 1)
        truth = held_out["mafia_wins"][0] / MANY
        assert predicted_rate(cells, held_out) == pytest.approx([truth], abs=1e-6)


def test_several_may_be_held_out_and_none_of_them_is_looked_at() -> None:
    cells = linear()
    hidden = (pl.col("mafioso") == "a") & pl.col("villager").is_in(["x", "y"])
    spoiled = cells.with_columns(mafia_wins=pl.when(hidden).then(0).otherwise("mafia_wins"))
    held_out = cells.filter(hidden)
    assert predicted_rate(spoiled, held_out) == pytest.approx([0.25, 0.4], abs=1e-6)


def test_a_model_nobody_knows_plays_like_the_mean_of_its_background_and_the_rest_like_all_games() -> None:
    cells = linear()
    held_out = pl.DataFrame(
        {"mafioso": ["new", "a", "a"], "detective": ["y", "new", "x"], "villager": ["y", "new", "y"]}
    )
    overall = cells["mafia_wins"].sum() / cells["games"].sum()
    mean = 0.5 + 0.2 * np.mean(list(SKILLS.values()))
    assert predicted_rate(cells, held_out) == pytest.approx([mean, overall, overall], abs=1e-6)
    assert predicted_rate(cells.clear(), held_out) == pytest.approx([0.5] * 3)


def test_a_town_that_wins_more_is_a_mafia_that_wins_less() -> None:
    cells = published_counts()
    turned = cells.with_columns(mafia_wins=pl.col("games") - pl.col("mafia_wins"))
    held_out = cells.gather_every(9)
    assert predicted_rate(turned, held_out) == pytest.approx(1 - predicted_rate(cells, held_out))


def test_it_predicts_held_out_published_cells_far_better_than_their_mean() -> None:
    cells = published_counts()
    rate = (cells["mafia_wins"] / cells["games"]).to_numpy()
    fold = np.random.default_rng(1).permutation(np.arange(cells.height) % 14)
    found = np.zeros(cells.height)
    for number in range(14):
        found[fold == number] = predicted_rate(cells, cells.filter(pl.Series(fold == number)))
    assert np.sqrt(np.mean((found - rate) ** 2)) < 0.5 * rate.std()
    assert found.min() >= 1 / 102
