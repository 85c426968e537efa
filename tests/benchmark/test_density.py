"""The compiled density is that of the documented model, and what a sample of it cannot tell is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.special import expit
from scipy.stats import betabinom, binom, norm, rayleigh

from liescope.benchmark.capability.backend import Sample, Settings
from liescope.benchmark.capability.counts import SCHEMA, tally
from liescope.benchmark.capability.density import Density
from liescope.benchmark.capability.model import DEFAULT, VARIANTS, Variant, variant
from liescope.benchmark.capability.posterior import Diagnostics, Posterior, fit, sampled, together
from liescope.benchmark.capability.results import scores

MODELS = ("ant", "bee", "cow", "dog")
COLUMN = {"m": "mafioso", "d": "detective", "v": "villager", "b": "villager"}


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Every combination, of 1 to 60 games."""
    random = np.random.default_rng(1)
    games = random.integers(1, 61, 64)
    keys = product(MODELS, repeat=3)
    counted = [(*key, int(random.binomial(n, 0.4)), int(n)) for key, n in zip(keys, games, strict=True)]
    return tally(pl.DataFrame(counted, SCHEMA, orient="row")).with_columns(last=pl.Series(["town", "mafia"] * 32))


def by_definition(density: Density, rows: pl.DataFrame, chosen: Variant, x: np.ndarray) -> float:
    """The log density of the effects, log sds, mean of d, logit of rho at x, from the distributions' own formulas."""
    names = list(chosen.vectors)
    counts = [len(density.names[name]) for name in names]
    ends = np.cumsum([count - 1 for count in counts])
    total, eta, at, values = 0.0, 0.0, 0, {}
    for number, (name, count, end) in enumerate(zip(names, counts, ends, strict=True)):
        z = x[at:end]
        width = 0.5 if name in chosen.shifts else 1.0 if chosen.dispersed else 2.0
        sd = np.exp(x[ends[-1] + number]) if chosen.dispersed else width
        total += norm.logpdf(z).sum() + (rayleigh.logpdf(sd, scale=width) + np.log(sd) if chosen.dispersed else 0)
        shift = sd * z.sum() / (np.sqrt(count) + count)  # an orthonormal map to the vectors whose sum is 0
        values[name] = np.append(sd * z - shift, -sd * z.sum() / np.sqrt(count))
        at = end
    at += len(names) * chosen.dispersed
    if chosen.offset:
        total += norm.logpdf(x[at + 1], scale=0.5)
        values["b"] = values["b"] + x[at + 1] * values["v"]
    mean_sd = 2.0 if chosen.dispersed else 2.0 / np.sqrt(len(MODELS))
    total += norm.logpdf(x[at], scale=mean_sd)
    values["d"] = values["d"] + x[at]
    place = {name: {one: n for n, one in enumerate(density.names[name])} for name in names}
    of = {name: values[name][[place[name][one] for one in rows[COLUMN.get(name, name)]]] for name in names}
    eta = (of["m"] - of["d"]) * (1 + of["v"])
    eta = eta + sum(of[name] for name in names if name not in ("m", "d", "v"))
    wins, games = rows["mafia_wins"].to_numpy(), rows["games"].to_numpy()
    if not chosen.dispersed:
        return total + float(binom.logpmf(wins, games, expit(eta)).sum())
    rho = expit(x[-1])
    p, strength = expit(eta), (1 - rho) / rho
    total += np.log(rho) + 19 * np.log1p(-rho)  # Beta(1, 19) and the slope of the logit
    return total + float(betabinom.logpmf(wins, games, p * strength, (1 - p) * strength).sum())


EVERY = [variant(name, terms) for name in VARIANTS for terms in ((), ("last",))]


@pytest.mark.parametrize("chosen", EVERY, ids=lambda chosen: chosen.name)
def test_the_compiled_density_is_that_of_the_documented_distributions(chosen: Variant, rows: pl.DataFrame) -> None:
    density = Density(rows, chosen)
    random = np.random.default_rng(2)
    plain = replace_coordinates(density)
    points = random.normal(0, 0.4, (6, density.dimensions))
    ours = np.array([plain.log_density(x)[0] for x in points])
    theirs = np.array([by_definition(density, rows, chosen, x) for x in points])
    assert ours - ours[0] == pytest.approx(theirs - theirs[0], abs=1e-6)


