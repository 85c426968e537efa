"""The compiled density is that of the documented model, and what a sample of it cannot tell is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytensor
import pytest
from scipy.special import expit

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.backend import load
from liescope.benchmark.capability.counts import SCHEMA, tally
from liescope.benchmark.capability.density import Density, log_density
from liescope.benchmark.capability.model import DEFAULT, PAPER, Variant, code_rows
from liescope.benchmark.capability.posterior import Posterior, fit, sampled
from liescope.benchmark.capability.results import scores
from tests.performance.bench_calibration import background, play

pm = load("arviz", "pymc")  # what it imports warns once a day, and here a warning is an error
MODELS = ("ant", "bee", "cow", "dog")


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Every combination, of 1 to 60 games."""
    random = np.random.default_rng(1)
    games = random.integers(1, 61, 64)
    keys = product(MODELS, repeat=3)
    counted = [(*key, int(random.binomial(n, 0.4)), int(n)) for key, n in zip(keys, games, strict=True)]
    return tally(pl.DataFrame(counted, SCHEMA, orient="row")).with_columns(last=pl.Series(["town", "mafia"] * 32))


def stated(rows: pl.DataFrame, chosen: Variant) -> Any:
    """The model as its documentation states it, in PyMC's own words."""
    names, index = code_rows(rows, chosen)
    with pm.Model() as model:
        values = {}
        for name in chosen.vectors:
            width = chosen.prior_sd(name)
            # A Weibull distribution of shape 2 is Rayleigh's.
            sd = pm.Weibull(f"sd_{name}", 2, width * np.sqrt(2)) if chosen.dispersed else width
            values[name] = pm.ZeroSumNormal(name, sd, shape=len(names[name]))
        mean = pm.Normal("mean", 0, 2 if chosen.dispersed else 2 / np.sqrt(len(names["d"])))
        if chosen.offset:
            values["b"] = values["b"] + pm.Normal("pivot", 0, 0.5) * values["v"]
        of = {name: value[index[name]] for name, value in values.items()}
        eta = (1 + of["v"]) * (of["m"] - of["d"] - mean) + sum(of[name] for name in of if name not in "mdv")
        wins, games = rows["mafia_wins"].to_numpy(), rows["games"].to_numpy()
        if chosen.dispersed:
            rho, p = pm.Beta("rho", 1, 19), pm.math.sigmoid(eta)
            pm.BetaBinomial("wins", n=games, alpha=p * (1 - rho) / rho, beta=(1 - p) * (1 - rho) / rho, observed=wins)
        else:
            pm.Binomial("wins", n=games, logit_p=eta, observed=wins)
    return model


def point_of(x: np.ndarray, density: Density, chosen: Variant) -> dict[str, Any]:
    """A point of the density in PyMC's coordinates."""
    plan, centre, factor, _ = density.coordinates
    y, point = np.linalg.solve(factor, x - centre), {}
    values, widths = density.parameters(y), density.sds(y)
    if chosen.offset:
        point["pivot"] = x[plan.hat.size + len(chosen.vectors) + 1]
        values["b"] = values["b"] - point["pivot"] * (values["v"] - 1)
    point["mean"] = values["d"].mean()
    for name in chosen.vectors:
        apart = values[name] - values[name].mean()
        # The inverse of an orthonormal map to vectors that sum to 0.
        root = np.sqrt(len(apart))
        point[f"{name}_zerosum__"] = apart[:-1] - apart[-1] * root / (root + len(apart))
        if chosen.dispersed:
            point[f"sd_{name}_log__"] = np.log(widths[name])
    if chosen.dispersed:
        point["rho_logodds__"] = x[-1]
    return point


def room(x: np.ndarray, density: Density, chosen: Variant) -> float:
    """The logarithm of how much room PyMC's coordinates give a small neighbourhood of a point."""

    def flat(x: np.ndarray) -> np.ndarray:
        return np.concatenate([np.ravel(value) for value in point_of(x, density, chosen).values()])

    steps = np.eye(len(x)) * 1e-5
    return float(np.linalg.slogdet(np.stack([flat(x + step) - flat(x - step) for step in steps]) / 2e-5)[1])


