"""The family of capability models: its names, and what its terms recover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from scipy.stats import beta

from liescope.benchmark.capability.counts import DRAWN, PLAYED, SCHEMA, Counts, counts_of, tally
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import (
    DEFAULT,
    PAPER,
    check_identified,
    identified,
    rows_for,
    undetermined,
    variant,
)
from liescope.benchmark.capability.posterior import RATES, Posterior, fit, slip_rates, win_chances
from liescope.benchmark.capability.results import goodness, scores
from liescope.benchmark.capability.sentences import separated
from liescope.common.errors import UnknownName, UsageError
from liescope.games.record import GameRecord
from tests.benchmark.conftest import SHORT, B, D, M, V, count_games, leaning

pytestmark = pytest.mark.slow


def test_a_model_is_chosen_by_name_and_its_terms_in_any_order() -> None:
    assert variant("paper") == PAPER
    assert variant("offset+dispersion", ("last", "name")) == variant("offset+dispersion", ("name", "last"))
    assert variant("paper", ("name", "last")).name == "paper+name+last"
    with pytest.raises(UnknownName, match=r"offset\+dispersion, paper"):
        variant("additive")
    with pytest.raises(UnknownName, match="last, name, seat, slips"):
        variant("paper", ("names",))
    with pytest.raises(UsageError, match="slips cannot be joined with last"):
        variant("paper", ("slips", "last"))


def test_villagers_who_lean_to_a_side_come_back_with_their_offsets(leaning_fit: Posterior) -> None:
    table = scores(leaning_fit).sort("model")
    for name, planted in (("m", M), ("d", D), ("v", V), ("b", B)):
        inside = (table[f"{name}_lo"].to_numpy() <= planted) & (planted <= table[f"{name}_hi"].to_numpy())
        assert inside.sum() >= 2, name
        assert np.corrcoef(table[name], planted)[0, 1] > 0.95
    assert np.allclose(leaning_fit.draws["b"].sum(axis=-1), 0, atol=1e-9)
    assert leaning_fit.diagnostics.near  # 400 draws a chain are few


def test_the_published_model_does_not_fit_leaning_villagers_and_the_default_does(leaning_fit: Posterior) -> None:
    wrong, right = goodness(fit(leaning(300), SHORT, PAPER)), goodness(leaning_fit)
    assert wrong.p < 0.01
    assert wrong.dispersion > 2
    assert right.p > 0.05
    assert "intervals are too narrow" in wrong.sentence()
    assert "too narrow" not in right.sentence()


def test_the_published_cells_scatter_twice_as_much_as_the_published_model_says(published_fit: Posterior) -> None:
    found = goodness(published_fit)
    assert (found.combinations, found.games) == (140, 14_000)
    assert 290 < found.chi2 < 315
    assert 130 < found.chi2_replicated < 150
    assert found.p < 0.001


def test_chances_are_the_formula_for_combinations_seen_or_not(leaning_fit: Posterior) -> None:
    rows = pl.DataFrame([("a", "b", "c")], PLAYERS, orient="row")
    flat = leaning_fit.flat()
    logit = flat["v"][:, 2] * (flat["m"][:, 0] - flat["d"][:, 1]) + flat["b"][:, 2]
    assert np.allclose(leaning_fit.chances(rows)[:, 0], expit(logit))
    assert leaning_fit.thinned(100).chances(rows).shape == (100, 1)
    with pytest.raises(UnknownName, match="villager"):
        leaning_fit.chances(rows.with_columns(villager=pl.lit("z")))


def test_three_symmetries_leave_an_offset_identified_where_the_cube_was_played() -> None:
    cube = leaning(10)
    assert undetermined(cube, DEFAULT) == (0, 3 + 3 + 3 + 3 - 3)
    assert undetermined(cube, PAPER) == (0, 7)
    own = cube.filter((pl.col("mafioso") == pl.col("detective")) & (pl.col("detective") == pl.col("villager")))
    with pytest.raises(UsageError, match="leave 6 of 9 parameters undetermined"):
        check_identified(own, DEFAULT)


def test_where_combinations_are_too_few_for_offsets_the_default_goes_without_them() -> None:
    few = leaning(10).filter((pl.col("mafioso") == pl.col("detective")) | (pl.col("detective") == pl.col("villager")))
    keys = [("a", "b", "b"), ("b", "a", "a"), ("a", "a", "b"), ("a", "b", "a"), ("b", "b", "a"), ("b", "a", "b")]
    some = tally(pl.DataFrame([(*key, 4, 10) for key in keys[:4]], SCHEMA, orient="row"))
    assert identified(few, DEFAULT) == DEFAULT
    assert undetermined(some, DEFAULT)[0] > 0
    assert identified(some, DEFAULT).name == "paper+dispersion"
    assert identified(some, PAPER) == PAPER


def test_models_that_won_or_lost_everything_in_a_role_share_a_sentence() -> None:
    cells = pl.DataFrame([("a", "b", "b", 9, 9), ("b", "a", "b", 3, 9), ("b", "b", "a", 0, 9)], SCHEMA, orient="row")
    mafioso, villager = separated(cells, offset=True)
    assert mafioso.startswith("All games as the mafioso won, by a (9): ")
    assert villager.startswith("All games as the villager won, by a (9): ")
    assert [*separated(cells, offset=False)] == [mafioso]
    lost = pl.DataFrame([(f"model {n}", "b", "b", 0, n + 1) for n in range(24)], SCHEMA, orient="row")
    mafiosi, _ = separated(lost, offset=False)
    assert all(f"model {n} ({n + 1})" in mafiosi for n in range(24))


def test_a_win_follows_the_villager_when_nobody_slips_and_the_lot_when_votes_split() -> None:
    rows = pl.DataFrame([("a", "b", "c")], PLAYERS, orient="row")
    keys = [("mafioso", "a"), ("detective", "b"), ("villager", "c")]
    villager = np.array([[0.0], [0.3], [1.0]])

    def chance(mafioso: float = 0, detective: float = 0, drawn: float = 0) -> np.ndarray:
        slips = (mafioso, detective, None)
        rates = [(*key, slip, 0, 1, drawn, 0, 1, 9) for key, slip in zip(keys, slips, strict=True)]
        return win_chances(rows, villager, pl.DataFrame(rates, RATES, orient="row"))[:, 0]

    assert np.allclose(chance(), villager[:, 0])
    assert np.allclose(chance(mafioso=1), [0, 0.3 * 2 / 3, 2 / 3])  # a split vote takes the mafioso one time in three
    assert np.allclose(chance(detective=1), [2 / 3, 2 / 3 + 0.3 / 3, 1])
    assert np.ptp(chance(drawn=1)) == 0


def played(random: np.random.Generator, games: int) -> pl.DataFrame:
    """Games of two models whose mafioso called Bob is trusted, one row a game; nobody slips."""
    rows = []
    for number in range(games):
        i, j, k = (number >> bit & 1 for bit in range(3))
        name = ["Alice", "Bob"][int(random.integers(2))]
        win = random.random() < expit(0.5 * (M[i] - D[j]) + (0.6 if name == "Bob" else -0.6))
        votes = ("detective", "mafioso", "detective" if win else "mafioso")
        drawn = number % 10 == 0
        final = (*votes[:2], DRAWN) if drawn else votes
        rows.append(("ab"[i], "ab"[j], "ab"[k], int(win), drawn, name, "villager", "1", *final))
    return pl.DataFrame(rows, PLAYED, orient="row")


def test_a_trusted_name_comes_back_from_games_and_is_refused_from_counts() -> None:
    counts = counts_of(played(np.random.default_rng(2), 1600), frozenset(), {})
    rows = rows_for(counts, ("name",))
    assert rows.height == 16
    found = fit(rows, SHORT, variant("paper", ("name",)))
    bias = found.flat()["name"]
    assert found.names["name"] == ("Alice", "Bob")
    lo, hi = np.quantile(bias[:, 1], [0.025, 0.975])
    assert lo < 0.6 < hi
    assert lo > 0
    assert found.cells.height == 8
    with pytest.raises(UsageError, match="a file holds counts only"):
        rows_for(Counts(counts.cells), ("name",))


def test_votes_are_fitted_without_those_that_the_rules_drew() -> None:
    counts = counts_of(played(np.random.default_rng(3), 800), frozenset(), {})
    rows = rows_for(counts, ("slips",))
    assert rows["games"].sum() == 800
    assert rows["villager_votes"].sum() == 720
    assert rows["villager_drawn"].sum() == 80
    found = fit(rows, SHORT, variant("offset+dispersion", ("slips",)))
    assert slip_rates(rows).row(by_predicate=(pl.col("role") == "villager") & (pl.col("model") == "a"), named=True)[
        "drawn"
    ] == pytest.approx(0.1, abs=0.03)
    predicted = found.chances(rows).mean(axis=0) @ rows["games"].to_numpy() / 800
    assert predicted == pytest.approx(counts.cells["mafia_wins"].sum() / 800, abs=0.05)


def test_played_games_say_who_spoke_last_and_how_each_role_voted(play: Callable[..., GameRecord]) -> None:
    counts = count_games(
        [play("a", "b", "c", "c", mafia_wins=True), play("a", "b", "c", "c", mafia_wins=False, seed=1)]
    )
    assert counts.played.schema == PLAYED
    assert counts.played["villager_vote"].to_list() == ["detective", "mafioso"]
    assert set(counts.played["last"]) <= set(PLAYERS)
    assert tally(counts.played.with_columns(games=pl.lit(1, pl.Int64)).select(SCHEMA.names())).equals(counts.cells)


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
    """(1 + events) / (2 + votes) over all rows of a model; only readable votes can slip."""
    found = slip_rates(ROWS)
    assert found.select("role", "model").rows() == [(role, model) for role in PLAYERS for model in "ab"]
    for row in found.to_dicts():
        role, mine = row["role"], ROWS.filter(pl.col(row["role"]) == row["model"])
        read, drawn = mine[f"{role}_votes"].sum(), mine[f"{role}_drawn"].sum()
        rates = {"drawn": (drawn, read + drawn)}
        if role == "villager":
            assert row["slip"] is None
        else:
            rates["slip"] = (mine[f"{role}_slips"].sum(), read)
        for name, (events, votes) in rates.items():
            ends = beta(1 + events, 1 + votes - events).interval(0.95)
            assert row[name] == pytest.approx((1 + events) / (2 + votes))
            assert (row[f"{name}_lo"], row[f"{name}_hi"]) == pytest.approx(ends)