def replace_coordinates(density: Density) -> Density:
    """The same density in units of the sds alone."""
    density._plan = density._plan._replace(hat=0 * density._plan.hat, noise=0 * density._plan.noise + 1e6)
    return density


@pytest.mark.parametrize("chosen", EVERY, ids=lambda chosen: chosen.name)
def test_its_gradient_is_the_slope_of_its_height(chosen: Variant, rows: pl.DataFrame) -> None:
    density = Density(rows, chosen)
    y = np.random.default_rng(3).normal(0, 0.5, density.dimensions)
    steps = np.eye(density.dimensions) * 1e-5
    slopes = [(density.whitened(y + step)[0] - density.whitened(y - step)[0]) / 2e-5 for step in steps]
    assert density.whitened(y)[1] == pytest.approx(slopes, rel=1e-4, abs=1e-3)


def test_a_chain_in_a_hopeless_region_is_left_out_and_named() -> None:
    random = np.random.default_rng(4)
    points = random.normal(size=(4, 300, 5))
    heights = -np.square(points).sum(axis=-1) / 2
    sample = Sample(points, heights, heights, np.zeros((4, 300), np.bool_), "by hand", 1.0)
    assert together(sample)[0] is sample
    lower = replace(sample, heights=heights - np.array([0, 100, 0, 5])[:, None])
    kept, left_out = together(lower)
    assert (kept.points.shape, left_out) == ((3, 300, 5), 1)
    assert np.array_equal(kept.points, points[[0, 2, 3]])
    wide = replace(lower, points=points * np.array([1, np.e**20, 1, 1])[:, None, None])
    assert together(wide)[1] == 0  # lower, but with as much room
    alone = replace(sample, heights=heights - np.array([0, 100, 200, 300])[:, None])
    assert together(alone)[0] is alone
    (said,) = Diagnostics(1.0, 900, 900, 1.0, 0, 300, 3, 1.0, left_out=1).remarks()
    assert said.startswith("1 of 4 chains stayed around other values")
    assert Diagnostics(1.0, 900, 900, 1.0, 0, 300, 4, 1.0).remarks() == ()


def test_widths_that_do_not_mix_count_as_parameters_that_do_not(
    rows: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(draws=100, tune=100, chains=2)
    before = sampled(rows, DEFAULT, settings).diagnostics.r_hat_max
    stuck = np.array([1.0, 2.0])[:, None] + np.random.default_rng(1).normal(0, 0.01, (2, 100))
    monkeypatch.setattr(Density, "sds", lambda *_: {"v": stuck})
    assert before < 1.3 < sampled(rows, DEFAULT, settings).diagnostics.r_hat_max


@pytest.fixture(scope="module")
def mute() -> Posterior:
    """Sixty games of each combination of four models, and four of another villager, of mafiosi against themselves."""
    random = np.random.default_rng(5)
    skill = dict(zip(MODELS, (0.9, 0.3, -0.3, -0.9), strict=True))
    keys = list(product(MODELS, repeat=3))
    counted = [(*key, int(random.binomial(60, expit(skill[key[0]] - skill[key[1]]))), 60) for key in keys]
    few = [("ant", "ant", "eel", 1, 2), ("bee", "bee", "eel", 1, 2)]
    return fit(tally(pl.DataFrame(counted + few, SCHEMA, orient="row")), Settings(draws=500, tune=500), DEFAULT)


def test_a_score_that_the_games_do_not_tell_has_no_number_and_a_sentence(mute: Posterior) -> None:
    assert "eel" in mute.unidentified()["v"]
    assert not {"m", "d"} & set(mute.unidentified())
    table = scores(mute)
    eel = table.row(by_predicate=pl.col("model") == "eel", named=True)
    assert (eel["v"], eel["v_lo"], eel["v_games"]) == (None, None, 4)
    assert table.drop_nulls("m").height == 4
    said = " ".join(mute.cautions())
    assert "do not tell v (as the villager) of" in said
    assert "eel" in said
    assert (mute.learned()["m"] > 0.9).all()


@pytest.mark.long
def test_equal_models_that_many_games_show_to_be_equal_have_numbers() -> None:
    counted = [(*key, 2000, 4000) for key in product(MODELS[:3], repeat=3)]
    found = sampled(pl.DataFrame(counted, SCHEMA, orient="row"), DEFAULT, Settings(draws=300, tune=500))
    assert not {"m", "d"} & set(found.unidentified())  # equal deceivers leave v open
    assert scores(found).drop_nulls(["m", "d"]).height == 3
