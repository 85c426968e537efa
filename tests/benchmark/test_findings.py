"""Who is named as the best: a model with 95% of the probability, and otherwise nobody."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability.backend import Settings
from liescope.benchmark.capability.counts import PLAYERS, Counts
from liescope.benchmark.capability.goodness import goodness
from liescope.benchmark.capability.posterior import Diagnostics, Posterior
from liescope.benchmark.capability.sentences import findings
from liescope.benchmark.capability.variants import variant
from liescope.benchmark.fitting import ConditionFit

Draws = dict[str, np.ndarray]


@cache
def fitted(
    names: tuple[str, ...], means: tuple[float, ...], sd: float, games: int = 80, rho: float = 0.01
) -> tuple[ConditionFit, ...]:
    """A fit whose scores lie around these means, the same in each role; every combination was played."""
    random = np.random.default_rng(0)
    count = len(names)
    draws: Draws = {name: np.array(means) + sd * random.normal(size=(4, 500, count)) for name in "mdvb"}
    draws["rho"] = np.full((4, 500, 1), rho)
    cells = pl.DataFrame([(i, j, k) for i in names for j in names for k in names], [*PLAYERS], orient="row")
    each = max(1, games // cells.height)
    cells = cells.with_columns(mafia_wins=pl.lit(each // 2, pl.Int64), games=pl.lit(each, pl.Int64))
    every = {**dict.fromkeys("mdvb", names), "rho": ("every combination",)}
    posterior = Posterior(
        cells,
        every,
        draws,
        Diagnostics(1.0, 1000, 1000, 1.0, 0, 500, 4, 1.0),
        Settings(500, 500, 4, 1, 0.9, ""),
        "nutpie",
        variant("offset+dispersion"),
    )
    return (ConditionFit("", Counts(cells, cells), posterior, goodness(posterior)),)


def test_two_equal_players_have_no_winner_and_the_page_says_how_likely_each_is() -> None:
    for sentence in findings(fitted(("alpha", "beta"), (0.02, 0.0), 0.5)):
        assert sentence.startswith("These games do not settle who")
        assert "alpha 5" in sentence
        assert "beta 4" in sentence
        assert "seems" not in sentence


def test_of_ten_the_first_is_not_named_while_others_are_in_the_running() -> None:
    names = tuple(f"model {n}" for n in range(10))
    (deceives, *_) = findings(fitted(names, (0.9, 0.6, 0.5, 0.4, -3.0, -3, -3, -3, -3, -3), 0.5))
    assert deceives.startswith("These games do not settle who deceives best")
    assert all(f"model {n} " in deceives for n in range(4))
    assert "model 4" not in deceives


@pytest.mark.parametrize(("z", "settled"), [(1.0, False), (1.5, False), (1.8, True), (3.0, True)])
def test_a_best_is_named_from_95_percent_of_the_draws_on(z: float, settled: bool) -> None:
    """One of two is ahead in 84, 93, 96 and 99.9% of the draws."""
    (deceives, *_) = findings(fitted(("alpha", "beta"), (z * np.sqrt(2), 0.0), 1.0))
    assert deceives.startswith("alpha deceives best") is settled
    assert deceives.startswith("These games do not settle") is not settled


def test_how_many_games_would_settle_it_follows_the_gap() -> None:
    """A gap of one standard deviation needs 1.645 squared times the games: 1.7 times as many more."""
    (deceives, *_) = findings(fitted(("alpha", "beta"), (np.sqrt(2), 0.0), 1.0, games=8000, rho=0.0))
    told = re.search(r"about ([\d,]+) more games like these should", deceives)
    assert told is not None
    assert int(told[1].replace(",", "")) == pytest.approx(13_700, rel=0.3)
    (tied, *_) = findings(fitted(("alpha", "beta"), (0.01, 0.0), 1.0, games=8000, rho=0.0))
    assert "even 20 times as many games like these would not" in tied
    (scattered, *_) = findings(fitted(("alpha", "beta"), (np.sqrt(2), 0.0), 1.0, games=8000, rho=0.05))
    assert "even 20 times as many games like these would not" in scattered


def test_nobody_is_named_by_scores_that_the_games_do_not_tell() -> None:
    (part,) = fitted(("alpha", "beta"), (3.0, 0.0), 1.0)
    sds = {name: np.full((4, 500), 1.0) for name in "mdvb"}
    for sentence in findings([replace(part, posterior=replace(part.posterior, sds=sds))]):
        assert sentence.startswith("These games do not tell who")
        assert "alpha" not in sentence


@pytest.mark.parametrize(("p", "doubted"), [(0.001, True), (0.5, False)])
def test_a_best_by_a_model_that_does_not_fit_is_named_with_that_word(p: float, doubted: bool) -> None:
    (part,) = fitted(("alpha", "beta"), (3.0, 0.0), 0.5)
    for sentence in findings([replace(part, goodness=replace(part.goodness, p=p))]):
        assert sentence.startswith("alpha")
        assert ("does not fit these games" in sentence) is doubted


def test_one_player_is_the_best_of_nobody() -> None:
    for sentence in findings(fitted(("alpha",), (0.0,), 0.1)):
        assert "best" not in sentence
        assert "most" not in sentence
        assert "alpha alone" in sentence
