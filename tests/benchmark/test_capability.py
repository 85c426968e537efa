"""The capability model: its symmetries, what it recovers, and what it refuses."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import liescope
from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.counts import SCHEMA
from liescope.benchmark.capability.forms import PLAYERS
from liescope.benchmark.capability.model import check_identified, leave_out, logits
from liescope.benchmark.capability.posterior import Diagnostics, Posterior, fit
from liescope.benchmark.capability.results import predictions, scores
from liescope.common.errors import MissingExtra, UsageError
from tests.benchmark.published import bundled

pytestmark = pytest.mark.slow

Simulate = Callable[..., pl.DataFrame]
SHORT = SamplerOptions(draws=400, tune=400)


def cells(*rows: tuple[str, str, str, int, int]) -> pl.DataFrame:
    return pl.DataFrame(rows, SCHEMA, orient="row")


SKILL = st.lists(st.floats(-3, 3), min_size=4, max_size=4).map(np.array)


def chances(m: np.ndarray, d: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of every combination of these players, by the formula that predicts them."""
    names = dict.fromkeys("mdv", tuple("abcd"[: len(m)]))
    rows = pl.DataFrame(list(product(names["m"], repeat=3)), PLAYERS, orient="row")
    return expit(logits(rows, names, {"m": m[None], "d": d[None], "v": v[None]}))[0]


@pytest.mark.long
@given(SKILL, SKILL, SKILL, st.floats(0.1, 10), st.booleans(), st.floats(-5, 5))
def test_predictions_do_not_change_under_shift_and_scale(
    m: np.ndarray, d: np.ndarray, v: np.ndarray, scale: float, turned: bool, shift: float
) -> None:
    by = -scale if turned else scale
    assert np.allclose(chances((m + shift) / by, (d + shift) / by, v * by), chances(m, d, v), atol=1e-9)


def test_the_mafia_wins_half_the_time_when_skills_are_equal_or_nobody_listens() -> None:
    skills = np.linspace(-2, 2, 4)
    same = [at * 16 + at * 4 + k for at in range(4) for k in range(4)]
    assert np.allclose(chances(skills, skills, np.full(4, 3.0))[same], 0.5)
    assert np.allclose(chances(skills, -skills, np.zeros(4)), 0.5)


def test_published_scores_come_back_within_two_published_deviations(published_fit: Posterior) -> None:
    ours = scores(published_fit).sort("model")
    theirs = bundled("published").sort("model")
    for name in ("m", "d", "v"):
        off = (ours[name] - theirs[name]) / theirs[f"{name}_sd"]
        assert off.abs().max() < 0.5, name


def test_the_published_cells_converge_and_every_draw_has_mean_m_of_zero_and_mean_v_of_one(
    published_fit: Posterior,
) -> None:
    assert published_fit.diagnostics.ess_bulk_min >= 1000
    assert published_fit.diagnostics.faults() == ()
    assert published_fit.draws["m"].shape == (4, 1000, 10)
    assert np.allclose(published_fit.draws["m"].sum(axis=-1), 0, atol=1e-9)
    assert np.allclose(published_fit.draws["v"].mean(axis=-1), 1)


def test_most_published_cells_lie_in_their_predicted_interval(published_fit: Posterior) -> None:
    found = predictions(published_fit)
    assert found.height == 140
    assert 0.85 <= found["inside"].mean() <= 0.99  # the model is a little too simple: a calibrated one has 0.95
    assert np.corrcoef(found["observed"], found["predicted"])[0, 1] > 0.9


def test_a_role_that_a_model_never_held_has_no_score(simulate: Simulate) -> None:
    skills = (np.array([0.5, -0.5, 0.0]), np.array([0.2, 0.4, 0.0]), np.array([1.0, 1.0, 1.0]))
    some = simulate(skills, games=50, seed=2).filter((pl.col("mafioso") == "a") & (pl.col("villager") != "a"))
    table = scores(fit(some, SHORT))
    assert table.filter(model="a").select("m", "m_sd", "v", "v_games").row(0) == (0.0, 0.0, None, 0)
    assert table.filter(model="b").select("m", "m_lo", "m_games").row(0) == (None, None, 0)
    assert table["d"].null_count() == 0