EVERY = [
    replace(one, terms=terms) for one in (DEFAULT, replace(DEFAULT, offset=False), PAPER) for terms in ((), ("last",))
]


@pytest.mark.long
@pytest.mark.parametrize("chosen", EVERY, ids=lambda chosen: chosen.name)
def test_the_compiled_density_is_that_of_the_model_in_pymc(chosen: Variant, rows: pl.DataFrame) -> None:
    density = Density(rows, chosen)
    with pytensor.config.change_flags(mode="FAST_COMPILE", cxx=""):
        height = stated(rows, chosen).compile_logp()
    apart, (plan, centre, factor, _) = [], density.coordinates
    for y in np.random.default_rng(2).normal(0, 1.5, (100, density.dimensions)):
        x = centre + factor @ y
        pymc = float(height(point_of(x, density, chosen)))
        apart.append(log_density(x, plan, np.empty(x.size)) - pymc - room(x, density, chosen))
    assert np.ptp(apart) < 1e-4  # of a few thousand; constants of the counts are left out of ours


@pytest.mark.parametrize("chosen", EVERY, ids=lambda chosen: chosen.name)
def test_its_gradient_is_the_slope_of_its_height(chosen: Variant, rows: pl.DataFrame) -> None:
    density = Density(rows, chosen)
    y = np.random.default_rng(3).normal(0, 0.5, density.dimensions)
    steps = np.eye(density.dimensions) * 1e-5
    slopes = [(density.whitened(y + step)[0] - density.whitened(y - step)[0]) / 2e-5 for step in steps]
    assert density.whitened(y)[1] == pytest.approx(slopes, rel=1e-4, abs=1e-3)


