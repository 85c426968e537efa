"""Counts that agree too well are of the same games; those of different games are not taken for it."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.capability import count_sources
from liescope.benchmark.capability.count_sources import load_conditions, too_alike
from liescope.benchmark.capability.counts import SCHEMA, Counts, tally
from liescope.common.errors import UsageError

NAMES = "abcde"


def counts(random: np.random.Generator, games: int, chances: np.ndarray) -> pl.DataFrame:
    wins = random.binomial(games, chances)
    rows = [(*names, int(won), games) for names, won in zip(product(NAMES, repeat=3), wins, strict=True)]
    return tally(pl.DataFrame(rows, SCHEMA, orient="row"))


def some_of(random: np.random.Generator, cells: pl.DataFrame, share: float) -> pl.DataFrame:
    """Games drawn from these without replacement."""
    games = (cells["games"].to_numpy() * share).astype(np.int64)
    wins = cells["mafia_wins"].to_numpy()
    drawn = random.hypergeometric(wins, cells["games"].to_numpy() - wins, games)
    return cells.with_columns(mafia_wins=drawn, games=games)


@pytest.mark.long
@pytest.mark.parametrize("games", [1, 3, 20, 100])
@pytest.mark.parametrize("scatter", [0.0, 0.5])
def test_different_games_are_not_taken_for_the_same(games: int, scatter: float) -> None:
    """Of 16 pairs, of few and of many games, with and without differences between the sources, none."""
    random = np.random.default_rng(games)
    fired = 0
    for _ in range(16):
        logits = random.normal(size=125)
        one, other = (
            counts(random, games, 1 / (1 + np.exp(-logits - scatter * random.normal(size=125)))) for _ in range(2)
        )
        fired += len(too_alike({"one": one, "other": other}))
    assert fired == 0


@pytest.mark.parametrize(("games", "share"), [(5, 1.0), (100, 0.5)])
def test_copies_and_large_parts_of_the_same_games_are_found(games: int, share: float) -> None:
    random = np.random.default_rng(3)
    for _ in range(2):
        one = counts(random, games, random.uniform(0.1, 0.9, size=125))
        (found,) = too_alike({"one": one, "other": some_of(random, one, share)})
        assert found.p < 1e-4
        assert found.chi2 < found.combinations


def test_two_cells_that_happen_to_be_equal_say_nothing() -> None:
    cells = tally(pl.DataFrame([("a", "a", "b", 1, 2), ("a", "b", "a", 2, 4)], SCHEMA, orient="row"))
    assert too_alike({"one": cells, "other": cells}) == []
    certain = cells.with_columns(mafia_wins=pl.col("games"))
    assert too_alike({"one": certain, "other": certain}) == []


def test_more_sources_ask_for_more_agreement_and_huge_counts_do_not_break_it() -> None:
    random = np.random.default_rng(4)
    sources = {str(n): counts(random, 10, np.full(125, 0.5)) for n in range(12)}
    assert too_alike(sources) == []
    huge = sources["0"].with_columns(pl.col("mafia_wins", "games") * 10**11)
    assert too_alike({"one": huge, "other": huge}) == []


def test_a_fit_of_the_same_counts_twice_is_refused_unless_they_are_said_to_be_different(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    cells = counts(random, 40, random.uniform(0.1, 0.9, size=125))
    for name, frame in {"one": cells, "part": some_of(random, cells, 0.9)}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    both = [tmp_path / "one.csv", tmp_path / "part.csv"]
    with pytest.raises(UsageError, match=r"agree too well .* would count twice, so name one"):
        load_conditions(both)
    with pytest.raises(UsageError, match="agree too well"):
        load_conditions(both, pool=True)
    (counted,) = load_conditions(both, independent=True).values()
    assert counted.cells["games"].sum() == 125 * (40 + 36)
    assert "agree too well" in counted.notes[0]


def test_conditions_that_agree_too_well_do_not_confirm_each_other() -> None:
    random = np.random.default_rng(7)
    cells = counts(random, 40, random.uniform(0.1, 0.9, size=125))
    one, part = (Counts(frame, frame) for frame in (cells, some_of(random, cells, 0.9)))
    (note,) = count_sources._alike({"rounds 2": {"one": one}, "": {"part.csv": part}}, pool=False, independent=False)
    assert "agree too well" in note
    assert "what one of them shows, the other does not confirm" in note
