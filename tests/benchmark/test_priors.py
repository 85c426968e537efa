"""What the priors did to a fit: what they expect, and how far scores move under others, against fits under those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability import density, model, priors
from liescope.benchmark.capability.backend import smoothed
from liescope.benchmark.capability.forms import THREE_ROLES
from liescope.benchmark.capability.model import DEFAULT, PAPER, Variant
from liescope.benchmark.capability.posterior import Posterior, sampled
from liescope.benchmark.capability.priors import MOVES, before_any_game, moved_sentence, moves
from liescope.benchmark.capability.results import FITTED, OBSERVED, PRIORS, SPREAD, goodness, tidy_draws
from tests.benchmark.conftest import leaning

pytestmark = pytest.mark.slow
BOTH = pytest.mark.parametrize("variant", [DEFAULT, PAPER], ids=lambda one: one.name)
FEW = SamplerOptions(draws=1000, tune=500)


@BOTH
def test_draws_before_any_game_are_what_the_sampler_finds_without_games(variant: Variant) -> None:
    rows = leaning(1).with_columns(mafia_wins=pl.lit(0, pl.Int64), games=pl.lit(0, pl.Int64))
    found = sampled(rows, variant, FEW)
    ours, theirs = before_any_game(found, 20_000).flat(), found.flat()
    assert set(ours) == set(theirs)
    for name, values in ours.items():
        for one, other in zip(
            np.quantile(values, (0.1, 0.5, 0.9), axis=0),
            np.quantile(theirs[name], (0.1, 0.5, 0.9), axis=0),
            strict=True,
        ):
            assert one == pytest.approx(other, abs=0.15 * values.std() + 0.005), name
    if variant.offset:  # with others around them, v and b of one voter are tied by a slope that may have either sign
        tied = [np.mean(np.square((draws["v"] - 1) * draws["b"])) for draws in (ours, theirs)]
        assert tied[0] == pytest.approx(tied[1], rel=0.35)


def refitted(rows: pl.DataFrame, variant: Variant, factor: float) -> Posterior:
    """A fit whose widths have priors so many times as wide."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SD_PRIOR", "PRIOR_SD", "SHIFT_SD"):
            patch.setattr(model, name, factor * getattr(model, name))
        if not variant.dispersed:
            patch.setattr(density, "MEAN_SD", factor * density.MEAN_SD)
        return sampled(rows, variant, FEW)


@BOTH
@pytest.mark.parametrize("games", [4, pytest.param(60, marks=pytest.mark.long)])
def test_scores_move_as_a_fit_with_other_widths_moves_them(variant: Variant, games: int) -> None:
    rows = leaning(games)
    fit = sampled(rows, variant, FEW)
    table = moves(fit)
    assert table.schema == MOVES
    assert table["parameter"].to_list() == [*fit.variant.vectors] * 2
    for widths, factor in (("half", 0.5), ("double", 2.0)):
        other = refitted(rows, variant, factor)
        for name, shift, spread, k in (
            table.filter(widths=widths).select("parameter", "shift", "spread", "k").iter_rows()
        ):
            before, after = fit.flat()[name], other.flat()[name]
            sd, means = before.std(axis=0), [draws.mean(axis=0) for draws in (before, after)]
            real = (np.abs(means[1] - means[0]) / sd).max()
            room = 0.12 if k < 0.5 else 0.35 * max(real, 0.5)
            assert shift == pytest.approx(real, abs=room), (name, widths)
            assert spread * means[0].std() == pytest.approx(means[1].std(), abs=room * sd.mean()), (name, widths)
    few = table["shift"].max() > 0.3
    assert few is (games == 4)
    assert ("THE PRIORS MATTER" in moved_sentence(fit)) is few


@pytest.mark.parametrize(
    ("change", "matter", "rough"),
    [({}, False, False), ({"shift": 0.4}, True, False), ({"spread": 1.4}, True, False), ({"spread": 0.7}, True, False)]
    + [({"k": k}, False, True) for k in (0.8, None)],
)
def test_a_page_warns_where_priors_matter_and_says_which_figure_is_rough(
    change: Mapping[str, Any], matter: bool, rough: bool, leaning_fit: Posterior, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = {"parameter": "m", "widths": "double", "shift": 0.1, "spread": 1.0, "k": 0.2} | change
    table = pl.DataFrame([("m", "half", 0.05, 1.0, 0.1), tuple(double.values())], MOVES, orient="row")
    monkeypatch.setattr(priors, "moves", lambda posterior: table)
    words = moved_sentence(leaning_fit)
    assert ("THE PRIORS MATTER" in words) is matter
    assert ("double: a rough figure" in words) is rough
    monkeypatch.setattr(priors, "moves", lambda posterior: table.clear())
    assert moved_sentence(leaning_fit) == ""


def test_where_weights_fail_the_figures_go_on_in_a_straight_line() -> None:
    """Scores that lean on the square of their width: sd 1 and slope known in closed form."""
    fit = sampled(leaning(4), DEFAULT, FEW)
    random = np.random.default_rng(3)
    wide = {name: np.abs(random.standard_t(1.5, size=values.shape)) for name, values in fit.sds.items()}
    table = moves(replace(fit, sds=wide)).filter(widths="double")
    assert (table["k"].fill_null(np.inf) > 0.7).all()
    energy = sum(np.square(values.ravel()) for values in wide.values())
    draws = fit.flat()["m"]
    slopes = [np.cov(energy, one, ddof=0)[0, 1] for one in draws.T]
    assert table["shift"][0] == pytest.approx(np.log(2) * (np.abs(slopes) / draws.std(axis=0)).max())


def test_smoothed_weights_of_equal_draws_are_equal_and_heavy_tails_are_told() -> None:
    even, k = smoothed(np.full(50, -3.0))
    assert even == pytest.approx(1 / 50)
    assert k == 0
    random = np.random.default_rng(0)
    normal, light = smoothed(0.3 * random.normal(size=4000))
    assert normal.sum() == pytest.approx(1)
    assert light < 0.5
    assert smoothed(random.exponential(1.2, size=4000))[1] > 0.7  # a tail of shape 1.2


def test_observed_games_lie_among_those_of_the_fit_and_the_priors_expect_less(leaning_fit: Posterior) -> None:
    checks = {(one["figure"], one["source"]): one for one in goodness(leaning_fit).checks}
    rates = leaning_fit.cells.select(pl.col("mafia_wins") / pl.col("games")).to_series()
    wins, games = (leaning_fit.cells[name].sum() for name in ("mafia_wins", "games"))
    for figure, value in zip((THREE_ROLES.rate, SPREAD), (wins / games, rates.std(ddof=0)), strict=True):
        assert checks[figure, OBSERVED]["value"] == pytest.approx(value)
        assert checks[figure, FITTED]["lo"] < value < checks[figure, FITTED]["hi"]
        widths = [checks[figure, source]["hi"] - checks[figure, source]["lo"] for source in (OBSERVED, FITTED, PRIORS)]
        assert widths[0] == 0 < 3 * widths[1] < widths[2]


def test_the_draws_on_disk_hold_every_width_that_a_diagnostic_speaks_of(leaning_fit: Posterior) -> None:
    table = tidy_draws(leaning_fit)
    for name, values in leaning_fit.sds.items():
        kept = table.filter(parameter=f"sd of {name}")
        assert kept["value"].to_numpy().reshape(values.shape) == pytest.approx(values)
        assert kept["model"].unique().to_list() == ["every one"]
    assert set(table["parameter"]) == {*"mdvb", "rho", *(f"sd of {name}" for name in "mdvb")}