def test_equal_seeds_give_equal_draws_and_others_do_not(simulate: Simulate) -> None:
    some = simulate((np.array([0.5, -0.5]), np.array([0.2, 0.4]), np.array([1.2, 0.8])), games=60, seed=1)
    one, same, other = (fit(some, SHORT.model_copy(update={"seed": seed})).draws["d"] for seed in (7, 7, 8))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.long
def test_both_samplers_agree(published_fit: Posterior) -> None:
    other = fit(published_fit.cells, SamplerOptions(draws=300, tune=300, sampler="pymc"))
    one, two = scores(published_fit).sort("model"), scores(other).sort("model")
    for name in ("m", "d", "v"):
        assert ((one[name] - two[name]) / one[f"{name}_sd"]).abs().max() < 0.25


def test_a_run_that_nearly_converged_is_a_result_that_says_so(simulate: Simulate, tmp_path: Path) -> None:
    some = simulate((np.array([0.5, -0.5]), np.array([0.2, 0.4]), np.array([1.2, 0.8])), games=60, seed=1)
    some.write_csv(tmp_path / "counts.csv")
    result = liescope.fit(tmp_path / "counts.csv", draws=150, tune=400, model="paper")
    (part,) = result.fits
    assert part.posterior.diagnostics.near
    assert any("ESS" in fault for fault in part.posterior.faults)
    assert any("NOT FULLY CONVERGED" in note and "ESS is" in note and "--draws 2000" in note for note in result.notes)
    assert result.to_json()["diagnostics"]["faults"] == list(part.posterior.faults)


@pytest.mark.parametrize("name", ["r_hat_max", "ess_bulk_min", "ess_tail_min", "bfmi_min", "divergences"])
def test_each_bad_diagnostic_is_a_fault_and_so_is_one_that_cannot_be_computed(name: str) -> None:
    good = Diagnostics(1.005, 900.0, 800.0, 0.9, 0, 1000, 4, 3.0)
    bad = {"r_hat_max": 1.02, "divergences": 1}.get(name, 0.1)
    assert good.faults() == ()
    assert len(replace(good, **{name: bad}).faults()) == 1
    assert len(replace(good, **{name: float("nan")}).faults()) == 1


def test_a_model_that_met_nobody_is_named_and_the_others_can_be_fitted_without_it() -> None:
    met = [(i, j, k, 20, 60) for i, j, k in product("abc", repeat=3)]
    both = cells(*met, ("loner", "loner", "loner", 20, 60))
    with pytest.raises(UsageError, match="--without 'loner'"):
        check_identified(both)
    check_identified(leave_out(both, "loner"))


def test_counts_that_cannot_determine_the_scores_are_refused_before_sampling() -> None:
    own = cells(*((x, x, x, 20, 60) for x in "abc"))
    strangers = cells(*((i, j, k, 20, 60) for pair in ("ab", "cd") for i, j, k in product(pair, repeat=3)))
    for counts, words in (
        (cells(("a", "a", "a", 20, 60)), "at least two models"),
        (cells(), "at least two models"),
        (own, "leave 4 of 7 parameters undetermined.*--design"),
        (strangers, "leave 2 of 10 parameters undetermined"),
        (cells(("a", "b", "b", 0, 9), ("b", "a", "a", 0, 9)), "one side won every game"),
    ):
        with pytest.raises(UsageError, match=words):
            fit(counts)


@pytest.mark.parametrize(("sampler", "package"), [("hmc", "numba"), ("pymc", "pymc")])
def test_without_what_its_sampler_needs_the_error_names_the_extra(
    sampler: str, package: str, monkeypatch: pytest.MonkeyPatch, simulate: Simulate
) -> None:
    counts = simulate((np.zeros(2), np.zeros(2), np.ones(2)), games=10, seed=1)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"'{package}'.*pip install .*\[bayes\]"):
        fit(counts, SamplerOptions(sampler=sampler))