def test_widths_that_do_not_mix_count_as_parameters_that_do_not(
    rows: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SamplerOptions(draws=100, tune=100, chains=2)
    before = sampled(rows, DEFAULT, settings).diagnostics.r_hat_max
    stuck = np.array([1.0, 2.0])[:, None] + np.random.default_rng(1).normal(0, 0.01, (2, 100))
    monkeypatch.setattr(Density, "sds", lambda *_: {"v": stuck})
    assert before < 1.3 < sampled(rows, DEFAULT, settings).diagnostics.r_hat_max


@pytest.fixture(scope="module")
def mute() -> Posterior:
    """Sixty games of each combination of four models, and two of another villager, of mafiosi against themselves."""
    random = np.random.default_rng(5)
    skill = dict(zip(MODELS, (0.9, 0.3, -0.3, -0.9), strict=True))
    keys = list(product(MODELS, repeat=3))
    counted = [(*key, int(random.binomial(60, expit(skill[key[0]] - skill[key[1]]))), 60) for key in keys]
    few = [("ant", "ant", "eel", 1, 1), ("bee", "bee", "eel", 0, 1)]
    return fit(tally(pl.DataFrame(counted + few, SCHEMA, orient="row")), SamplerOptions(draws=2000, tune=500), DEFAULT)


def test_a_score_that_the_games_do_not_tell_has_no_number_and_a_sentence(mute: Posterior) -> None:
    assert "eel" in mute.unidentified()["v"]
    assert not {"m", "d"} & set(mute.unidentified())
    table = scores(mute)
    eel = table.row(by_predicate=pl.col("model") == "eel", named=True)
    assert (eel["v"], eel["v_lo"], eel["v_games"]) == (None, None, 2)
    assert table.drop_nulls("m").height == 4
    said = " ".join(mute.cautions())
    assert "do not tell v (as the villager) of" in said
    assert "eel" in said
    assert (mute.learned()["m"] > 0.9).all()


@pytest.mark.long
def test_equal_models_that_many_games_show_to_be_equal_have_numbers() -> None:
    counted = [(*key, 2000, 4000) for key in product(MODELS[:3], repeat=3)]
    found = sampled(pl.DataFrame(counted, SCHEMA, orient="row"), DEFAULT, SamplerOptions(draws=150, tune=300, chains=2))
    assert not {"m", "d"} & set(found.unidentified())  # equal deceivers leave v open
    assert scores(found).drop_nulls(["m", "d"]).height == 3


def mixed_signs(number: int) -> tuple[pl.DataFrame, dict[str, np.ndarray]]:
    """(counts of ten models on five backgrounds, of which two follow the worse speaker; the truth)."""
    random = np.random.default_rng([7, number])
    v = 1 + random.normal(0, 0.5, 10)
    v[:5] = np.abs(random.normal(1.5, 1, 5)) + 0.3
    v[random.choice(5, 2, replace=False)] *= -1
    size = max(abs(v.mean()), 0.2) * np.sign(v.mean())
    truth = {"m": size * random.normal(0, 0.6, 10), "d": size * random.normal(0.3, 0.6, 10), "v": v / size}
    truth |= {"b": random.normal(0, 0.3, 10), "rho": np.array([0.02])}
    return play(random, background(10, 5, 100), truth), truth


@pytest.mark.parametrize("numbers", [range(8), pytest.param(range(8, 208), marks=pytest.mark.long)], ids=["8", "200"])
def test_scores_are_not_upside_down_where_villagers_differ_in_sign(numbers: range) -> None:
    turned = []
    for number in numbers:
        rows, truth = mixed_signs(number)
        density = Density(rows, DEFAULT)
        mode = density.parameters(np.zeros(density.dimensions))
        if min(np.corrcoef(mode[name], truth[name])[0, 1] for name in "mv") < 0:
            turned.append(number)
    assert turned == []


@pytest.mark.parametrize("models", [30, pytest.param(100, marks=pytest.mark.long)])
def test_many_models_on_few_backgrounds_are_not_upside_down(models: int) -> None:
    random = np.random.default_rng(models)
    for _ in range(4):
        truth = {name: random.normal(mean, 0.45, models) for name, mean in zip("mdvb", (0, 0.4, 1, 0), strict=True)}
        rows = play(random, background(models, 5, 50), truth | {"rho": np.array([0.02])})
        density = Density(rows, DEFAULT)
        mode = density.parameters(np.zeros(density.dimensions))
        assert min(np.corrcoef(mode[name], truth[name])[0, 1] for name in "md") > 0.5
        assert density.rival < 0.01


@pytest.mark.parametrize("chosen", EVERY, ids=lambda chosen: chosen.name)
def test_a_search_that_steps_too_far_gets_an_answer(chosen: Variant, rows: pl.DataFrame) -> None:
    density = Density(rows, chosen)
    for far in (-900.0, 900.0):
        plan, centre, _, _ = density.coordinates
        height, best = (log_density(x, plan, np.empty(x.size)) for x in (np.full(centre.size, far), centre))
        assert not height > best


def test_a_second_solution_of_some_mass_is_a_sentence(mute: Posterior) -> None:
    assert "SIGNS" not in " ".join(mute.cautions())
    assert "roughly 40%" in " ".join(replace(mute, rival=0.4).cautions())


@pytest.mark.long
def test_our_draws_and_those_of_pymc_are_of_one_posterior(rows: pl.DataFrame) -> None:
    ours = sampled(rows, DEFAULT, SamplerOptions(draws=500, tune=500, chains=2)).flat()
    theirs = sampled(rows, DEFAULT, SamplerOptions(draws=300, tune=400, chains=2, sampler="pymc")).flat()
    for name, draws in ours.items():
        sd = draws.std(axis=0)
        assert (np.abs(draws.mean(axis=0) - theirs[name].mean(axis=0)) < 0.35 * sd).all(), name
        assert theirs[name].std(axis=0) == pytest.approx(sd, rel=0.3), name
